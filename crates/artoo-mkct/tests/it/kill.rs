//! Kills writing processes at random and verifies the records that they acknowledged; shared by a test and the example
//! `crash`.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use artoo_mkct::{Durability, Memory, NewMegram, Options, State, Tag, record::MegramId};

const NOW: i64 = 1_772_000_000_000;

/// Longest life of a writer: some are killed while they open, some after hundreds of writes.
const MAX_LIFE_MS: u64 = 150;

/// In one round of this many, two writers run at once.
const TWO_WRITERS_EVERY: u64 = 5;

/// In one round of this many, the text of every record is read, instead of only the newest 200.
const WHOLE_CHECK_EVERY: u64 = 50;

/// Counts of what the rounds found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Tally {
    pub(crate) rounds: u64,
    /// Records whose acknowledgement reached the parent.
    pub(crate) acknowledged: u64,
    /// Of these, records that were gone.
    pub(crate) lost: u64,
    /// Records that were not what was written.
    pub(crate) half_written: u64,
    /// Openings, checks and closings that failed, and openings as a guest or with frames that could not be applied.
    pub(crate) failed_opens: u64,
    /// Writers that ended by themselves, e.g. by a panic.
    pub(crate) failed_writers: u64,
}

/// The text of a record, from which its number and salt can be read.
fn content(number: u64, salt: u64) -> String {
    format!("{salt}-{number}:{}", "evidence ".repeat((number % 40) as usize))
}

/// Whether a record's text was written completely.
fn is_whole(text: &str) -> bool {
    let parsed = text.split_once(':').and_then(|(head, _)| head.split_once('-'));
    let numbers = parsed.and_then(|(salt, number)| Some((number.parse().ok()?, salt.parse().ok()?)));
    numbers.is_some_and(|(number, salt)| content(number, salt) == text)
}

/// Writes, deletes and compacts until the process is killed; prints what was acknowledged.
pub(crate) fn write_until_killed(folder: &Path, salt: u64) {
    let (memory, _) = Memory::open(folder, Options::default()).expect("a memory opens");
    let mut out = std::io::stdout().lock();
    for number in 0.. {
        let count = 1 + (number % 7);
        let drafts = (0..count).map(|i| {
            let text = content(number * 10 + i, salt);
            let draft = NewMegram::new(
                Tag::new(format!("intent:{}", number % 9), "via:glob"),
                State::ALL[(number % 7) as usize],
                text,
            );
            draft.task(format!("task-{number}"))
        });
        let accepted = memory.write_all(drafts.collect(), NOW + number as i64).expect("a write is accepted");
        accepted.receipt.wait(Durability::Acknowledged).expect("a write is acknowledged");
        for id in &accepted.ids {
            writeln!(out, "kept {id}").expect("somebody listens");
        }
        out.flush().expect("somebody listens");
        if number % 11 == 5 {
            let id = accepted.ids[0];
            writeln!(out, "forgetting {id}").expect("somebody listens");
            out.flush().expect("somebody listens");
            memory.forget(id, NOW).expect("a record is forgotten");
        }
        if number % 23 == 7 && !memory.stats().guest {
            memory.compact(NOW + 1).expect("a journal is compacted");
        }
    }
}

/// Runs `rounds` rounds, each of which kills one or two writers and then verifies the memory; returns the counts.
pub(crate) fn rounds(folder: &Path, rounds: u64, seed: u64, command: &dyn Fn(u64) -> Command) -> Tally {
    let mut tally = Tally::default();
    let mut kept: BTreeSet<MegramId> = BTreeSet::new();
    let mut state = seed | 1;
    for round in 0..rounds {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        let writers = if round % TWO_WRITERS_EVERY == 0 { 2 } else { 1 };
        let children: Vec<Child> = (0..writers)
            .map(|writer| command(round * 2 + writer).stdout(Stdio::piped()).spawn().expect("a writer starts"))
            .collect();
        std::thread::sleep(Duration::from_micros((state >> 33) % (MAX_LIFE_MS * 1_000)));
        let mut promised = BTreeMap::new();
        for mut child in children {
            let ended = child.try_wait().expect("a writer can be asked");
            tally.failed_writers += u64::from(ended.is_some());
            child.kill().expect("a writer can be killed");
            for line in BufReader::new(child.stdout.take().expect("piped above")).lines().map_while(Result::ok) {
                note(&line, &mut promised);
            }
            child.wait().expect("a writer ends");
        }
        tally.acknowledged += promised.len() as u64;
        for (id, forgotten) in promised {
            if forgotten {
                kept.remove(&id)
            } else {
                kept.insert(id)
            };
        }
        tally.rounds += 1;
        look(folder, &kept, round % WHOLE_CHECK_EVERY == 0 || round + 1 == rounds, &mut tally);
    }
    tally
}

/// Stores the acknowledgement in a line of a writer's output; the last line may be cut.
fn note(line: &str, promised: &mut BTreeMap<MegramId, bool>) {
    match line.split_once(' ').map(|(word, id)| (word, id.parse::<MegramId>())) {
        Some(("kept", Ok(id))) => drop(promised.insert(id, false)),
        Some(("forgetting", Ok(id))) => drop(promised.insert(id, true)),
        _ => {}
    }
}

/// Opens the memory and verifies the acknowledged records.
fn look(folder: &Path, kept: &BTreeSet<MegramId>, whole: bool, tally: &mut Tally) {
    let Ok((memory, summary)) = Memory::open(folder, Options::default()) else {
        tally.failed_opens += 1;
        return;
    };
    tally.failed_opens += u64::from(summary.guest || summary.refused_frames > 0);
    let engine = memory.engine();
    tally.lost += kept.iter().filter(|id| engine.head(**id).is_none()).count() as u64;
    let looked_at = if whole { usize::MAX } else { 200 };
    for head in engine.heads().take(looked_at) {
        let sound = matches!(engine.get(head.id), Ok(Some(megram)) if is_whole(&megram.content));
        tally.half_written += u64::from(!sound);
    }
    if whole {
        let sound = memory.verify().is_ok_and(|verified| verified.is_sound());
        tally.failed_opens += u64::from(!sound);
    }
    if memory.close().is_err() {
        tally.failed_opens += 1;
    }
}
