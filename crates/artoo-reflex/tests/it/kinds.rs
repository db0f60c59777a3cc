//! Tests of the kinds of question in `kinds`: how they are read, and that the programs print what is computed without
//! them.

mod repository;
mod table;

use std::fs;
use std::path::Path;

use artoo_proto::{Environment, Timestamp};

use super::meaning::run;
use super::{environment, now};
use artoo_reflex::algebra::{Act, Step};
use artoo_reflex::eval::verify;
use artoo_reflex::parse;
use artoo_reflex::testing::{MemoryFileSystem, programs};

/// A temporary folder with the same files in memory.
struct World {
    folder: tempfile::TempDir,
    memory: MemoryFileSystem,
}

impl World {
    /// A temporary folder with tables, texts and JSON files, and the same in memory.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut memory = MemoryFileSystem::new(folder.path());
        for (name, text) in [
            ("staff.csv", "role;town;pay\ncook;Bonn;2900\nclerk;Ulm;2750.5\nnurse;Bonn;3400\n\n"),
            ("goods.csv", "name,price,stock\n\"Lamp, small\",19.90,12\nChair,49.00,0\n\"a \"\"b\"\"\",5,7\n"),
            ("weather.tsv", "city\ttemperature\nOslo\t-4\nRome\t19\nParis\t12\n"),
            ("orders.json", "[{\"city\": \"Oslo\", \"total\": 120}, {\"city\": \"Rome\", \"total\": 7.5}]\n"),
            ("moves.csv", "name,from,into,size\nAda,Bonn,Ulm,BIG\nBob,Ulm,Bonn,Big\nEve,Ulm,Kiel,small\n"),
            ("config.json", "{\"port\": 80, \"db\": {\"host\": \"h\"}, \"tags\": [\"b\", \"a\"]}\n"),
            (
                "bills.csv",
                "day,kind,amount\n2024-03-05,food,4\n2023-12-31,rent,90\n2024-03-20,food,6\n2024-05-01,rent,91\n",
            ),
            (
                "web.log",
                "10.0.0.1 - - [12/Mar/2024:10:00:01 +0000] \"GET /a.html HTTP/1.1\" 200 30\n\
                 10.0.0.2 - - [12/Mar/2024:10:00:02 +0000] \"GET /b.html HTTP/1.1\" 404 9 \"-\" \"curl/8\"\n\
                 10.0.0.2 - - [12/Mar/2024:10:00:03 +0000] \"POST /a.html HTTP/1.1\" 200 404\n",
            ),
            (
                "run.log",
                "2024-03-05 08:00:01 INFO start up\n2024-03-06 08:00:02 ERROR disk full\n2024-03-06 08:00:03 WARNING disk\n",
            ),
            ("mixed.log", "2024-03-05 08:00:01 INFO start up\n  at line 3\n"),
            ("a.txt", "one\ntwo\nthree\n"),
            ("b.txt", "four\n"),
        ] {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            memory.add_file(path, text, Timestamp::default());
        }
        for folder in ["/usr/bin", "/bin"] {
            if Path::new(folder).join("jq").exists() {
                memory.add_file(format!("{folder}/jq"), "", Timestamp::default());
                memory.set_mode(format!("{folder}/jq"), 0o755);
            }
        }
        memory.variables.insert("PATH".to_owned(), b"/usr/bin:/bin".to_vec());
        Self { folder, memory }
    }

    /// The steps of a request in the folder; `None` if it is not read.
    fn steps(&self, request: &str) -> Option<Vec<Step>> {
        let cwd = self.folder.path().to_str().unwrap().to_owned();
        let environment = Environment { cwd, ..environment() };
        parse(request, &[], &environment, now(), &self.memory).ok().map(|parsed| parsed.steps)
    }

    /// What the real programs print for a question, or for the text that an edit writes; also checked against the
    /// computed answer.
    #[track_caller]
    fn printed(&self, request: &str) -> String {
        let steps = self.steps(request).unwrap_or_else(|| panic!("{request} is not read"));
        let [Step::Ask(query) | Step::Do(Act::Save { of: query, .. })] = steps.as_slice() else { panic!("{steps:?}") };
        let output = run(&programs(query, "linux").unwrap());
        let found = verify(&serde_json::to_value(query).unwrap(), &output, &self.memory);
        assert!(found.pass, "{request}: {}\n{output}", found.evidence);
        let other = verify(&serde_json::to_value(query).unwrap(), &format!("{output}9\n"), &self.memory);
        assert!(!other.pass, "{request}: a wrong answer passes");
        output
    }
}

