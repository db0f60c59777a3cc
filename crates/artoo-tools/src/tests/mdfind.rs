//! `mdfind`: uses the index if one is installed (here a script in its place), else walks the folder.

use std::fs;

use artoo_proto::CallStatus;
use serde_json::{Value, json};

use super::{Fixture, put, with_programs};

/// Without an index `mdfind` walks the folder, and its summary says how many matches are shown.
#[doc = "holds: design D14"]
#[tokio::test]
async fn walk_without_index_reports_completeness() {
    let fixture = Fixture::new();
    fixture.file("Documents/Tax Report 2025.pdf", "");
    fixture.file("Documents/report.txt", "");
    fixture.file(".cache/tax report", "");
    fs::create_dir_all(fixture.home.join("tax reports")).unwrap();
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
        let output = fixture.output("mdfind", input.clone()).await;
        let (summary, paths) =
            output.lines().collect::<Vec<_>>().split_last().map(|(l, p)| (l.to_string(), p.to_vec())).unwrap();
        let expected: Vec<String> = expected.iter().map(|path| format!("{}/{path}", fixture.home.display())).collect();
        assert_eq!(paths, expected, "{input}");
        assert!(summary.contains("complete; hidden names left out") && summary.contains(remark), "{summary}");
    }
}

/// `mdfind` refuses queries that begin with `-`, and fails for missing folders with suggestions.
#[tokio::test]
async fn option_like_queries_and_missing_roots_fail() {
    let fixture = Fixture::new();
    for query in ["-live", " -0 x", "a\nb", "  "] {
        let call = fixture.call("mdfind", json!({"query": query})).await;
        assert_eq!((call.status, call.environmental), (CallStatus::Failed, false), "{call:?}");
    }
    fixture.file("Music/a", "");
    let call = fixture.call("mdfind", json!({"query": "a", "root": "~/Musik"})).await;
    assert_eq!((call.status, call.environmental), (CallStatus::Failed, true), "{call:?}");
    assert_eq!(call.alternatives, [format!("{}/Music", fixture.home.display())]);
}

/// Of the answers of an index, only paths are used that still exist, are below the folder, and are not protected.
#[doc = "holds: design D14"]
#[tokio::test]
async fn index_answers_are_checked() {
    let fixture = with_programs(&[(
        "mdfind",
        "#!/bin/sh\n[ \"$1 $2\" = '-0 -onlyin' ] || exit 9\n\
         printf '%s\\0' \"$3/a b.txt\" \"$3/gone.txt\" \"$3/.ssh/key\" /etc/passwd \"$3/n\nl.txt\"\n",
    )]);
    fixture.file("a b.txt", "");
    fixture.file("n\nl.txt", "");
    fixture.file(".ssh/key", "");
    assert!(fixture.registry.specs()[0].description.contains("Spotlight"));
    let output = fixture.output("mdfind", json!({"query": "tax report"})).await;
    let home = fixture.home.display();
    assert!(output.starts_with(&format!("{home}/a b.txt\n{home}/n\\nl.txt\n[from the Spotlight index")), "{output}");
    assert!(output.contains("2 of 2 matches"), "what is gone, outside or protected is left out: {output}");
}

