//! Fits the eight free numbers on simulated tasks, tries the fit on families it never saw, and writes a profile file
//! where the trial speaks for it. Nothing is put in force.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use artoo_ggs::Profile;
use artoo_ggs_lab::calibration::{Calibration, Evidence, Recommendation, calibrate};

const USAGE: &str =
    "usage: calibrate [--search-tasks N] [--generations N] [--population N] [--trial-tasks N] [--seed N]
                 [--out FILE]
  --out  where the recommended profile goes, as JSON; calibrated-profile.json unless told";

fn main() -> ExitCode {
    let (calibration, out) = match options(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(problem) => return complain(&format!("{problem}\n{USAGE}"), 2),
    };
    let recommendation = match calibrate(&calibration) {
        Ok(recommendation) => recommendation,
        Err(error) => return complain(&error.to_string(), 2),
    };
    match report(&recommendation, &out) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => complain(&error.to_string(), 1),
    }
}

fn complain(problem: &str, code: u8) -> ExitCode {
    // Nothing is left to be done where even this can't be said.
    let _ = writeln!(io::stderr(), "{problem}");
    ExitCode::from(code)
}

fn options(mut words: impl Iterator<Item = String>) -> Result<(Calibration, PathBuf), String> {
    let mut calibration = Calibration::standard();
    let mut out = PathBuf::from("calibrated-profile.json");
    while let Some(word) = words.next() {
        let value = words.next().ok_or_else(|| format!("{word} is unknown, or needs a value"))?;
        match word.as_str() {
            "--search-tasks" => calibration.search_tasks = parse(&word, &value)?,
            "--generations" => calibration.generations = parse(&word, &value)?,
            "--population" => calibration.population = parse(&word, &value)?,
            "--trial-tasks" => calibration.trial_tasks = parse(&word, &value)?,
            "--seed" => calibration.seed = parse(&word, &value)?,
            "--out" => out = PathBuf::from(value),
            _ => return Err(format!("{word} is unknown")),
        }
    }
    Ok((calibration, out))
}

fn parse<T: std::str::FromStr>(option: &str, value: &str) -> Result<T, String> {
    value.parse().map_err(|_| format!("{option} {value:?} is not a number it can take"))
}

fn report(recommendation: &Recommendation, out: &PathBuf) -> io::Result<()> {
    let mut to = io::stdout().lock();
    let Recommendation { evidence, by_family, null, candidates, search_gain, profile } = recommendation;
    writeln!(to, "{candidates} candidates; gain in the search {search_gain:+.4} (optimistic: it was chosen by it)")?;
    writeln!(to, "held out: {}", shown(evidence))?;
    for (family, evidence) in by_family {
        writeln!(to, "  {family:16} {}", shown(evidence))?;
    }
    let alarms = format!("{} of {} trials called it better", null.alarms, null.trials);
    writeln!(to, "incumbent against itself: {:+.4} on the same luck; on other luck {alarms}", null.same_luck)?;
    let json = serde_json::to_string_pretty(profile)?;
    writeln!(to, "{json}")?;
    if !recommendation.is_better() {
        return writeln!(to, "not recommended: the bound is not above 0; nothing was written");
    }
    std::fs::write(out, json + "\n")?;
    // What was written is what a controller would load.
    let loaded: Profile = serde_json::from_str(&std::fs::read_to_string(out)?)?;
    let same = if loaded == *profile { "loads as printed" } else { "does not load as printed" };
    writeln!(to, "recommended: {} ({same}); nothing was put in force", out.display())
}

fn shown(evidence: &Evidence) -> String {
    format!("{:+.4}, 95 % bounds {:+.4} and {:+.4}", evidence.gain, evidence.lower, evidence.upper)
}
