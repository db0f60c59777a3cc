//! Kills a writing process at random times and counts the acknowledged records that are missing: `--rounds 500 --json`.

#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a program whose output is its figures"
)]

use std::{path::PathBuf, process::Command};

#[path = "../tests/it/kill.rs"]
mod kill;

/// Default number of rounds, in each of which a writing process is killed.
const ROUNDS: u64 = 50;

/// Runs the rounds and prints their counts, or with `--writer` is the process that writes until it is killed.
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| {
        let position = arguments.iter().position(|argument| argument == name)?;
        arguments.get(position + 1)
    };
    if let Some(folder) = value("--writer") {
        let salt = value("--salt").and_then(|salt| salt.parse().ok()).unwrap_or(0);
        kill::write_until_killed(&PathBuf::from(folder), salt);
        return Ok(());
    }
    let rounds = value("--rounds").map_or(Ok(ROUNDS), |rounds| rounds.parse())?;
    let seed = value("--seed").map_or(Ok(1), |seed| seed.parse())?;
    let folder = tempfile::tempdir()?;
    let program = std::env::current_exe()?;
    let writer = |salt: u64| {
        let mut command = Command::new(&program);
        command.arg("--writer").arg(folder.path()).arg("--salt").arg(salt.to_string());
        command
    };
    let tally = kill::rounds(folder.path(), rounds, seed, &writer);
    let figures = [
        ("rounds", tally.rounds),
        ("acknowledged", tally.acknowledged),
        ("lost", tally.lost),
        ("half_written", tally.half_written),
        ("failed_opens", tally.failed_opens),
        ("failed_writers", tally.failed_writers),
    ];
    if arguments.iter().any(|argument| argument == "--json") {
        println!("{}", serde_json::to_string(&figures.into_iter().collect::<std::collections::BTreeMap<_, _>>())?);
    } else {
        figures.iter().for_each(|(name, figure)| println!("{name:>15}: {figure}"));
    }
    Ok(())
}
