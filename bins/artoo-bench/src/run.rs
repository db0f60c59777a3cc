//! Measures the time, CPU time and memory of tasks against an endpoint, and those of a bare program for comparison.

use std::error::Error;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use artoo_bus::TapEvent;
use artoo_llm::{Protocol, Remote, RemoteConfig};
use artoo_proto::{Ending, Environment};
use artoo_roles::runtime::{Progress, System, TaskRequest};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::options::{Options, ToolKind};
use crate::process::Used;
use crate::stand_in::{self, StandIn};
use crate::{bare, process};

/// Time limit of a measured task, in milliseconds; a task that exceeds the limit counts as failed.
const TASK_LIMIT_MS: u64 = 120_000;

/// Maximum number of task errors that are printed.
pub(crate) const ERRORS_SHOWN: usize = 5;

/// The result of a measurement: one JSON line, and the errors of failed tasks.
pub(crate) struct Report {
    pub(crate) line: Value,
    /// Messages of the tasks that failed.
    pub(crate) errors: Vec<String>,
}

/// Runs warm-up tasks, measures artoo's tasks, then does the same with the bare program.
pub(crate) async fn measure(bench: &Options) -> Result<Report, Box<dyn Error>> {
    let mut config = RemoteConfig::new(Protocol::Chat, bench.base_url.clone(), "bench");
    config.api_key = std::env::var("OPENAI_API_KEY").ok().map(artoo_llm::Secret::new);
    let plain = artoo_llm::bare::Bare::new(&config)?;
    let room = Room::make()?;
    let remote = Remote::new(config)?;
    let model = Arc::new(StandIn::new(remote, bench.n, bench.tool, &room.file));
    let system = System::builder()
        .model(Arc::clone(&model))
        .environment(room.environment.clone())
        .data_dir(room.folder.join("data"))
        .start()?;
    let words = format!("Run {} steps at once", bench.n);
    let one = |system: &System| {
        let handle = system.run_with(TaskRequest {
            words: words.clone(),
            limit_ms: Some(TASK_LIMIT_MS),
            ..TaskRequest::default()
        });
        ended(handle)
    };
    let warm = many(bench.warmup, bench.concurrency, || one(&system)).await;
    let before = Used::now();
    let began = Instant::now();
    let measured = many(bench.tasks, bench.concurrency, || one(&system)).await;
    let wall = began.elapsed();
    let used = Used::now().since(&before);
    let peak_kb = process::peak_kb();
    let counts = (model.own.load(Ordering::Relaxed), model.stood_in.load(Ordering::Relaxed));
    drop(system.close().await);
    let command = (bench.tool == ToolKind::Proc).then(|| stand_in::command(&room.file));
    let plan = || bare::Plan { n: bench.n, command: command.clone() };
    drop(many(bench.warmup, bench.concurrency, || bare::task(plain.clone(), plan())).await);
    let before = Used::now();
    let began = Instant::now();
    let bare = many(bench.tasks, bench.concurrency, || bare::task(plain.clone(), plan())).await;
    let bare_wall = began.elapsed();
    let bare_used = Used::now().since(&before);
    let errors: Vec<String> = warm.errors.into_iter().chain(measured.errors).collect();
    let tasks = f64::from(bench.tasks);
    let ratio = used.total_s() / bare_used.total_s().max(f64::MIN_POSITIVE);
    let line = json!({
        "name": "artoo",
        "version": env!("CARGO_PKG_VERSION"),
        "ok": errors.is_empty(),
        "tasks": bench.tasks,
        "wall_s": rounded(wall.as_secs_f64()),
        "task_ms_mean": rounded(1000.0 * measured.time.as_secs_f64() / tasks),
        "cpu_self_s": rounded(used.own_s),
        "cpu_child_s": rounded(used.children_s),
        "vmhwm_kb": peak_kb,
        "errors": errors.len(),
        "n": bench.n,
        "concurrency": bench.concurrency,
        "replies_own": counts.0,
        "replies_stood_in": counts.1,
        "first_call_ms": model.first_call_ms(process::started()),
        "bare": bare_line(&bare, bare_wall, &bare_used, tasks),
        "cpu_ratio": rounded(ratio)
    });
    Ok(Report { line, errors })
}

