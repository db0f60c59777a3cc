//! Tests of requests whose words mean different things depending on what exists on the disk.

use artoo_proto::{Environment, SessionTurn, Timestamp};

use super::{environment, now};
use artoo_reflex::testing::MemoryFileSystem;
use artoo_reflex::{Ledger, parse};

/// A home folder in memory with folders named like kinds of file, tables, a trash, caches and artoo's own data.
pub(super) fn home() -> MemoryFileSystem {
    let mut fs = MemoryFileSystem::new("/home/ada");
    let files: [(&str, &[u8]); 20] = [
        ("code/src/a.js", b"TODO\n"),
        ("Documents/a.txt", b"a\n"),
        ("Documents/b.txt", b"b\n"),
        ("Documents/shopping.txt", b"milk\n\n"),
        ("Documents/Work/contract.txt", b"c\n"),
        ("Documents/Data/sales.csv", b"region,units\nnorth,1\nsouth,2\n"),
        ("Documents/Data/plain.csv", b"north,1\nsouth,2\n"),
        ("Documents/Data/customers.csv", b"id;name;country\n1;Ada;DE\n2;Bob;FR\n"),
        ("Documents/Data/uneven.csv", b"a,b\n\"x,y\",z\n"),
        ("Documents/Data/tabs.csv", b"a\tb\n1\t2\n"),
        ("Documents/Data/one.csv", b"name\nAda\n"),
        ("b.txt", b"b\n"),
        ("Downloads/setup.exe", b"MZ\0"),
        ("Photos/Camera Roll/IMG_1.JPG", b"\xff\xd8\0\xff"),
        ("my.project/big.txt", b"b\n"),
        (".local/share/Trash/files/t.zip", b"z"),
        (".cache/x/c.zip", b"z"),
        (".artoo/audit.log", b"l\n"),
        ("Photos/Übersicht 日本.txt", b"x\n"),
        ("Work and Play/notes.txt", b"x\n"),
    ];
    for (path, content) in files {
        fs.add_file(format!("/home/ada/{path}"), content, Timestamp::default());
    }
    fs
}

/// Parses the last of the requests divided by `||`, in the folder `cwd` below the home folder.
fn read(cwd: &str, words: &str) -> Result<artoo_reflex::Parsed, artoo_proto::Abstention> {
    let mut turns: Vec<&str> = words.split(" || ").collect();
    let request = turns.pop().unwrap();
    let turn = |input: &str| SessionTurn { input: input.to_owned(), summary: String::new(), answered: true };
    let session: Vec<SessionTurn> = turns.into_iter().map(turn).collect();
    let environment = Environment { cwd: format!("/home/ada{cwd}"), ..environment() };
    parse(request, &session, &environment, now(), &home())
}

/// Asserts that each request is read as `expected`; `§` stands for ", subfolders included, hidden files included", `~`
/// for the home folder.
fn check(expected: &str, requests: &[&str]) {
    let expected = expected.replace('§', ", subfolders included, hidden files included").replace('~', "/home/ada");
    for request in requests {
        match read("", request) {
            Ok(parsed) => assert_eq!(parsed.reading, expected, "{request}"),
            Err(refusal) => panic!("{request}: refused, {refusal:?}"),
        }
    }
}

/// Asserts that each request is refused in words that contain the second text.
fn refused(requests: &[(&str, &str)]) {
    for (request, why) in requests {
        match read("", request) {
            Ok(parsed) => panic!("{request}: answered as “{}”", parsed.reading),
            Err(refusal) => {
                let said = format!("{} {}", refusal.remedy, refusal.not_understood.join(" "));
                assert!(said.contains(why), "{request}: {why:?} is not in {said:?}");
            }
        }
    }
}

/// Asserts that a request is read with an assumption that contains the text.
fn assumes(request: &str, text: &str) {
    let parsed = read("", request).unwrap_or_else(|refusal| panic!("{request}: {refusal:?}"));
    assert!(parsed.assumptions.iter().any(|said| said.contains(text)), "{request}: {:?}", parsed.assumptions);
}