/// Real programs print the computed texts with lines removed, replaced or inserted by number.
#[test]
fn lines_are_edited_by_their_numbers() {
    let world = World::new();
    for (request, expected) in [
        ("delete the second line of a.txt", "one\nthree"),
        ("remove lines 2 to 3 from a.txt", "one"),
        ("replace line 2 of a.txt with 'x'", "one\nx\nthree"),
        ("insert 'x' after line 1 of a.txt", "one\nx\ntwo\nthree"),
        ("append the contents of b.txt to a.txt", "one\ntwo\nthree\nfour"),
        ("combine a.txt and b.txt into one file c.txt", "one\ntwo\nthree\nfour"),
    ] {
        assert_eq!(world.printed(request).trim_end(), expected, "{request}");
    }
    for request in ["delete the fourth line of a.txt", "append the contents of a.txt to a.txt"] {
        assert_eq!(world.steps(request), None, "{request}");
    }
}

/// Real programs print the computed answers to questions about lines.
#[test]
fn lines_are_picked_and_measured() {
    let mut world = World::new();
    let folder = world.folder.path().to_owned();
    for (name, text) in [
        ("log.txt", "10.0.0.1 GET a\n10.0.0.2 GET b\n10.0.0.1 say hello there\nsee https://a.org/x or b@c.org.\n"),
        ("n.txt", "17\n4\n99\n8\n"),
        ("sorted.txt", "alpha\nbeta\n"),
        ("twice.txt", "a\nb\nc\nc\na\na\n"),
    ] {
        fs::write(folder.join(name), text).unwrap();
        world.memory.add_file(folder.join(name), text, Timestamp::default());
    }
    for (request, expected) in [
        ("every second line of a.txt", "two"),
        ("odd-numbered lines of a.txt", "one\nthree"),
        ("even lines of a.txt", "two"),
        ("first 2 characters of each line of sorted.txt", "al\nbe"),
        ("all lines of a.txt except the last two", "one"),
        ("last 2 characters of each line of sorted.txt", "ha\nta"),
        ("each line of sorted.txt with its characters reversed", "ahpla\nateb"),
        ("each line of sorted.txt preceded by '> '", "> alpha\n> beta"),
        ("show sorted.txt with '!' after each line", "alpha!\nbeta!"),
        ("show the line before 'two' in a.txt", "one"),
        ("show 1 line after two in a.txt", "three"),
        ("lines with more than 3 words in log.txt", "10.0.0.1 say hello there\nsee https://a.org/x or b@c.org."),
        ("how many words does each line of sorted.txt have", "1\talpha\n1\tbeta"),
        ("how long is the longest line in a.txt", "5"),
        ("the numbers above 10 in n.txt", "17\n99"),
        ("numbers in n.txt between 5 and 20", "17\n8"),
        ("the two largest numbers in n.txt", "99\n17"),
        ("median of the numbers in n.txt", "12.5"),
        ("is sorted.txt sorted?", "yes"),
        ("is a.txt in alphabetical order", "no"),
        ("find numbers with two digits in n.txt", "17\n99"),
        ("extract all urls from log.txt", "https://a.org/x"),
        ("find email addresses in log.txt", "b@c.org"),
        ("list every IP address in log.txt once", "10.0.0.1\n10.0.0.2"),
        ("how many distinct IP addresses are in log.txt", "2"),
        ("which ip appears most often in log.txt", "2 10.0.0.1"),
        ("which lines are listed only once in twice.txt", "b"),
        ("which entries are written more than once in twice.txt", "a\nc"),
        ("lines with two in a.txt and one line after each", "two\nthree"),
        // Both stand there once, so neither is named alone.
        ("which line is the most common in sorted.txt", "1 alpha\n      1 beta"),
    ] {
        assert_eq!(world.printed(request).trim(), expected, "{request}");
    }
    for request in
        ["show 1 line after e in a.txt", "the numbers above many in n.txt", "every second line of nowhere.txt"]
    {
        assert_eq!(world.steps(request), None, "{request}");
    }
}

