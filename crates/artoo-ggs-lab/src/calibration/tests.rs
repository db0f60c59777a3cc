//! Tests of small calibrations: the result is a valid profile, and a profile equal to the incumbent is never better.

use super::log::{LogError, read};
use super::off_policy::{LoggedTask, Sureness, evaluate, judge};
use super::{Calibration, CalibrationError, calibrate};
use crate::simulation::Utility;
use artoo_ggs::Profile;
use artoo_ggs::Unit;
use artoo_ggs::{ControllerCall, ControllerEvent, ControllerReply, LogEntry, LogHeader, replay};
use artoo_ggs::{CriterionMeasure, FailureClass, Round, SubtaskMeasure};
use artoo_ggs::{Hyperparameters, ParameterTable};

/// A small calibration that takes seconds in a debug build.
fn small() -> Calibration {
    Calibration {
        search_tasks: 30,
        population: 8,
        generations: 3,
        trial_tasks: 100,
        resamples: 200,
        null_trials: 30,
        ..Calibration::standard()
    }
}

/// The default profile with its parameter table altered by `change`.
fn with(change: impl Fn(&mut ParameterTable)) -> Profile {
    let mut table = ParameterTable::DEFAULT;
    change(&mut table);
    let parameters = Hyperparameters::try_from(table).unwrap();
    Profile::new("other", parameters, *Profile::default().rules()).unwrap()
}

/// A calibration gives the same recommendation on any number of threads and leaves α unchanged.
#[test]
fn recommendation_is_repeatable_and_keeps_alpha() {
    let recommendation = calibrate(&small()).unwrap();
    assert_eq!(calibrate(&Calibration { threads: 1, ..small() }).unwrap(), recommendation);
    assert!(recommendation.search_gain >= 0.0, "the incumbent is a candidate");
    assert_eq!(recommendation.candidates, 8 * 4);
    assert_eq!(recommendation.by_family.len(), 4);
    let file = serde_json::to_string_pretty(&recommendation.profile).unwrap();
    let loaded: Profile = serde_json::from_str(&file).unwrap();
    assert_eq!(loaded, recommendation.profile);
    assert_eq!(loaded.parameters().alpha, ParameterTable::DEFAULT.alpha);
    let unknown = file.replacen("\"alpha\"", "\"aleph\": 1.0,\n    \"alpha\"", 1);
    let error = serde_json::from_str::<Profile>(&unknown).unwrap_err().to_string();
    assert!(error.contains("aleph"), "{error}");
}

/// The null test, which compares the profile in use with itself, shows no gain.
#[test]
fn incumbent_does_not_gain_on_itself() {
    let null = calibrate(&Calibration { null_trials: 100, generations: 1, ..small() }).unwrap().null;
    assert_eq!(null.same_luck, 0.0);
    // Five alarms are expected; 13 is almost four standard deviations of 2.2 above.
    assert!(null.alarms <= 13, "{null:?}");
}

/// A large possible gain (the incumbent gives up at once) is found even by a small search and trial.
#[test]
fn large_gain_is_found_on_held_out() {
    let hopeless = with(|table| table.theta = 0.01);
    let recommendation = calibrate(&Calibration { incumbent: hopeless, ..small() }).unwrap();
    assert!(recommendation.is_better(), "{recommendation:?}");
    assert!(recommendation.evidence.lower > 0.05, "{recommendation:?}");
    assert!(recommendation.evidence.lower < recommendation.evidence.gain);
    assert!(recommendation.evidence.gain < recommendation.evidence.upper);
}

/// A calibration that can't give a meaningful result is an error that names the field.
#[test]
fn meaningless_calibrations_are_rejected_by_field() {
    let check = |change: fn(&mut Calibration), expected: &str| {
        let mut calibration = small();
        change(&mut calibration);
        let error: CalibrationError = calibrate(&calibration).unwrap_err();
        assert_eq!(error.to_string(), expected);
    };
    check(|c| c.train.clear(), "train is empty");
    check(|c| c.held_out.clear(), "held_out is empty");
    check(|c| c.held_out.push(c.train[0]), "family \"ordinary\" is in train and in held_out");
    check(|c| c.search_tasks = 0, "search_tasks is 0, expected at least 1");
    check(|c| c.population = 4, "population is 4, expected at least 5");
    check(|c| c.trial_tasks = 19, "trial_tasks is 19, expected at least 20");
    check(|c| c.resamples = 0, "resamples is 0, expected at least 20");
}

