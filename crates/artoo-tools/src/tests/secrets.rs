//! Secrets outside the protected places: recognised by name and by content in every tool, asked about by name, and left
//! out of searches with a note; files that only look similar are read.

use std::path::Path;
use std::process::Command;

use artoo_proto::{CallStatus, ConsentScope, ToolCall, ToolOutcome};
use serde_json::{Value, json};

use super::{Fixture, called};

const PEM: &str = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\n-----END OPENSSH PRIVATE KEY-----\n";

/// Files with secrets, one of each kind: its path in a project, and its content.
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

/// Files whose names or contents resemble secrets but are none, which must be read without approval.
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

/// A fixture with these files (path and text) in the working folder.
fn project(files: &[(&str, &str)]) -> Fixture {
    let fixture = Fixture::new();
    files.iter().for_each(|(path, text)| drop(fixture.file(&format!("work/{path}"), text)));
    fixture
}

/// The reason and the effects of the question about a call.
async fn asked(fixture: &Fixture, tool: &str, input: Value) -> (String, Vec<String>) {
    match fixture.outcome(&Fixture::context(tool, input.clone()), None).await {
        ToolOutcome::NeedsConsent { reason, effects, .. } => (reason, effects),
        ToolOutcome::Called { call } => panic!("{tool} {input}: {call:?}"),
    }
}

/// `read_file` asks before it reads files that hold secrets by their name or content, and not for similar ones.
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

/// A model reads a secret only after approval, unless the user trusts it with secrets.
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
    // The number of lines discloses no content.
    assert_eq!(fixture.output("read_file", json!({"path": ".env", "count": "lines"})).await, "1");

    let fixture = Fixture::with(|config| config.trusts_model = true);
    fixture.file("work/.env", "DB=needle");
    fixture.file(".ssh/id_rsa", "needle");
    assert_eq!(fixture.output("read_file", json!({"path": ".env"})).await, "DB=needle");
    assert_eq!(fixture.output("shell", json!({"command": "grep -r needle ."})).await, "./.env:DB=needle\n");
    assert_eq!(fixture.call("read_file", json!({"path": "~/.ssh/id_rsa"})).await.status, CallStatus::Denied);
}

/// A content search leaves out files that may hold secrets, and the record says so.
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
    // Listing names discloses no content.
    assert!(fixture.output("glob", json!({"recursive": true, "hidden": true})).await.contains("/.env"));
    let fixture = project(&OPEN);
    let search = json!({"recursive": true, "hidden": true, "contains": "needle", "report": "count"});
    assert_eq!(fixture.output("glob", search).await, OPEN.len().to_string());
}

/// A command that names a file with secrets needs approval.
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

/// Whether the record has the note about files left out because they may hold secrets.
fn has_secret_note(call: &ToolCall) -> bool {
    call.output.contains("left out") && call.output.contains("that may hold secrets") && call.output.contains("/.env")
}

/// A command that reads a folder does not get the files with secrets in it.
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
        assert!(call.output.contains("needle") && has_secret_note(&call), "{command}: {}", call.output);
        assert!(matches!(call.status, CallStatus::Cut | CallStatus::Failed), "{command}: {call:?}");
    }
    assert_eq!(fixture.call("shell", json!({"command": "grep -r needle ."})).await.status, CallStatus::Cut);
    // A copy has another name, by which it would not be recognised.
    let call = fixture.call("shell", json!({"command": "grep -r needle . > ../artoo_workspace/out"})).await;
    assert!(has_secret_note(&call), "{call:?}");
    let copied = std::fs::read_to_string(fixture.workspace().join("out")).unwrap();
    assert!(copied.contains("needle") && !copied.contains("S3CR3T"), "{copied}");
    // Folders without secrets, and lists of names, are read without a question.
    let fixture = project(&OPEN);
    let call = fixture.call("shell", json!({"command": "grep -rl needle . | wc -l"})).await;
    assert_eq!((call.status, call.output.trim()), (CallStatus::Ok, OPEN.len().to_string().as_str()), "{call:?}");
}

/// A script can't read a secret that its command line does not name and the user did not approve.
#[doc = "holds: law 1.21"]
#[tokio::test]
async fn scripts_cannot_read_unapproved_secrets() {
    let fixture = project(&[(".env", "needle"), (".env.example", "sample"), ("run.sh", "cat .en* ~/work/.e*; true")]);
    for command in ["bash run.sh", "bash run.sh > ../artoo_workspace/out; cat ../artoo_workspace/out"] {
        let call = fixture.call("shell", json!({"command": command})).await;
        assert!(call.output.contains("sample") && !call.output.contains("needle"), "{call:?}");
    }
}

