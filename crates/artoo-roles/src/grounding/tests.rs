//! What counts as an act, a claim, a question: tables of both kinds.

use super::{
    asks_for_change, asks_for_number, claims_change, claims_deed, is_about_this_machine, is_question, may_mean,
    mentions_machine, named_destinations, needs_whole_output, speaks_of_folders_only, without_names,
};

#[test]
fn requests_for_a_change_are_told_from_questions() {
    for request in [
        "create a file notes.txt with hello",
        "Please write a report to ~/out/report.md",
        "could you rename a.txt to b.txt",
        "count the files, then delete the largest file",
        "I want you to save it in my documents folder",
        "write hello in greeting.txt",
        "add a line to notes.txt",
        "make a list of my files and save it as list.txt",
        "make a list of the pdf files to list.md",
        "convert photo.png to jpg",
        "extract archive.zip",
        "empty the trash",
        "copy a.txt to b.txt",
        "clean up my downloads folder",
        "get rid of the file tmp.log",
        "notes.txt should contain hello",
        "I need a folder called x",
        "back up my documents folder",
        "fix the typo in notes.txt",
        "Erstelle eine Datei hallo.txt",
        "crée un fichier test.txt",
        "crea un archivo llamado hola.txt",
        "создай файл привет.txt",
        "创建一个文件 hello.txt",
        "cancella il file vecchio.txt",
    ] {
        assert!(asks_for_change(request), "{request}");
    }
    for question in [
        "how many files are in this folder",
        "list the files to delete",
        "which file did I write last week?",
        "write a haiku about rain",
        "what is the capital of France",
        "find the folder where I saved my taxes",
        "make a list of the files in this folder",
        "write a summary of report.pdf",
        "extract the title from report.pdf",
        "add up the sizes of all files",
        "generate a file list",
        "list the files created this week",
        "list all files excluding hidden ones in my folder",
        "which files were copied to the folder?",
        "duplicate files in my documents",
        "empty folders below ~/src",
        "convert the size of big.iso to GB",
        "how do I create a folder",
        "Welche Dateien wurden gestern erstellt?",
        "liste les fichiers créés hier",
        "昨天创建了哪些文件",
        "update me on the files that changed",
        "find the cancellation letter and the cancelled orders",
    ] {
        assert!(!asks_for_change(question), "{question}");
    }
}

#[test]
fn the_file_a_user_names_for_the_result_is_known() {
    let check = |request: &str, expected: &[&str]| assert_eq!(named_destinations(request), expected, "{request}");
    check("create a file notes.txt with hello", &["notes.txt"]);
    check("Create Notes.TXT and todo.md in my workspace", &["notes.txt"]);
    check("Please write a report to ~/out/Report.md.", &["out/report.md"]);
    check("save it to /srv/a.txt and ./b/c.txt", &["/srv/a.txt"]);
    check("save it as ./b/c.txt", &["b/c.txt"]);
    check("rename a.txt to b.txt", &["b.txt"]);
    check("save the list of main.rs as \"list.txt\"", &["list.txt"]);
    check("convert photo.png to jpg", &[]);
    check("delete notes.txt", &[]);
    check("create a backup of notes.txt", &[]);
    check("write a summary of report.pdf", &[]);
    check("how many files are called x.txt", &[]);
    check("save it as 'my notes.txt', please", &["my notes.txt"]);
    check("don't copy it to \"~/my docs/the report.md\"!", &["my docs/the report.md"]);
}

#[doc = "holds: law 0.1"]
#[test]
fn claims_of_a_change_are_told_from_facts_about_files() {
    for claim in [
        "Done. I created the file and verified it.",
        "I have successfully saved the file.",
        "Created notes.txt in your folder",
        "File created: notes.txt",
        "The file has been written.",
        "The new file created: notes.txt",
    ] {
        assert!(claims_change(claim), "{claim}");
    }
    for fact in [
        "notes.txt was last modified on Monday",
        "42 files",
        "the newest file is a.txt, created in 2024",
        "Created: 2024-05-01 notes.txt",
        "Created on Monday: notes.txt",
    ] {
        assert!(!claims_change(fact), "{fact}");
    }
}

#[test]
fn words_alone_may_not_claim_a_deed() {
    for claim in ["I've sent the email to Bob.", "I have restarted nginx", "We just installed it"] {
        assert!(claims_deed(claim), "{claim}");
    }
    for words in [
        "I have written a haiku:\nrain",
        "rain stopped, I slept",
        "Sent from above, the rain",
        "the war started in 1914",
    ] {
        assert!(!claims_deed(words), "{words}");
    }
}

#[test]
fn paths_and_things_of_a_machine_are_seen() {
    assert!(mentions_machine("look at ./src"));
    assert!(mentions_machine("open report.pdf"));
    assert!(!mentions_machine("is 3.14 about pi, e.g. roughly"));
    assert!(!mentions_machine("see https://example.com/a.txt"));
}

