//! Everyday commands that must not ask, and spellings and programs that must.

use std::fs;

use artoo_proto::EffectClass;

use super::{BYPASS, EVERYDAY, Proof, Yard, rows};
use crate::CommandGuard;

#[doc = "holds: law 1"]
#[test]
fn everyday_commands_do_not_ask() {
    let yard = Yard::new();
    let (mut seen, mut wrong) = (0, Vec::new());
    for (class, command) in rows(EVERYDAY) {
        seen += 1;
        match (class, yard.classify(&command)) {
            ("read_only", Proof::Proven(proven)) if proven.class == EffectClass::ReadOnly => {}
            ("creating", Proof::Proven(proven)) if proven.class == EffectClass::Creating => {}
            (_, proof) => wrong.push(format!("{class}: {command:?} is {proof:?}")),
        }
    }
    assert!(wrong.is_empty() && seen >= 300, "{seen} rows\n{}", wrong.join("\n"));
}

#[doc = "holds: law 1.1, 1.16"]
#[test]
fn nothing_that_could_do_harm_runs_without_asking() {
    let yard = Yard::with_trap();
    let (mut seen, mut wrong) = (0, Vec::new());
    for (class, command) in rows(BYPASS) {
        assert!(matches!(class, "irreversible" | "opaque" | "exfil"), "{class}");
        seen += 1;
        if yard.is_proven(&command) {
            wrong.push(format!("{class}: {command:?}"));
        }
    }
    assert!(wrong.is_empty() && seen >= 600, "{seen} rows\n{}", wrong.join("\n"));
}

/// The rows again from a folder where nothing they name exists: absence proves nothing.
#[doc = "holds: law 1.1"]
#[test]
fn spellings_ask_where_nothing_exists_either() {
    let yard = Yard::new();
    let mut config = yard.config.clone();
    config.environment.cwd = yard.home.join("work/dir").to_str().unwrap().to_owned();
    for (_, command) in rows(BYPASS).filter(|(class, _)| *class == "irreversible") {
        // These name a file that is there; elsewhere they make a new one or find nothing.
        let depends = command.contains("workspace/old.txt");
        let proof = super::classify(&config, &yard.protected, &command);
        assert!(depends || matches!(proof, Proof::Unproven { .. }), "{command:?}");
    }
}

#[doc = "holds: law 1.16"]
#[test]
fn what_is_only_looked_at_is_not_opened() {
    let yard = Yard::new();
    for (command, opened) in [
        ("ls -la ~ / dir && stat ~/.bashrc && find ~ -name x", vec![]),
        ("ls ~; cat old.txt; wc -l < other.txt", vec!["work/old.txt", "work/other.txt"]),
        ("ln -s ~ ~/artoo_workspace/h", vec![]),
        ("cd ~ && grep -r x work/dir", vec!["work/dir"]),
        ("find . -name '*.txt' | xargs cat", vec!["work"]),
        ("tar czf ~/artoo_workspace/n.tgz dir", vec!["work/dir"]),
    ] {
        let Proof::Proven(proven) = yard.classify(command) else { panic!("{command} asks") };
        let expected: Vec<_> = opened.iter().map(|path| yard.home.join(path)).collect();
        assert_eq!(proven.effects.opened, expected, "{command}");
    }
}

#[test]
fn a_repository_with_programs_in_its_settings_asks() {
    let yard = Yard::new();
    fs::create_dir_all(yard.home.join("work/.git")).unwrap();
    for (config, is_harmless) in [
        ("[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://x.example/r\n", true),
        ("[filter \"lfs\"]\n\tclean = git-lfs clean -- %f\n\trequired = true\n", true),
        ("[filter \"x\"]\n\tclean = ./evil\n", false),
        ("[diff \"x\"]\n\ttextconv = ./evil\n", false),
        ("[diff]\n\texternal = ./evil\n", false),
        ("[include]\n\tpath = ../evil\n", false),
        ("[core] worktree = /\n", false),
        ("[gpg]\n\tprogram = ./evil\n", false),
    ] {
        fs::write(yard.home.join("work/.git/config"), config).unwrap();
        for command in ["git status", "git diff", "git log -p"] {
            assert_eq!(yard.is_proven(command), is_harmless, "{command} with {config:?}");
        }
    }
}

#[test]
fn a_pattern_that_finds_a_name_like_an_option_asks_unless_no_option_harms() {
    let yard = Yard::new();
    fs::write(yard.home.join("work/-o x.txt"), "").unwrap();
    for (command, is_proven) in [
        ("sort *.txt", false),
        ("sort -- *.txt", true),
        ("sort ./*.txt", true),
        ("wc -l *.txt", true),
        ("find *.txt", false),
        ("for f in *.txt; do sort \"$f\"; done", false),
        ("for f in ./*.txt; do sort \"$f\"; done", true),
        ("for f in *.txt; do wc -l $f; done", false),
    ] {
        assert_eq!(yard.is_proven(command), is_proven, "{command}");
    }
}

#[test]
fn names_from_a_hostile_folder_are_not_read_as_more_names() {
    let yard = Yard::new();
    for (folder, is_proven) in [("work/dir/plain", true), ("work/dir/a ..", false)] {
        fs::create_dir_all(yard.home.join(folder)).unwrap();
        assert_eq!(yard.is_proven("find . -type f | xargs cat"), is_proven, "{folder}");
        assert!(yard.is_proven("find . -type f -print0 | xargs -0 cat"), "{folder}");
    }
}

#[test]
fn the_answer_is_the_promised_json() {
    let yard = Yard::new();
    let guard = CommandGuard::new(yard.config.clone());
    let answer = |command: &str| serde_json::to_value(guard.check(command)).unwrap();
    let read = answer("wc -l old.txt");
    assert_eq!((&read["class"], &read["ask"]), (&"read_only".into(), &false.into()), "{read}");
    assert_eq!(read["effects"][0], format!("reads {}/work/old.txt", yard.home.display()));
    let made = answer("ls > ~/artoo_workspace/new");
    assert_eq!((&made["class"], &made["ask"]), (&"reversible".into(), &false.into()), "{made}");
    for (command, class) in [
        ("rm -rf dir", "irreversible"),
        ("curl https://x.example", "exfil"),
        ("python3 x.py", "opaque"),
        ("ls; rm old.txt", "irreversible"),
    ] {
        let asked = answer(command);
        assert_eq!((&asked["class"], &asked["ask"]), (&class.into(), &true.into()), "{asked}");
        assert!(asked["reason"].as_str().is_some_and(|reason| !reason.is_empty()), "{asked}");
    }
    // Who asks must find the answer again; whoever shows it escapes it.
    let hostile = answer("ls\u{1b}[2K\u{202e}");
    assert_eq!((&hostile["command"], &hostile["ask"]), (&"ls\u{1b}[2K\u{202e}".into(), &true.into()));
    assert!(!hostile["reason"].as_str().unwrap().contains(['\u{1b}', '\u{202e}']), "{hostile}");
}
