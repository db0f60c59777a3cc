//! `artoo setup` in a real terminal, and configuration files that are valid or refused.

mod protocols;

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::pty::Pty;
use crate::server::{Reply, Server};
use crate::world::{KEY, World};

impl World {
    /// The path of the configuration file.
    fn config(&self) -> std::path::PathBuf {
        self.home().join(".config/artoo/config.toml")
    }

    /// Writes a private configuration file with this text.
    fn write_config(&self, text: &str) {
        self.file(".config/artoo/config.toml", text);
        for path in [self.home().join(".config/artoo"), self.config()] {
            let mode = if path.is_dir() { 0o700 } else { 0o600 };
            fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        }
    }
}

/// A model server that answers setup's trial call correctly.
fn right() -> Server {
    Server::start(|_| Reply::Json(json!({"sum": 5})))
}

#[test]
fn setup_writes_a_working_configuration() {
    let (world, server) = (World::new(), right());
    let mut command = world.command(&["setup"]);
    command.env("OPENAI_BASE_URL", server.url()).env("OPENAI_API_KEY", KEY);
    let mut pty = Pty::start(&command, 100);
    pty.see("Who is to answer?");
    pty.see("2 models, key from OPENAI_API_KEY");
    pty.send("1\r");
    pty.see("Which model?");
    pty.send("2\r");
    pty.see("the right answer");
    pty.see("Write it?");
    assert!(!world.config().exists(), "nothing is written before the yes");
    pty.send("\r");
    let (code, screen) = pty.ended();
    assert_eq!(code, 0, "{screen}");
    assert!(!screen.contains(KEY));
    let text = fs::read_to_string(world.config()).unwrap();
    for line in [
        format!("base_url = {:?}", server.url()),
        "model_name = \"b-model\"".to_owned(),
        "key_variable = \"OPENAI_API_KEY\"".to_owned(),
    ] {
        assert!(text.lines().any(|found| found == line), "{line} in {text}");
    }
    assert_eq!(server.asked().len(), 1, "one call, no more");
    // From here on the file alone says it; the variable holds the key.
    let mut command = world.command(&["config", "show", "--origin"]);
    let shown = crate::world::RunOutput::of(command.env("OPENAI_API_KEY", KEY).output().unwrap());
    assert_eq!(shown.code, Some(0), "{shown:?}");
    let expected = format!("model_name = \"b-model\"  # model_name in {}:", world.config().display());
    assert!(shown.stdout.contains(&expected), "{}", shown.stdout);
    let mut command = world.command(&["doctor"]);
    let doctor = crate::world::RunOutput::of(command.env("OPENAI_API_KEY", KEY).output().unwrap());
    assert_eq!(doctor.code, Some(0), "{doctor:?}");
    assert!(doctor.stdout.contains("answers and lists b-model"), "{}", doctor.stdout);
}

/// `artoo setup` starts even if an environment variable has an invalid value.
#[test]
fn setup_starts_despite_invalid_variables() {
    let world = World::new();
    for (name, value) in [("ARTOO_MODEL", "nonsense"), ("ARTOO_MODEL", "openai"), ("ARTOO_DEADLINE", "soon")] {
        let mut command = world.command(&["setup"]);
        let mut pty = Pty::start(command.env(name, value), 100);
        pty.see("Who is to answer?");
        pty.enter("q");
        assert_eq!(pty.ended().0, 130, "{name}={value}");
    }
}

/// After a failed trial call, setup asks whether to write the configuration all the same; an empty answer writes
/// nothing.
#[doc = "holds: fault L4"]
#[test]
fn failed_setup_trial_writes_only_on_request() {
    let server = Server::start(|_| Reply::Status(401, json!({"error": {"message": "no such key"}})));
    let world = World::new();
    let mut command = world.command(&["setup"]);
    command.env("OPENAI_BASE_URL", server.url());
    let mut pty = Pty::start(&command, 100);
    pty.see("Who is to answer?");
    pty.send("\r");
    pty.see("Which model?");
    pty.send("\r");
    pty.see("Asking");
    pty.see("one question");
    pty.see("It did not work");
    pty.see("all the same?");
    pty.send("\r");
    let (code, screen) = pty.ended();
    assert_eq!(code, 130, "{screen}");
    assert!(screen.contains("The configuration was not changed."));
    assert!(!world.home().join(".config").exists());
}

