//! Tests that requests in many wordings are read with the meaning each must have.

use super::read;

/// Asserts that each request is read as `expected`, in which `§` stands for ", subfolders included, hidden files
/// included".
fn check(expected: &str, requests: &[&str]) {
    let expected = expected.replace('§', ", subfolders included, hidden files included");
    for request in requests {
        match read(request) {
            Ok(parsed) => assert_eq!(parsed.reading, expected, "{request}"),
            Err(refusal) => panic!("{request}: refused, {refusal:?}"),
        }
    }
}

#[test]
fn counting_requests_are_read() {
    check(
        "count the files in the folder /home/ada/Downloads§, ending in .pdf",
        &[
            "how many PDFs are in ~/Downloads",
            "How many PDF files do I have in my downloads folder?",
            "count the PDFs in my Downloads directory",
            "number of pdf files under ~/Downloads",
            "Could you please tell me how many PDF documents there are in my downloads?",
            "what is the total number of PDFs in ~/Downloads",
            "in ~/Downloads, how many pdfs are there?",
            "how many files ending in .pdf are inside ~/Downloads",
            "how many files in ~/Downloads are PDFs?",
            "how many PDFs does my downloads folder contain?",
            "find all PDFs in ~/Downloads and count them",
            "tell me the PDF count in ~/Downloads",
            "count files with the extension pdf in ~/Downloads, including subfolders",
            "COUNT ALL THE PDFS IN ~/Downloads",
            "how many .pdf files exist in ~/Downloads",
        ],
    );
    check(
        "count the folders directly in the folder /etc, hidden files included",
        &["how many directories are there in /etc, not including subfolders?", "count the folders directly in /etc"],
    );
    check(
        "count the lines of the file /home/ada/work/README.md",
        &[
            "how many lines are in README.md",
            "count lines in README.md",
            "number of lines of ./README.md",
            "how many lines does README.md have?",
            "how many lines does the file README.md contain",
        ],
    );
    check(
        "count the lines of the file /home/ada/work/app.log, containing \"error\"",
        &[
            "how many lines in app.log contain \"error\"",
            "count the lines of app.log that mention 'error'",
            "how many lines containing the word error are in app.log",
            "count lines matching 'error' in app.log",
        ],
    );
}

#[test]
fn searches_by_kind_and_name_are_read() {
    check(
        "list the files in the folder /home/ada/work/src§, ending in .py",
        &[
            "list all python files in src",
            "show me the Python scripts in src/",
            "find py files under ./src",
            "which python files are in the src folder?",
            "find files with a .py extension in the folder src",
        ],
    );
    check(
        "list the files in the folder /home/ada/work§, ending in .jpg or .png",
        &[
            "list jpg and png files",
            "show .jpg or .png files here",
            "files ending in .png or .jpg in this folder",
            "all jpgs and pngs in the current directory",
            "jpg, png files",
        ],
    );
    check(
        "list the files in the folder /home/ada/work§, named \"todo.md\"",
        &["find the file todo.md", "where is todo.md", "find a file called todo.md", "locate todo.md please"],
    );
    check(
        "whether there are any files in the folder /home/ada/work§, named \"todo.md\"",
        &[
            "is there a file named 'todo.md'?",
            "are there any files called todo.md",
            "check if there is a file named todo.md",
        ],
    );
    check(
        "list the files in the folder /home/ada/Documents§, with \"invoice\" in the name",
        &[
            "find files whose name contains invoice in my documents",
            "files with 'invoice' in their name in ~/Documents",
            "search my documents for files with invoice in the filename",
            "show files in my documents folder with names containing \"invoice\"",
        ],
    );
    check(
        "list the files in the folder /home/ada/Pictures§, starting with \"IMG_\"",
        &[
            "files starting with IMG_ in ~/Pictures",
            "find files in my pictures folder that begin with 'IMG_'",
            "list files whose names start with IMG_ in my pictures",
        ],
    );
    check(
        "list the files in the folder /home/ada/work§, except .pdf",
        &["all files except PDFs", "files that are not PDFs", "non-PDF files", "list files other than pdf files"],
    );
    check(
        "list the files directly in the folder /home/ada/x, hidden files included, ending in .json",
        &["list json files in ~/x only", "list json files at the top level of ~/x", "only json files directly in ~/x"],
    );
    check(
        "list the files in the folder /home/ada/x§, ending in .json",
        &["only json files in ~/x", "json files under ~/x"],
    );
    check(
        "list the files and folders in the folder /home/ada/x§",
        &["list everything in ~/x", "list files and folders in ~/x", "show all directories and files under ~/x"],
    );
    check(
        "list the files directly in the folder /home/ada/x, hidden files left out, matching \"*.txt\"",
        &["list ~/x/*.txt", "show me ~/x/*.txt"],
    );
    check(
        "list the files in the folder /home/ada, subfolders included, hidden files included, starting with \".\"",
        &["hidden files in ~", "list all dotfiles in my home directory"],
    );
    check(
        "list the files in the folder /home/ada/x, subfolders included, hidden files included",
        &["list all files in ~/x including hidden ones", "show files in ~/x, hidden files included, recursively"],
    );
    check(
        "list the files and folders directly in the folder /home/ada/Downloads, hidden files left out",
        &["what is in ~/Downloads", "what's in my downloads folder?", "list ~/Downloads", "show my downloads"],
    );
}

