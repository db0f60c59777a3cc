//! Tests that requests are refused that can't be read, with the words that are to blame.

use proptest::prelude::*;

use artoo_proto::Abstention;

use super::read;

/// Asserts that each request is refused, and that the words blamed contain the second text.
fn check(requests: &[(&str, &str)]) {
    for (request, blamed) in requests {
        match read(request) {
            Ok(parsed) => panic!("{request}: answered as “{}”", parsed.reading),
            Err(refusal) => {
                assert!(refusal.remedy.ends_with(Abstention::SETUP), "{request}: {refusal:?}");
                let named = refusal.not_understood.join(" ");
                assert!(named.contains(blamed), "{request}: {blamed:?} is not in {named:?}");
            }
        }
    }
}

#[doc = "holds: law 1.7"]
#[test]
fn unclear_changes_are_refused() {
    check(&[
        ("delete", ""),
        ("delete all logs", ""),
        ("delete them", ""),
        ("delete everything", ""),
        ("write foo to the folder ~/x", ""),
        ("delete lines 3 to 5 of notes.txt", ""),
        ("move notes.txt", ""),
        ("copy a.txt and b.txt to c.txt", ""),
        ("rename the PDFs in ~/x to new.pdf", ""),
        ("rename notes.txt to ~/y/notes.txt", ""),
        ("zip the PDFs in ~/x into ~/y", ""),
        ("unzip the archives in ~/x", ""),
        ("create notes", ""),
        ("delete the fluffy files in ~/x", "fluffy"),
        ("delete the biggst file in ~/x", "biggst"),
        ("copy the PDFs in ~/x to ~/y quietly", "quietly"),
        ("delete duplicates in ~/x", ""),
        ("delete the files in ~/x and ~/y or not", ""),
        ("don't delete the files in ~/x", ""),
        ("never delete the files in ~/x", "never"),
        ("Remove files text2, text3 in DIR", "text2 text3"),
        ("delet all files in ~/x", "delet"),
        ("remvoe the PDFs in ~/x", "remvoe"),
        ("move all PDFs to ~/Documents", ""),
        ("zip files in ~/Downloads", ""),
        ("archive files older than a year in ~/x", ""),
        ("backup files in ~/x", ""),
        ("clean up my downloads folder", "clean"),
        ("empty out ~/Downloads", "empty"),
        ("find logs, then move them", ""),
        ("find PDFs or delete them", ""),
        ("can you move the newest file to ~/x", ""),
        ("overwrite notes.txt", "overwrite"),
        ("open notes.txt in an editor", "editor"),
        ("list files in ~/x | rm -rf /", "|"),
        ("list files in ~/x; rm -rf ~", "-rf"),
        ("list files in ~/x && rm y", "&&"),
        ("$(rm -rf ~)", ""),
        ("list files in `rm -rf ~`x", ""),
        ("show files > out.txt", ""),
    ]);
}

#[doc = "holds: law 0.15"]
#[test]
fn partly_understood_requests_are_refused() {
    check(&[
        ("do not list files in ~/x", "not"),
        ("don't show hidden files", "don't"),
        ("list no files", "no"),
        ("list files in ~/a but not in ~/b", ""),
        ("PDFs and files larger than 1MB", ""),
        ("newest and oldest file", ""),
        ("files larger than the newest file", "larger"),
        ("folders with more than 10 files", "10"),
        ("which folder is the newest PDF in?", ""),
        ("how many files does each folder contain", ""),
        ("largest file in every folder", ""),
        ("find large files", "large"),
        ("files in ~/x larger than 5", "5"),
        ("10 MB files", "MB"),
        ("how many files were created today", "created"),
        ("lines containing numbers in notes.txt", "numbers"),
        ("files containing receipts", "receipts"),
        ("files with invoices in their names", "invoices"),
        ("files starting with consonants", "consonants"),
        ("photos of Paris", "Paris"),
        ("files containing images", "containing"),
        ("a line of 99 '='", ""),
        ("find 'foo'", "foo"),
        ("search for foo in ~/x", "foo"),
        ("list files in 2023", "2023"),
        ("half of the files", "half"),
        ("who changed notes.txt", "who"),
        ("which files do I need", "need"),
        ("what is using up space", ""),
        ("list files in C:\\Users\\x", "C:\\Users\\x"),
        ("list files in ~bob/x", "~bob/x"),
        ("list files in 'x", "'x"),
        ("list files in https://example.com/x", "https://example.com/x"),
    ]);
}

