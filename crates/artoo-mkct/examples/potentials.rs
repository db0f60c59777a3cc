//! Measures queries by the number of records, compared with direct summation, and the time and RAM of opening.
//!
//! `cargo run --release -p artoo-mkct --example potentials -- --records 1000000 [--tags 1] [--json]`

use std::{
    error::Error,
    fs::{self, File},
    hint::black_box,
    path::Path,
    process::Command,
    time::Instant,
};

use artoo_mkct::{
    Engine, NewMegram, State, Tag,
    record::{Frame, Offset},
};

const NOW_MS: i64 = 1_772_000_000_000;
const MS_PER_DAY: i64 = 86_400_000;

/// Age of the oldest record, in days.
const SPAN_DAYS: i64 = 3 * 365;

/// How often a state is opened; the fastest time counts, since other processes slow down some of them.
const OPENS: u32 = 5;

const QUERIES: u32 = 1_000_000;

/// The measured times, errors and sizes.
struct Figures {
    records: u64,
    tags: u64,
    query_ns: f64,
    direct_ns: f64,
    max_rel_err: f64,
    rebuild_ms: f64,
    open_ms: f64,
    rss_mb: f64,
    state_mb: f64,
}

/// Measures and prints the figures, or with `--open` opens a saved state and reports its time and RAM.
fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| arguments.iter().position(|a| a == name).and_then(|at| arguments.get(at + 1));
    if let Some(state) = value("--open") {
        return open(Path::new(state));
    }
    let records = value("--records").map_or(Ok(1_000_000), |text| text.parse())?;
    let tags = value("--tags").map_or(Ok(1), |text| text.parse())?.max(1);
    print(&measure(records, tags)?, arguments.iter().any(|argument| argument == "--json"));
    Ok(())
}

/// The second name (entity) of the tag with this number.
fn entity(tag: u64) -> String {
    format!("path:/data/{tag}")
}

/// Frames of this number of records under this number of tags, as a journal returns them, with all states of the
/// quantization matrix.
fn frames(records: u64, tags: u64) -> impl Iterator<Item = Frame> {
    let mut source = Engine::new();
    (0..records).filter_map(move |i| {
        let at_ms = NOW_MS - SPAN_DAYS * MS_PER_DAY + (i * (SPAN_DAYS * MS_PER_DAY) as u64 / records) as i64;
        let state = State::ALL.get((i * 7 / 3 % 7) as usize).copied()?;
        let draft =
            NewMegram::new(Tag::new("tool:shell", entity(i % tags)), state, "content").task(format!("task-{}", i / 4));
        let frame = source.write(draft, at_ms).ok()?;
        if let Frame::Written { megram } = &frame {
            source.set_offset(megram.id, Offset(i));
        }
        Some(frame)
    })
}

/// Measures an engine with this number of records and tags.
fn measure(records: u64, tags: u64) -> Result<Figures, Box<dyn Error>> {
    let mut engine = Engine::new();
    let mut rebuild_ms = 0.0;
    let mut batch = Vec::new();
    let mut source = frames(records, tags).zip(0..);
    loop {
        batch.clear();
        batch.extend(source.by_ref().take(10_000));
        if batch.is_empty() {
            break;
        }
        let started = Instant::now();
        for (frame, at) in &batch {
            engine.apply_at(frame, Offset(*at))?;
        }
        rebuild_ms += started.elapsed().as_secs_f64() * 1e3;
    }
    drop(source);

    let state = std::env::temp_dir().join(format!("artoo-mkct-potentials-{}.state", std::process::id()));
    engine.encode_state(&mut File::create(&state)?)?;
    let state_mb = fs::metadata(&state)?.len() as f64 / 1e6;
    let opened = Command::new(std::env::current_exe()?).arg("--open").arg(&state).output()?;
    fs::remove_file(&state)?;
    let opened = String::from_utf8(opened.stdout)?;
    let (open_ms, rss_mb) = opened.trim().split_once(' ').ok_or("the second process said nothing")?;

    let name = entity(0);
    Ok(Figures {
        records,
        tags,
        query_ns: query_ns(&engine, &name),
        direct_ns: direct_ns(&engine, &name),
        max_rel_err: max_rel_err(&engine, &name),
        rebuild_ms,
        open_ms: open_ms.parse()?,
        rss_mb: rss_mb.parse()?,
        state_mb,
    })
}