/// The bare program's part of the measurement, as JSON.
fn bare_line(bare: &Measured, wall: Duration, used: &Used, tasks: f64) -> Value {
    json!({
        "ok": bare.errors.is_empty(),
        "wall_s": rounded(wall.as_secs_f64()),
        "task_ms_mean": rounded(1000.0 * bare.time.as_secs_f64() / tasks),
        "cpu_self_s": rounded(used.own_s),
        "cpu_child_s": rounded(used.children_s)
    })
}

/// Rounds a number to four decimals.
fn rounded(number: f64) -> f64 {
    (number * 10_000.0).round() / 10_000.0
}

/// The total time of several tasks, and the error texts of those that failed.
#[derive(Default)]
struct Measured {
    time: Duration,
    errors: Vec<String>,
}

/// Runs `count` tasks, at most `at_once` at a time, and sums their time.
async fn many<F>(count: u32, at_once: u32, task: impl Fn() -> F) -> Measured
where
    F: Future<Output = Result<(), String>> + Send + 'static,
{
    let timed = |work: F| async move {
        let began = Instant::now();
        let outcome = work.await;
        (began.elapsed(), outcome)
    };
    let mut measured = Measured::default();
    let mut under_way = JoinSet::new();
    let mut left = count;
    while left > 0 || !under_way.is_empty() {
        while left > 0 && under_way.len() < at_once as usize {
            under_way.spawn(timed(task()));
            left -= 1;
        }
        match under_way.join_next().await {
            Some(Ok((time, outcome))) => {
                measured.time += time;
                measured.errors.extend(outcome.err());
            }
            Some(Err(_)) => measured.errors.push("a task panicked".to_owned()),
            None => {}
        }
    }
    measured
}

/// Waits for a task's end; an error with its summary and first failed call if the result was not accepted.
async fn ended(mut handle: artoo_roles::runtime::TaskHandle) -> Result<(), String> {
    let mut first_failure = None;
    loop {
        match handle.next().await {
            Progress::Event(event) => {
                if let TapEvent::EffectFinished(finished) = &*event
                    && !finished.ok
                {
                    first_failure.get_or_insert_with(|| finished.digest.clone());
                }
            }
            Progress::Ended(outcome) => {
                let result = outcome.map_err(|error| error.to_string())?.result;
                return match result.ending {
                    Ending::Accept { .. } => Ok(()),
                    Ending::Success { .. } | Ending::Abandon { .. } => Err(first_failure
                        .map_or_else(|| result.summary.clone(), |why| format!("{}: {why}", result.summary))),
                };
            }
        }
    }
}

/// The system's folder for temporary files that survive a restart.
const LASTING: &str = "/var/tmp";

/// A temporary folder for the bench's tasks, with a workspace and one file; deleted when dropped.
struct Room {
    folder: PathBuf,
    file: PathBuf,
    environment: Environment,
}

impl Room {
    /// Creates the folder with a name of its own, its workspace and its file.
    fn make() -> std::io::Result<Self> {
        // artoo creates a private folder for each command among the temporary files. A user's data has no such
        // neighbours, so the bench's data must not have them either.
        let lasting = Path::new(LASTING);
        let parent = if lasting.is_dir() { lasting.to_path_buf() } else { std::env::temp_dir() };
        let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.subsec_nanos());
        let folder = parent.join(format!("artoo-bench-{}-{nanos:08x}", std::process::id()));
        let workspace = folder.join("workspace");
        std::fs::DirBuilder::new().mode(0o700).create(&folder)?;
        std::fs::create_dir(&workspace)?;
        let file = workspace.join("one.txt");
        std::fs::write(&file, "1\n")?;
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let environment = Environment {
            cwd: text(&workspace),
            home: text(&folder),
            workspace: text(&workspace),
            os: std::env::consts::OS.to_owned(),
            utc_offset_s: 0,
        };
        Ok(Self { folder, file, environment })
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        // Files that can't be removed stay in the system's folder for temporary files.
        drop(std::fs::remove_dir_all(&self.folder));
    }
}
