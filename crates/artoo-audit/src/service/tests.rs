//! Tests of the auditor as a whole, with a real bus, thread and files.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, Instant};

use artoo_bus::{Bus, TapSender, tap};
use artoo_proto::{Address, Message, Role, Trigger, route};
use serde_json::Value;

use super::{AuditConfig, AuditError, AuditService, REPORT_EVERY, REPORT_WITHIN, deleted_log, spawn};
use crate::event::Note;
use crate::stats::load_stats;
use crate::testing::{accept, at, id, lines, request, result, spec, task, values};
use crate::verify::verify;

/// A message bus with its tap, driven by the test as the System drives them.
struct Wire {
    bus: Bus,
    tap: TapSender,
    next: u64,
}

impl Wire {
    /// Creates a bus and a tap that holds this many events; returns the tap's reading end too.
    fn new(capacity: usize) -> (Self, artoo_bus::Tap) {
        let (sender, receiver) = tap(capacity);
        (Self { bus: Bus::new(), tap: sender, next: 0 }, receiver)
    }

    /// Publishes a message from its regular sender; `cause` is the number of an earlier message. Returns the message's
    /// number.
    fn publish(&mut self, cause: Option<u64>, message: impl Into<Message>) -> u64 {
        let message = message.into();
        let from = route::route(message.kind()).unwrap().from;
        let from = Address::of(from, message.task_id(), message.subtask_id());
        self.publish_as(&from, cause, message)
    }

    /// Publishes a message from this sender; `cause` is the number of an earlier message. Returns the message's number.
    fn publish_as(&mut self, from: &Address, cause: Option<u64>, message: Message) -> u64 {
        let n = self.next;
        self.next += 1;
        let _ = self.bus.publish(at(n.cast_signed()), id(n), from, cause.map(id), message);
        for (at, event) in self.bus.take_events() {
            self.tap.offer(at, event);
        }
        n
    }

    /// Publishes the three messages of a whole task: request, specification and result.
    fn task(&mut self, n: u128) {
        let asked = self.publish(None, request(n));
        let understood = self.publish(Some(asked), spec(n));
        self.publish(Some(understood), result(n, 0, 0.0, accept()));
        self.bus.forget(&task(n));
    }
}

/// The auditor's configuration for this data folder and report interval.
fn config(dir: &Path, report_every: Duration) -> AuditConfig {
    let traces = vec![dir.join("memory.journal"), dir.join("undo")];
    AuditConfig { dir: dir.to_owned(), traces, clock: Box::new(|| at(1_000)), report_every }
}

/// Starts the auditor on this data folder, reading from this tap.
fn start(dir: &Path, receiver: artoo_bus::Tap) -> AuditService {
    spawn(receiver, config(dir, REPORT_EVERY)).unwrap()
}

/// The JSON lines of a log, preceded by those of the full files that it continues.
fn all(path: &Path) -> Vec<Value> {
    let before = verify(path).unwrap().follows.map(|name| all(&path.with_file_name(name)));
    before.unwrap_or_default().into_iter().chain(values(path)).collect()
}

/// The lines of a log that record this kind of event.
fn events(path: &Path, event: &str) -> Vec<Value> {
    all(path).into_iter().filter(|line| line["event"] == event).collect()
}

/// Every message on the bus has a line in the log, and a wrong sender is reported.
#[test]
fn every_message_has_a_line() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("deep/data");
    let (mut wire, receiver) = Wire::new(100);
    let service = start(&data, receiver);
    wire.task(1);
    wire.publish_as(&Address::of(Role::Executor, Some(&task(1)), None), None, result(1, 0, 0.0, accept()).into());
    let asked = Instant::now();
    let report = service.report().unwrap();
    assert!(asked.elapsed() < REPORT_WITHIN);
    assert_eq!((report.trigger, report.tasks_observed), (Trigger::OnDemand, 1));
    assert_eq!(
        report.boundary_violations,
        [format!("refused: FinalResult from R3/{}: only R7 may publish FinalResult, not R3", task(1))]
    );
    let summary = service.close().unwrap();
    assert_eq!((summary.events, summary.missing, summary.lost, summary.found.len()), (4, 0, 0, 0));

    let log = data.join("audit.jsonl");
    assert_eq!(summary.log, log);
    assert_eq!(verify(&log).unwrap().lines, 7);
    let kinds: Vec<Value> =
        events(&log, "message").iter().map(|line| line["envelope"]["message"]["type"].clone()).collect();
    assert_eq!(kinds, ["user_request", "task_spec", "final_result"]);
    assert_eq!(events(&log, "refused")[0]["findings"][0]["rule"], "refused");
    assert_eq!(events(&log, "report")[0]["report"]["tasks_observed"], 1);
    assert_eq!(values(&log).last().unwrap()["event"], "log_closed");
}