#[test]
fn text_looked_for_is_content() {
    check(
        "list the files in the folder ~/code/src§, containing \"TODO\"",
        &[
            "find the word TODO in code/src",
            "search for TODO in ~/code/src",
            "look for the text TODO in ~/code/src",
            "find TODO in code/src",
            "search code/src for TODO",
            "find \"TODO\" in ~/code/src",
        ],
    );
    check(
        "list the files in the folder ~/code§, containing \"TODO\"",
        &["search code for TODO", "find TODO in code", "look for \"TODO\" in the code folder"],
    );
    check(
        "show the lines of the file ~/Documents/a.txt, containing \"TODO\"",
        &["find the word TODO in Documents/a.txt"],
    );
    check("list the files in the folder ~/code§, named \"TODO\"", &["find files named TODO in code"]);
    check(
        "list the files in the folder ~/code§, named \"README\"",
        &["find README in code", "search for README in code"],
    );
    check("list the files in the folder ~/Documents§, named \"a.txt\"", &["find a.txt in Documents"]);
    assumes("search for TODO in code", "looked for in what the files hold");
    refused(&[
        ("find \"Work\" in Documents", "files named"),
        ("find 'foo'", "foo"),
        ("search for work in Documents", "work"),
    ]);
}

#[test]
fn existing_folder_is_no_kind_of_file() {
    check(
        "count the folders in the folder ~/Photos§",
        &["how many folders are in Photos", "number of folders in Photos"],
    );
    check("count the files and folders in the folder ~/Photos§", &["how many files and folders are in Photos"]);
    check("list the files in the folder ~/code§", &["list the files in code", "show all files from code"]);
    check(
        "list the files in the folder ~/Documents§, containing \"password\"",
        &["look for \"password\" in Documents", "find the word password in Documents"],
    );
    check(
        "list the largest file in the folder ~/my.project§",
        &["which file in ~/my.project is the largest", "the largest file in my.project", "biggest file in my.project"],
    );
    // What is a kind of file stays one where no folder of that name exists, or none is due.
    check("count the files in the folder ~/Documents§, ending in .pdf", &["how many pdfs are in Documents"]);
    assert!(read("", "number of photos").unwrap().reading.contains("ending in .arw"), "no folder is named");
    let elsewhere = read("/code", "how many files are in Documents").unwrap();
    assert!(elsewhere.reading.contains("/home/ada/Documents"), "{}", elsewhere.reading);
}

#[test]
fn unquoted_names_with_spaces_must_exist() {
    check(
        "list the files in the folder \"~/Photos/Camera Roll\"§",
        &["list the files in Photos/Camera Roll", "list the files in \"Photos/Camera Roll\""],
    );
    check("count the files in the folder \"~/Work and Play\"§", &["how many files are in Work and Play"]);
    check(
        "count the lines of the file \"~/Photos/Übersicht 日本.txt\"",
        &["how many lines does Photos/Übersicht 日本.txt have"],
    );
}

/// A folder named once is that of all files named beside it.
#[test]
fn folder_applies_to_all_named_files() {
    check(
        "compare ~/Documents/a.txt and ~/Documents/b.txt",
        &["compare a.txt and b.txt in Documents", "compare the files a.txt and b.txt in Documents"],
    );
    check(
        "whether ~/Documents/a.txt is identical to ~/Documents/b.txt",
        &["are a.txt and b.txt the same in Documents"],
    );
    check(
        "show the differences between ~/Documents/a.txt and ~/Documents/b.txt",
        &["show the differences between a.txt and b.txt in Documents"],
    );
    check(
        "show the lines of the file ~/Documents/a.txt, missing in ~/Documents/b.txt",
        &["lines of a.txt that are not in b.txt in Documents"],
    );
}