/// Real programs print the computed answers to questions about files.
#[test]
fn files_are_measured_and_compared() {
    let mut world = World::new();
    let folder = world.folder.path().to_owned();
    for (name, text) in [
        ("p/one.txt", "x\ny ERROR\n"),
        ("p/in/two.txt", "z\n"),
        ("p/in/deep/three.txt", "ERROR\n"),
        ("q/one.txt", "x\n"),
        ("q/copy.txt", "z\n"),
        ("r/copy.txt", "r\n"),
    ] {
        fs::create_dir_all(folder.join(name).parent().unwrap()).unwrap();
        fs::write(folder.join(name), text).unwrap();
    }
    std::os::unix::fs::symlink("copy.txt", folder.join("r/link")).unwrap();
    mirror(&folder, &mut world.memory);
    let root = format!("{}/", folder.to_str().unwrap());
    for (request, expected) in [
        ("how many files are in each folder of p", "2\tin"),
        ("tree of p two levels deep", "p/in\np/in/deep\np/in/two.txt\np/one.txt"),
        ("which txt file in p has the most lines?", "p/one.txt"),
        ("which txt files in p have more than 1 line?", "p/one.txt"),
        ("files in p with fewer than 2 lines", "p/in/deep/three.txt\np/in/two.txt"),
        ("how many ERROR lines does each txt file in p have", "p/in/deep/three.txt:1\np/in/two.txt:0\np/one.txt:1"),
        ("size of p/one.txt in kilobytes", "0.01 kB"),
        ("are all files in q txt files", "yes"),
        ("are all files in p empty", "no"),
        ("find files in q with the same content as p/in/two.txt", "q/copy.txt"),
        ("compare the folders p and q", "Files p/one.txt and q/one.txt differ\nOnly in p: in\nOnly in q: copy.txt"),
        ("calculate the md5 sum of the md5 sums of all files in q", "f1112149f081967af5b9488b923e27b0"),
        ("is q a folder or a file", "folder"),
        ("is p/one.txt a symlink", "no"),
        ("which files in q are copies of files in p", "q/copy.txt"),
        ("do I have any txt files in q", "yes\nq/copy.txt\nq/one.txt"),
        ("which files in p mention ERROR or foo", "p/in/deep/three.txt\np/one.txt"),
        ("is there another copy of q/copy.txt in p", "p/in/two.txt"),
        ("files that are in both p and q but with different content", "Files p/one.txt and q/one.txt differ"),
        ("which has more files, p or q", "3\tp"),
        ("does q have more files than p", "no\n2\tq\n3\tp"),
        ("is p bigger than q", "yes\n18\tp\n4\tq"),
        ("are there more than 2 files in q", "no, 2"),
        ("does q contain at least 2 files", "yes, 2"),
        ("are there fewer than 3 files in q", "yes, 2"),
        ("where does r/link point to", "copy.txt"),
        ("list the symbolic links in r and where they point", "r/link -> copy.txt"),
    ] {
        assert_eq!(
            world.printed(request).trim().replace(&root, "").replace(root.trim_end_matches('/'), ""),
            expected,
            "{request}"
        );
    }
}

/// Real programs print the computed encodings and parts of texts in the request.
#[test]
fn texts_of_the_request_are_changed() {
    let world = World::new();
    for (request, expected) in [
        ("base64 encode the string 'hello'", "aGVsbG8="),
        ("decode 'aGVsbG8=' from base64", "hello"),
        ("convert the text 'abC' to uppercase", "ABC"),
        ("reverse the string 'abc'", "cba"),
        ("how long is the string 'abcd'", "4"),
        ("remove the last 3 characters from \"987654321\"", "987654"),
        ("show the first 2 characters of 'hello'", "he"),
        ("remove all characters except \";\" and digits from the string \"a;8 7\"", ";87"),
        ("extract the host name from \"http://ada@www.x.org:80/a\"", "www.x.org"),
        ("show the directory of the path '/a/b/c.txt'", "/a/b"),
        ("print the md5 of the string 'a'", "0cc175b9c0f1b6a831c399e269772661"),
        ("print numbers 1 through 5 separated by \":\"", "1:2:3:4:5"),
    ] {
        assert_eq!(world.printed(request).trim_end(), expected, "{request}");
    }
    for request in ["base64 decode '?'", "print numbers 5 to 1", "print numbers 1 to 1000000"] {
        assert_eq!(world.steps(request), None, "{request}");
    }
}

#[test]
fn acts_by_rule_list_changed_files() {
    let mut world = World::new();
    let folder = world.folder.path().to_owned();
    for (name, text) in
        [("p/x.md", "same"), ("p/y.md", "same"), ("p/empty.md", ""), ("p/none.md", ""), ("p/z.TXT", "z")]
    {
        world.memory.add_file(folder.join(name), text, Timestamp::default());
    }
    let folder = folder.to_str().unwrap().to_owned();
    let said = |request: &str| {
        let steps = world.steps(request)?;
        Some(
            artoo_reflex::english_steps(&steps)
                .replace(&format!("{folder}/"), "")
                .replace(", hidden files left out", ""),
        )
    };
    let duplicates = "list the duplicates of the files in the folder p, subfolders included, hidden files included";
    for (request, expected) in [
        ("delete duplicate files in p", Some(format!("{duplicates}; then delete the file p/y.md"))),
        ("delete duplicate files in q", None),
        (
            "sort the files in p into folders by extension",
            Some(
                "move the files directly in the folder p, ending in .md into the folder p/md; then move the files \
                directly in the folder p, ending in .txt into the folder p/txt"
                    .to_owned(),
            ),
        ),
        ("create numbered folders w1 to w3", Some("create the folders w1, w2 and w3".to_owned())),
        ("create numbered folders w3 to w1", None),
        ("back up a.txt with a date stamp", Some("copy the file a.txt as the new file a-2024-05-15.txt".to_owned())),
    ] {
        assert_eq!(said(request), expected, "{request}");
    }
}

/// Copies everything in a folder on disk into the file system in memory.
fn mirror(folder: &Path, memory: &mut MemoryFileSystem) {
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            memory.add_folder(&entry, Timestamp::default());
            mirror(&entry, memory);
        } else if let Ok(target) = fs::read_link(&entry) {
            memory.add_link(&entry, target.to_str().unwrap());
        } else {
            memory.add_file(&entry, fs::read(&entry).unwrap(), Timestamp::default());
        }
    }
}
