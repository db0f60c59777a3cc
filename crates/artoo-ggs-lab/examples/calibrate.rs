//! Command-line program: fits the eight free numbers of a profile on simulated tasks, or compares profiles on logs of
//! real tasks. Writes a profile file if the result is better; adopts nothing by itself.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use artoo_ggs::Profile;
use artoo_ggs_lab::calibration::log::{self, Logs};
use artoo_ggs_lab::calibration::off_policy::{self, LOGGED_TASKS_MIN, OffPolicy, Sureness};
use artoo_ggs_lab::calibration::{Calibration, Evidence, Recommendation, calibrate};

const USAGE: &str =
    "usage: calibrate [--search-tasks N] [--generations N] [--population N] [--trial-tasks N] [--seed N]
                 [--incumbent NAME|FILE] [--out FILE]
       calibrate --log FILE|FOLDER [--candidate NAME|FILE]... [--incumbent FILE] [--out FILE]
  --log        compares profiles on logs that artoo_ggs::Controller::record made, instead of simulating
  --candidate  a profile to try on the logs, by name or file; the built-in ones unless told
  --incumbent  the profile in use; v0.8 unless told
  --out        where the recommended profile goes, as JSON; calibrated-profile.json unless told";

/// The command line options.
struct Options {
    calibration: Calibration,
    log: Option<PathBuf>,
    candidates: Vec<Profile>,
    /// The file of the profile in use, if it is read from one.
    adopted: Option<PathBuf>,
    out: PathBuf,
}

/// Runs the calibration that the command line asks for and prints its result.
fn main() -> ExitCode {
    let options = match options(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(problem) => return print_error(&format!("{problem}\n{USAGE}"), 2),
    };
    let reported = match &options.log {
        Some(path) => match log::read(path, &options.calibration.utility) {
            Ok(logs) => report_logs(&options, &logs),
            Err(error) => {
                let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
                return print_error(&format!("{error}{cause}"), 2);
            }
        },
        None => match calibrate(&options.calibration) {
            Ok(recommendation) => report(&options, &recommendation),
            Err(error) => return print_error(&error.to_string(), 2),
        },
    };
    match reported {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => print_error(&error.to_string(), 1),
    }
}

/// Prints an error and returns this exit code.
fn print_error(problem: &str, code: u8) -> ExitCode {
    // If this can't be printed, nothing else can be done.
    let _ = writeln!(io::stderr(), "{problem}");
    ExitCode::from(code)
}

/// Parses the command line; the error is a text for the user.
fn options(mut words: impl Iterator<Item = String>) -> Result<Options, String> {
    let out = PathBuf::from("calibrated-profile.json");
    let calibration = Calibration::standard();
    let mut options = Options { calibration, log: None, candidates: Vec::new(), adopted: None, out };
    while let Some(word) = words.next() {
        let value = words.next().ok_or_else(|| format!("{word} is unknown, or needs a value"))?;
        let calibration = &mut options.calibration;
        match word.as_str() {
            "--search-tasks" => calibration.search_tasks = parse(&word, &value)?,
            "--generations" => calibration.generations = parse(&word, &value)?,
            "--population" => calibration.population = parse(&word, &value)?,
            "--trial-tasks" => calibration.trial_tasks = parse(&word, &value)?,
            "--seed" => calibration.seed = parse(&word, &value)?,
            "--out" => options.out = PathBuf::from(value),
            "--log" => options.log = Some(PathBuf::from(value)),
            "--candidate" => options.candidates.push(profile(&value)?),
            "--incumbent" => {
                calibration.incumbent = profile(&value)?;
                options.adopted = Profile::named(&value).is_none().then(|| PathBuf::from(value));
            }
            _ => return Err(format!("{word} is unknown")),
        }
    }
    Ok(options)
}

/// Finds a built-in profile by its name, or reads one from a JSON file.
fn profile(value: &str) -> Result<Profile, String> {
    if let Some(profile) = Profile::named(value) {
        return Ok(profile);
    }
    let text = std::fs::read_to_string(value).map_err(|error| format!("{value:?}: {error}"))?;
    serde_json::from_str(&text).map_err(|error| format!("{value:?}: {error}"))
}

/// Parses the value of an option.
fn parse<T: std::str::FromStr>(option: &str, value: &str) -> Result<T, String> {
    value.parse().map_err(|_| format!("{option} {value:?} is not a number it can take"))
}