/// The column separator is found by reading the file.
#[test]
fn column_separator_is_read_from_file() {
    let names = "show the lines of the file ~/Documents/Data/customers.csv, column 2 separated by \";\"";
    check(
        names,
        &["show column 2 of Documents/Data/customers.csv", "the second column of Documents/Data/customers.csv"],
    );
    let tabs = "show the lines of the file ~/Documents/Data/tabs.csv, column 1 separated by \"\t\"";
    assert_eq!(read("", "show column 1 of Documents/Data/tabs.csv").unwrap().reading, tabs.replace('~', "/home/ada"));
    check(
        "show the lines of the file ~/Documents/Data/one.csv, column 1 separated by \",\"",
        &["show column 1 of Documents/Data/one.csv"],
    );
    check(
        "count the lines from line 2 on of the file ~/Documents/Data/sales.csv, except blank",
        &[
            "how many rows does sales.csv in Documents/Data have",
            "how many rows are in Documents/Data/sales.csv",
            "count the records of Documents/Data/sales.csv",
        ],
    );
    assumes("how many rows does Documents/Data/sales.csv have", "the first line is a heading and not counted");
    check(
        "count the lines of the file ~/Documents/Data/plain.csv, except blank",
        &["count the rows of Documents/Data/plain.csv"],
    );
    assumes("count the rows of Documents/Data/plain.csv", "a row and no heading");
    check(
        "count the lines of the file ~/Documents/Data/sales.csv",
        &["how many lines does Documents/Data/sales.csv have"],
    );
    refused(&[
        ("show column 2 of Documents/Data/uneven.csv", "what separates the columns"),
        ("how many lines of Documents/Data/customers.csv contain ,DE,", ",DE"),
        ("lines of Documents/Data/customers.csv containing ,DE", "quotation marks"),
        ("count the lines in Documents/Data/customers.csv that contain ,DE,", "quotation marks"),
    ]);
}

#[test]
fn yes_no_questions_are_read() {
    let blank = "whether there are any lines of the file ~/Documents/shopping.txt, blank";
    check(
        blank,
        &[
            "is there an empty line in Documents/shopping.txt",
            "are there any blank lines in Documents/shopping.txt",
            "check if there are empty lines in Documents/shopping.txt",
        ],
    );
    check(
        "show the answer to whether there are any files in the folder ~/Downloads§, ending in .exe, and which",
        &["do I have any exe files in Downloads"],
    );
    check("count the files in the folder ~/Downloads§, ending in .exe", &["how many exe files are there in Downloads"]);
}

#[test]
fn missing_files_are_compared_by_name() {
    check(
        "show the bare names of the files directly in the folder ~/Documents, hidden files included, missing in bare \
         names of the files directly in the folder ~/Downloads, hidden files included",
        &[
            "files in Documents but not in Downloads",
            "which files are in ~/Documents but not in ~/Downloads",
            "list the files in Documents that are not in Downloads",
        ],
    );
    refused(&[
        ("copy the files in Documents but not in Downloads to ~/x", "another folder lacks"),
        ("the pdfs in Documents but not in Downloads", "another folder lacks"),
    ]);
    check(
        "list the files in the folder ~/Documents§, except inside a folder named \"Work\"",
        &["files in Documents but not in Work"],
    );
}

#[test]
fn unread_turn_leaves_no_earlier_answer() {
    refused(&[("how is the weather || how many are there", "earlier answer"), ("which one is the largest", "")]);
    check("list the largest file in the folder ~/code§", &["how is the weather || what is the largest file in code"]);
}

#[test]
fn trash_and_caches_are_skipped_unless_named() {
    let rest = "except lying below ~/.artoo, except lying below ~/.cache, except lying below ~/.local/share/Trash";
    check(
        &format!("count the files in the folder ~§, ending in .zip, {rest}"),
        &["how many zips", "how many zip files are in my home folder", "count the zip files in ~"],
    );
    check(&format!("total size of the files in the folder ~§, {rest}"), &["how big is my home folder"]);
    check(&format!("list the files in the folder /home§, named \"t.zip\", {rest}"), &["find t.zip in /home"]);
    check(
        "count the files in the folder ~/.local/share/Trash§",
        &["how many files are in the trash", "how many files are in ~/.local/share/Trash"],
    );
    check("list the files in the folder ~/.cache§, ending in .zip", &["list the zips in ~/.cache"]);
    check("count the files in the folder ~/Documents§", &["how many files are in Documents"]);
    assumes("how many zips", "the trash, caches and artoo's own data are left out: /home/ada/.local/share/Trash");
}

