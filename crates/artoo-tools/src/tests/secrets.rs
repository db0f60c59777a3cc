//! Secrets outside the protected places: held by name and by content in every tool, asked about by name, and left out of
//! searches that say so; what only looks like one is read.

use std::path::Path;
use std::process::Command;

use artoo_proto::{CallStatus, ConsentScope, ToolCall, ToolOutcome};
use serde_json::{Value, json};

use super::{Fixture, called};

const PEM: &str = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\n-----END OPENSSH PRIVATE KEY-----\n";

/// One of each family: where it lies in a project, and what it says.
const SECRETS: [(&str, &str); 30] = [
    (".env", "DB=needle"),
    ("sub/.env.local", "DB=needle"),
    ("deploy/prod.env", "DB=needle"),
    (".envrc", "export DB=needle"),
    ("deploy/id_rsa", "needle"),
    ("deploy/id_ed25519", "needle"),
    ("certs/server.pem", "needle"),
    ("certs/app.p12", "needle"),
    ("certs/app.jks", "needle"),
    ("putty.ppk", "needle"),
    ("vault.kdbx", "needle"),
    ("credentials.json", "{\"needle\": 1}"),
    ("backup/.aws/config", "needle"),
    ("backup/.ssh/config", "needle"),
    ("backup/.kube/config", "needle"),
    ("kubeconfig", "needle"),
    ("terraform.tfstate", "needle"),
    ("terraform.tfstate.backup", "needle"),
    ("prod.tfvars", "needle"),
    (".npmrc", "needle"),
    (".psql_history", "needle"),
    ("backup/fish_history", "needle"),
    ("backup/.codex/auth.json", "needle"),
    ("backup/.gemini/oauth_creds.json", "needle"),
    ("backup/.claude/.credentials.json", "needle"),
    ("backup/huggingface/token", "needle"),
    ("profile/logins.json", "needle"),
    ("profile/Login Data", "needle"),
    ("server.key", PEM),
    ("notes.txt", "token: ghp_0123456789abcdefghij0123456789 needle"),
];

/// What has a name or content like that and is no secret.
const OPEN: [(&str, &str); 14] = [
    ("id_list.csv", "needle"),
    ("slides.key", "needle"),
    (".env.example", "DB=needle"),
    (".env.sample", "DB=needle"),
    ("environment.md", "needle"),
    ("tokenizer.json", "needle"),
    ("keys.ts", "export const needle = 1;"),
    ("credentials.rs", "struct Needle; // needle"),
    ("auth.json", "{\"needle\": \"sign in\"}"),
    ("config.toml", "password = \"needle\""),
    ("locale/token.ts", "needle"),
    ("history.txt", "needle"),
    ("server.crt", "-----BEGIN CERTIFICATE-----\nneedle\n"),
    ("style.css", ".sk-folding-cube-container { } /* needle */"),
];

fn project(files: &[(&str, &str)]) -> Fixture {
    let fixture = Fixture::new();
    files.iter().for_each(|(path, text)| drop(fixture.file(&format!("work/{path}"), text)));
    fixture
}

/// The question that a call leads to: reason and effects.
async fn asked(fixture: &Fixture, tool: &str, input: Value) -> (String, Vec<String>) {
    match fixture.outcome(&Fixture::context(tool, input.clone()), None).await {
        ToolOutcome::NeedsConsent { reason, effects, .. } => (reason, effects),
        ToolOutcome::Called { call } => panic!("{tool} {input}: {call:?}"),
    }
}

#[doc = "holds: law 1.21"]
#[tokio::test]
async fn read_file_asks_about_secrets_by_name() {
    let fixture = project(&SECRETS);
    for (path, _) in SECRETS {
        let (reason, _) = asked(&fixture, "read_file", json!({"path": path})).await;
        assert!(reason.contains(path) && reason.contains("may hold secrets"), "{path}: {reason}");
    }
    let fixture = project(&OPEN);
    for (path, text) in OPEN {
        assert_eq!(fixture.output("read_file", json!({"path": path})).await, text, "{path}");
    }
}

#[doc = "holds: law 1.21"]
#[tokio::test]
async fn secrets_need_approval_or_a_trusted_model() {
    let fixture = project(&SECRETS);
    std::os::unix::fs::symlink(fixture.home.join("work/.env"), fixture.home.join("work/plain.txt")).unwrap();
    let (reason, _) = asked(&fixture, "read_file", json!({"path": "plain.txt"})).await;
    assert!(reason.contains("plain.txt"), "{reason}");
    let context = Fixture::context("read_file", json!({"path": ".env"}));
    let ToolOutcome::NeedsConsent { hash, .. } = fixture.outcome(&context, None).await else { panic!("unasked") };
    let grant = fixture.registry.grant(&hash, ConsentScope::Once);
    assert_eq!(called(fixture.outcome(&context, Some(grant)).await).output, "DB=needle");
    // How many lines there are tells nothing of them.
    assert_eq!(fixture.output("read_file", json!({"path": ".env", "count": "lines"})).await, "1");

    let fixture = Fixture::with(|config| config.trusts_model = true);
    fixture.file("work/.env", "DB=needle");
    fixture.file(".ssh/id_rsa", "needle");
    assert_eq!(fixture.output("read_file", json!({"path": ".env"})).await, "DB=needle");
    assert_eq!(fixture.output("shell", json!({"command": "grep -r needle ."})).await, "./.env:DB=needle\n");
    assert_eq!(fixture.call("read_file", json!({"path": "~/.ssh/id_rsa"})).await.status, CallStatus::Denied);
}