/// The log of a task with one round, whose subtask failed `unmet` of four criteria; `propensity` is the decision's
/// logged probability.
fn logged(unmet: usize, utility: f64, propensity: f64) -> LoggedTask<u8> {
    let criterion = |index: usize| {
        if index < unmet {
            CriterionMeasure::unmet(index.to_string()).blamed_on(FailureClass::Logical)
        } else {
            CriterionMeasure::met(index.to_string())
        }
    };
    let round = Round::new(vec![SubtaskMeasure::failed((0..4).map(criterion).collect()).with_tools(["shell"])]);
    let events = [ControllerCall::Begin(1), ControllerCall::Observe { task: 1, round }];
    let events = events.into_iter().map(|call| ControllerEvent::new(0, call));
    let mut records: Vec<LogEntry<u8>> = replay(Profile::default(), events).collect();
    for record in &mut records {
        if let ControllerReply::Decided(decision) = &mut record.reply {
            decision.propensity = Unit::clamped(propensity);
        }
    }
    LoggedTask { records, utility }
}

/// In the estimate from a log only tasks count in which the profile decides as the log did.
#[test]
fn log_counts_only_tasks_with_equal_decisions() {
    // D = 0.25 is close enough under δ = 0.3, not under δ = 0.2; D = 0.5 under neither.
    let log = [logged(1, 0.4, 1.0), logged(2, 0.0, 1.0), logged(2, 1.0, 1.0)];
    let check = |profile: &Profile, log: &[LoggedTask<u8>], agreeing, value: Option<f64>, effective: f64| {
        let found = evaluate(profile, log);
        assert_eq!((found.tasks, found.agreeing), (log.len(), agreeing));
        assert!((found.value.unwrap_or(-9.0) - value.unwrap_or(-9.0)).abs() < 1e-12, "{found:?}");
        assert!((found.effective_tasks - effective).abs() < 1e-9, "{found:?}");
    };
    let stricter = with(|table| table.delta = 0.2);
    check(&Profile::default(), &log, 3, Some(1.4 / 3.0), 3.0);
    check(&stricter, &log, 2, Some(0.5), 2.0);
    check(&stricter, &log[..1], 0, None, 0.0);
    // A decision made one time in four has the weight of four.
    let explored = [logged(1, 0.0, 1.0), logged(2, 1.0, 0.25)];
    check(&Profile::default(), &explored, 2, Some(0.8), 25.0 / 17.0);
    let useless = [logged(1, f64::NAN, 1.0), logged(2, 1.0, 0.0)];
    check(&Profile::default(), &useless, 0, None, 0.0);
}

/// A judgement by a log says whether it rests on enough tasks and covers the profile's decisions.
#[test]
fn judgement_states_its_confidence() {
    let verdict = |profile: &Profile, log: &[LoggedTask<u8>]| judge(profile, log, 200, 1).verdict;
    let stricter = with(|table| table.delta = 0.2);
    // D = 0.25: v0.8 delivers, the stricter profile goes on. If the log has both decisions, half of its tasks count for each profile.
    let alike = |n: usize| vec![logged(2, 0.1, 1.0); n];
    assert_eq!(verdict(&Profile::default(), &alike(199)), Sureness::TooFewTasks);
    assert_eq!(verdict(&Profile::default(), &alike(200)), Sureness::NotShown);
    let mut other = alike(300);
    other.extend(vec![logged(1, 0.4, 1.0); 30]);
    assert_eq!(verdict(&stricter, &other), Sureness::NotCovered);
    assert_eq!(verdict(&Profile::default(), &other), Sureness::NotShown);
    // A caller that explored: v0.8's delivery and the other directive, each one time in two.
    let mut explored = vec![logged(1, 0.4, 0.5); 300];
    let mut went_on = logged(1, 0.8, 0.5);
    let again = replay(stricter.clone(), went_on.records.iter().map(|record| record.event.clone()));
    went_on.records = again
        .map(|mut record| {
            if let ControllerReply::Decided(decision) = &mut record.reply {
                decision.propensity = Unit::clamped(0.5);
            }
            record
        })
        .collect();
    explored.extend(vec![went_on; 300]);
    let found = judge(&stricter, &explored, 200, 1);
    assert_eq!((found.verdict, found.off_policy.agreeing), (Sureness::Better, 300));
    assert!((found.gain.gain - 0.2).abs() < 1e-9 && (found.support - 1.0).abs() < 1e-9, "{found:?}");
    assert!(found.gain.lower <= found.gain.gain && found.gain.gain <= found.gain.upper);
    assert_eq!(verdict(&Profile::default(), &explored), Sureness::NotShown);
}