/// "How many files are there" and "list the files there" select the same files.
#[test]
fn counting_and_listing_select_same_files() {
    for (where_, reading) in [
        ("in the current directory", "files directly in the folder /home/ada, hidden files left out"),
        ("here", "files directly in the folder /home/ada, hidden files left out"),
        ("directly in Documents", "files directly in the folder /home/ada/Documents, hidden files included"),
        ("in Documents", "files in the folder /home/ada/Documents, subfolders included, hidden files included"),
    ] {
        check(
            &format!("count the {reading}"),
            &[&format!("how many files are {where_}"), &format!("count the files {where_}")],
        );
        check(
            &format!("list the {reading}"),
            &[
                &format!("list the files {where_}"),
                &format!("show the files {where_}"),
                &format!("which files are {where_}"),
                &format!("what files are {where_}"),
            ],
        );
    }
    assumes("how many files are in the current directory", "subfolders not entered");
    assumes("how many files are in the current directory", "hidden files left out");
}

#[test]
fn binary_files_are_not_shown() {
    refused(&[
        ("show \"Photos/Camera Roll/IMG_1.JPG\"", "something else than text"),
        ("show the first 3 lines of \"Photos/Camera Roll/IMG_1.JPG\"", "something else than text"),
    ]);
    let to = |case: &str, folder: &str| format!("rename the files in the folder {folder}§, to {case} case");
    check(&to("lower", "\"~/Photos/Camera Roll\""), &["lowercase all file names in \"Photos/Camera Roll\""]);
    check(&to("upper", "~/Photos"), &["uppercase the names of all files in Photos"]);
    check("show the lines of the file ~/b.txt", &["show b.txt"]);
}

/// Requests as people first word them are read, or refused, as `people.tsv` says.
#[test]
fn first_wordings_of_people_read_as_listed() {
    let mut wrong = Vec::new();
    for line in include_str!("people.tsv").lines().filter(|line| !line.starts_with('#')) {
        let (words, expected) = line.split_once('\t').unwrap();
        let full = |reading: &str| {
            reading.replace('§', ", subfolders included, hidden files included").replace('~', "/home/ada")
        };
        let became = match read("", words) {
            Ok(parsed) => parsed.reading,
            Err(refusal) => format!("! {} {}", refusal.remedy, refusal.not_understood.join(" ")),
        };
        let is_right = match expected.strip_prefix('!') {
            Some(part) => became.starts_with('!') && became.contains(part.trim()),
            // A file may end in a tilde.
            None => became == full(expected) || became.replace('~', "/home/ada") == full(expected),
        };
        if !is_right {
            wrong.push(format!("{words}\t{became}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A question is not answered, not even with "none" or 0, if the files and folders that it names do not exist.
#[test]
fn questions_about_missing_files_are_not_answered() {
    let (before, after) = (home(), MemoryFileSystem::new("/"));
    let environment = Environment { cwd: "/home/ada".to_owned(), ..environment() };
    let (mut asked, mut answered) = (0, Vec::new());
    for line in include_str!("people.tsv").lines().filter(|line| !line.starts_with('#')) {
        let (words, expected) = line.split_once('\t').unwrap();
        let ledger = Ledger::read(words, &[], &environment, now(), &before);
        if expected.contains('~') && ledger.only_asks() {
            asked += 1;
            let coverage = ledger.simulate(&after).cover(&[], &after);
            answered.extend(coverage.is_complete().then(|| format!("{words}\t{expected}")));
        }
    }
    assert!(asked > 300, "{asked}");
    assert!(answered.is_empty(), "{}", answered.join("\n"));
}

/// Of two files of one name a question means the one that is not in a folder of copies; a change means neither.
#[test]
fn file_beside_copies_is_meant_by_questions_alone() {
    let mut fs = MemoryFileSystem::new("/home/ada");
    for path in ["Documents/recipe.txt", "backup/recipe.txt", "a/plan.txt", "b/plan.txt"] {
        fs.add_file(format!("/home/ada/{path}"), b"x\n", Timestamp::default());
    }
    let environment = Environment { cwd: "/home/ada".to_owned(), ..environment() };
    let read = |request: &str| parse(request, &[], &environment, now(), &fs).map(|parsed| parsed.reading);
    let lines = "count the lines of the file /home/ada/Documents/recipe.txt";
    assert_eq!(read("how many lines does recipe.txt have").unwrap(), lines);
    assert_eq!(read("how many lines does plan.txt have").unwrap(), "count the lines of the file /home/ada/plan.txt");
    assert_eq!(read("delete recipe.txt").unwrap(), "delete the file /home/ada/recipe.txt");
}