#[doc = "holds: law 1.21"]
#[tokio::test]
async fn content_search_skips_secrets_and_reports_it() {
    let fixture =
        project(&[(".env", "needle"), ("a.txt", "needle"), ("sub/b.txt", "needle"), ("deep/er/x.pem", "needle")]);
    let call = fixture.call("glob", json!({"recursive": true, "hidden": true, "contains": "needle"})).await;
    assert_eq!(call.status, CallStatus::Cut, "{call:?}");
    let found: Vec<&str> = call.output.lines().skip(1).filter_map(|line| line.rsplit('/').next()).collect();
    assert_eq!(found, ["a.txt", "b.txt"], "{}", call.output);
    assert!(call.output.contains("left out 2 files that may hold secrets: "), "{}", call.output);
    assert!(call.output.contains("work/.env") && call.output.contains("deep/er/x.pem"), "{}", call.output);
    let count =
        fixture.call("glob", json!({"recursive": true, "hidden": true, "contains": "needle", "report": "count"})).await;
    assert!(count.status == CallStatus::Failed && count.output.contains("at least 2 without"), "{count:?}");
    // Names are no content.
    assert!(fixture.output("glob", json!({"recursive": true, "hidden": true})).await.contains("/.env"));
    let fixture = project(&OPEN);
    let search = json!({"recursive": true, "hidden": true, "contains": "needle", "report": "count"});
    assert_eq!(fixture.output("glob", search).await, OPEN.len().to_string());
}

#[doc = "holds: law 1.21"]
#[tokio::test]
async fn command_naming_a_secret_needs_approval() {
    let fixture = project(&SECRETS);
    for (path, _) in SECRETS {
        let (reason, _) = asked(&fixture, "shell", json!({"command": format!("cat '{path}'")})).await;
        assert!(reason.contains(path), "{path}: {reason}");
    }
    for command in
        ["cat .en*", "grep DB < .env", "sort sub/.env.local", "cp .env ../artoo_workspace/x", "tail -n 1 ./.env"]
    {
        let (reason, _) = asked(&fixture, "shell", json!({"command": command})).await;
        assert!(reason.contains("may hold secrets"), "{command}: {reason}");
    }
    fixture.file(".ssh/id_rsa", "needle");
    let link = "ln -s ~ ../artoo_workspace/h; cat ../artoo_workspace/h/.ssh/id_rsa ../artoo_workspace/h/work/.env";
    for command in [link, "cat not/there/.env"] {
        let outcome = fixture.outcome(&Fixture::context("shell", json!({"command": command})), None).await;
        assert!(!format!("{outcome:?}").contains("needle"), "{command}: {outcome:?}");
    }
    let fixture = project(&OPEN);
    for (path, text) in OPEN {
        assert_eq!(fixture.output("shell", json!({"command": format!("cat '{path}'")})).await, text, "{path}");
    }
    let fixture = project(&SECRETS);
    for command in ["ls -la .env", "stat .env", "find . -name .env", "wc -c a.txt; test -e .env && echo there"] {
        fixture.file("work/a.txt", "");
        fixture.output("shell", json!({"command": command})).await;
    }
}

fn told(call: &ToolCall) -> bool {
    call.output.contains("left out") && call.output.contains("that may hold secrets") && call.output.contains("/.env")
}

#[doc = "holds: law 1.21"]
#[tokio::test]
async fn secrets_in_a_read_folder_are_denied() {
    let fixture = project(&[
        (".env", "needle S3CR3T"),
        ("a.txt", "needle"),
        ("sub/x.pem", "needle S3CR3T"),
        ("sub/b.txt", "needle"),
    ]);
    if !fixture.registry.fence_report().holds {
        eprintln!("skipped: nothing holds a command here");
        return;
    }
    for command in
        ["grep -r needle .", "grep -rn needle ~/work", "find . -type f | xargs grep needle", "grep -rh needle sub ."]
    {
        let call = fixture.call("shell", json!({"command": command})).await;
        assert!(!call.output.contains("S3CR3T"), "{command}: {}", call.output);
        assert!(call.output.contains("needle") && told(&call), "{command}: {}", call.output);
        assert!(matches!(call.status, CallStatus::Cut | CallStatus::Failed), "{command}: {call:?}");
    }
    assert_eq!(fixture.call("shell", json!({"command": "grep -r needle ."})).await.status, CallStatus::Cut);
    // What is copied has another name afterwards.
    let call = fixture.call("shell", json!({"command": "grep -r needle . > ../artoo_workspace/out"})).await;
    assert!(told(&call), "{call:?}");
    let copied = std::fs::read_to_string(fixture.workspace().join("out")).unwrap();
    assert!(copied.contains("needle") && !copied.contains("S3CR3T"), "{copied}");
    // A folder without secrets is read as ever, and so is a list of names.
    let fixture = project(&OPEN);
    let call = fixture.call("shell", json!({"command": "grep -rl needle . | wc -l"})).await;
    assert_eq!((call.status, call.output.trim()), (CallStatus::Ok, OPEN.len().to_string().as_str()), "{call:?}");
}

