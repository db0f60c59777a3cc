//! Tests of the kinds of question in `kinds`: how they are read, and that the programs print what is computed without
//! them.

use std::fs;
use std::path::Path;
use std::process::Command;

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

/// Real programs print the computed answers to questions about CSV tables.
#[test]
fn tables_answer_by_their_headings() {
    let world = World::new();
    for (request, expected) in [
        ("sum of the pay column in staff.csv", "9050.5"),
        ("average pay in staff.csv", "3016.8333"),
        ("what is the highest pay in staff.csv", "3400"),
        ("average pay by town in staff.csv", "3150\tBonn\n2750.5\tUlm"),
        ("how many people per town in staff.csv", "2\tBonn\n1\tUlm"),
        ("rows in staff.csv where town is bonn", "cook;Bonn;2900\nnurse;Bonn;3400"),
        ("how many rows in staff.csv have town equal to Bonn", "2"),
        ("show the role column of staff.csv where pay is more than 2800", "cook\nnurse"),
        ("sort staff.csv by pay, highest first", "nurse;Bonn;3400\ncook;Bonn;2900\nclerk;Ulm;2750.5"),
        ("show the name and price columns of goods.csv", "\"Lamp, small\",19.90\nChair,49.00\n\"a \"\"b\"\"\",5"),
        ("what's the stock of Chair in goods.csv", "0"),
        ("which city in weather.tsv has the lowest temperature", "Oslo"),
        ("list the different towns in staff.csv", "Bonn\nUlm"),
        ("what columns does weather.tsv have?", "city\ntemperature"),
        ("how many columns does goods.csv have", "3"),
        ("total per town in staff.csv", "6300\tBonn\n2750.5\tUlm"),
        ("the two highest pays in staff.csv", "3400\n2900"),
        ("staff from Bonn, I only need the role", "cook\nnurse"),
        ("who has the highest pay, and in which town?", "nurse;Bonn;3400"),
        ("staff.csv: which town has the lowest total pay", "2750.5\tUlm"),
        ("average pay of the Bonn people", "3150"),
        ("the cheapest of the goods", "\"a \"\"b\"\"\",5,7"),
        ("goods cheaper than 20, names only", "Lamp, small\na \"b\""),
        ("coldest city", "Oslo"),
        ("how much does the Chair cost", "49.00"),
        ("top 2 cities by temperature in weather.tsv", "Rome\nParis"),
        ("the cheapest 2 goods", "\"a \"\"b\"\"\",5,7\n\"Lamp, small\",19.90,12"),
    ] {
        assert_eq!(world.printed(request).trim_end(), expected, "{request}");
    }
    for request in [
        "sum of the height column in staff.csv",
        "sum of the town column in staff.csv",
        "average pay by country in staff.csv",
        "show everyone from Paris in staff.csv",
        "sum of the pay column in a.txt",
        "average price in goods.csv and the weather",
        "what's the highest row in staff.csv",
        "is the nurse the coldest in Bonn",
        "average temperature tomorrow",
        "the total",
        "rows in staff.csv with town \"all\"",
        "rows in staff.csv with town \"most\"",
        "are all staff from Bonn",
        "goods and 7",
        // March is not said of which year, and a price and a stock may be meant.
        "bills of march or rent",
        "paid bills",
        "sort staff.csv by town and pay",
        "pay since 2900 in staff.csv",
        // Two columns have the town, and one has the size in two letter cases.
        "who is in bonn, see moves.csv",
        "moves with size big in moves.csv",
    ] {
        assert_eq!(world.steps(request), None, "{request}");
    }
}

/// Real programs print the computed answers to questions about dates, texts in order, bounds and equal ranks in tables.
#[test]
fn tables_compare_dates_texts_and_ranks() {
    let world = World::new();
    for (request, expected) in [
        ("sort staff.csv by town", "cook;Bonn;2900\nnurse;Bonn;3400\nclerk;Ulm;2750.5"),
        ("staff from Bonn and Ulm", "cook;Bonn;2900\nclerk;Ulm;2750.5\nnurse;Bonn;3400"),
        ("which town has the most people in staff.csv", "2\tBonn"),
        // Both have two rows.
        ("most common kind in bills.csv", "2\tfood\n2\trent"),
        ("goods with a price of at least 5", "\"Lamp, small\",19.90,12\nChair,49.00,0\n\"a \"\"b\"\"\",5,7"),
        ("goods between 5 and 20, see goods.csv", "\"Lamp, small\",19.90,12\n\"a \"\"b\"\"\",5,7"),
        ("staff with a pay of 2900 or more", "cook;Bonn;2900\nnurse;Bonn;3400"),
        ("price of the small lamp", "19.90"),
        ("bills of march 2024", "2024-03-05,food,4\n2024-03-20,food,6"),
        ("total amount of the bills in 2024", "101"),
        ("bills from march 2024 on", "2024-03-05,food,4\n2024-03-20,food,6\n2024-05-01,rent,91"),
        ("who has the lowest pay and not in Bonn", "clerk;Ulm;2750.5"),
        ("bills that are not rent", "2024-03-05,food,4\n2024-03-20,food,6"),
        ("total amount of the bills except food", "181"),
        ("which kind has the most amount in bills.csv", "181\trent"),
        ("bills after 2024-03-05", "2024-03-20,food,6\n2024-05-01,rent,91"),
        (
            "sort bills.csv by day, newest first",
            "2024-05-01,rent,91\n2024-03-20,food,6\n2024-03-05,food,4\n2023-12-31,rent,90",
        ),
        (
            "save the rows of bills.csv from 2024 to new.csv",
            "day,kind,amount\n2024-03-05,food,4\n2024-03-20,food,6\n2024-05-01,rent,91",
        ),
        ("spending per kind in bills.csv", "181\trent\n10\tfood"),
    ] {
        assert_eq!(world.printed(request).trim_end(), expected, "{request}");
    }
}

