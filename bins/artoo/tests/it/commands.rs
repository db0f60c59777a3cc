//! Commands about the program itself: help, version, completions, manual pages, changes to the configuration.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use crate::world::{KEY, RunOutput, World};

/// Creates a home folder with a PDF and a temporary file in `Downloads`.
fn with_downloads() -> World {
    let world = World::new();
    world.file("Downloads/report.pdf", "a report");
    world.file("Downloads/old.tmp", "x");
    world
}

/// The path of the configuration file.
fn config(world: &World) -> PathBuf {
    world.home().join(".config/artoo/config.toml")
}

/// The permission bits of a file.
fn mode(path: &PathBuf) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// After loading the script of `artoo completions bash`, bash completes artoo's subcommands.
#[test]
fn bash_completes_commands_from_the_script() {
    let world = World::new();
    let script = world.run(&["completions", "bash"]);
    assert_eq!((script.code, script.stderr.as_str()), (Some(0), ""), "{script:?}");
    let file = world.file("artoo.bash", &script.stdout);
    let complete = |words: &str| {
        let last = words.split(' ').count() - 1;
        let typed = words.split(' ').next_back().unwrap();
        let script = format!(
            "source '{}' && complete -p artoo >/dev/null && COMP_WORDS=({words}) COMP_CWORD={last} && \
             _artoo artoo '{typed}' artoo && printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            file.display()
        );
        let output = Command::new("bash").args(["--norc", "--noprofile", "-c", &script]).output();
        output.ok().map(|output| {
            assert!(output.status.success(), "{output:?}");
            String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect::<Vec<_>>()
        })
    };
    let Some(commands) = complete("artoo mod") else {
        eprintln!("SKIPPED: bash is not installed");
        return;
    };
    assert_eq!(commands, ["model"]);
    assert_eq!(complete("artoo model pu").unwrap(), ["pull"]);
    assert_eq!(complete("artoo nothing-like-this").unwrap().concat(), "");
}

#[test]
fn completions_exist_for_five_shells() {
    let world = World::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = world.run(&["completions", shell]);
        assert_eq!(ran.code, Some(0), "{shell}: {ran:?}");
        assert!(ran.stdout.contains("check-command") && ran.stdout.contains("accept-gap"), "{shell}");
    }
    assert_eq!(world.run(&["completions", "tcsh"]).code, Some(2));
}

/// `artoo man` prints all manual pages, or writes them into a folder.
#[test]
fn manual_pages_are_printed_or_written() {
    let world = World::new();
    let printed = world.run(&["man"]);
    assert!(printed.code == Some(0) && printed.stdout.matches(".TH ").count() > 20, "{printed:?}");
    let folder = world.home().join("share/man1");
    let written = world.run(&["man", folder.to_str().unwrap()]);
    assert_eq!(written.code, Some(0), "{written:?}");
    let names: Vec<PathBuf> = written.stdout.lines().map(PathBuf::from).collect();
    assert!(names.contains(&folder.join("artoo-model-pull.1")) && names.iter().all(|path| path.is_file()), "{names:?}");
    let ran = world.run(&["man", "/proc/artoo"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("/proc/artoo can't be written"), "{ran:?}");
}

/// A mistyped subcommand is not run as a request; the message names the one meant.
#[test]
fn mistyped_commands_are_no_requests() {
    let world = World::new();
    for (words, meant) in [
        ("docter", "doctor"),
        ("memroy", "memory"),
        ("udno", "undo"),
        ("Setpu", "setup"),
        ("login", "setup"),
        ("update", "version"),
        ("moddel list", "model list"),
        ("completion bash", "completions bash"),
        ("docter --probe", "doctor --probe"),
        ("undoo --list", "undo --list"),
    ] {
        let arguments: Vec<&str> = words.split(' ').collect();
        let ran = world.run(&arguments);
        let word = arguments[0];
        let expected = format!(
            "artoo: There is no command “{word}”. Did you mean: artoo {meant}? As a request: artoo run -- {words}\n"
        );
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr), (Some(2), "", expected));
    }
    for request in [
        &["--", "docter"][..],
        &["run", "--", "docter"],
        &["docter my machine"],
        &["rune", "the", "tests"],
        &["dry", "the", "dishes"],
        &["paint"],
        &["help", "me", "paint", "it"],
    ] {
        let ran = world.run(request);
        assert_eq!(ran.code, Some(5), "{request:?} is a request: {ran:?}");
    }
}