#[doc = "holds: law 0.15"]
#[test]
fn misleading_questions_are_refused() {
    check(&[
        ("Is the largest file bigger than 1MB?", "Is"),
        ("why are there so many files in ~/x", "why"),
        ("count the biggest files", ""),
        ("count the first 5 lines of x.txt", ""),
        ("size of the 3 largest files", ""),
        ("show /etc/hosts", ""),
    ]);
}

#[doc = "holds: law 0.15"]
#[test]
fn requests_with_unused_words_are_refused() {
    check(&[
        ("first 5 lines of notes.txt including hidden files", ""),
        ("lines of notes.txt recursively", ""),
        ("lines of notes.txt sorted by size", ""),
        ("lines of notes.txt larger than 1 MB", ""),
        ("the 5 largest lines of notes.txt", ""),
        ("lines of notes.txt ignoring case", ""),
        ("list files in ~/x ignoring case", ""),
        ("list files in ~/x in descending order", ""),
        ("list files in ~/x in bytes", ""),
        ("count the files in ~/x sorted by size", ""),
        ("count files in ~/x with their sizes", ""),
        ("how big is notes.txt recursively", ""),
        ("when was notes.txt last modified in ~/x", ""),
        ("show notes.txt modified today", ""),
        ("list files and count them in ~/x", ""),
        ("largest files sorted by name", ""),
    ]);
}

#[test]
fn chat_and_other_languages_are_refused() {
    check(&[
        ("hello, how are you?", "how"),
        ("thanks", ""),
        ("tell me a joke about files", "joke"),
        ("what is the weather", "weather"),
        ("what can you do", ""),
        ("lister les fichiers dans ~/x", "fichiers"),
        ("zeige alle PDF in ~/x", "zeige"),
        ("¿cuántos archivos hay en ~/x?", "archivos"),
        ("列出文件", "列出文件"),
        ("ファイルを数えて", "ファイルを数えて"),
        ("сколько файлов в ~/x", "сколько"),
        ("", ""),
        ("   ", ""),
        ("?", ""),
        ("the of a", ""),
    ]);
}

#[doc = "holds: law 0.15"]
#[test]
fn refusal_lists_both_readings() {
    let refusal = read("list files in Donwloads").unwrap_err();
    assert!(
        refusal.remedy.contains("/home/ada/Downloads") && refusal.remedy.contains("/home/ada/work/Donwloads"),
        "{refusal:?}"
    );
}

#[test]
fn refusal_says_what_was_understood() {
    let refusal = read("list the fluffy PDFs in ~/x").unwrap_err();
    assert_eq!(refusal.not_understood, ["fluffy"]);
    assert!(refusal.understood.contains("list the files in the folder /home/ada/x"), "{refusal:?}");
}

#[test]
fn long_requests_are_refused_at_once() {
    for request in
        ["files ".repeat(2_000), "a".repeat(10_000), "list ".repeat(47), "\"".repeat(9_999), "(".repeat(10_000)]
    {
        let _ = read(&request).map(|parsed| panic!("{}", parsed.reading));
    }
}

proptest! {
    #[test]
    fn no_text_panics(text in any::<String>()) {
        let _ = read(&text);
    }

    #[test]
    fn no_text_of_known_words_panics(words in proptest::collection::vec(prop_oneof![
        Just("files"), Just("largest"), Just("in"), Just("~/x"), Just("and"), Just("or"), Just("'a b'"), Just("5"), Just("lines"), Just("MB"),
        Just("than"), Just("larger"), Just("modified"), Just("last"), Just("first"), Just("days"), Just("*.txt"), Just(".rs"), Just("named"), Just(","),
        Just("folder"), Just("how many"), Just("not"), Just("x.txt"), Just("between"), Just("99999999999999999999"), Just("today"), Just("except"),
    ], 0..14)) {
        let _ = read(&words.join(" "));
    }

    #[test]
    fn no_long_text_panics(text in "[a-z0-9 /~.'\"*-]{0,10000}") {
        let _ = read(&text);
    }
}
