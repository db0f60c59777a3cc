//! Tests of the questions about a git repository.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::{World, mirror};

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
        ("what haven't I committed yet in site", "one.md\nnew.md"),
        ("show the messages of the last two commits in site", "second\nfirst"),
        ("show the last commit of site", "2024-02-03 bob: second"),
        ("show bob's commits in site", "2024-02-03 bob: second"),
        ("what did I change in site/one.md since the last commit", "+ changed\n- 1"),
        ("git diff one.md in site", "+ changed\n- 1"),
    ] {
        assert_eq!(world.printed(request).trim_end(), expected, "{request}");
    }
    let hash = world.printed("hash of the last commit in site");
    let short = world.printed("short hash of HEAD in site");
    assert!(hash.len() == 41 && short.len() == 8 && hash.starts_with(short.trim_end()), "{hash}{short}");
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
