//! The report of `artoo audit`: on the log lines that were added since the user last ran it. Damaged lines are not
//! read.

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

/// Name of the file in the data folder that stores when the user last ran `artoo audit` (a [`Look`]).
const LOOK: &str = "audit_look.json";

/// When the user last ran `artoo audit` on a data folder, and the last line of each log at that time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Look {
    /// When the user ran `artoo audit`.
    pub at: Timestamp,
    /// The hash of the last line, by file name up to the first dot: `audit`, `audit-2`.
    heads: BTreeMap<String, String>,
}

impl Look {
    /// Reads when the user last ran `artoo audit`; `None` if never, or if the file can't be read.
    #[must_use]
    pub fn load(dir: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(dir.join(LOOK)).ok()?).ok()
    }

    /// Stores that the user has run `artoo audit`, in place of the previous time.
    ///
    /// # Errors
    /// [`StatsError`] if the file can't be written.
    pub fn save(&self, dir: &Path) -> Result<(), StatsError> {
        replace(&dir.join(LOOK), self)
    }
}

/// A report on the log lines after those that the user saw last, and the [`Look`] to store once it was shown. Findings
/// are in order of time.
///
/// `logs` must be in order: the full files of a log before the one that continues them. A log that lacks the line of
/// the last look is read from its start.
#[must_use]
pub fn review(logs: &[PathBuf], last: Option<&Look>, now: Timestamp) -> (AuditReport, Look) {
    let mut look = Look { at: now, heads: BTreeMap::new() };
    let mut news: BTreeMap<String, NewLines> = BTreeMap::new();
    for log in logs {
        let name = log.file_name().and_then(|name| name.to_str()?.split('.').next()).unwrap_or_default();
        let seen = last.and_then(|last| last.heads.get(name));
        let news = news.entry(name.to_owned()).or_default();
        let Ok(lines) = open(log) else { continue };
        scan_with(lines, None, |fields, line| {
            news.add(fields.at, line);
            if Some(&fields.hash) == seen {
                *news = NewLines::default();
            }
            look.heads.insert(name.to_owned(), fields.hash.clone());
        });
    }
    let mut all = NewLines::default();
    for of_log in news.into_values() {
        all.since = all.since.into_iter().chain(of_log.since).min();
        all.reports.extend(of_log.reports);
        all.found.extend(of_log.found);
    }
    let since = last.map(|last| last.at).or(all.since).unwrap_or(now);
    (all.report(since), look)
}

/// The content of one log's lines that the user has not seen yet: reports, findings and the time of the first line.
#[derive(Default)]
struct NewLines {
    /// Time of the first line.
    since: Option<Timestamp>,
    reports: Vec<AuditReport>,
    /// Each finding with its time.
    found: Vec<(Timestamp, Found)>,
}

/// A finding in a log line. The rule is a text, since another version of artoo may have other rules.
#[derive(Deserialize)]
struct Found {
    rule: String,
    detail: String,
}

/// The list of findings in a log line, as JSON.
#[derive(Deserialize)]
struct Findings {
    #[serde(default)]
    findings: Vec<Found>,
}

impl NewLines {
    /// Adds what a log line contains: findings, a report, or a problem of the log.
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

    /// Merges the logged reports and findings into one report that begins at `since`.
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
