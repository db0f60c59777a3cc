//! Embeds artoo twice on one data folder: both share the memory, and the program adds and reads records of its own.

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use std::fs;
use std::path::Path;
use std::time::UNIX_EPOCH;

use artoo_proto::Environment;
use artoo_roles::runtime::{RecallQuery, System, open_memory};

/// Runs two artoos on one data folder, reads and adds memory records, and fails unless both tasks were remembered.
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let home = tempfile::tempdir()?;
    let data = home.path().join(".artoo");
    fs::write(home.path().join("a.txt"), "text\n")?;
    let start = || System::builder().environment(environment(home.path())).data_dir(&data).start();
    let now_ms = i64::try_from(UNIX_EPOCH.elapsed()?.as_millis())?;
    let first_request = "how many txt files are in ~";
    let second_request = "how many folders are in ~";

    // The first writes the experience of its task. The program adds a note that every plan sees.
    let first = start()?;
    first.run(first_request).outcome().await?;
    let memory = first.stored_memory().ok_or("no memory")?;
    memory.remember("Reports belong into the folder ~/reports.", now_ms)?;

    // The second starts while the first is open: it reads what the first has written, and writes a journal of its own.
    let second = start()?;
    let known = second.stored_memory().ok_or("no memory")?.recall(&RecallQuery::new(first_request), now_ms);
    for advice in &known.advice {
        println!("{:?}: {}", advice.potentials.action, advice.tag.entity);
    }
    second.run(second_request).outcome().await?;
    let mut problems = second.close().await.problems;
    problems.extend(first.close().await.problems);

    // Whoever opens the folder next merges the second journal.
    let memory = open_memory(&data, false)?;
    let learnt = |request| !memory.recall(&RecallQuery::new(request), now_ms).advice.is_empty();
    let notes = memory.recall(&RecallQuery::new("write a report into the folder"), now_ms).notes;
    println!("notes: {:?}", notes.iter().map(|note| &note.text).collect::<Vec<_>>());
    if !known.advice.is_empty() && learnt(first_request) && learnt(second_request) && problems.is_empty() {
        return Ok(());
    }
    Err(format!("not shared: {known:#?}, {problems:?}").into())
}

/// A machine whose home folder is `home`.
fn environment(home: &Path) -> Environment {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    Environment {
        cwd: text(home),
        home: text(home),
        workspace: text(&home.join("workspace")),
        os: std::env::consts::OS.to_owned(),
        utc_offset_s: 0,
    }
}
