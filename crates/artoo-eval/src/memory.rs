//! An evaluation of memory: sequences of similar requests with a scripted model, to see whether lessons of earlier runs
//! reach its prompts.

use clap::Args;

use crate::Fault;
use crate::drive::{Artoo, RunResult};
use crate::results::{Results, Row, Run};
use crate::score::Score;
use crate::server::{Reader, Script, Server};
use crate::task::Entry;
use crate::world::World;

/// Content of sample files on which only `wc -l` counts the lines rightly, not the wrong commands.
const PLAIN: &str = "red apple\n";

/// The wrong command that the scripted model tries when it errs.
const WRONG: &str = "wc -c";

/// Probability (0 to 1) that the scripted model errs if it has no lesson.
const ERRS: f64 = 0.75;

/// Names of the files that the requests are about, in turn.
const FILES: [&str; 2] = ["parts", "tools"];

/// Number of runs before the measured ones, in the variant that begins with a filled memory.
const SEEDS: u64 = 2;

/// A variant (arm) of the experiment: whether memory lasts between runs, how the model uses lessons, and whether memory
/// is filled before.
struct Arm {
    name: &'static str,
    keeps_memory: bool,
    reader: Reader,
    is_seeded: bool,
}

const ARMS: [Arm; 4] = [
    Arm { name: "memory off", keeps_memory: false, reader: Reader::Heeds, is_seeded: false },
    Arm { name: "ignores", keeps_memory: true, reader: Reader::Ignores, is_seeded: false },
    Arm { name: "heeds", keeps_memory: true, reader: Reader::Heeds, is_seeded: false },
    Arm { name: "misled", keeps_memory: true, reader: Reader::Trusts, is_seeded: true },
];

/// The size of an evaluation of memory.
#[derive(Debug, Args)]
pub(crate) struct Plan {
    /// Number of runs in a sequence; the files change after half of them
    #[arg(long, value_name = "N", default_value_t = 8)]
    runs: u64,
    /// Number of sequences in each arm
    #[arg(long, value_name = "N", default_value_t = 5)]
    repeat: u64,
    /// Hands the model the lesson of the last corrected run, whatever memory does: a control of what lessons change
    #[arg(long)]
    planted: bool,
}

/// A sequence of runs in one arm of the experiment; they share one memory, unless the arm keeps none.
struct Sequence<'a> {
    artoo: &'a Artoo,
    server: &'a Server,
    arm: &'a Arm,
    world: World,
    /// The right command of the last corrected run.
    lesson: Option<String>,
    is_planted: bool,
}

impl Sequence<'_> {
    /// Runs one request about a file with this text; `guess` and `right` are the wrong and the right command that the
    /// model tries.
    fn ran(&mut self, name: &str, text: &str, guess: &str, right: &str) -> Result<RunResult, Fault> {
        if !self.arm.keeps_memory {
            (self.world, self.lesson) = (World::new()?, None);
        }
        self.world.put(&format!("lists/{name}.txt"), &Entry::Text(text.to_owned()))?;
        let file = format!("~/lists/{name}.txt");
        let [guess, right] = [guess, right].map(|program| format!("{program} < {file}"));
        let (request, planted) = (request(name), self.lesson.clone().filter(|_| self.is_planted));
        let reader = self.arm.reader;
        self.server.play(Script { reader, request: request.clone(), file, guess, right: right.clone(), planted });
        let ran = self.artoo.run(&self.world.home(), &self.world.data(), &request, &[])?;
        if ran.corrections > 0 {
            self.lesson = Some(right);
        }
        Ok(ran)
    }
}

/// Runs every sequence of every arm whose results are not complete, and appends those that are missing.
pub(crate) fn evaluate(artoo: &Artoo, results: &mut Results, plan: &Plan) -> Result<(), Fault> {
    let server = Server::start()?;
    let mut artoo = artoo.clone();
    "openai".clone_into(&mut artoo.model);
    let url = server.url();
    let variables = [
        ("OPENAI_BASE_URL", url.as_str()),
        ("OPENAI_MODEL", "scripted"),
        ("OPENAI_API_KEY", "none"),
        ("ARTOO_REFLEX_FIRST", "false"),
    ];
    artoo.variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    for (repeat, arm) in (1..=plan.repeat).flat_map(|repeat| ARMS.iter().map(move |arm| (repeat, arm))) {
        let run = |nth: u64| {
            let mut run = Run::new("memory", &format!("sequence-{repeat}"), &request(file(nth)), "scripted", nth);
            run.arm = format!("{}{}", arm.name, if plan.planted { ", planted" } else { "" });
            run
        };
        if (1..=plan.runs).all(|nth| results.has(&run(nth))) {
            continue;
        }
        let (world, is_planted) = (World::new()?, plan.planted);
        let mut sequence = Sequence { artoo: &artoo, server: &server, arm, world, lesson: None, is_planted };
        for seed in 0..if arm.is_seeded { SEEDS } else { 0 } {
            // In a file of single words a wrong command happens to be right.
            sequence.ran(file(seed), &"apple\n".repeat(7), WRONG, "wc -w")?;
        }
        let mut rows = Vec::new();
        for nth in 1..=plan.runs {
            let (lines, has_drifted) = (3 + nth, nth > plan.runs / 2);
            let text = PLAIN.repeat(usize::try_from(lines)?);
            // The files change: the last line has no end any more, and `wc -l` counts one less.
            let text = if has_drifted { text.trim_end() } else { &text };
            let right = if has_drifted { "grep -c -e ^" } else { "wc -l" };
            let errs = fastrand::Rng::with_seed(repeat * 1000 + nth).f64() < ERRS;
            let ran = sequence.ran(file(nth), text, if errs { WRONG } else { right }, right)?;
            let is_right = ran.answer().trim() == lines.to_string();
            let fault = format!("the answer is {:?}, not {lines}", ran.answer());
            let faults = if is_right { Vec::new() } else { vec![fault] };
            let mut row = Row::new(run(nth), &ran, Score { faults, is_harmed: false });
            row.kind = format!("{} lessons", server.lessons_seen());
            rows.push(row);
        }
        // A sequence depends on its own memory, so that it is kept whole or not at all.
        for row in rows {
            if !results.has(&row.run) {
                results.append(&row)?;
            }
        }
    }
    Ok(())
}

/// The name of the file that the nth run of a sequence is about.
fn file(nth: u64) -> &'static str {
    if nth.is_multiple_of(2) { FILES[0] } else { FILES[1] }
}

/// The request for the number of lines of a file.
fn request(name: &str) -> String {
    format!("how many lines are in ~/lists/{name}.txt")
}