#[test]
fn undo_is_noted_in_the_log() {
    let dir = tempfile::tempdir().unwrap();
    let (_sender, receiver) = tap(1);
    let service = start(dir.path(), receiver);
    let note = Note::Undone { entry: "t".to_owned(), by: Some("undo-1".to_owned()), brought_back: 2, left: 1 };
    service.note(note).unwrap();
    service.close().unwrap();
    let log = dir.path().join("audit.jsonl");
    assert_eq!(verify(&log).unwrap().lines, 3);
    let text = fs::read_to_string(&log).unwrap();
    assert!(text.contains(r#""event":"undone","entry":"t","by":"undo-1","brought_back":2,"left":1"#), "{text}");
}

/// The auditor makes reports by itself at its interval.
#[test]
fn timer_makes_reports() {
    let dir = tempfile::tempdir().unwrap();
    let (_wire, receiver) = Wire::new(100);
    let service = spawn(receiver, config(dir.path(), Duration::ZERO)).unwrap();
    let deadline = Instant::now() + Duration::from_secs(10);
    let periodic = loop {
        if let Some(report) = service.take_reports().pop() {
            break report;
        }
        assert!(Instant::now() < deadline, "the timer made no report");
        std::thread::yield_now();
    };
    assert_eq!(periodic.trigger, Trigger::Periodic);
}

#[doc = "holds: principle 5; design R6.22"]
#[test]
fn restart_keeps_counts_and_chain() {
    let dir = tempfile::tempdir().unwrap();
    for run in 1..=3 {
        let (mut wire, receiver) = Wire::new(100);
        let service = start(dir.path(), receiver);
        wire.task(run);
        service.close().unwrap();
    }
    let (_wire, receiver) = Wire::new(100);
    let report = start(dir.path(), receiver).report().unwrap();
    assert_eq!(report.tasks_observed, 3);
    assert_eq!((report.anomalies, report.boundary_violations), (vec![], vec![]));
    verify(&dir.path().join("audit.jsonl")).unwrap();
}

/// If the auditor reads too slowly, the number of events it missed is reported.
#[doc = "holds: design B2"]
#[test]
fn slow_auditor_reports_lost_events() {
    let dir = tempfile::tempdir().unwrap();
    let (mut wire, receiver) = Wire::new(4);
    // Ten events are offered before any is read: four fit, six are lost, and a gap reports them once there is room.
    for n in 0..10 {
        wire.publish(None, request(n));
    }
    let service = start(dir.path(), receiver);
    let report = service.report().unwrap();
    assert_eq!(report.anomalies.len(), 0, "no gap is known before the next event: {report:?}");
    wire.publish(None, request(10));
    let report = service.report().unwrap();
    assert_eq!(report.anomalies, ["events_missing: 6 events: the auditor was too slow for the bus"]);
    assert_eq!(report.boundary_violations, Vec::<String>::new(), "a gap is not a violation of a role");
    drop(wire);
    let summary = service.close().unwrap();
    assert_eq!((summary.events, summary.missing), (6, 6));
    let log = dir.path().join("audit.jsonl");
    assert_eq!(events(&log, "gap")[0]["missing"], 6);
    assert_eq!(events(&log, "message").len(), 5);
}

/// Events lost at the end of a run are reported when the auditor closes.
#[doc = "holds: design B2"]
#[test]
fn events_lost_at_the_end_are_reported() {
    let dir = tempfile::tempdir().unwrap();
    let (mut wire, receiver) = Wire::new(4);
    for n in 0..9 {
        wire.publish(None, request(n));
    }
    drop(wire);
    let summary = start(dir.path(), receiver).close().unwrap();
    assert_eq!((summary.events, summary.missing), (5, 5));
    assert_eq!(events(&dir.path().join("audit.jsonl"), "gap")[0]["missing"], 5);
}

/// Closing the auditor, and also dropping it, first writes all events still in the tap.
#[doc = "holds: design S13"]
#[test]
fn closing_and_dropping_drain_the_tap() {
    let dir = tempfile::tempdir().unwrap();
    for run in 0..2 {
        let (mut wire, receiver) = Wire::new(1_000);
        for n in 0..200 {
            wire.task(run * 1_000 + n);
        }
        let service = start(dir.path(), receiver);
        if run == 0 {
            assert_eq!(service.close().unwrap().events, 600);
        } else {
            drop(service);
        }
        assert_eq!(events(&dir.path().join("audit.jsonl"), "log_closed").len(), 1 + run as usize);
    }
    assert_eq!(events(&dir.path().join("audit.jsonl"), "message").len(), 1_200);
    assert_eq!(load_stats(&dir.path().join("audit_stats.json")).unwrap().window.totals.tasks, 400);
}

#[test]
fn missing_result_is_reported_at_close() {
    let dir = tempfile::tempdir().unwrap();
    let (mut wire, receiver) = Wire::new(100);
    wire.publish(None, request(1));
    let service = start(dir.path(), receiver);
    let summary = service.close().unwrap();
    assert_eq!(summary.found, [format!("no_final_result: {} had none when the bus was closed", task(1))]);
    let found = events(&dir.path().join("audit.jsonl"), "found");
    assert_eq!(found[0]["findings"][0]["rule"], "no_final_result");
}

/// On a full disk the auditor goes on counting, and its close reports what was not written.
#[doc = "holds: law 3.4; design S4"]
#[test]
fn full_disk_does_not_stop_the_auditor() {
    let dir = tempfile::tempdir().unwrap();
    symlink("/dev/full", dir.path().join("audit.jsonl")).unwrap();
    let (mut wire, receiver) = Wire::new(100);
    let service = start(dir.path(), receiver);
    wire.task(1);
    let report = service.report().unwrap();
    assert_eq!(report.tasks_observed, 1, "counting goes on");
    assert!(report.anomalies.iter().any(|line| line.contains("No space left on device")), "{report:?}");
    match service.close() {
        Err(AuditError::Incomplete { summary, problem }) => {
            assert_eq!(summary.events, 3);
            assert_eq!(summary.lost, 6, "the opening, three messages, the report and the closing");
            assert!(problem.is_some());
        }
        other => panic!("{other:?}"),
    }
}

#[doc = "holds: design S5"]
#[test]
fn unusable_folder_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    let (_wire, receiver) = Wire::new(1);
    let error = spawn(receiver, config(&dir.path().join("file/data"), REPORT_EVERY)).unwrap_err();
    assert!(matches!(error, AuditError::Folder { .. }), "{error:?}");
}

/// A second process in the same data folder writes a log of its own.
#[doc = "holds: design S6"]
#[test]
fn second_process_writes_its_own_log() {
    let dir = tempfile::tempdir().unwrap();
    let (mut first_wire, first_receiver) = Wire::new(100);
    let (mut second_wire, second_receiver) = Wire::new(100);
    let first = start(dir.path(), first_receiver);
    // A second handle on the lock is refused just as another process's is.
    let second = start(dir.path(), second_receiver);
    first_wire.task(1);
    second_wire.task(2);
    for (service, name) in [(first, "audit"), (second, "audit-2")] {
        let summary = service.close().unwrap();
        assert_eq!((summary.events, summary.log.clone()), (3, dir.path().join(format!("{name}.jsonl"))));
        verify(&summary.log).unwrap();
    }
    assert!(dir.path().join("audit_stats-2.json").exists());
}

#[doc = "holds: design S11"]
#[test]
fn unusable_statistics_are_renamed_and_reported() {
    for (text, problem) in [(r#"{"version":9}"#, "has version 9, not 1"), ("{", "is not a valid statistics file")] {
        let dir = tempfile::tempdir().unwrap();
        let stats = dir.path().join("audit_stats.json");
        fs::write(&stats, text).unwrap();
        let (_wire, receiver) = Wire::new(1);
        let report = start(dir.path(), receiver).report().unwrap();
        assert!(report.anomalies.iter().any(|line| line.contains(problem)), "{report:?}");
        assert_eq!(fs::read_to_string(dir.path().join("audit_stats.json.unusable")).unwrap(), text);
    }
}

/// A changed line of the log is reported by the next process's first report.
#[doc = "holds: design S3"]
#[test]
fn tampering_is_reported_by_the_next_report() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("audit.jsonl");
    let (mut wire, receiver) = Wire::new(100);
    let service = start(dir.path(), receiver);
    wire.task(1);
    service.close().unwrap();
    fs::write(&log, fs::read_to_string(&log).unwrap().replace("41 files", "no files")).unwrap();
    let (_wire, receiver) = Wire::new(1);
    let service = start(dir.path(), receiver);
    let report = service.report().unwrap();
    assert_eq!(report.anomalies.len(), 1);
    assert!(report.anomalies[0].contains("damaged at line 4"), "{report:?}");
    service.close().unwrap();
    verify(&log).unwrap();
}

/// Lines removed from the log's end are noticed by the next process.
#[test]
fn next_process_notices_removed_lines() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("audit.jsonl");
    let (mut wire, receiver) = Wire::new(100);
    let service = start(dir.path(), receiver);
    wire.task(1);
    service.close().unwrap();
    let kept: String = lines(&log)[..2].iter().map(|line| format!("{line}\n")).collect();
    fs::write(&log, kept).unwrap();
    let problem = "the end of the log was cut off: 3 of 5 lines are missing; it was whole at ";
    let error = verify(&log).unwrap_err().to_string();
    assert!(error.starts_with(&format!("line 3: {problem}")), "{error}");
    let (_wire, receiver) = Wire::new(1);
    let service = start(dir.path(), receiver);
    let report = service.report().unwrap();
    assert!(report.anomalies[0].starts_with(&format!("audit_trail: {problem}")), "{report:?}");
    // The line about the gap stays, and is no gap itself once it was accepted.
    let gaps = verify(&log).unwrap().gaps;
    assert!(gaps.len() == 1 && gaps[0].problem.contains(problem), "{gaps:?}");
    service.note(Note::GapAccepted { gaps: vec![gaps[0].id.clone()] }).unwrap();
    service.close().unwrap();
    let verified = verify(&log).unwrap();
    assert_eq!((verified.accepted, verified.gaps), (vec![gaps[0].id.clone()], gaps));
}