/// A temporary folder, removed when dropped.
struct Folder(std::path::PathBuf);

impl Folder {
    /// Creates the folder in the system's temporary folder; its name contains this word and the process id.
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("ggs-lab-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// Writes a file and returns its path.
    fn write(&self, name: &str, text: &str) -> std::path::PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

/// The lines of a log with two interleaved tasks: one delivered with 1 of 4 criteria unmet after a minute, one still
/// open.
fn two_tasks() -> String {
    let round = |task: &str, unmet: usize| {
        let ControllerCall::Observe { round, .. } = logged(unmet, 0.0, 1.0).records[1].event.call.clone() else {
            panic!("a round comes second")
        };
        ControllerCall::Observe { task: task.to_owned(), round }
    };
    let begin = |task: &str| ControllerCall::Begin(task.to_owned());
    let events = [(1_000, begin("a")), (2_000, begin("b")), (3_000, round("b", 3)), (61_000, round("a", 1))];
    let events = events.map(|(at_ms, call)| ControllerEvent::new(at_ms, call));
    let header = serde_json::to_string(&LogHeader::new(Profile::default())).unwrap();
    let lines = replay(Profile::default(), events).map(|entry| serde_json::to_string(&entry).unwrap());
    std::iter::once(header).chain(lines).map(|line| line + "\n").collect()
}

/// Logs are read from one file or from all files of a folder; unfinished tasks are counted.
#[test]
fn logs_are_read_from_files_and_folders() {
    let folder = Folder::new("read");
    let log = two_tasks();
    let path = folder.write("1.jsonl", &log);
    let logs = read(&path, &Utility::DEFAULT).unwrap();
    assert_eq!((logs.tasks.len(), logs.unjudged, logs.unfinished, logs.cut), (1, 1, 1, 0));
    assert_eq!(logs.tasks[0].records.len(), 2, "the other task's entries are not among them");
    // Half of three quarters, less an execution and a minute.
    assert!((logs.tasks[0].utility - 0.305).abs() < 1e-9, "{}", logs.tasks[0].utility);
    assert_eq!(logs.profiles, [Profile::default()]);
    let judged = format!("{log}{log}{{\"judged\":{{\"task\":\"a\",\"utility\":-1.0}}}}\n{{\"event\":{{");
    folder.write("2.jsonl", &judged);
    folder.write("notes.txt", "no log");
    let logs = read(&folder.0, &Utility::DEFAULT).unwrap();
    assert_eq!((logs.tasks.len(), logs.unjudged, logs.unfinished, logs.cut), (3, 2, 3, 1));
    assert_eq!(logs.tasks[2].utility, -1.0);
    assert_eq!(evaluate(&Profile::default(), &logs.tasks).agreeing, 3, "read entries replay exactly");
    let later = format!("{log}{}\n{{\"judged\":{{\"task\":\"a\",\"utility\":-0.5}}}}\n", log.lines().next().unwrap());
    let logs =
        read(&folder.write("3.jsonl", &(later + "{\"judged\":{\"task\":\"c\",\"utility\":1.0}}\n")), &Utility::DEFAULT)
            .unwrap();
    assert_eq!((logs.tasks[0].utility, logs.unjudged), (-0.5, 0), "also below another header");
}

#[test]
fn invalid_log_lines_are_named() {
    let folder = Folder::new("invalid");
    let log = two_tasks();
    let check = |text: &str, expected: &str| {
        let error = read(&folder.write("x.jsonl", text), &Utility::DEFAULT).unwrap_err();
        assert!(matches!(error, LogError::Line { .. }) && error.to_string().ends_with(expected), "{error}");
    };
    let (_, without_header) = log.split_once('\n').unwrap();
    check(without_header, "line 1: no header before it");
    check(&format!("{log}oops\n{{\"event"), "line 6: expected value at line 1 column 1");
    check(&format!("{log}{{\"judged\":{{\"task\":\"a\"}}}}\n"), "missing field `utility`");
    let error = read(&folder.write("x.jsonl", &log.replacen("\"delta\":0.3", "\"delta\":0.2", 1)), &Utility::DEFAULT);
    assert!(error.unwrap_err().to_string().contains("line 1: config is 301a640b25cbf2d3, but"));
    let missing = read(&folder.0.join("none"), &Utility::DEFAULT).unwrap_err();
    assert!(matches!(missing, LogError::Io { .. }), "{missing}");
}
