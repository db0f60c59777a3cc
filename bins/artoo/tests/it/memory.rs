//! The memory as the user sees and changes it, and its effect on later processes.

use std::fs;
use std::time::SystemTime;

use artoo_proto::Timestamp;
use serde_json::{Value, json};

use crate::pty::{CTRL_D, Pty};
use crate::server::{NOTE_REQUEST, Server, call, reading_the_note, reads_the_note, running, understood};
use crate::world::{RunOutput, World};

/// A request that the model server [`running`] carries out so that facts prove it; memory learns from such tasks.
const LIST: &str = "list the files in ~/things";

const COUNT: &str = "how many files are in ~/things";

impl World {
    /// Runs `artoo memory` with these arguments.
    fn memory(&self, arguments: &[&str]) -> RunOutput {
        self.run(&[&["memory"], arguments].concat())
    }

    /// The JSON output of `artoo memory` with these arguments.
    fn memory_json(&self, arguments: &[&str]) -> Value {
        let ran = self.memory(&[arguments, &["--json"]].concat());
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
    }

    /// The text of the memory's journal.
    fn journal(&self) -> String {
        String::from_utf8_lossy(&fs::read(self.data_dir().join("memory.journal")).unwrap()).into_owned()
    }
}

/// The prompt of the newest request for a plan that the model server got.
fn last_plan(server: &Server) -> String {
    server.asked().into_iter().rfind(|asked| asked.schema == "plan").unwrap().user
}

/// Results that the user marked as wrong change the next prompt for a plan.
#[test]
fn wrong_results_change_the_next_plan_prompt() {
    let world = World::new().with_things();
    let server = Server::start(running("ls things"));
    world.ask(&server, LIST);
    world.ask(&server, LIST);
    let before = last_plan(&server);
    assert!(before.contains("shell: worked for this kind of task"), "{before}");
    let ran = world.memory(&["wrong", "they are last week's files"]);
    assert!(ran.code == Some(0) && ran.stdout.contains("artoo memory wrong --undo takes that back"), "{ran:?}");
    assert!(world.memory(&["wrong"]).stdout.contains("noted before"));
    world.ask(&server, LIST);
    let after = last_plan(&server);
    assert!(after.contains("shell: gave a result that the user called wrong"), "{after}");
    assert!(!after.contains("shell: worked for this kind of task"), "{after}");
}

/// `artoo memory wrong --undo` deletes the correction from memory.
#[test]
fn retracted_corrections_are_deleted() {
    let world = World::new().with_things();
    world.run(&[COUNT]);
    let before = world.memory(&["show", COUNT]).stdout;
    world.memory(&["wrong", "there are 12"]);
    assert_ne!(world.memory(&["show", COUNT]).stdout, before);
    assert!(world.journal().contains("there are 12"));
    let ran = world.memory(&["wrong", "--undo"]);
    assert!(ran.code == Some(0) && !world.journal().contains("there are 12"), "{ran:?}");
    assert_eq!(world.memory(&["show", COUNT]).stdout, before);
    assert_eq!(world.memory(&["wrong", "--undo"]).code, Some(9));
}

/// A failure in one process is told to the planner of the next.
#[test]
fn failures_affect_plans_of_other_processes() {
    let world = World::new().with_note();
    let failing = Server::start(|asked| match asked.schema.as_str() {
        "plan" => reading_the_note(&["shell"]),
        "execution" => call("shell", &json!({"command": "false"})),
        _ => reads_the_note(asked),
    });
    let ran = world.ask(&failing, NOTE_REQUEST);
    assert_ne!(ran.code, Some(0), "{ran:?}");
    let server = Server::start(reads_the_note);
    world.ask(&server, NOTE_REQUEST);
    let told = last_plan(&server);
    assert!(told.contains("CAUTION:") && told.contains("- shell:"), "{told}");
}

