//! An evaluation with requests of the Python package icalfa (those with even index, of 300), scored by the script
//! `.ci/measure/nl2sh`.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use serde::Deserialize;
use serde_json::Value;

use crate::Fault;
use crate::drive::{Artoo, RunResult};
use crate::results::{Results, Row, Run};
use crate::score::Score;
use crate::settings::PASSED;

/// Number of files over which the package's requests are split.
const SPLITS: u64 = 5;

/// Path of the script that scores answers to the package's requests.
const NL2SH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../.ci/measure/nl2sh");

/// Source of a Python program that uses the scoring of nl2sh with artoo's answers.
const DRIVER: &str = include_str!("nl2sh.py");

/// A request of the package icalfa.
#[derive(Debug, Deserialize)]
pub(crate) struct Entry {
    pub(crate) query: String,
}

/// Reads the package's requests with an even index in the whole set, each with that index.
pub(crate) fn load(package: &Path) -> Result<Vec<(usize, Entry)>, Fault> {
    let mut entries: Vec<Entry> = Vec::new();
    for split in 1..=SPLITS {
        let path = package.join(format!("assets/datasets/nl2bash_fs_{split}.json"));
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        entries.extend(serde_json::from_str::<Vec<Entry>>(&text)?);
    }
    Ok(entries.into_iter().enumerate().step_by(2).collect())
}

/// Runs artoo on all selected requests that have no result yet, and appends the results.
pub(crate) fn evaluate(artoo: &Artoo, package: &Path, results: &mut Results) -> Result<(), Fault> {
    for (index, entry) in load(package)? {
        let run = Run::new("icalfa", &index.to_string(), &entry.query, &artoo.model, 1);
        if results.has(&run) {
            continue;
        }
        let file = tempfile::NamedTempFile::new()?;
        let mut command = Command::new("python3");
        command.args(["-c", DRIVER]).arg(NL2SH).arg(&artoo.model).arg("--artoo").arg(&artoo.program);
        command.arg("--package").arg(package).args(["--indexes", &run.id, "--show", "none", "--json"]).arg(file.path());
        command.envs(artoo.variables.iter().map(|(name, value)| (name, value)));
        command.env("EVAL_DEADLINE_S", artoo.deadline_s.to_string()).env("EVAL_PREFIXES", PASSED.join(" "));
        let began = Instant::now();
        let output = command.output()?;
        if !output.status.success() {
            return Err(format!("nl2sh on {index}: {}", String::from_utf8_lossy(&output.stderr)).into());
        }
        let line = serde_json::from_str(&std::fs::read_to_string(file.path())?)?;
        if let Some(row) = row(run, &line, began.elapsed().as_secs_f64()) {
            results.append(&row)?;
        }
    }
    Ok(())
}

/// Converts a line that nl2sh prints to a result. `None` if the known commands can't run here, so that the answer can't
/// be scored.
fn row(run: Run, line: &Value, seconds: f64) -> Option<Row> {
    let text = |name: &str| line.get(name).and_then(Value::as_str).unwrap_or_default();
    let code = line.get("code").and_then(Value::as_i64).and_then(|code| i32::try_from(code).ok());
    let (verdict, reason) = (text("verdict"), text("reason"));
    let faults = if verdict == "right" { Vec::new() } else { vec![format!("{verdict} {reason}").trim().to_owned()] };
    let score = Score { faults, is_harmed: verdict == "unsafe" };
    let mut row = Row::new(run, &RunResult { code, seconds, ..RunResult::default() }, score);
    (row.kind, row.answer) = (verdict.to_owned(), text("output").to_owned());
    (verdict != "ungraded").then_some(row)
}

/// Tests of selecting requests and converting scores.
#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::Class;

    /// The requests with even index are taken across the files of the package.
    #[test]
    fn selected_half_spans_all_splits() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("assets/datasets");
        std::fs::create_dir_all(&data).unwrap();
        for split in 1..=SPLITS {
            let names =
                ["a", "b", "c"].map(|name| serde_json::json!({"query": format!("{name}{split}"), "gold": "ls"}));
            std::fs::write(data.join(format!("nl2bash_fs_{split}.json")), serde_json::to_string(&names).unwrap())
                .unwrap();
        }
        let loaded: Vec<(usize, String)> =
            load(folder.path()).unwrap().into_iter().map(|(index, entry)| (index, entry.query)).collect();
        let expected = [(0, "a1"), (2, "c1"), (4, "b2"), (6, "a3"), (8, "c3"), (10, "b4"), (12, "a5"), (14, "c5")];
        assert_eq!(loaded, expected.map(|(index, query)| (index, query.to_owned())));
        let missing = load(&folder.path().join("no")).unwrap_err().to_string();
        assert!(missing.contains("nl2bash_fs_1.json"), "{missing}");
    }

    /// The verdicts of the script nl2sh are converted to classes of runs.
    #[test]
    fn verdicts_of_nl2sh_become_classes() {
        let check = |verdict: &str, code: i64, class: Class, is_harmed: bool| {
            let run = Run::new("icalfa", "0", "r", "reflex", 1);
            let row = row(run, &serde_json::json!({"verdict": verdict, "code": code}), 1.0).unwrap();
            assert_eq!((row.class, row.is_harmed), (class, is_harmed), "{verdict}");
        };
        check("right", 0, Class::Done, false);
        check("right", 4, Class::Missed, false);
        check("wrong", 0, Class::FalseClaim, false);
        check("unsafe", 0, Class::FalseClaim, true);
        check("abstained", 5, Class::HonestFailure, false);
        check("withheld", 9, Class::HonestFailure, false);
        let ungraded = row(Run::new("icalfa", "0", "r", "reflex", 1), &serde_json::json!({"verdict": "ungraded"}), 1.0);
        assert!(ungraded.is_none());
    }
}