/// A deleted log is noticed if files of earlier runs are still in the data folder.
#[test]
fn deleted_log_is_noticed_by_traces() {
    let check = |prepare: &dyn Fn(&Path), expected: Option<&str>| {
        let dir = tempfile::tempdir().unwrap();
        prepare(dir.path());
        let problem = expected.map(|trace| format!("the audit log was deleted: {trace} is left of earlier runs"));
        assert_eq!(deleted_log(dir.path(), &config(dir.path(), REPORT_EVERY).traces), problem);
        for run in 0..2 {
            let (_wire, receiver) = Wire::new(1);
            let service = start(dir.path(), receiver);
            let told = problem.as_ref().filter(|_| run == 0);
            assert_eq!(service.gaps().first(), told, "reported by the run that notices it");
            service.close().unwrap();
            let gaps = verify(&dir.path().join("audit.jsonl")).unwrap().gaps;
            assert_eq!(
                gaps.iter().filter(|gap| problem.as_ref().is_some_and(|p| gap.problem.ends_with(p))).count(),
                gaps.len()
            );
            assert_eq!(gaps.len(), usize::from(problem.is_some()), "it stays in the log");
        }
    };
    check(&|_| {}, None);
    check(&|dir| fs::write(dir.join("memory.journal"), "").unwrap(), None);
    check(&|dir| fs::create_dir(dir.join("undo")).unwrap(), None);
    check(&|dir| fs::write(dir.join("memory.journal"), "a record").unwrap(), Some("memory.journal"));
    check(&|dir| fs::create_dir_all(dir.join("undo/a-task")).unwrap(), Some("undo"));
    // A log, also one of another process, shows that nothing was deleted.
    check(
        &|dir| {
            fs::write(dir.join("memory.journal"), "a record").unwrap();
            fs::write(dir.join("audit-2.jsonl"), "").unwrap();
        },
        None,
    );
}

/// A task whose limit has passed without a result is logged and reported once.
#[test]
fn overdue_task_is_logged_and_reported() {
    let dir = tempfile::tempdir().unwrap();
    let (mut wire, receiver) = Wire::new(100);
    let clock = Box::new(|| at(1_000_000));
    let service = spawn(receiver, AuditConfig { clock, ..config(dir.path(), REPORT_EVERY) }).unwrap();
    wire.publish(None, request(1));
    let report = service.report().unwrap();
    assert_eq!(report.anomalies.len(), 1, "{report:?}");
    assert_eq!(service.report().unwrap().anomalies.len(), 0, "reported once");
    let found = events(&dir.path().join("audit.jsonl"), "found");
    assert_eq!((found.len(), &found[0]["findings"][0]["rule"]), (1, &"no_final_result".into()));
}