/// Two processes that use one memory at the same time learn a rule together, and their later failures retract it.
#[test]
fn two_processes_make_and_retract_rules() {
    let world = World::new().with_things().with_note();
    let server = Server::start(running("ls things"));
    let rules = || world.memory_json(&["rules"])["rules"].as_array().unwrap().clone();
    // The prompt holds the memory until it ends; what others record meanwhile is handed over.
    let both = |server: &Server, request: &str, runs: usize| {
        let mut pty = Pty::start(&world.with_model(server, &[]), 160);
        pty.prompt("");
        for run in 1..=runs {
            pty.enter(request);
            pty.ended_tasks(run);
            pty.prompt("");
            let ran = world.ask(server, request);
            assert!(ran.stderr.contains("another artoo is using it"), "{ran:?}");
        }
        pty.send(CTRL_D);
        pty.ended();
    };
    both(&server, LIST, 2);
    assert_eq!(rules().len(), 0, "four records of an approach are no rule");
    both(&server, LIST, 1);
    assert_eq!((rules().len(), &rules()[0]["tasks"]), (1, &json!(6)), "{:?}", rules());
    world.ask(&server, LIST);
    let told = last_plan(&server);
    assert!(told.contains("\"shell worked for tasks such as"), "{told}");
    let failing = Server::start(|asked| match asked.schema.as_str() {
        "task_spec" => understood("run the command"),
        "plan" => reading_the_note(&["shell"]),
        "execution" => call("shell", &json!({"command": "false"})),
        _ => reads_the_note(asked),
    });
    both(&failing, NOTE_REQUEST, 4);
    assert_eq!(rules().len(), 0, "{:?}", rules());
    assert!(world.memory(&["export"]).stdout.contains("\"contradicts\""), "dissonance");
    world.ask(&server, LIST);
    assert!(!last_plan(&server).contains("\"shell worked for tasks such as"), "{}", last_plan(&server));
}

/// A home folder in which memory has learned a rule for each of three kinds of request, all about one tool.
fn with_rules() -> World {
    let world = World::new().with_things();
    let folders = "how many folders are in ~/things";
    for request in [COUNT, folders, LIST].repeat(6) {
        assert_eq!(world.run(&[request]).code, Some(0));
    }
    world
}

/// Habits that memory proposes can be adopted, then reach the planner, and can be dropped.
#[test]
fn proposed_habits_are_adopted_told_and_dropped() {
    let world = with_rules().with_note();
    let server = Server::start(reads_the_note);
    let plan = || {
        world.ask(&server, NOTE_REQUEST);
        last_plan(&server)
    };
    let unknown = world.memory(&["rules", "adopt", "shell"]);
    assert!(unknown.code == Some(9) && unknown.stdout.contains("shell"), "{unknown:?}");
    assert!(!plan().contains("glob worked in 18 tasks"), "proposed, not adopted");
    let adopted = world.memory(&["rules", "adopt", "glob"]);
    assert!(adopted.code == Some(0) && adopted.stdout.contains("rules drop glob takes it back"), "{adopted:?}");
    assert_eq!(world.memory(&["rules", "adopt", "glob"]).code, Some(9), "it is no proposal any more");
    assert!(plan().contains("glob worked in 18 tasks"), "{}", plan());
    assert_eq!(world.memory(&["rules", "drop", "shell"]).code, Some(9));
    let dropped = world.memory(&["rules", "drop", "glob"]);
    assert!(dropped.code == Some(0) && dropped.stdout.contains("records that it was made of stay"), "{dropped:?}");
    assert!(!plan().contains("glob worked in 18 tasks"));
    // A rule is named by its id, and its records stay.
    let rules = || world.memory_json(&["rules"])["rules"].as_array().unwrap().clone();
    let (before, shown) = (rules(), world.memory(&["show", COUNT]).stdout);
    let id = before[0]["id"].as_str().unwrap();
    assert_eq!((before.len(), world.memory(&["rules", "drop", id]).code), (3, Some(0)));
    assert_eq!((rules().len(), world.memory(&["rules", "drop", id]).code), (2, Some(9)));
    assert!(shown.contains("has worked") && world.memory(&["show", COUNT]).stdout.contains("has worked"), "{shown}");
}