/// Decodes a state file several times, each with one query, and prints the shortest time in ms and the resident RAM in
/// MB; runs in a process of its own.
fn open(state: &Path) -> Result<(), Box<dyn Error>> {
    let mut open_ms = f64::INFINITY;
    let mut engine = Engine::new();
    for _ in 0..OPENS {
        drop(std::mem::take(&mut engine));
        let started = Instant::now();
        engine = Engine::decode_state(&mut File::open(state)?, None)?;
        black_box(engine.query_mk(&Tag::new("tool:shell", entity(0)), NOW_MS));
        open_ms = open_ms.min(started.elapsed().as_secs_f64() * 1e3);
    }
    print_line(&format!("{open_ms} {}", resident_mb()));
    Ok(())
}

/// Average time of a query, in nanoseconds.
fn query_ns(engine: &Engine, entity: &str) -> f64 {
    let started = Instant::now();
    for i in 0..QUERIES {
        black_box(engine.query_mk(&Tag::new("tool:shell", entity), NOW_MS + i64::from(i)));
    }
    started.elapsed().as_secs_f64() * 1e9 / f64::from(QUERIES)
}

/// Time of a direct summation, in nanoseconds.
fn direct_ns(engine: &Engine, entity: &str) -> f64 {
    let started = Instant::now();
    black_box(direct(engine, entity, NOW_MS));
    started.elapsed().as_secs_f64() * 1e9
}

/// Attention and decision summed record by record, with compensated rounding.
fn direct(engine: &Engine, entity: &str, now_ms: i64) -> (f64, f64) {
    let mut sums = [(0.0_f64, 0.0_f64); 2];
    for share in engine.why(&Tag::new("tool:shell", entity), now_ms) {
        for ((sum, error), x) in sums.iter_mut().zip([share.attention, share.decision]) {
            let total = *sum + x;
            *error += if sum.abs() >= x.abs() { (*sum - total) + x } else { (x - total) + *sum };
            *sum = total;
        }
    }
    let [attention, decision] = sums.map(|(sum, error)| sum + error);
    (attention, decision)
}

/// The largest error of attention and decision relative to attention, now and at later times.
fn max_rel_err(engine: &Engine, entity: &str) -> f64 {
    [0, 1, 30, 365, 5 * 365]
        .map(|days| {
            let now_ms = NOW_MS + days * MS_PER_DAY;
            let (attention, decision) = direct(engine, entity, now_ms);
            let found = engine.query_mk(&Tag::new("tool:shell", entity), now_ms);
            (found.attention - attention).abs().max((found.decision - decision).abs()) / attention
        })
        .into_iter()
        .fold(0.0, f64::max)
}

/// Resident memory in megabytes as `/proc` reports it; 0 without `/proc`.
fn resident_mb() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok());
    kilobytes.unwrap_or_default() * 1_024.0 / 1e6
}

/// Prints the figures as text or JSON.
fn print(figures: &Figures, json: bool) {
    let Figures { records, tags, query_ns, direct_ns, max_rel_err, rebuild_ms, open_ms, rss_mb, state_mb } = figures;
    if json {
        print_line(&format!(
            "{{\"records\":{records},\"tags\":{tags},\"query_ns\":{query_ns:.0},\"direct_ns\":{direct_ns:.0},\
             \"max_rel_err\":{max_rel_err:e},\"rebuild_ms\":{rebuild_ms:.0},\"open_ms\":{open_ms:.1},\
             \"rss_mb\":{rss_mb:.0},\"state_mb\":{state_mb:.0}}}"
        ));
    } else {
        print_line(&format!(
            "{records} records under {tags} tag(s)\n\
             query         {query_ns:>12.0} ns\n\
             direct sum    {direct_ns:>12.0} ns, differing by {max_rel_err:.1e} of attention at most\n\
             replay        {rebuild_ms:>12.0} ms\n\
             open          {open_ms:>12.1} ms from a state of {state_mb:.0} MB\n\
             resident      {rss_mb:>12.0} MB"
        ));
    }
}

/// Prints a line to standard output.
#[expect(clippy::print_stdout, reason = "an example's output")]
fn print_line(text: &str) {
    println!("{text}");
}
