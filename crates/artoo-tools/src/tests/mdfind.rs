//! `mdfind`: the index where one is installed (a stand-in here), a walk elsewhere.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use artoo_proto::CallStatus;
use serde_json::{Value, json};

use super::House;

#[tokio::test]
async fn d14_without_an_index_names_are_walked_and_completeness_is_said() {
    let house = House::new();
    house.file("Documents/Tax Report 2025.pdf", "");
    house.file("Documents/report.txt", "");
    house.file(".cache/tax report", "");
    fs::create_dir_all(house.home.join("tax reports")).unwrap();
    let table: Vec<(Value, Vec<&str>, &str)> = vec![
        (json!({"query": "tax report"}), vec!["Documents/Tax Report 2025.pdf"], "1 of 1 matches shown"),
        (json!({"query": "REPORT tax"}), vec!["Documents/Tax Report 2025.pdf"], "1 of 1"),
        (json!({"query": "report", "limit": 1}), vec!["Documents/Tax Report 2025.pdf"], "1 of 2"),
        (
            json!({"query": "report", "root": "~/Documents"}),
            vec!["Documents/Tax Report 2025.pdf", "Documents/report.txt"],
            "2 of 2",
        ),
        (json!({"query": "tax", "kind": "folder"}), vec!["tax reports"], "1 of 1"),
        (json!({"query": "nothing"}), vec![], "0 of 0"),
    ];
    for (input, expected, remark) in table {
        let output = house.output("mdfind", input.clone()).await;
        let (summary, paths) =
            output.lines().collect::<Vec<_>>().split_last().map(|(l, p)| (l.to_string(), p.to_vec())).unwrap();
        let expected: Vec<String> = expected.iter().map(|path| format!("{}/{path}", house.home.display())).collect();
        assert_eq!(paths, expected, "{input}");
        assert!(summary.contains("complete; hidden names left out") && summary.contains(remark), "{summary}");
    }
}

#[tokio::test]
async fn queries_that_could_be_options_and_missing_roots_are_told() {
    let house = House::new();
    for query in ["-live", " -0 x", "a\nb", "  "] {
        let call = house.call("mdfind", json!({"query": query})).await;
        assert_eq!((call.status, call.environmental), (CallStatus::Failed, false), "{call:?}");
    }
    house.file("Music/a", "");
    let call = house.call("mdfind", json!({"query": "a", "root": "~/Musik"})).await;
    assert_eq!((call.status, call.environmental), (CallStatus::Failed, true), "{call:?}");
    assert_eq!(call.alternatives, [format!("{}/Music", house.home.display())]);
}

/// A program of that name on the path is used: this one answers as Spotlight does.
fn with_index(script: &str) -> House {
    let script = script.to_owned();
    House::with(move |config| {
        let bin = std::path::Path::new(&config.environment.home).join("bin");
        fs::create_dir_all(&bin).unwrap();
        fs::write(bin.join("mdfind"), script).unwrap();
        fs::set_permissions(bin.join("mdfind"), fs::Permissions::from_mode(0o755)).unwrap();
        config.program_path.insert(0, bin);
    })
}

#[tokio::test]
async fn d14_an_installed_index_is_asked_and_its_answer_checked() {
    let house = with_index(
        "#!/bin/sh\n[ \"$1 $2\" = '-0 -onlyin' ] || exit 9\n\
         printf '%s\\0' \"$3/a b.txt\" \"$3/gone.txt\" \"$3/.ssh/key\" /etc/passwd \"$3/n\nl.txt\"\n",
    );
    house.file("a b.txt", "");
    house.file("n\nl.txt", "");
    house.file(".ssh/key", "");
    assert!(house.registry.specs()[0].description.contains("Spotlight"));
    let output = house.output("mdfind", json!({"query": "tax report"})).await;
    let home = house.home.display();
    assert!(output.starts_with(&format!("{home}/a b.txt\n{home}/n\\nl.txt\n[from the Spotlight index")), "{output}");
    assert!(output.contains("2 of 2 matches"), "what is gone, outside or protected is left out: {output}");
}

#[tokio::test]
async fn an_index_that_fails_is_an_environmental_failure() {
    let house = with_index("#!/bin/sh\necho broken >&2\nexit 1\n");
    let call = house.call("mdfind", json!({"query": "x"})).await;
    assert_eq!((call.status, call.environmental), (CallStatus::Failed, true), "{call:?}");
    assert!(call.output.contains("broken"), "{call:?}");
}