#[test]
fn searches_by_size_are_read() {
    check(
        "list the files in the folder /home/ada/Documents§, of at least 10000001 bytes",
        &[
            "find files bigger than 10 MB in my documents",
            "files over 10MB in ~/Documents",
            "which files in ~/Documents exceed 10 megabytes?",
            "show files > 10 MB in my documents folder",
            "files with a size greater than 10,000,000 bytes in ~/Documents",
        ],
    );
    check(
        "list the files in the folder /home/ada/work§, of at least 5242880 bytes",
        &["files of at least 5 MiB", "files no smaller than 5M", "files that are 5MiB or larger"],
    );
    check(
        "list the files in the folder /home/ada/work§, of at least 1000000 bytes, of at most 5000000 bytes",
        &["files between 1 and 5 MB", "files from 1 MB to 5 MB in size", "files that are at least 1MB and at most 5MB"],
    );
    check(
        "list the files in the folder /home/ada/work§, empty",
        &["empty files", "zero-byte files", "files of exactly 0 bytes"],
    );
    check(
        "list the files in the folder /home/ada/work§, of at most 999 bytes",
        &["files smaller than 1 KB", "files under 1kb", "files less than one kilobyte in size"],
    );
}

#[test]
fn searches_by_time_are_read() {
    check(
        "list the files in the folder /home/ada/x§, modified at or after 2024-05-12T13:00:00.000Z",
        &[
            "files modified in the last 3 days in ~/x",
            "which files in ~/x were changed within the past three days?",
            "files less than 3 days old in ~/x",
            "files in ~/x newer than 72 hours",
            "what files in ~/x have I edited during the last 3 days",
        ],
    );
    check(
        "list the files in the folder /home/ada/work§, modified before 2024-05-01T13:00:00.000Z",
        &[
            "files older than 2 weeks",
            "files more than two weeks old",
            "files not modified in 2 weeks",
            "files that haven't been touched for a fortnight",
            "files modified more than 14 days ago",
        ],
    );
    check(
        "list the files in the folder /home/ada/work§, modified at or after 2024-05-13T23:00:00.000Z, modified before 2024-05-14T23:00:00.000Z",
        &[
            "files modified yesterday",
            "yesterday's files",
            "files from yesterday",
            "which files did I change yesterday?",
            "files modified on 2024-05-14",
            "files edited on Tuesday",
            "files modified on May 14th",
        ],
    );
    check(
        "list the files in the folder /home/ada/work§, modified at or after 2024-05-12T23:00:00.000Z",
        &["files modified since Monday", "files changed since 2024-05-13"],
    );
    check(
        "list the files in the folder /home/ada/work§, modified at or after 2022-12-31T23:00:00.000Z, modified before 2023-12-31T23:00:00.000Z",
        &["files modified in 2023", "files from 2023", "files from last year"],
    );
    check(
        "list the files in the folder /home/ada/work§, modified before 2022-12-31T23:00:00.000Z",
        &["files last modified before 2023"],
    );
}

#[test]
fn searches_by_content_are_read() {
    check(
        "list the files in the folder /home/ada/work§, containing \"foo bar\"",
        &[
            "which files contain \"foo bar\"",
            "find files that mention 'foo bar'",
            "search for files containing the text “foo bar”",
            "files with \"foo bar\" in them",
        ],
    );
    check(
        "list the files in the folder /home/ada/work§, ending in .md, containing \"todo\", ignoring case",
        &[".md files containing 'todo' ignoring case", "which .md files mention todo, regardless of case?"],
    );
}