/// `artoo memory` can change a memory that another process has open.
#[test]
fn commands_change_a_memory_in_use() {
    let world = with_rules();
    let rules = || world.memory_json(&["rules"])["rules"].as_array().unwrap().clone();
    let id = rules()[0]["id"].as_str().unwrap().to_owned();
    let mut pty = Pty::start(&world.command(&[]), 160);
    pty.prompt("");
    for (arguments, code, said) in [
        (&["show"][..], 0, "is preferred"),
        (&["rules", "adopt", "glob"], 0, "Adopted"),
        (&["rules", "adopt", "shell"], 9, "shell"),
        (&["rules", "drop", &id], 0, "Dropped"),
        (&["rules", "drop", "shell"], 9, "shell"),
        (&["remember", "photos are in sub"], 0, "Noted"),
        (&["wrong", "one was a link"], 0, "Noted"),
    ] {
        let ran = world.memory(arguments);
        assert_eq!(ran.code, Some(code), "{arguments:?}: {ran:?}");
        assert!(format!("{}{}", ran.stdout, ran.stderr).contains(said), "{arguments:?}: {ran:?}");
    }
    pty.send(CTRL_D);
    assert_eq!(pty.ended().0, 0);
    let rest = rules();
    assert!(rest.len() == 2 && rest.iter().all(|rule| rule["id"] != id.as_str()), "{rest:?}");
    let shown = world.memory(&["show"]).stdout;
    for part in ["photos are in sub", "hidden files included; you said the result was wrong", "lasting habit glob"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    // What was handed over can be taken back, also while the memory is open.
    let mut pty = Pty::start(&world.command(&[]), 160);
    pty.prompt("");
    for arguments in [&["wrong", "--undo"][..], &["rules", "drop", "glob"], &["forget", "photos", "--yes"]] {
        let ran = world.memory(arguments);
        assert_eq!(ran.code, Some(0), "{arguments:?}: {ran:?}");
    }
    pty.send(CTRL_D);
    assert_eq!(pty.ended().0, 0);
    let journal = world.journal();
    assert!(!journal.contains("photos are in sub") && !journal.contains("one was a link"), "the texts are erased");
    let export = world.memory(&["export", "--json"]).stdout;
    assert!(!export.contains("learned"), "{export}");
}

/// A note of the user is part of the prompts for plans until it is deleted.
#[test]
fn notes_reach_plans_until_deleted() {
    let world = World::new().with_note();
    let noted = world.run(&["memory", "remember", "it's; there"]).stdout;
    assert!(noted.contains(r"artoo memory forget 'it'\''s; there' takes it back"), "{noted}");
    world.run(&["memory", "forget", "it's; there", "--yes"]);
    let server = Server::start(reads_the_note);
    let ran = world.memory(&["remember", "the", "note", "is", "written", "in", "Basque"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    world.ask(&server, NOTE_REQUEST);
    assert!(last_plan(&server).contains("the note is written in Basque"), "{}", last_plan(&server));
    let asked = world.memory(&["forget", "basque"]);
    assert!(asked.code == Some(6) && asked.stderr.contains("there is nobody to ask"), "{asked:?}");
    assert!(world.journal().contains("in Basque"));
    let ran = world.memory(&["forget", "basque", "--yes"]);
    assert!(ran.code == Some(0) && ran.stdout.contains("can't be brought back"), "{ran:?}");
    assert!(!world.journal().contains("in Basque"));
    world.ask(&server, NOTE_REQUEST);
    assert!(!last_plan(&server).contains("in Basque"));
}

/// After `artoo memory off`, tasks neither read nor write memory.
#[test]
fn disabled_memory_is_not_read_or_written() {
    let world = World::new().with_things();
    let server = Server::start(running("ls things"));
    world.ask(&server, LIST);
    let journal = world.journal();
    assert_eq!(world.memory(&["off"]).code, Some(0));
    world.ask(&server, LIST);
    assert!(!last_plan(&server).contains("shell: worked"), "{}", last_plan(&server));
    let ran = world.memory(&["remember", "x"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("artoo memory on turns it on"), "{ran:?}");
    assert_eq!(world.journal(), journal);
    assert_eq!(world.memory(&["on"]).code, Some(0));
    world.ask(&server, LIST);
    assert!(last_plan(&server).contains("shell: worked"), "{}", last_plan(&server));
    // The option wins over the file, and an empty folder stays empty.
    let world = World::new().with_things();
    assert_eq!(world.run(&["--memory", "false", COUNT]).code, Some(0));
    assert!(!world.data_dir().join("memory.journal").exists());
}

/// Subcommands of `artoo memory` say that memory is empty if it is.
#[test]
fn subcommands_on_an_empty_memory_say_so() {
    let world = World::new();
    let file = world.home().join("export.jsonl");
    let file = file.to_str().unwrap();
    for (arguments, code, said) in [
        (&["show"][..], 0, "Memory is empty"),
        (&["show", "count", "files"], 0, "Memory is empty"),
        (&["why", "count"], 9, "Memory is empty"),
        (&["forecast", "count"], 9, "Memory is empty"),
        (&["as-of", "2026-11-22", "count"], 2, "memory begins with the first task"),
        (&["as-of", "someday", "count"], 2, "is not a date"),
        (&["forget", "count"], 9, "Memory is empty"),
        (&["rules"], 0, "No rules yet"),
        (&["rules", "adopt", "glob"], 2, "memory begins with the first task"),
        (&["export", file], 2, "memory begins with the first task"),
        (&["import", file], 2, "export.jsonl"),
        (&["verify"], 0, "Sound: 0 records"),
        (&["wrong"], 9, "nothing about that task"),
    ] {
        let ran = world.memory(arguments);
        assert_eq!(ran.code, Some(code), "{arguments:?}: {ran:?}");
        assert!(format!("{}{}", ran.stdout, ran.stderr).contains(said), "{arguments:?}: {ran:?}");
    }
}

#[test]
fn subcommands_list_memory_content() {
    let world = World::new().with_things();
    world.run(&[COUNT]);
    world.memory(&["remember", "photos are in ~/things/sub"]);
    let today = Timestamp::from(SystemTime::now()).to_string();
    let today = &today[.."2026-11-22".len()];
    for (arguments, parts) in [
        (&["show"][..], &["count the files in the folder ~/things", "is preferred", "you noted: photos"][..]),
        (&["show", "photos"], &["photos are in ~/things/sub"]),
        (&["why", COUNT], &["100 %", "glob for", "worked: done"]),
        (&["forecast", COUNT], &["advice until"]),
        (&["as-of", today, COUNT], &["On ", "glob for", "has worked for such a request"]),
        (&["verify"], &["Sound: 3 records"]),
    ] {
        let ran = world.memory(arguments);
        assert_eq!(ran.code, Some(0), "{arguments:?}: {ran:?}");
        assert!(parts.iter().all(|part| ran.stdout.contains(part)), "{arguments:?}: {ran:?}");
        assert!(!ran.stdout.contains("intent:") && !ran.stdout.contains("attention"), "{ran:?}");
    }
    assert!(world.memory(&["show", "-v"]).stdout.contains("attention 0."));
    let shown = world.memory_json(&["show"]);
    assert_eq!((&shown["schema"], &shown["records"]), (&"artoo.memory/0".into(), &3.into()), "{shown}");
    let id = shown["notes"][0]["id"].as_str().unwrap();
    assert_eq!(world.memory_json(&["why", id])["why"][0]["records"][0]["id"], id);
    // Another home takes all of it over, once.
    let file = world.home().join("export.jsonl");
    let file = file.to_str().unwrap();
    assert_eq!(world.memory(&["export", file]).code, Some(0));
    assert!(world.memory(&["export", file]).stderr.contains("name a file"), "a file is never replaced");
    assert_eq!(world.memory(&["export"]).stdout, fs::read_to_string(file).unwrap());
    let other = World::new();
    assert!(other.memory(&["import", file]).stdout.starts_with("3 entries added, 0 skipped"));
    assert!(other.memory(&["import", file]).stdout.starts_with("0 entries added, 3 skipped"));
    assert_eq!(other.memory(&["export"]).stdout, fs::read_to_string(file).unwrap());
}

/// `/wrong`, `/remember` and `/forget` at the prompt change memory.
#[test]
fn prompt_commands_edit_memory() {
    let world = World::new().with_things();
    let mut pty = Pty::start(&world.command(&[]), 160);
    pty.prompt("");
    for (typed, answer) in [
        (COUNT, "Checked"),
        ("That was wrong.", "/wrong undo takes that back"),
        ("/memory", "you said the result was wrong"),
        ("/wrong undo", "no longer noted as wrong"),
        ("/remember photos are in sub", "/forget photos are in sub takes it back"),
        ("/memory", "you noted: photos are in sub"),
    ] {
        pty.enter(typed);
        pty.see(answer);
        pty.prompt("");
    }
    pty.enter("/forget photos");
    pty.see("Forget 1 record?");
    pty.send("y\r");
    pty.see("Forgot 1 record");
    pty.prompt("");
    // Not directly behind an answer it is a request, as any other words.
    pty.enter("wrong");
    pty.ended_tasks(2);
    pty.prompt("");
    pty.send(CTRL_D);
    assert_eq!(pty.ended().0, 0);
    assert!(!world.journal().contains("photos are in sub") && !world.journal().contains("the result was wrong"));
}

/// `--profile` takes a built-in name or a JSON file; other values are refused.
#[test]
fn profiles_are_named_read_and_refused() {
    let world = World::new();
    let profile = |options: &[&str]| {
        let ran = world.run(&[options, &["config", "show"]].concat());
        let line = |name: &str| ran.stdout.lines().find(|line| line.starts_with(name)).map(str::to_owned);
        line("profile").zip(line("time_budget")).ok_or(ran.stderr)
    };
    let shown = |name: &str, budget: &str| Ok((format!("profile = \"{name}\""), format!("time_budget = \"{budget}\"")));
    assert_eq!(profile(&[]), shown("anytime", "300s"));
    assert_eq!(profile(&["--profile", "v0.8", "--time-budget", "90s"]), shown("v0.8", "90s"));
    let file = world.file("mine.json", "{}");
    assert!(profile(&["--profile", file.to_str().unwrap()]).unwrap_err().contains("missing field"));
    assert!(profile(&["--profile", "fast"]).unwrap_err().contains("give v0.8, literal, anytime, or the path"));
    let doctor = world.run(&["--profile", "literal", "doctor"]).stdout;
    assert!(doctor.contains("profile: strict_spec, time budget 300s"), "{doctor}");
}

/// `artoo memory why` shows a short list of subjects if many records match.
#[test]
fn why_answers_in_few_lines() {
    let world = World::new().with_things();
    for words in ["pdf", "txt", "md", "bin", "zip", "csv", "log", "png"] {
        world.run(&[&format!("how many {words} files are in ~/things")]);
        world.run(&[&format!("how many {words} files are in ~/things")]);
    }
    let short = world.memory(&["why", COUNT]).stdout;
    assert!(short.lines().count() <= 7 && short.contains("14 of 14 worked"), "{short}");
    assert!(short.trim_end().ends_with("artoo memory why -v lists every record"), "{short}");
    let long = world.memory(&["why", COUNT, "-v"]).stdout;
    assert!(long.lines().count() > 12 && long.contains("   7 % "), "{long}");
}
