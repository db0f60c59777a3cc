//! Measures how fast records are written in batches, compared with plain file writes, and how fast the memory opens
//! again: `--records 1000000 --json`.

#![expect(clippy::print_stdout, reason = "a program whose output is its figures")]

use std::{
    collections::BTreeMap,
    error::Error,
    fs::File,
    io::Write as _,
    path::Path,
    time::{Duration, Instant},
};

use artoo_mkct::{Durability, Memory, NewMegram, Options, State, Tag, memory::MemoryWriteError};

const NOW: i64 = 1_772_000_000_000;

/// Number of records in one write.
const BATCH: usize = 100;

/// Number of batches that are written without waiting for their acknowledgement, so that the journal's thread is always
/// busy.
const AHEAD: usize = 64;

/// Writes the records, opens the memory with and without its snapshot, and prints rates, sizes and times.
fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let position = arguments.iter().position(|argument| argument == "--records");
    let records = position.and_then(|at| arguments.get(at + 1)).map_or(Ok(100_000), |text| text.parse())?;
    let folder = tempfile::tempdir()?;
    let options = || Options::default().with(|options| options.dream = None);

    let (memory, _) = Memory::open(folder.path(), options())?;
    let began = Instant::now();
    write(&memory, records)?;
    memory.flush(Durability::Acknowledged)?;
    let acknowledged = began.elapsed();
    memory.flush(Durability::Synced)?;
    let synced = began.elapsed();
    memory.close()?;

    let journal = folder.path().join("memory.journal");
    let bytes = std::fs::metadata(&journal)?.len();
    let raw = raw(&folder.path().join("raw"), records, bytes)?;

    let began = Instant::now();
    let (memory, summary) = Memory::open(folder.path(), options())?;
    let from_snapshot = began.elapsed();
    let resident = resident_mb();
    drop(memory);
    let snapshot = folder.path().join("memory.snapshot");
    std::fs::remove_file(snapshot)?;
    let began = Instant::now();
    let (memory, _) = Memory::open(folder.path(), options().with(|options| options.snapshot_tail_bytes = u64::MAX))?;
    let from_journal = began.elapsed();
    drop(memory);

    let per_second = |time: Duration| records as f64 / time.as_secs_f64();
    let figures = BTreeMap::from([
        ("records", records as f64),
        ("journal_mb", bytes as f64 / 1e6),
        ("acknowledged_per_s", per_second(acknowledged).round()),
        ("synced_per_s", per_second(synced).round()),
        ("raw_append_fdatasync_per_s", per_second(raw).round()),
        ("ratio_to_raw", per_second(synced) / per_second(raw)),
        ("opened_from_snapshot", f64::from(u8::from(summary.from_snapshot))),
        ("open_ms", from_snapshot.as_secs_f64() * 1e3),
        ("open_without_snapshot_ms", from_journal.as_secs_f64() * 1e3),
        ("rss_mb_after_open", resident),
    ]);
    if arguments.iter().any(|argument| argument == "--json") {
        println!("{}", serde_json::to_string(&figures)?);
    } else {
        figures.iter().for_each(|(name, figure)| println!("{name:>28}: {figure:.1}"));
    }
    Ok(())
}

/// Writes this number of records, rounded down to whole batches; returns while up to `AHEAD` batches are not
/// acknowledged.
fn write(memory: &Memory, records: usize) -> Result<(), Box<dyn Error>> {
    let mut waiting = std::collections::VecDeque::new();
    for batch in 0..records / BATCH {
        let draft = |i: usize| {
            let number = batch * BATCH + i;
            let text = format!("event {number}: 12 files found, checked against the folder's listing, none missing");
            let draft =
                NewMegram::new(Tag::new(format!("intent:{}", number % 5_000), "via:glob,shell"), State::Accept, text);
            draft.task(format!("task-{}", number / 4))
        };
        let accepted = loop {
            match memory.write_all((0..BATCH).map(draft).collect(), NOW + batch as i64) {
                Err(MemoryWriteError::QueueFull { .. }) => memory.flush(Durability::Acknowledged)?,
                accepted => break accepted?,
            }
        };
        waiting.push_back(accepted.receipt);
        if waiting.len() > AHEAD
            && let Some(receipt) = waiting.pop_front()
        {
            receipt.wait(Durability::Acknowledged)?;
        }
    }
    Ok(())
}

/// Time to append and sync the same number of bytes, in the same number of batches, to a plain file.
fn raw(path: &Path, records: usize, bytes: u64) -> Result<Duration, Box<dyn Error>> {
    let batches = (records / BATCH).max(1);
    let batch = vec![b'x'; bytes as usize / batches];
    let mut file = File::create(path)?;
    let began = Instant::now();
    for _ in 0..batches {
        file.write_all(&batch)?;
        file.sync_data()?;
    }
    Ok(began.elapsed())
}

/// Resident memory in megabytes; 0 if the system does not report it.
fn resident_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()).and_then(|text| text.parse::<f64>().ok());
    kilobytes.unwrap_or(0.0) / 1e3
}
