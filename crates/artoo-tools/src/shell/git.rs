//! Commands of git that show committed secrets, or passwords in a repository's settings. Objects of git are packed, so
//! the sandbox can't hide a single file.

use std::fs;
use std::path::{Path, PathBuf};

use crate::command_line::CommandLine;
use crate::protect::Protected;
use crate::{paths, secret};

/// Largest git index that is read, in bytes.
const INDEX_MAX_BYTES: u64 = 64 << 20;

/// Programs that pass lines on unchanged, so that a password in a line is still recognised and removed from the output.
const PASSING_ON: [&str; 14] =
    ["git", "cd", "cat", "head", "tail", "grep", "sort", "uniq", "wc", "less", "tee", "echo", "true", "test"];

/// Names of folders in which files named like secrets are test data, so that git may read them.
const TEST_FOLDERS: [&str; 6] = ["test", "tests", "testdata", "fixtures", "vendor", "node_modules"];

/// Options of git that are followed by a value.
const WITH_VALUE: [&str; 5] = ["-C", "-c", "--git-dir", "--work-tree", "--namespace"];

/// Whether one of these simple commands runs git.
pub(super) fn is_run(commands: &[Vec<String>]) -> bool {
    commands.iter().any(|words| is_git(words))
}

/// Why git commands of the line need approval: git would show a file that may hold secrets, or settings with a
/// password. `None` if they need none.
pub(super) fn shown(line: &CommandLine, protected: &Protected) -> Option<String> {
    let commands: Vec<&[String]> =
        line.commands.iter().filter(|words| is_git(words)).filter_map(|words| words.get(1..)).collect();
    let named = commands.iter().flat_map(|words| words.iter()).filter_map(|word| word.rsplit(':').next());
    if let Some(file) = named.map(Path::new).find(|file| secret::is_named_so(file)) {
        return Some(format!(
            "{} may hold secrets, and what git prints of it would be sent to the model",
            paths::line(file)
        ));
    }
    if protected.trusts_model || commands.is_empty() {
        return None;
    }
    let commands: Vec<(&str, &[String])> = commands.into_iter().filter_map(subcommand).collect();
    let shows_content = commands.iter().any(|(name, words)| shows_content(name, words));
    let shows_settings = commands.iter().any(|(name, _)| matches!(*name, "config" | "remote" | "submodule" | "var"))
        && line.commands.iter().any(|words| !words.first().is_some_and(|name| PASSING_ON.contains(&name.as_str())));
    if !shows_content && !shows_settings {
        return None;
    }
    let repositories = line.folders.iter().chain(&line.names).filter_map(|folder| repository(folder));
    repositories.into_iter().find_map(|git| {
        let file = if shows_content { tracked_secret(&git) } else { None };
        if let Some(file) = file {
            let file = paths::line(Path::new(&file));
            return Some(format!(
                "{file} is committed and may hold secrets, and what git prints would be sent to the model"
            ));
        }
        let settings = git.join("config");
        (shows_settings && secret::begins_so(&settings)).then(|| {
            format!("{} holds a password, and what git prints would be sent to the model", paths::line(&settings))
        })
    })
}

/// Whether the command's program is git.
fn is_git(words: &[String]) -> bool {
    words.first().is_some_and(|program| program == "git" || program.ends_with("/git"))
}

/// The name of git's subcommand and the words after it, from the words after `git`; `None` if these are only options.
fn subcommand(words: &[String]) -> Option<(&str, &[String])> {
    let mut rest = words;
    while let Some((first, after)) = rest.split_first() {
        if !first.starts_with('-') {
            return Some((first, after));
        }
        rest = if WITH_VALUE.contains(&first.as_str()) { after.get(1..).unwrap_or_default() } else { after };
    }
    None
}

/// Whether a git subcommand prints the content of committed files that the command line does not name.
fn shows_content(name: &str, words: &[String]) -> bool {
    let options = || words.iter().take_while(|word| *word != "--").filter(|word| word.starts_with('-'));
    let has = |names: &[&str]| options().any(|word| names.contains(&word.as_str()));
    let operands: Vec<&String> = words.iter().filter(|word| !word.starts_with('-')).collect();
    let is_patch = |word: &String| {
        word.starts_with("--patch")
            || word.starts_with("--word-diff")
            || word.starts_with("--unified")
            || word.starts_with("--full-diff")
            || matches!(word.as_str(), "--cc" | "--color-words" | "--binary" | "--textconv")
            || (!word.starts_with("--") && word.contains(['p', 'u', 'U', 'L', 'c']))
    };
    let is_path = |word: &&&String| word.starts_with('/');
    let is_listing = has(&["--stat", "--shortstat", "--numstat", "--name-only", "--name-status", "--summary"])
        || has(&["-s", "--no-patch", "--quiet", "-q"]);
    let shows = match name {
        "show" | "whatchanged" => !is_listing || options().any(is_patch),
        "log" | "reflog" => options().any(is_patch),
        "stash" => {
            operands.first().is_some_and(|word| matches!(word.as_str(), "show" | "list")) && options().any(is_patch)
        }
        "diff" | "difftool" | "diff-tree" | "diff-index" => {
            let is_of_commits = operands.iter().any(|word| !is_path(&word)) || has(&["--cached", "--staged"]);
            is_of_commits && (!is_listing || options().any(is_patch))
        }
        "grep" => has(&["--cached"]) || operands.iter().filter(|word| !is_path(word)).count() > 1,
        "cat-file" => !has(&["-t", "-s", "-e", "--batch-check"]),
        "archive" => !has(&["-l", "--list"]),
        "fast-export" | "format-patch" | "bundle" | "range-diff" | "unpack-file" | "checkout-index" => true,
        _ => false,
    };
    // Secrets that the command names are found elsewhere.
    let is_file =
        |word: &&String| Path::new(word).is_file() || word.split_once(':').is_some_and(|(_, path)| !path.is_empty());
    shows && !operands.iter().any(is_file)
}

