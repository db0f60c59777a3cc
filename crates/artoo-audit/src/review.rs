//! What the logs of a data folder say since the user last looked, read from their undamaged lines.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use artoo_proto::{AuditReport, Timestamp, Trigger};
use serde::{Deserialize, Serialize};

use crate::event::Note;
use crate::finding::Rule;
use crate::stats::{StatsError, replace};
use crate::verify::{open, scan_with};
use crate::window::AuditStats;
use crate::words::{minute, problem};

/// Name of the file that remembers the last look, in the data folder.
const LOOK: &str = "audit_look.json";

/// The last time the user looked at the logs of a data folder, and the lines they had then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Look {
    /// When the user looked.
    pub at: Timestamp,
    /// The hash of the last line by the log's name without its ending.
    heads: BTreeMap<String, String>,
}

impl Look {
    /// Reads the last look; `None` if there was none, or its file can't be read.
    #[must_use]
    pub fn load(dir: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(dir.join(LOOK)).ok()?).ok()
    }

    /// Stores this look in the place of the last one.
    ///
    /// # Errors
    /// [`StatsError`] if the file can't be written.
    pub fn save(&self, dir: &Path) -> Result<(), StatsError> {
        replace(&dir.join(LOOK), self)
    }
}

/// What the logs say behind the lines of the `last` look, and the look to store after it was shown. Findings are in the
/// order of the log, each with its time.
///
/// `logs` are in order: the full files of a log before the one that continues them. A log that has lost the line of the
/// last look is read whole.
#[must_use]
pub fn review(logs: &[PathBuf], last: Option<&Look>, now: Timestamp) -> (AuditReport, Look) {
    let mut look = Look { at: now, heads: BTreeMap::new() };
    let mut news: BTreeMap<String, News> = BTreeMap::new();
    for log in logs {
        let name = log.file_name().and_then(|name| name.to_str()?.split('.').next()).unwrap_or_default();
        let seen = last.and_then(|last| last.heads.get(name));
        let news = news.entry(name.to_owned()).or_default();
        let Ok(lines) = open(log) else { continue };
        scan_with(lines, None, |fields, line| {
            news.add(fields.at, line);
            if Some(&fields.hash) == seen {
                *news = News::default();
            }
            look.heads.insert(name.to_owned(), fields.hash.clone());
        });
    }
    let mut all = News::default();
    for of_log in news.into_values() {
        all.since = all.since.into_iter().chain(of_log.since).min();
        all.reports.extend(of_log.reports);
        all.found.extend(of_log.found);
    }
    let since = last.map(|last| last.at).or(all.since).unwrap_or(now);
    (all.report(since), look)
}

/// What the lines behind the last look say.
#[derive(Default)]
struct News {
    /// Time of the first line.
    since: Option<Timestamp>,
    reports: Vec<AuditReport>,
    /// Each finding with its time.
    found: Vec<(Timestamp, Found)>,
}

/// A finding of a line; the rule may be one of another version.
#[derive(Deserialize)]
struct Found {
    rule: String,
    detail: String,
}

/// The findings of a line.
#[derive(Deserialize)]
struct Findings {
    #[serde(default)]
    findings: Vec<Found>,
}

impl News {
    /// Adds what a line says.
    fn add(&mut self, at: Timestamp, line: &[u8]) {
        self.since.get_or_insert(at);
        if let Ok(Findings { findings }) = serde_json::from_slice(line) {
            self.found.extend(findings.into_iter().map(|found| (at, found)));
        }
        match serde_json::from_slice(line) {
            Ok(Note::Report { report }) => self.reports.push(report),
            Ok(note) => {
                let rule = Rule::AuditTrail.name().to_owned();
                self.found.extend(problem(&note).map(|detail| (at, Found { rule, detail })));
            }
            // A line about an event of the bus.
            Err(_) => {}
        }
    }

    /// One report on all of it.
    fn report(mut self, since: Timestamp) -> AuditReport {
        let mut all = AuditStats::new(since).report(Trigger::OnDemand);
        let mut trends = BTreeMap::new();
        for report in self.reports {
            all.tasks_observed += report.tasks_observed;
            all.total_corrections += report.total_corrections;
            all.tool_health.execution_failures += report.tool_health.execution_failures;
            all.tool_health.environmental_retries += report.tool_health.environmental_retries;
            all.tool_health.logical_retries += report.tool_health.logical_retries;
            all.drift_alerts.extend(report.drift_alerts);
            trends.extend(report.gap_trends.into_iter().map(|task| (task.task_id.clone(), task)));
        }
        all.gap_trends = trends.into_values().collect();
        self.found.sort_by_key(|(at, _)| *at);
        for (at, Found { rule, detail }) in self.found {
            let is_violation = Rule::named(&rule).is_some_and(Rule::is_violation);
            let list = if is_violation { &mut all.boundary_violations } else { &mut all.anomalies };
            list.push(format!("{rule}: {detail} ({})", minute(at)));
        }
        all
    }
}

#[cfg(test)]
mod tests;