#[doc = "holds: law 1.21"]
#[tokio::test]
async fn scripts_read_no_unapproved_secrets() {
    let fixture = project(&[(".env", "needle"), (".env.example", "sample"), ("run.sh", "cat .en* ~/work/.e*; true")]);
    for command in ["bash run.sh", "bash run.sh > ../artoo_workspace/out; cat ../artoo_workspace/out"] {
        let call = fixture.call("shell", json!({"command": command})).await;
        assert!(call.output.contains("sample") && !call.output.contains("needle"), "{call:?}");
    }
}

fn git(folder: &Path, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.args(["-c", "user.email=a@b", "-c", "user.name=n"]).args(arguments).current_dir(folder);
    assert!(git.output().unwrap().status.success(), "{arguments:?}");
}

#[doc = "holds: law 1.21"]
#[tokio::test]
async fn git_output_has_no_passwords_or_secrets() {
    let fixture = project(&[(".env", "DB=needle"), ("a.txt", "one\n")]);
    let work = fixture.home.join("work");
    git(&work, &["init", "-q"]);
    git(&work, &["add", "."]);
    git(&work, &["commit", "-qm", "m"]);
    for command in ["git config --list", "git log --oneline", "git status --short", "git show HEAD:a.txt"] {
        fixture.output("shell", json!({"command": command})).await;
    }
    for command in ["git show HEAD:.env", "git log -p -- .env", "git diff HEAD .env"] {
        let (reason, _) = asked(&fixture, "shell", json!({"command": command})).await;
        assert!(reason.contains(".env"), "{command}: {reason}");
    }
    git(&work, &["remote", "add", "origin", "https://me:s3cret@host.example/r"]);
    for command in ["git config --list", "git remote -v", "git status; cat .git/config"] {
        let call = fixture.call("shell", json!({"command": command})).await;
        assert!(call.output.contains("host.example") && !call.output.contains("s3cret"), "{command}: {call:?}");
    }
}

#[doc = "holds: law 1.21"]
#[tokio::test]
async fn unapproved_keys_are_redacted_in_output() {
    let key = "sk-proj-abcDEF0123456789xyz";
    let fixture = project(&[("long.log", &format!("{}{key}\n", "line\n".repeat(2000))), ("a.txt", "sk-notes\n")]);
    for (tool, input) in [
        ("read_file", json!({"path": "long.log", "lines": {"last": 1}})),
        ("shell", json!({"command": "tail -n 1 long.log"})),
    ] {
        let output = fixture.output(tool, input).await;
        assert!(!output.contains(key) && output.contains("[redacted]") && output.contains("taken out"), "{output}");
    }
    assert_eq!(fixture.output("shell", json!({"command": "cat a.txt"})).await, "sk-notes\n");
}

#[doc = "holds: law 1.21"]
#[tokio::test]
async fn copying_a_secret_needs_approval() {
    let fixture = project(&[(".env", "needle"), ("a.txt", "x"), ("sub/.env", "needle")]);
    let tools = |act: Value| {
        let mut context = Fixture::context("files", act);
        context.allowed_tools = vec!["files".to_owned()];
        context
    };
    let copy = |from: &str| json!({"act": "copy", "paths": [from], "to": "~/artoo_workspace/b.txt"});
    let ToolOutcome::NeedsConsent { reason, .. } = fixture.outcome(&tools(copy(".env")), None).await else {
        panic!("unasked")
    };
    assert!(reason.contains(".env may hold secrets"), "{reason}");
    std::fs::create_dir_all(fixture.workspace()).unwrap();
    let call = called(fixture.outcome(&tools(copy("a.txt")), None).await);
    assert_eq!(call.status, CallStatus::Ok, "{call:?}");
    for act in [
        json!({"act": "delete", "paths": [".env"]}),
        json!({"act": "delete", "paths": ["sub"]}),
        json!({"act": "move", "paths": [".env"], "to": "~/artoo_workspace/c"}),
    ] {
        let outcome = fixture.outcome(&tools(act.clone()), None).await;
        assert!(matches!(outcome, ToolOutcome::NeedsConsent { .. }), "{act}: {outcome:?}");
    }
}