#[test]
fn superlatives_and_limits_are_read() {
    check(
        "list the largest file in the folder /home/ada/Downloads§",
        &[
            "what's the biggest file in ~/Downloads?",
            "which file in my downloads is the largest",
            "show me the largest file in my Downloads folder",
            "the single biggest file under ~/Downloads",
            "how big is the largest file in ~/Downloads",
            "biggst file in ~/Downloads",
        ],
    );
    check(
        "list the 5 largest files in the folder /var/log§",
        &[
            "show me the 5 largest files in /var/log",
            "top five files by size in /var/log",
            "the 5 biggest files under /var/log",
            "largest 5 files in /var/log",
            "five biggest files in /var/log",
            "5 largest files in /var/log sorted by size",
        ],
    );
    check(
        "list the 3 newest files in the folder /home/ada/work§, ending in .pdf",
        &["the 3 newest PDFs", "three most recently modified pdf files here", "latest 3 PDFs in this folder"],
    );
    check(
        "list the oldest file in the folder /home/ada/work§",
        &["oldest file", "which file is the oldest?", "the file modified least recently"],
    );
    check(
        "list the files in the folder /home/ada/x§, sorted by size in descending order",
        &[
            "list the files in ~/x sorted by size",
            "files in ~/x by size, descending",
            "list files in ~/x, largest first",
            "list files in ~/x sorted by size, biggest first",
        ],
    );
    check(
        "list the files in the folder /home/ada/x§, sorted by name in ascending order",
        &["list the files in ~/x alphabetically", "list files in ~/x sorted by name"],
    );
}

#[test]
fn sums_of_sizes_are_read() {
    check(
        "total size of the files in the folder /home/ada/Videos§, ending in .mp4",
        &[
            "total size of the mp4s in ~/Videos",
            "how much space do the .mp4 files in my videos folder take up?",
            "how much disk space is used by mp4 files in my videos",
            "combined size of all mp4 files under ~/Videos",
            "add up the sizes of the mp4s in ~/Videos",
        ],
    );
    check(
        "total size of the files in the folder /var/log, subfolders included, hidden files included",
        &["how big is /var/log?", "how much space does /var/log take up", "total size of /var/log"],
    );
    check(
        "list the files directly in the folder /home/ada/work, hidden files left out, named \"notes.txt\", with sizes",
        &["how big is notes.txt", "what size is notes.txt"],
    );
    check("show the time of the last change of /home/ada/work/notes.txt", &["when was notes.txt last modified?"]);
}

#[test]
fn questions_about_lines_are_read() {
    check(
        "show the first 5 lines of the file /home/ada/work/notes.txt",
        &[
            "show the first 5 lines of notes.txt",
            "first five lines of ./notes.txt",
            "print the top 5 lines of the file notes.txt",
            "give me the first 5 lines in notes.txt",
        ],
    );
    check(
        "show the last 10 lines of the file /var/log/syslog",
        &[
            "last ten lines of /var/log/syslog",
            "tail /var/log/syslog",
            "show me the end of /var/log/syslog",
            "the bottom 10 lines of /var/log/syslog",
        ],
    );
    check("show the last line of the file /home/ada/work/notes.txt", &["print the last line of notes.txt"]);
    check(
        "show the line 7 of the file /home/ada/work/notes.txt",
        &["line 7 of notes.txt", "show me the 7th line of notes.txt"],
    );
    check(
        "show the lines 5 to 10 of the file /home/ada/work/x.txt",
        &["lines 5 to 10 of x.txt", "show lines 5-10 in x.txt", "print lines 5 through 10 of x.txt"],
    );
    check(
        "show the lines of the file /home/ada/work/main.rs, containing \"TODO\"",
        &[
            "lines containing TODO in main.rs",
            "grep TODO in main.rs",
            "which lines of main.rs mention 'TODO'?",
            "lines with 'TODO' in main.rs",
            "search main.rs for TODO",
        ],
    );
    check(
        "show the lines of the file /home/ada/work/notes.txt",
        &["show notes.txt", "cat notes.txt", "print the contents of notes.txt"],
    );
}

#[doc = "holds: law 0.15"]
#[test]
fn assumptions_are_told_to_user() {
    let parsed = read("how many PDFs containing 'x' of more than 1 MB").unwrap();
    let told = parsed.assumptions.join("; ");
    for part in [
        "subfolders included",
        "hidden files included",
        "/home/ada/work",
        "1 MB is 1,000,000 bytes",
        "upper and lower case differ",
    ] {
        assert!(told.contains(part), "{part} is not in {told}");
    }
    let parsed = read("largest images in ~/x").unwrap();
    assert!(parsed.assumptions.iter().any(|note| note.contains("first 10")), "{:?}", parsed.assumptions);
    assert!(parsed.assumptions.iter().any(|note| note.contains(".jpeg, .png")), "{:?}", parsed.assumptions);
    let parsed = read("biggst file in src").unwrap();
    assert!(parsed.assumptions.contains(&"“biggst” is read as “biggest”".to_owned()), "{:?}", parsed.assumptions);
    assert_eq!(
        read("list files in ~/x recursively, including hidden files").unwrap().assumptions,
        Vec::<String>::new()
    );
}
