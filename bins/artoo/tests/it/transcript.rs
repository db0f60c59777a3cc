//! The newcomer's transcript in the README: what a person sees in a first session, taken from a real terminal.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use crate::pty::{CTRL_D, Pty, QUESTION};
use crate::world::World;

const BEGIN: &str = "<!-- a first session: begin -->\n```text\n";
const END: &str = "```\n<!-- a first session: end -->";

/// Wide enough that no line is wrapped, whatever the temporary home is called.
const COLUMNS: u16 = 400;

/// A home as one may be found: papers, pictures, notes; every date is the same, so that the transcript is.
fn home() -> World {
    let world = World::new();
    for (path, bytes) in [
        ("Papers/thesis.pdf", 48_000),
        ("Papers/letters/offer.pdf", 9_000),
        ("Papers/letters/answer.pdf", 7_000),
        ("Papers/notes.txt", 300),
        ("Papers/draft.tmp", 1_200),
        ("Papers/letters/old.tmp", 800),
    ] {
        let path = world.file(path, vec![b'x'; bytes]);
        let day = SystemTime::UNIX_EPOCH + Duration::from_secs(1_715_774_400);
        File::options().write(true).open(path).unwrap().set_modified(day).unwrap();
    }
    world
}

fn transcript() -> String {
    let world = home();
    let mut command = world.command(&[]);
    command.env("TZ", "UTC");
    let mut pty = Pty::start(&command, COLUMNS);
    pty.prompt("");
    let ask = |pty: &mut Pty, words: &str, nth: usize| {
        pty.enter(words);
        pty.ended_tasks(nth);
        pty.prompt("");
    };
    ask(&mut pty, "how many pdfs are in ~/Papers", 1);
    ask(&mut pty, "which of them is the largest", 2);
    pty.enter("delete the tmp files in ~/Papers");
    pty.see(QUESTION);
    pty.send("y\r");
    pty.ended_tasks(3);
    pty.prompt("");
    assert!(!world.home().join("Papers/draft.tmp").exists());
    ask(&mut pty, "paint the house", 4);
    let screen = pty.screen();
    pty.send(CTRL_D);
    assert_eq!(pty.ended().0, 0);
    let home = world.home().display().to_string();
    let shown = screen.replace(&home, "/home/ada");
    let lines = shown.lines().map(str::trim_end).collect::<Vec<_>>();
    lines.join("\n").trim_end().trim_end_matches("artoo>").trim_end().to_owned() + "\n"
}

#[test]
fn the_readme_shows_a_first_session_as_it_is() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    let readme = fs::read_to_string(path).unwrap();
    let (before, rest) = readme.split_once(BEGIN).expect("the README holds a first session");
    let (shown, after) = rest.split_once(END).expect("the first session ends");
    let found = transcript();
    if std::env::var_os("ARTOO_BLESS").is_some() {
        fs::write(path, format!("{before}{BEGIN}{found}{END}{after}")).unwrap();
        return;
    }
    assert_eq!(shown, found, "ARTOO_BLESS=1 writes it anew");
}