/// Runs git with these arguments in a folder; panics if it fails.
fn git(folder: &Path, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.args(["-c", "user.email=a@b", "-c", "user.name=n"]).args(arguments).current_dir(folder);
    assert!(git.output().unwrap().status.success(), "{arguments:?}");
}

/// Passwords in URLs are removed from git's output, and git commands that name a committed file with secrets need
/// approval.
#[doc = "holds: law 1.21"]
#[tokio::test]
async fn git_output_omits_passwords_and_secrets() {
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

/// Keys in an output are replaced by a note if the user did not approve reading them.
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

/// Copying, moving or deleting a file with secrets needs approval.
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

/// Whether a command runs without asking for approval.
async fn runs(fixture: &Fixture, command: &str) -> bool {
    let outcome = fixture.outcome(&Fixture::context("shell", json!({"command": command})), None).await;
    matches!(outcome, ToolOutcome::Called { .. })
}

/// Files with secrets outside the home need approval if a command names them.
#[doc = "holds: law 1.21"]
#[tokio::test]
async fn named_secrets_outside_the_home_need_approval() {
    let fixture = project(&[("a.txt", "open")]);
    let outside = fixture.home.parent().unwrap().join("srv");
    for (path, text) in [
        ("app/.env", "K=needle"),
        ("app/server.pem", "needle"),
        ("app/.ssh/id_rsa", "needle"),
        ("app/deploy", PEM),
        ("app/readme", "open"),
    ] {
        let path = outside.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    std::os::unix::fs::symlink(outside.join("app"), fixture.home.join("work/app")).unwrap();
    std::os::unix::fs::symlink(outside.join("app/.env"), fixture.home.join("work/settings")).unwrap();
    for at in
        ["app".to_owned(), format!("{}/app", outside.display()), "../../srv/app".to_owned(), "../../s*/app".to_owned()]
    {
        for name in [".env", ".e*", "server.pem", "*.pem", ".ssh/id_rsa", ".s*/id*", "deploy | rev", "dep* | rev"] {
            let command = format!("cat {at}/{name}");
            let (reason, _) = asked(&fixture, "shell", json!({"command": command})).await;
            assert!(reason.contains("may hold secrets"), "{command}: {reason}");
        }
        assert_eq!(fixture.output("shell", json!({"command": format!("cat {at}/read*")})).await, "open");
        let searched = fixture.call("shell", json!({"command": format!("grep -rh needle {at}/ | rev")})).await;
        assert!(!searched.output.contains("eldeen"), "{searched:?}");
    }
    for command in ["cat settings", "cd ../../srv; cat app/.e*", "cd app; cat .env", "cat ../../srv/app/{.env,readme}"]
    {
        asked(&fixture, "shell", json!({"command": command})).await;
    }
    for command in ["cat /etc/passwd", "ls ../../srv/app", "cat a.txt", "head -c 9 /etc/ssl/certs/* >/dev/null"] {
        assert!(runs(&fixture, command).await, "{command}");
    }
}

/// Backups, hard links and copies in library folders of files with secrets need approval too.
#[doc = "holds: law 1.21"]
#[tokio::test]
async fn other_names_of_secrets_need_approval() {
    let fixture = project(&[
        (".env~", "needle"),
        ("id_rsa.bak", "needle"),
        ("hist/.bash_history.1", "needle"),
        ("vendor/.env", "needle"),
        ("target/.env", "needle"),
        ("key/.env", "needle"),
    ]);
    fixture.file(".ssh/config", "needle");
    std::fs::hard_link(fixture.home.join(".ssh/config"), fixture.home.join("work/n.txt")).unwrap();
    std::fs::hard_link(fixture.home.join("work/key/.env"), fixture.home.join("work/m.txt")).unwrap();
    for command in [
        "cat .e*~",
        "cat id_rsa.bak",
        "cat hist/.b*",
        "cat vendor/.e*",
        "cat target/.env",
        "cat n.txt",
        "rev m.t*",
        "cat */.e* *.txt | rev",
    ] {
        asked(&fixture, "shell", json!({"command": command})).await;
    }
}

/// Passwords in URLs are removed from the output of any command.
#[doc = "holds: law 1.21"]
#[tokio::test]
async fn passwords_in_urls_are_redacted_in_outputs() {
    let line = "url = https://me:s3cret@host.example/r\n";
    let fixture = project(&[("remotes.txt", line), ("b.txt", "https://host.example/?a=b token=open\n")]);
    let work = fixture.home.join("work");
    git(&work, &["init", "-q"]);
    for command in ["cat remotes.txt", "grep -rh url .", "sort remotes.txt >&2"] {
        let call = fixture.call("shell", json!({"command": command})).await;
        assert!(call.output.contains("host.example") && !call.output.contains("s3cret"), "{command}: {call:?}");
    }
    assert_eq!(
        fixture.output("shell", json!({"command": "cat b.txt"})).await,
        "https://host.example/?a=b token=open\n"
    );
    assert!(runs(&fixture, "git config -l | rev; cat .git/c*g; grep -rh bare .gi*").await);
    git(&work, &["remote", "add", "origin", "https://me:s3cret@host.example/r"]);
    for command in ["cat .git/c*g", "grep -rh url .gi* | rev", "git config -l | rev", "cd .git; rev config"] {
        asked(&fixture, "shell", json!({"command": command})).await;
    }
    for command in ["git config -l", "git remote -v | head -1", "git status", "git log --oneline | rev; true"] {
        assert!(runs(&fixture, command).await, "{command}");
    }
}

/// git commands that would show a committed secret need approval.
#[doc = "holds: law 1.21"]
#[tokio::test]
async fn git_content_commands_with_committed_secrets_ask() {
    let fixture = project(&[(".env", "K=needle"), ("a.txt", "one\n"), ("tests/ca.pem", "x")]);
    let work = fixture.home.join("work");
    git(&work, &["init", "-q"]);
    git(&work, &["add", "a.txt", "tests"]);
    git(&work, &["commit", "-qm", "m"]);
    let showing =
        ["git log -p", "git grep K= HEAD", "git archive HEAD | tar xOf -", "git cat-file --batch < /dev/null"];
    for command in showing {
        assert!(runs(&fixture, &format!("{command}; true")).await, "{command}");
    }
    git(&work, &["add", ".env"]);
    git(&work, &["commit", "-qm", "m"]);
    for command in showing.into_iter().chain(["cd ..; git -C work show"]) {
        let (reason, _) = asked(&fixture, "shell", json!({"command": command})).await;
        assert!(reason.contains(".env is committed"), "{command}: {reason}");
    }
    for command in
        ["git status", "git log --oneline", "git log -p a.txt", "git diff", "git show HEAD:a.txt", "git show --stat"]
    {
        assert!(runs(&fixture, command).await, "{command}");
    }
}

/// Name of the environment variable that is set in the mount namespace in which the test runs again.
#[cfg(target_os = "linux")]
const IN_NAMESPACE: &str = "ARTOO_TEST_IN_NAMESPACE";

/// A secret that is reached through another mount needs approval too.
#[cfg(target_os = "linux")]
#[doc = "holds: law 1.21"]
#[tokio::test]
async fn secrets_under_another_mount_need_approval() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root can mount");
        return;
    }
    if std::env::var_os(IN_NAMESPACE).is_none() {
        let mut inside = Command::new("unshare");
        inside.arg("-m").arg(std::env::current_exe().unwrap());
        inside.args(["--exact", "tests::secrets::secrets_under_another_mount_need_approval"]).env(IN_NAMESPACE, "1");
        let ended = inside.output().unwrap();
        assert!(ended.status.success(), "{ended:?}");
        return;
    }
    let fixture = Fixture::with(|config| {
        let home = Path::new(&config.environment.home);
        let mounted = home.parent().unwrap().join("mounted");
        std::fs::create_dir(&mounted).unwrap();
        let bound = Command::new("mount").arg("--bind").args([home, &mounted]).status().unwrap();
        assert!(bound.success());
    });
    fixture.file(".ssh/id_rsa", "needle");
    fixture.file("work/.env", "needle");
    fixture.file("work/a.txt", "open");
    let at = fixture.home.parent().unwrap().join("mounted");
    let at = at.display();
    for command in [format!("cat {at}/.ssh/id_rsa"), format!("cat {at}/work/.e*"), format!("cd {at}/work; cat .env")] {
        asked(&fixture, "shell", json!({"command": command})).await;
    }
    for command in [format!("cat {at}/.s*/id* | rev"), "cat ../../m*/.s*/id* ../../m*/work/.e* | rev".to_owned()] {
        let outcome = fixture.outcome(&Fixture::context("shell", json!({"command": command})), None).await;
        assert!(!format!("{outcome:?}").contains("eldeen"), "{command}: {outcome:?}");
    }
    assert_eq!(fixture.output("shell", json!({"command": format!("cat {at}/work/a.txt")})).await, "open");
    assert_eq!(
        fixture.call("read_file", json!({"path": format!("{at}/.ssh/id_rsa")})).await.status,
        CallStatus::Denied
    );
}