/// Prints the result of a calibration: the gains with their bounds, and the recommended profile.
fn report(options: &Options, recommendation: &Recommendation) -> io::Result<()> {
    let mut to = io::stdout().lock();
    let Recommendation { evidence, by_family, null, candidates, search_gain, profile } = recommendation;
    writeln!(to, "{candidates} candidates; gain in the search {search_gain:+.4} (optimistic: it was chosen by it)")?;
    writeln!(to, "held out: {}", shown(evidence))?;
    for (family, evidence) in by_family {
        writeln!(to, "  {family:16} {}", shown(evidence))?;
    }
    let alarms = format!("{} of {} trials called it better", null.alarms, null.trials);
    writeln!(to, "incumbent against itself: {:+.4} on the same luck; on other luck {alarms}", null.same_luck)?;
    writeln!(to, "{}", serde_json::to_string_pretty(profile)?)?;
    if !recommendation.is_better() {
        return writeln!(to, "not recommended: the bound is not above 0; nothing was written");
    }
    recommend(&mut to, options, profile)
}

/// Prints how profiles compare on logs of real tasks, and whether one can be recommended.
fn report_logs(options: &Options, logs: &Logs) -> io::Result<()> {
    let mut to = io::stdout().lock();
    let Logs { tasks, unjudged, unfinished, cut, profiles } = logs;
    let names: Vec<&str> = profiles.iter().map(Profile::name).collect();
    writeln!(to, "{} tasks, decided by {}", tasks.len(), names.join(", "))?;
    writeln!(to, "{unjudged} of them without a judgement: the controller's own ending counts, which may be false")?;
    writeln!(to, "left out: {unfinished} tasks without an end, {cut} lines cut off")?;
    let built_in = || Profile::NAMES.into_iter().filter_map(Profile::named).collect();
    let candidates = if options.candidates.is_empty() { built_in() } else { options.candidates.clone() };
    let mut best: Option<(f64, &Profile)> = None;
    for candidate in &candidates {
        let resamples = options.calibration.resamples;
        let found = off_policy::judge(candidate, tasks, resamples, options.calibration.seed);
        let OffPolicy { tasks, agreeing, effective_tasks, .. } = found.off_policy;
        writeln!(
            to,
            "{}: decides alike in {agreeing} of {tasks} tasks, which speak for {effective_tasks:.0}",
            candidate.name()
        )?;
        let verdict = match found.verdict {
            Sureness::TooFewTasks => format!("not enough: fewer than {LOGGED_TASKS_MIN} tasks speak"),
            Sureness::NotCovered => {
                format!("not enough: nobody knows what its other decisions lead to (support {:.2})", found.support)
            }
            Sureness::NotShown => "enough, but the bound is not above 0".to_owned(),
            Sureness::Better => "better".to_owned(),
        };
        writeln!(to, "  gain over the log {}: {verdict}", shown(&found.gain))?;
        if found.verdict == Sureness::Better && best.is_none_or(|(lower, _)| found.gain.lower > lower) {
            best = Some((found.gain.lower, candidate));
        }
    }
    match best {
        Some((_, profile)) => recommend(&mut to, options, profile),
        None => writeln!(to, "nothing is recommended; nothing was written"),
    }
}

/// Writes the recommended profile to a file, and prints how to adopt it.
fn recommend(to: &mut impl Write, options: &Options, profile: &Profile) -> io::Result<()> {
    let out = &options.out;
    std::fs::write(out, serde_json::to_string_pretty(profile)? + "\n")?;
    // What was written is what a controller would load.
    let loaded: Profile = serde_json::from_str(&std::fs::read_to_string(out)?)?;
    let same = if loaded == *profile { "loads as printed" } else { "does not load as printed" };
    writeln!(to, "recommended: {} ({same}); nothing was put in force", out.display())?;
    match &options.adopted {
        Some(adopted) => writeln!(to, "to adopt it: cp '{}' '{}'", out.display(), adopted.display()),
        None => writeln!(to, "to adopt it, read this file as the Profile of your Controller"),
    }
}

/// A gain in utility and its confidence bounds as text.
fn shown(evidence: &Evidence) -> String {
    format!("{:+.4}, 95 % bounds {:+.4} and {:+.4}", evidence.gain, evidence.lower, evidence.upper)
}