/// `artoo version`, `--version` and `-V` print the same.
#[test]
fn version_is_shown_by_three_spellings() {
    let world = World::new();
    for arguments in [["version"], ["--version"], ["-V"]] {
        let ran = world.run(&arguments);
        let expected = format!("artoo {}\n", env!("CARGO_PKG_VERSION"));
        assert_eq!((ran.code, ran.stdout, ran.stderr.as_str()), (Some(0), expected, ""));
    }
}

#[test]
fn help_explains_topics_and_commands() {
    let world = World::new();
    let overview = world.run(&["help"]);
    assert_eq!((overview.code, &overview.stdout), (Some(0), &world.run(&["--help"]).stdout));
    let short = world.run(&["-h"]).stdout;
    assert!(short.lines().count() < overview.stdout.lines().count(), "{short}");
    for (words, part) in [(&["privacy"][..], "no telemetry"), (&["model", "pull"], "--sha256"), (&["DOCTOR"], "")] {
        let ran = world.run(&[&["help"], words].concat());
        assert_eq!(ran.code, Some(if part.is_empty() { 2 } else { 0 }), "{words:?}: {ran:?}");
        assert!(ran.stdout.contains(part), "{words:?}: {ran:?}");
    }
    let ran = world.run(&["help", "cookery"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("there is no help on \"cookery\""), "{ran:?}");
}

/// The example requests in the help and in the reply to a greeting are answered; those that delete end for want of
/// approval.
#[test]
fn examples_of_help_and_greeting_work() {
    let world = with_downloads();
    let greeting = world.run(&["What can you do?"]);
    assert_eq!((greeting.code, greeting.stdout.lines().count(), greeting.stderr.as_str()), (Some(0), 3, ""));
    assert_eq!(world.run(&["help", "me"]).stdout, greeting.stdout);
    assert_eq!(world.run(&["hello"]).stdout, greeting.stdout);
    let help = world.run(&["--help"]).stdout;
    let mut requests = 0;
    // Without Downloads the greeting names the current folder.
    let bare = World::new();
    for (world, text) in [(&world, &greeting.stdout), (&world, &help), (&bare, &bare.run(&["hi"]).stdout)] {
        for request in text.split("artoo \"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
            let ran = world.run(&[request]);
            let expected = if request.starts_with("delete") { 6 } else { 0 };
            assert_eq!(ran.code, Some(expected), "{request}: {ran:?}");
            requests += 1;
        }
    }
    assert_eq!(requests, 3 + 4 + 3);
}

/// The example requests of one section of docs/guide.md are answered; those that change files end for want of approval.
#[test]
fn requests_of_the_guide_work() {
    let world = with_downloads();
    world.file("Papers/notes.md", "invoice\n");
    world.file("Papers/draft.txt", "x");
    let guide = include_str!("../../../../docs/guide.md");
    let section = guide.split("\n## ").find(|section| section.starts_with("Find and tidy files")).unwrap();
    let mut requests = 0;
    for request in section.lines().filter_map(|line| line.strip_prefix("artoo \"")?.strip_suffix('"')) {
        let changes = ["move ", "delete ", "rename "].iter().any(|verb| request.starts_with(verb));
        let ran = world.run(&[request]);
        assert_eq!(ran.code, Some(if changes { 6 } else { 0 }), "{request}: {ran:?}");
        requests += 1;
    }
    assert_eq!(requests, 9);
}

#[test]
fn config_set_keeps_comments_and_order() {
    let world = World::new();
    let set = |key: &str, value: &str| world.run(&["config", "set", key, value]);
    let ran = set("model", "reflex");
    assert!(ran.code == Some(0) && ran.stdout.contains("model is set in"), "{ran:?}");
    let text = "# mine\nmodel = \"reflex\" # who answers\n\n# not long\ndeadline = '5m'\nviews = true\n";
    fs::write(config(&world), text).unwrap();
    fs::set_permissions(config(&world), Permissions::from_mode(0o644)).unwrap();
    assert_eq!(set("deadline", "90s").code, Some(0));
    assert_eq!(set("views", "false").code, Some(0));
    assert_eq!(set("workspace", "~/w").code, Some(0));
    let expected = text.replace("'5m'", "\"90s\"").replace("true", "false") + "workspace = \"~/w\"\n";
    assert_eq!(fs::read_to_string(config(&world)).unwrap(), expected);
    assert_eq!(mode(&config(&world)), 0o600);
    let shown = world.run(&["config", "show"]).stdout;
    assert!(shown.contains("views = false") && shown.contains("/w\""), "{shown}");
    for key in ["views", "deadline"] {
        assert_eq!(world.run(&["config", "unset", key]).code, Some(0), "{key}");
    }
    let ran = world.run(&["config", "unset", "views"]);
    assert!(ran.code == Some(0) && ran.stdout.contains("was not set"), "{ran:?}");
    let expected = "# mine\nmodel = \"reflex\" # who answers\n\n# not long\nworkspace = \"~/w\"\n";
    assert_eq!(fs::read_to_string(config(&world)).unwrap(), expected);
    let mut command = world.command(&["config", "set", "model", "openai:m"]);
    let ran = RunOutput::of(command.env("ARTOO_MODEL", "reflex").output().unwrap());
    assert!(ran.code == Some(0) && ran.stderr.contains("ARTOO_MODEL is set, and it wins"), "{ran:?}");
}

/// `artoo config set` refuses values that a later run would refuse.
#[test]
fn config_set_refuses_what_a_run_would() {
    let world = World::new();
    let check = |key: &str, value: &str, part: &str| {
        let ran = world.run(&["config", "set", key, value]);
        assert_eq!(ran.code, Some(2), "{key} {value}: {ran:?}");
        assert!(ran.stderr.contains(part), "{key} {value}: {part} in {ran:?}");
        assert!(!config(&world).exists(), "{key} {value}");
    };
    check("mdoel", "reflex", "did you mean model?");
    check("api_key", "x", "a key is never kept here");
    check("model", "gpt", "model can't be used: give reflex");
    check("deadline", "5x", "deadline can't be used");
    check("views", "maybe", "views can't be used: give true or false");
    check("prices", "cheap", "prices can't be used");
    check("parallel", "many", "parallel can't be used");
    check("base_url", "localhost", "the base URL");
    check("workspace", "work", "must start with / or ~/");
    check("model", "", "model is empty");
    for key in ["key_variable", "key_file", "key_command", "model_name", "base_url"] {
        check(key, KEY, "looks like a key");
    }
    check("base_url", "http://ada:secret-42@host/v1", "looks like a key");
    world.file(".config/artoo/config.toml", "key_file = \"/k\"\nmodle = \"reflex\"\n");
    fs::set_permissions(config(&world), Permissions::from_mode(0o600)).unwrap();
    let ran = world.run(&["config", "set", "deadline", "5m"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("config.toml:2: modle is no key"), "{ran:?}");
    fs::write(config(&world), "key_file = \"/k\"\n").unwrap();
    let ran = world.run(&["config", "set", "key_variable", "MY_KEY"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("both say where the key is"), "{ran:?}");
    assert_eq!(fs::read_to_string(config(&world)).unwrap(), "key_file = \"/k\"\n");
}

/// `artoo config edit` checks the edited file and keeps the earlier one beside it.
#[test]
fn config_edit_validates_and_loses_nothing() {
    let world = World::new();
    let edit = |script: &str| {
        let editor = world.file("bin/my editor", format!("#!/bin/sh\n{script}\n"));
        fs::set_permissions(&editor, Permissions::from_mode(0o755)).unwrap();
        let mut command = world.command(&["config", "edit"]);
        RunOutput::of(command.env("EDITOR", format!("'{}' --wait", editor.display())).output().unwrap())
    };
    let write = |text: &str| format!("[ \"$1\" = --wait ] && printf '{text}' > \"$2\"");
    let ran = edit(&write("model = \"reflex\"\\n"));
    assert!(ran.code == Some(0) && ran.stdout.contains("is valid"), "{ran:?}");
    assert_eq!(mode(&config(&world)), 0o600);
    let ran = edit(&write("# new\\nmodle = \"reflex\"\\n"));
    assert!(ran.code == Some(2) && ran.stderr.contains("config.toml:2: modle is no key"), "{ran:?}");
    assert_eq!(fs::read_to_string(config(&world)).unwrap(), "# new\nmodle = \"reflex\"\n");
    let old = world.home().join(".config/artoo/config.toml.old");
    assert_eq!(fs::read_to_string(&old).unwrap(), "model = \"reflex\"\n");
    // An invalid file can be opened again.
    let ran = edit(&write("deadline = \"soon\"\\n"));
    assert!(ran.code == Some(2) && ran.stderr.contains("deadline can't be used"), "{ran:?}");
    let ran = edit("exit 3");
    assert!(ran.code == Some(2) && ran.stderr.contains("exit status: 3"), "{ran:?}");
    assert_eq!(fs::read_to_string(config(&world)).unwrap(), "deadline = \"soon\"\n");
    fs::remove_file(config(&world)).unwrap();
    let mut command = world.command(&["config", "edit"]);
    let ran = RunOutput::of(command.env("VISUAL", "true").env("EDITOR", "false").output().unwrap());
    assert!(ran.code == Some(0) && config(&world).exists(), "{ran:?}");
}

/// The help of a subcommand lists only the shared options that change what it does.
#[test]
fn help_of_a_command_shows_options_that_matter() {
    let world = World::new();
    for (words, own, others) in [
        (
            &["tasks"][..],
            &["--json", "--quiet", "--exact"][..],
            &["--deadline", "--accept", "--max-cost", "--model"][..],
        ),
        (&["memory", "why"], &["--verbose"], &["--output", "--estimate", "--continue"]),
        (&["undo"], &["--yes", "--exact"], &["--profile", "--workspace"]),
        (&["doctor"], &["--probe", "--model"], &["--accept", "--deadline"]),
        (&["try"], &["--deadline", "--workspace"], &["--model", "--accept"]),
        (&["report"], &["--output"], &["--model"]),
        (&["run"], &["--model", "--deadline", "--max-cost", "--output", "--continue"], &[]),
    ] {
        let shown = world.run(&[words, &["--help"]].concat()).stdout;
        assert!(own.iter().all(|option| shown.contains(option)), "{words:?}: {shown}");
        assert!(!others.iter().any(|option| shown.contains(option)), "{words:?}: {shown}");
        let has_more = shown.contains("artoo --help lists the options of every command");
        assert_eq!(has_more, words != ["run"], "{words:?}: {shown}");
    }
    // A hidden option still counts.
    assert_eq!(world.run(&["tasks", "--deadline", "never"]).code, Some(2));
    assert_eq!(world.run(&["tasks", "--deadline", "5m"]).code, Some(0));
}

/// A command that needs a subcommand, given without one, does what its list subcommand does.
#[test]
fn bare_commands_show_their_list() {
    let world = World::new();
    for (command, list) in
        [("memory", "show"), ("rules", "list"), ("model", "list"), ("config", "show"), ("evidence", "list")]
    {
        let (bare, listed) = (world.run(&[command]), world.run(&[command, list]));
        assert_eq!((bare.code, &bare.stdout), (Some(0), &listed.stdout), "{command}");
        assert!(bare.stderr.contains(&format!("artoo {command} --help")), "{command}: {bare:?}");
    }
    assert_eq!(world.run(&["rules", "-q"]).stderr, "");
}
