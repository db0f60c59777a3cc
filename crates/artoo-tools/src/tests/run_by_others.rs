//! Names that other programs run need approval whichever tool creates them; ordinary names don't.

use std::fs;

use artoo_proto::ToolOutcome;
use serde_json::{Value, json};

use super::Fixture;

const RUN: [(&str, &str); 16] = [
    (".envrc", "a program obeys it when it starts"),
    ("Makefile", "make or another build tool runs it"),
    ("sub/makefile", "make or another build tool runs it"),
    ("CLAUDE.md", "an assistant obeys it"),
    ("conftest.py", "python runs or obeys it"),
    ("x.desktop", "the desktop or the login runs it"),
    (".git/hooks/pre-commit", "part of a repository's own data"),
    (".git/config", "part of a repository's own data"),
    ("a/.GIT/config", "part of a repository's own data"),
    (".git", "part of a repository's own data"),
    (".vscode/tasks.json", "an editor runs or obeys it"),
    ("a/.VSCode/sub/tasks.json", "an editor runs or obeys it"),
    (".github/workflows/a.yml", "a build server runs it"),
    ("bin/ls", "it is run by its name without a path"),
    ("sub/Bin/ls", "it is run by its name without a path"),
    ("-x/notes.txt", "takes it for an option"),
];

const ORDINARY: [&str; 8] =
    ["notes.txt", "a/notes.txt", "src/main.rs", "bin/tool.c", "ls", "bin/ls/notes.txt", ".gitignore", "git/hooks/a"];

/// The reason and the details of the question about a call; `None` if the call ran without one. Panics if the question
/// offers a wider approval.
async fn asked(fixture: &Fixture, tool: &str, input: &Value) -> Option<(String, Vec<String>)> {
    let mut context = Fixture::context(tool, input.clone());
    context.allowed_tools.push("files".to_owned());
    match fixture.outcome(&context, None).await {
        ToolOutcome::NeedsConsent { reason, details, offers, .. } => {
            assert!(
                offers.task.is_empty() && offers.path.is_empty(),
                "{input}: a wider approval is offered: {offers:?}"
            );
            Some((reason, details))
        }
        ToolOutcome::Called { call } => {
            assert_eq!(call.status, artoo_proto::CallStatus::Ok, "{input}: {call:?}");
            None
        }
    }
}

/// One call of each tool that creates a file of this name below the workspace, each in a folder of its own.
fn calls_that_create(fixture: &Fixture, name: &str) -> Vec<(&'static str, Value)> {
    let at = |way: &str| fixture.workspace().join(way).join(name);
    let from = fixture.file("from/notes.txt", "x");
    let tree = fixture.home.join("trees").join(name.replace('/', "_").to_lowercase());
    let inner = tree.join("t").join(name);
    fs::create_dir_all(inner.parent().unwrap()).unwrap();
    fs::write(&inner, "x").unwrap();
    let tar = fixture.file("packed.tar", packed(name));
    let moved = fixture.file("moved.txt", "x");
    let target = |folder: &str| fixture.workspace().join(folder).display().to_string();
    vec![
        ("write_file", json!({"path": at("w"), "text": "x"})),
        ("files", json!({"act": "create_file", "to": at("c"), "text": "x"})),
        ("files", json!({"act": "replace", "paths": [&from], "to": at("r"), "find": "x", "with": "y"})),
        ("files", json!({"act": "copy", "paths": [&from], "to": at("p")})),
        ("files", json!({"act": "copy", "paths": [tree.join("t")], "to": target("tree")})),
        ("files", json!({"act": "extract", "paths": [&tar], "to": target("out")})),
        ("files", json!({"act": "move", "paths": [&moved], "to": at("m")})),
        ("files", json!({"act": "move", "paths": [tree.join("t")], "to": target("moved")})),
    ]
}

/// A tar archive with an entry of this name.
fn packed(name: &str) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_size(1);
    header.set_mode(0o755);
    builder.append_data(&mut header, name, b"x".as_slice()).unwrap();
    builder.into_inner().unwrap()
}

/// Creating a file that other programs run, such as a Makefile, needs approval in every folder and by every tool.
#[doc = "holds: law 1.1"]
#[tokio::test]
async fn names_run_by_programs_need_approval_everywhere() {
    let fixture = Fixture::new();
    for (name, why) in RUN {
        for (tool, input) in calls_that_create(&fixture, name) {
            let found = asked(&fixture, tool, &input).await;
            let (reason, _) = found.unwrap_or_else(|| panic!("{input} asks nothing"));
            let is_named = name.split('/').any(|part| part.len() > 1 && reason.contains(part));
            assert!(is_named && reason.contains(why), "{input}: {reason}");
        }
    }
    assert!(!fixture.workspace().exists(), "nothing was made");
    for folder in [".vscode", "a/.git", ".husky", "-x"] {
        let to = fixture.workspace().join(folder);
        let found = asked(&fixture, "files", &json!({"act": "create_folder", "to": to})).await;
        assert!(found.is_some_and(|(reason, _)| reason.contains(folder)), "{folder}");
    }
    let to = fixture.workspace().join(".vscode/x.zip");
    let from = fixture.file("from/notes.txt", "x");
    assert!(asked(&fixture, "files", &json!({"act": "archive", "paths": [from], "to": to})).await.is_some());
    let own = fixture.file("artoo_workspace/a.txt", "x");
    let rename = json!({"act": "rename", "paths": [own], "template": ".envrc"});
    let (reason, details) = asked(&fixture, "files", &rename).await.unwrap();
    assert!(reason.contains(".envrc: a program obeys it when it starts"), "{reason}");
    assert!(details[0].contains(".envrc: "), "{details:?}");
}

/// New files in the workspace with ordinary names, except moved ones, need no approval.
#[tokio::test]
async fn ordinary_workspace_names_do_not_need_approval() {
    for name in ORDINARY {
        let fixture = Fixture::new();
        for (tool, input) in calls_that_create(&fixture, name).into_iter().filter(|(_, input)| input["act"] != "move") {
            assert_eq!(asked(&fixture, tool, &input).await, None, "{input}");
        }
    }
}