/// A key typed in setup is not shown and is stored in a file that only its owner can read.
#[test]
fn typed_key_is_hidden_and_stored_privately() {
    let (world, server) = (World::new(), right());
    let mut pty = Pty::start(&world.command(&["setup"]), 100);
    pty.see("Who is to answer?");
    let other = pty.screen().lines().find(|line| line.contains("I type its address")).unwrap().trim().to_owned();
    pty.enter(other.split('.').next().unwrap());
    pty.see("Its address");
    pty.enter(&server.url());
    pty.see("What does it speak?");
    pty.enter("");
    pty.see("5. I type the key");
    pty.enter("5");
    pty.see("Its key");
    pty.enter(KEY);
    pty.see("Which model?");
    pty.enter("1");
    pty.see("Write it?");
    pty.enter("y");
    let (code, screen) = pty.ended();
    assert_eq!(code, 0, "{screen}");
    assert!(!screen.contains(KEY), "{screen}");
    let key = world.home().join(".config/artoo/key");
    assert_eq!(fs::read_to_string(&key).unwrap().trim(), KEY);
    assert_eq!(fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(server.asked()[0].authorization, format!("Bearer {KEY}"));
    let shown = world.run(&["config", "show"]);
    assert!(shown.stdout.contains("# the key is set; it is not shown"), "{shown:?}");
}

#[test]
fn setup_without_terminal_asks_nothing() {
    let world = World::new();
    let ran = world.run(&["setup"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("config keys"), "{ran:?}");
}

/// An invalid configuration stops tasks, and `artoo doctor` explains it.
#[doc = "holds: design F1"]
#[test]
fn invalid_config_stops_tasks_and_doctor_explains() {
    let world = World::new().with_things();
    world.write_config("# mine\nmdel = \"reflex\"\n");
    let place = format!("{}:2: mdel is no key; did you mean model?", world.config().display());
    let ran = world.run(&["how many files are in things"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""));
    assert!(ran.stderr.contains(&place), "{}", ran.stderr);
    assert!(!world.data_dir().exists(), "nothing has begun");
    let doctor = world.run(&["doctor"]);
    assert_eq!(doctor.code, Some(2));
    assert!(doctor.stdout.contains(&place), "{}", doctor.stdout);
    assert_eq!(world.run(&["config", "path"]).stdout.trim(), world.config().display().to_string());
    assert_eq!(world.run(&["config", "show"]).code, Some(2));
}

/// A configuration file that every user can write is refused.
#[doc = "holds: design F2"]
#[test]
fn world_writable_config_file_is_refused() {
    let world = World::new();
    world.write_config("model = \"reflex\"");
    fs::set_permissions(world.config(), Permissions::from_mode(0o646)).unwrap();
    let ran = world.run(&["how many files are here"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("chmod go-w"), "{}", ran.stderr);
}

/// Configuration files in a project's folder are ignored.
#[doc = "holds: design F3"]
#[test]
fn project_folder_config_is_ignored() {
    let world = World::new().with_things();
    let evil = "model = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\nmodel_name = \"x\"\n";
    let project = world.file("project/artoo/config.toml", evil).parent().unwrap().parent().unwrap().to_owned();
    fs::write(project.join("artoo.toml"), evil).unwrap();
    fs::write(project.join(".env"), "OPENAI_BASE_URL=http://127.0.0.1:9/v1").unwrap();
    let run = |arguments: &[&str]| {
        let mut command = world.command(arguments);
        command.current_dir(&project).env("XDG_CONFIG_HOME", &project);
        crate::world::RunOutput::of(command.output().unwrap())
    };
    let ran = run(&["how many files are in ~/things"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let doctor = run(&["doctor"]);
    for said in ["is ignored", "artoo.toml is not read", ".env is not read", "model: reflex"] {
        assert!(doctor.stdout.contains(said), "{said}: {}", doctor.stdout);
    }
}

/// An error about a value in the configuration file names its line.
#[test]
fn config_error_names_line_of_value() {
    let world = World::new().with_things();
    world.write_config("\ndeadline = \"soon\"\n");
    let ran = world.run(&["how many files are in ~/things"]);
    // The test's own variable wins, so it is taken away.
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let mut command = world.command(&["how many files are in ~/things"]);
    let ran = crate::world::RunOutput::of(command.env_remove("ARTOO_DEADLINE").output().unwrap());
    assert_eq!(ran.code, Some(2));
    let expected = format!("deadline in {}:2 can't be used", world.config().display());
    assert!(ran.stderr.contains(&expected), "{}", ran.stderr);
}

/// At each of setup's questions the user can leave with q; then nothing is written.
#[test]
fn setup_can_be_left_at_each_question() {
    let server = Server::start(|_| Reply::Json(json!({"sum": 5})));
    let url = server.url();
    let to_key = ["http://localhost:1/v1", "1"];
    for (answers, question) in [
        (&[][..], "Its address"),
        (&["no address"], "“no address” can't be used"),
        (&to_key[..1], "What does it speak?"),
        (&to_key, "Where is its key?"),
        (&[to_key[0], "1", "2"], "The variable's name"),
        (&[to_key[0], "1", "3"], "The file's path"),
        (&[to_key[0], "1", "4"], "The command"),
        (&[to_key[0], "1", "5"], "Its key"),
        (&[to_key[0], "1", "1"], "The endpoint's name for the model"),
        (&[&url, "1", "1"], "Which model?"),
        (&[&url, "1", "1", "1"], "Write it?"),
    ] {
        let world = World::new();
        let mut pty = Pty::start(&world.command(&["setup"]), 100);
        pty.see("Who is to answer?");
        let screen = pty.screen();
        let other = screen.lines().find_map(|line| line.trim().strip_suffix(". another endpoint: I type its address"));
        let asked = |pty: &Pty| pty.screen().matches("leave):").count();
        for answer in [&[other.unwrap()], answers].concat() {
            let before = asked(&pty);
            pty.enter(answer);
            pty.wait("the next question", |pty| asked(pty) > before || pty.screen().contains(question));
        }
        pty.see(question);
        pty.wait("the question", |pty| pty.row().trim_end().ends_with([':', ']']));
        pty.enter("q");
        let (code, screen) = pty.ended();
        assert_eq!(code, 130, "{question}: {screen}");
        assert!(screen.ends_with("The configuration was not changed."), "{question}: {screen}");
        assert!(!world.config().exists());
    }
}

/// If setup finds no model on this machine, it says how to get one.
#[test]
fn setup_says_how_to_get_a_model() {
    let world = World::new();
    let mut pty = Pty::start(&world.command(&["setup"]), 100);
    pty.see("Who is to answer?");
    pty.enter("q");
    let (_, screen) = pty.ended();
    // A server on a usual port of this machine is offered instead.
    let has_found = !screen.contains("\n  2. no language model");
    for part in ["ollama pull qwen3:4b", "llama-server", "with a key"] {
        assert!(screen.contains(part) || has_found, "{part}: {screen}");
    }
}

/// `artoo doctor` names the option, variable or line of the file that chose the model.
#[test]
fn doctor_names_what_chose_the_model() {
    let world = World::new();
    world.write_config("model = \"reflex\"\n");
    let doctor = world.run(&["doctor"]);
    let line = format!("model: reflex (model in {}:1)", world.config().display());
    assert!(doctor.stdout.contains(&line) && !doctor.stdout.contains("ARTOO_MODEL"), "{}", doctor.stdout);
    assert!(doctor.stdout.contains("\nok   profile: anytime, "), "{}", doctor.stdout);
    let mut command = world.command(&["doctor"]);
    let doctor = crate::world::RunOutput::of(command.env("ARTOO_MODEL", "reflex").output().unwrap());
    assert!(doctor.stdout.contains("model: reflex (variable ARTOO_MODEL)"), "{}", doctor.stdout);
}