/// An index that fails, hangs or finds nothing proves nothing, so the next index is asked, and at last the folder is
/// walked.
#[doc = "holds: law 0.10; design D14"]
#[tokio::test]
async fn folder_is_walked_without_index_answers() {
    let check = async |programs: &[(&str, &str)], expected: &[&str]| {
        let fixture = with_programs(programs);
        fixture.file("tax.txt", "");
        let output = fixture.output("mdfind", json!({"query": "tax"})).await;
        assert!(output.starts_with(&format!("{}/tax.txt\n[walked ", fixture.home.display())), "{output}");
        expected.iter().for_each(|part| assert!(output.contains(part), "{part}: {output}"));
    };
    let broken = "#!/bin/sh\necho broken >&2\nexit 1\n";
    let empty = "#!/bin/sh\nexit 0\n";
    check(&[], &["complete", "1 of 1 matches shown]"]).await;
    check(&[("mdfind", broken)], &["the Spotlight index failed", "broken"]).await;
    check(&[("mdfind", empty)], &["the Spotlight index has no match"]).await;
    check(&[("locate", "#!/bin/sh\nexit 1\n")], &["locate's database has no match"]).await;
    check(&[("plocate", broken)], &["locate's database failed", "broken"]).await;
    check(&[("tracker3", "#!/bin/sh\nyes | head -c 9000000\n")], &["LocalSearch", "no complete answer"]).await;
    let both = [("localsearch", empty), ("plocate", broken)];
    check(&both, &["the LocalSearch index has no match; locate's database failed"]).await;
    check(&[("localsearch", "not even a program")], &["could not be started"]).await;
}

/// LocalSearch and locate each get the arguments that they understand.
#[doc = "holds: design D14"]
#[tokio::test]
async fn localsearch_and_locate_get_their_own_arguments() {
    let local = "#!/bin/sh\n[ \"$1\" = search ] && [ \"$6 $7 $8\" = '-- my tax' ] || exit 9\n\
        echo Results:; echo \"  file://$HOME/my%20tax.txt\"; echo '  file:///etc/passwd'\n";
    let locate = "#!/bin/sh\n[ \"$4 $5 $6 $7\" = '--all -- *my* *tax*' ] || exit 9\n\
        printf '%s\\0' \"$HOME/my tax.txt\" /etc/tax\n";
    for (program, script, expected) in [
        ("localsearch", local, "from the LocalSearch index"),
        ("tracker3", local, "from the LocalSearch index"),
        ("plocate", locate, "from locate's database"),
        ("locate", locate, "from locate's database"),
    ] {
        let fixture = with_programs(&[(program, script)]);
        fixture.file("my tax.txt", "");
        let output = fixture.output("mdfind", json!({"query": "my tax"})).await;
        assert!(
            output.starts_with(&format!("{}/my tax.txt\n[{expected}", fixture.home.display())),
            "{program}: {output}"
        );
        assert!(output.contains("1 of 1 matches shown]"), "{program}: {output}");
        assert_eq!(
            output.contains("old, and what came later") || output.contains("age is not known"),
            script == locate
        );
    }
}

/// The installed `plocate` with a database of its own over a folder of its own; skipped if it is not installed.
#[doc = "holds: design D14"]
#[tokio::test]
async fn installed_plocate_accepts_the_query() {
    let Some(updatedb) = ["/usr/sbin/updatedb.plocate", "/usr/bin/updatedb.plocate", "/usr/sbin/updatedb"]
        .into_iter()
        .find(|path| std::path::Path::new(path).exists())
        .filter(|_| std::path::Path::new("/usr/bin/plocate").exists())
    else {
        eprintln!("skipped: plocate is not installed");
        return;
    };
    let fixture = with_programs(&[]);
    let database = fixture.home.join("db");
    fixture.file("My [Tax] 2024.txt", "");
    fixture.file("tax.txt", "");
    let built = std::process::Command::new(updatedb)
        .args(["-l", "0", "--prunepaths", "", "--prunefs", "", "--prune-bind-mounts", "no", "-U"])
        .arg(&fixture.home)
        .arg("-o")
        .arg(&database)
        .status();
    assert!(built.unwrap().success());
    let script = format!("#!/bin/sh\nexec /usr/bin/plocate -d {} \"$@\"\n", database.display());
    put(&fixture.home.join("bin/plocate"), &script, 0o755);
    let fixture = Fixture { registry: crate::Registry::detect(fixture.config.clone()), ..fixture };
    let output = fixture.output("mdfind", json!({"query": "my [tax]"})).await;
    assert!(output.starts_with(&format!("{}/My [Tax] 2024.txt\n[from locate's", fixture.home.display())), "{output}");
    assert!(output.contains("1 of 1"), "{output}");
}