#[doc = "holds: design D13"]
#[test]
fn this_machine_is_told_from_machines_in_general() {
    for request in [
        "how many files are here",
        "what is the largest file",
        "what is in a.txt",
        "describe my folders",
        "explain main.rs",
        "list the folders",
    ] {
        assert!(is_about_this_machine(request), "{request}");
    }
    for request in [
        "what is a symlink?",
        "explain the difference between a file and a folder",
        "how do I create a folder in Windows?",
        "write a poem about a lost folder",
        "what is the capital of France",
    ] {
        assert!(!is_about_this_machine(request), "{request}");
    }
}

#[test]
fn a_question_is_told_from_an_order() {
    for question in ["how many files are here", "please list the files", "can you show me a.txt", "сколько файлов тут"]
    {
        assert!(is_question(question), "{question}");
    }
    for order in ["count the files, then delete the largest file", "notes.txt with hello please", "write x to a.txt"] {
        assert!(!is_question(order), "{order}");
    }
}

#[test]
fn claims_of_all_none_or_how_many_need_the_whole_output() {
    for claim in ["all PDF files are listed", "it states how many there are", "no file is missing", "所有文件都列出了"]
    {
        assert!(needs_whole_output(claim), "{claim}");
    }
    for claim in ["the text of the notes is shown", "notes.txt is named"] {
        assert!(!needs_whole_output(claim), "{claim}");
    }
}

#[doc = "holds: law 0.18"]
#[test]
fn a_request_for_a_number_is_told_from_any_other() {
    for number in [
        "how many files are here",
        "Count the lines of x",
        "the size of my music",
        "Wie viele Bilder habe ich?",
        "combien de fichiers",
        "¿cuántos archivos hay?",
        "сколько файлов здесь",
        "这里有几个文件",
        "파일이 몇 개",
    ] {
        assert!(asks_for_number(number), "{number}");
    }
    for other in
        ["which file is the newest", "summarise a.txt", "is my disk healthy", "list the files", "rename a to b"]
    {
        assert!(!asks_for_number(other), "{other}");
    }
}

#[test]
fn a_request_for_a_folder_is_told_from_one_for_a_file_in_a_folder() {
    for folders in ["create a folder called x in my documents", "mkdir a/b", "lege einen Ordner an"] {
        assert!(speaks_of_folders_only(folders), "{folders}");
    }
    for files in ["create a file in my folder", "put a.txt into the folder", "Erstelle eine Datei im Ordner x", "hi"] {
        assert!(!speaks_of_folders_only(files), "{files}");
    }
}

#[doc = "holds: law 0.18; design G19"]
#[test]
fn a_check_elsewhere_than_the_user_named_supports_nothing() {
    for (request, path) in [
        ("how many files are in ~/docs?", "/home/u/docs"),
        ("how many files are in ~/Docs/.", "/home/u/docs"),
        ("lines of src/main.rs", "/home/u/src/main.rs"),
        ("lines of /etc/hosts", "/etc/hosts"),
        ("how many reports are there", "/anywhere"),
    ] {
        assert!(may_mean(request, path), "{request} {path}");
    }
    for (request, path) in [
        ("how many files are in ~/docs?", "/tmp"),
        ("lines of main.rs", "/home/u/domain.rs"),
        ("lines of /etc/hosts", "/tmp/etc/hosts2"),
        ("compare a.txt with the rest", "/home/u/b.txt"),
    ] {
        assert!(!may_mean(request, path), "{request} {path}");
    }
}

#[test]
fn names_with_spaces_are_known_by_what_was_changed() {
    let left = |request: &str, changed: &str| named_destinations(&without_names(request, [changed.to_owned()].iter()));
    for request in [
        "make 'Desktop/run me.sh' executable",
        "make Desktop/run me.sh executable",
        "change \"run me.sh\" so that it can be run",
        "update ~/Desktop/run me.sh.",
        "save it to /home/u/desktop/run me.sh",
    ] {
        assert_eq!(left(request, "/home/u/Desktop/run me.sh"), [""; 0], "{request}");
    }
    // Two files are no name with spaces, and a name elsewhere or a part of a longer one is another file.
    for (request, changed, missing) in [
        (
            "copy it to a.txt and save the rest to b.txt",
            "/home/u/a.txt and save the rest to b.txt",
            &["a.txt", "b.txt"][..],
        ),
        ("save it to '/etc/run me.sh'", "/home/u/run me.sh", &["/etc/run me.sh"]),
        ("save it to 'run me.sh'", "/home/u/do not run me.sh", &["run me.sh"]),
        ("save it to 'run me.sh'", "/home/u/me.sh", &["run me.sh"]),
    ] {
        let named = left(request, changed);
        assert_eq!(named, missing, "{request}");
    }
    assert!(may_mean("how many lines has ~/My Docs/a b.txt", "/home/u/My Docs/a b.txt"));
    assert!(may_mean("how many files are in 'My Docs'", "/home/u/My Docs"));
    assert!(!may_mean("how many lines has \"My Docs/a b.txt\"", "/home/u/Other/a b.txt"));
    assert!(!may_mean("how many lines has my docs/b.txt", "/home/u/b.txt"));
}