/// The `.git` folder of the repository that contains a folder or file; `None` if there is none.
fn repository(path: &Path) -> Option<PathBuf> {
    let git = path.ancestors().map(|folder| folder.join(".git")).find(|git| git.symlink_metadata().is_ok())?;
    if git.is_dir() {
        return Some(git);
    }
    let text = fs::read_to_string(&git).ok()?;
    Some(git.parent()?.join(text.strip_prefix("gitdir:")?.trim()))
}

/// The first file in a git index whose name is that of a secret, except in folders of tests; `None` if there is none or
/// the index can't be read. An index beyond [`INDEX_MAX_BYTES`] gives "a file".
fn tracked_secret(git: &Path) -> Option<String> {
    let index = git.join("index");
    if index.metadata().ok()?.len() > INDEX_MAX_BYTES {
        return Some("a file".to_owned());
    }
    let is_test = |name: &str| name.split('/').any(|part| TEST_FOLDERS.contains(&part));
    names(&fs::read(index).ok()?).find(|name| !is_test(name) && secret::is_named_so(&Path::new("/").join(name)))
}

/// The paths in a git index of version 2, 3 or 4, up to the first entry that can't be parsed.
fn names(index: &[u8]) -> impl Iterator<Item = String> {
    let number = |at: usize| index.get(at..at + 4).and_then(|bytes| Some(u32::from_be_bytes(bytes.try_into().ok()?)));
    let version = number(4).filter(|_| index.starts_with(b"DIRC")).unwrap_or_default();
    let count = number(8).unwrap_or_default();
    // The flags follow times, numbers, mode, size and digest; one of their bits means two more bytes.
    let (mut at, mut previous) = (12, Vec::new());
    (0..count).map_while(move |_| {
        let extended = usize::from(index.get(at + 60)? & 0x40 != 0);
        let mut begin = at + 62 + 2 * extended;
        if version == 4 {
            let (mut cut, mut is_first) = (0_usize, true);
            loop {
                let byte = *index.get(begin)?;
                begin += 1;
                cut = (if is_first { 0 } else { cut.checked_add(1)?.checked_mul(128)? }) + usize::from(byte & 0x7f);
                is_first = false;
                if byte & 0x80 == 0 {
                    break;
                }
            }
            previous.truncate(previous.len().checked_sub(cut)?);
        } else {
            previous.clear();
        }
        let length = index.get(begin..)?.iter().position(|byte| *byte == 0)?;
        previous.extend_from_slice(index.get(begin..begin + length)?);
        // Entries of older versions are padded with at least one NUL to a multiple of eight bytes.
        at = if version == 4 { begin + length + 1 } else { at + ((begin + length - at) / 8 + 1) * 8 };
        Some(String::from_utf8_lossy(&previous).into_owned())
    })
}

/// Tests of reading git's index and recognising git's subcommands.
#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::{names, shows_content, subcommand};

    /// Paths are read from git indexes of versions 2, 3 and 4.
    #[test]
    fn each_version_of_an_index_is_read() {
        let dir = tempfile::TempDir::new().unwrap();
        let files = [".env", "a", "abcdefg/hijk", "b/.env.local", "b/c", "b/cc"];
        for file in files {
            let path = dir.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x").unwrap();
        }
        let git = |arguments: &[&str]| {
            assert!(Command::new("git").args(arguments).current_dir(dir.path()).output().unwrap().status.success());
        };
        git(&["init", "-q"]);
        git(&["add", "-f", "."]);
        for version in ["2", "4", "3"] {
            if version == "3" {
                git(&["rm", "-q", "--cached", "a"]);
                git(&["add", "-N", "a"]);
            }
            git(&["update-index", "--index-version", version]);
            let index = std::fs::read(dir.path().join(".git/index")).unwrap();
            assert_eq!(names(&index).collect::<Vec<_>>(), files, "{version}");
        }
        assert_eq!(names(b"DIRC\0\0\0\x02\0\0\0\x05abc").count(), 0);
        assert_eq!(names(b"").count(), 0);
    }

    /// Commands of git that print committed content are recognised, and ordinary ones are not taken for such.
    #[test]
    fn subcommands_that_show_commits_are_known() {
        let shows = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            subcommand(&words).is_some_and(|(name, words)| shows_content(name, words))
        };
        for line in [
            "show",
            "-C x log -p",
            "log -1p",
            "grep K= HEAD",
            "archive HEAD",
            "cat-file --batch",
            "diff HEAD~1",
            "diff --staged",
            "stash show -p",
            "format-patch -1",
            "show HEAD --stat -p",
            "-c core.pager=cat show HEAD",
        ] {
            assert!(shows(line), "{line}");
        }
        for line in [
            "status",
            "log",
            "log --oneline -5",
            "log --stat",
            "diff",
            "show --stat",
            "grep K=",
            "branch -a",
            "stash list",
            "cat-file -t HEAD",
            "show HEAD:a.txt",
            "diff /etc/passwd",
            "log -p /etc/passwd",
            "",
        ] {
            assert!(!shows(line), "{line}");
        }
    }
}
