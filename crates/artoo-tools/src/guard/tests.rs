//! The guard over a labelled table of commands, and its reader over single words.

use std::fs;
use std::path::Path;

use artoo_proto::{EffectClass, Environment};
use proptest::prelude::*;
use tempfile::TempDir;

use super::lex::{self, Doubt};
use super::{Proof, classify};
use crate::config::ToolConfig;
use crate::protect::Protected;

/// `class<TAB>command`; `␤` in a command stands for a line break.
const TABLE: &str = include_str!("commands.tsv");

struct Yard {
    _dir: TempDir,
    config: ToolConfig,
    protected: Protected,
}

fn yard() -> Yard {
    let dir = TempDir::new().unwrap();
    let home = dir.path().canonicalize().unwrap();
    for folder in ["work/dir", "artoo_workspace", ".ssh", ".artoo"] {
        fs::create_dir_all(home.join(folder)).unwrap();
    }
    for file in ["work/old.txt", "work/other.txt", "artoo_workspace/old.txt", ".ssh/id_rsa", ".artoo/audit.jsonl"] {
        fs::write(home.join(file), "x\n").unwrap();
    }
    std::os::unix::fs::symlink(home.join(".ssh"), home.join("work/innocent")).unwrap();
    std::os::unix::fs::symlink(&home, home.join("artoo_workspace/out")).unwrap();
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let environment = Environment {
        cwd: text(&home.join("work")),
        workspace: text(&home.join("artoo_workspace")),
        home: text(&home),
        os: "linux".to_owned(),
        utc_offset_s: 0,
    };
    let protected = Protected::new(&environment, &[]);
    Yard { _dir: dir, config: ToolConfig::new(environment), protected }
}

#[test]
fn law1_the_labelled_table_is_classified_as_labelled() {
    let yard = yard();
    let mut seen = std::collections::BTreeMap::new();
    for line in TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (class, command) = line.split_once('\t').unwrap_or_else(|| panic!("no tab in {line:?}"));
        let command = command.replace('␤', "\n");
        *seen.entry(class.to_owned()).or_insert(0) += 1;
        match (class, classify(&yard.config, &yard.protected, &command)) {
            ("read_only", Proof::Proven(proven)) if proven.class == EffectClass::ReadOnly => {}
            ("creating", Proof::Proven(proven)) if proven.class == EffectClass::Creating => {}
            ("asks", Proof::Unproven { .. }) => {}
            (_, proof) => panic!("{class}: {command:?} is {proof:?}"),
        }
    }
    assert!(seen["read_only"] >= 40 && seen["creating"] >= 5 && seen["asks"] >= 120, "{seen:?}");
}

#[test]
fn words_are_read_as_a_shell_would_or_not_at_all() {
    let words =
        |command: &str| lex::words(command, "/h").map(|words| words.into_iter().map(|word| word.text).collect());
    let table: Vec<(&str, Result<Vec<&str>, Doubt>)> = vec![
        ("ls  -l\ta", Ok(vec!["ls", "-l", "a"])),
        ("cat 'a b' \"c d\"e", Ok(vec!["cat", "a b", "c de"])),
        ("cat '' x", Ok(vec!["cat", "", "x"])),
        ("ls ~ ~/x '~/y'", Ok(vec!["ls", "/h", "/h/x", "~/y"])),
        ("echo '$(x)' \"*?\"", Ok(vec!["echo", "$(x)", "*?"])),
        ("ls é 日本", Ok(vec!["ls", "é", "日本"])),
        ("", Err(Doubt::Empty)),
        ("  ", Err(Doubt::Empty)),
        ("ls 'a", Err(Doubt::OpenQuote)),
        ("'ls' x", Err(Doubt::OddName)),
        ("A=1 ls", Err(Doubt::OddName)),
        ("сat x", Err(Doubt::OddName)),
        ("ls ~root", Err(Doubt::Tilde)),
        ("ls --x=~/y", Err(Doubt::Tilde)),
        ("ls \"$x\"", Err(Doubt::Syntax { c: '$' })),
        ("ls\nrm", Err(Doubt::Syntax { c: '\n' })),
        ("ls a\u{a0}b", Err(Doubt::Syntax { c: '\u{a0}' })),
        ("ls 'a\u{a0}b'", Err(Doubt::Syntax { c: '\u{a0}' })),
        ("ls 'a\nb'", Err(Doubt::Syntax { c: '\n' })),
    ];
    for (command, expected) in table {
        let expected = expected.map(|words| words.into_iter().map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(words(command), expected, "{command:?}");
    }
}

proptest! {
    /// What the reader accepts, a real shell splits into the very same words.
    #[test]
    fn accepted_words_are_those_of_a_shell(command in "(echo|printf) [-a-z '\"~/=*$é;|.#!\\\\]{0,24}") {
        if let Ok(words) = lex::words(&command, "/h") {
            let script = format!("HOME=/h; set -- {command}; printf '%s\\0' \"$@\"");
            let shell = std::process::Command::new("sh").arg("-c").arg(script).env_clear().output().unwrap();
            let shell = String::from_utf8_lossy(&shell.stdout).into_owned();
            let words: String = words.iter().map(|word| format!("{}\0", word.text)).collect();
            prop_assert_eq!(words, shell, "{}", command);
        }
    }

    /// Whatever text comes, the guard answers; nothing with shell syntax outside single quotes is proven.
    #[test]
    fn no_text_with_live_syntax_is_proven(text in "\\PC{0,40}", syntax in "[|&;<>()$`\\\\*?{}\\[\\]#!\n]") {
        let yard = yard();
        let command = format!("ls {}{syntax}", text.replace(['\'', '"'], ""));
        let is_unproven = matches!(classify(&yard.config, &yard.protected, &command), Proof::Unproven { .. });
        prop_assert!(is_unproven, "{:?}", command);
    }
}