/// Real programs print the computed answers to questions about logs whose lines have a known form.
#[test]
fn logs_answer_by_their_fields() {
    let world = World::new();
    let second = "10.0.0.2 - - [12/Mar/2024:10:00:02 +0000] \"GET /b.html HTTP/1.1\" 404 9 \"-\" \"curl/8\"";
    for (request, expected) in [
        ("requests with status 404 in web.log", second),
        ("how many requests per status code in web.log", "2\t200\n1\t404"),
        ("hits per ip in web.log", "2\t10.0.0.2\n1\t10.0.0.1"),
        ("which page was requested most often, see web.log", "2\t/a.html"),
        ("total bytes per page in web.log", "434\t/a.html\n9\t/b.html"),
        (
            "errors and warnings of 6 march in run.log",
            "2024-03-06 08:00:02 ERROR disk full\n2024-03-06 08:00:03 WARNING disk",
        ),
        ("how many entries per level in run.log", "1\tINFO\n1\tERROR\n1\tWARNING"),
        ("count the warnings since 2024-03-06 in run.log", "1"),
    ] {
        assert_eq!(world.printed(request).trim_end(), expected, "{request}");
    }
    // A line of another form could be one that is asked for.
    for request in ["how many entries per level in mixed.log", "404 or 9 in web.log"] {
        assert_eq!(world.steps(request), None, "{request}");
    }
}

/// Real programs print the computed answers to questions about JSON files.
#[test]
fn json_answers_by_its_keys() {
    let world = World::new();
    if !Path::new("/usr/bin/jq").exists() {
        return;
    }
    for (request, expected) in [
        ("value of port in config.json", "80"),
        ("get db.host from config.json", "h"),
        ("list the tags in config.json", "b\na"),
        ("which keys does config.json have", "port\ndb\ntags"),
        ("total per city in orders.json", "120\tOslo\n7.5\tRome"),
        ("how many orders are in orders.json", "2"),
    ] {
        assert_eq!(world.printed(request).trim_end(), expected, "{request}");
    }
    for request in ["value of colour in config.json", "value of db in config.json", "how many pears are in orders.json"]
    {
        assert_eq!(world.steps(request), None, "{request}");
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
        ("all lines of a.txt except the last two", "one"),
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
        ("is there another copy of q/copy.txt in p", "p/in/two.txt"),
        ("files that are in both p and q but with different content", "Files p/one.txt and q/one.txt differ"),
        ("which has more files, p or q", "3\tp"),
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

/// Runs git with these arguments in a folder, as an author.
fn git(folder: &Path, arguments: &[&str], author: &str) {
    let day = "2024-02-03T23:30:00 -0300";
    let done = Command::new("git")
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .envs([("PATH", "/usr/bin:/bin"), ("HOME", "/"), ("GIT_CONFIG_NOSYSTEM", "1")])
        .envs([("GIT_AUTHOR_NAME", author), ("GIT_COMMITTER_NAME", author), ("GIT_AUTHOR_DATE", day)])
        .envs([("GIT_AUTHOR_EMAIL", "a@b"), ("GIT_COMMITTER_EMAIL", "a@b"), ("GIT_COMMITTER_DATE", day)])
        .output()
        .unwrap();
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
}

/// Real git prints the answers that are computed from a repository's files.
#[test]
fn repositories_answer_from_their_objects() {
    let mut world = World::new();
    let folder = world.folder.path().join("site");
    fs::create_dir(&folder).unwrap();
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
    git(&folder, &["init", "-q", "-b", "main"], "ada");
    write("one.md", "1\n");
    write(".gitignore", "*.log\n");
    git(&folder, &["add", "."], "ada");
    git(&folder, &["commit", "-qm", "first\n\nwith more"], "ada");
    write("two.md", "2\n");
    git(&folder, &["add", "."], "ada");
    git(&folder, &["commit", "-qm", "second"], "bob");
    git(&folder, &["branch", "draft"], "ada");
    git(&folder, &["tag", "v1"], "ada");
    git(&folder, &["remote", "add", "origin", "https://example.org/x.git"], "ada");
    write("one.md", "changed\n");
    write("new.md", "new\n");
    write("x.log", "ignored\n");
    mirror(&folder, &mut world.memory);
    for (request, expected) in [
        ("which branch am I on in site", "main"),
        ("list the branches of site", "draft\nmain"),
        ("list the tags in site", "v1"),
        ("what is the url of the remote in site", "https://example.org/x.git"),
        ("how many commits are in site", "2"),
        ("how many commits did bob make in site", "1"),
        ("last commit message in site", "second"),
        ("who made the last commit in site", "bob"),
        ("when was the last commit in site", "2024-02-03"),
        ("show the last 2 commits of site", "2024-02-03 bob: second\n2024-02-03 ada: first"),
        ("which files were changed in the last commit of site", "two.md"),
        ("how many files does git track in site", "3"),
        ("which files have uncommitted changes in site", "one.md"),
        ("list the untracked files in site", "new.md"),
        ("show bob's commits in site", "2024-02-03 bob: second"),
    ] {
        assert_eq!(world.printed(request).trim_end(), expected, "{request}");
    }
    // Both made one.
    for request in [
        "who committed most in site",
        "commits by carol in site",
        "how many commits did carol make in site",
        "which branch am I on in the folder nowhere",
    ] {
        assert_eq!(world.steps(request), None, "{request}");
    }
    // Packed objects are not read a second time, so nothing is said.
    fs::remove_dir_all(folder.join(".git/objects")).unwrap();
    world.memory.remove(folder.join(".git/objects"));
    assert_eq!(world.steps("how many commits are in site"), None);
}
