//! Tests of small calibrations: the result is a valid profile, and a profile equal to the incumbent is never better.

use super::off_policy::{LoggedTask, evaluate};
use super::{Calibration, CalibrationError, calibrate};
use artoo_ggs::Profile;
use artoo_ggs::Unit;
use artoo_ggs::{ControllerCall, ControllerEvent, ControllerReply, LogEntry, replay};
use artoo_ggs::{CriterionMeasure, FailureClass, Round, SubtaskMeasure};
use artoo_ggs::{Hyperparameters, ParameterTable};

/// A calibration that takes seconds in a debug build.
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

fn with(change: impl Fn(&mut ParameterTable)) -> Profile {
    let mut table = ParameterTable::DEFAULT;
    change(&mut table);
    let parameters = Hyperparameters::try_from(table).unwrap();
    Profile::new("other", parameters, *Profile::default().rules()).unwrap()
}

#[test]
fn a_recommendation_is_repeatable_loads_as_a_profile_and_leaves_alpha_alone() {
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

#[test]
fn the_incumbent_gains_nothing_on_itself_and_the_bound_seldom_cries_wolf() {
    let null = calibrate(&Calibration { null_trials: 100, generations: 1, ..small() }).unwrap().null;
    assert_eq!(null.same_luck, 0.0);
    // Five alarms are expected; 13 is almost four standard deviations of 2.2 above.
    assert!(null.alarms <= 13, "{null:?}");
}

/// An incumbent that gives up at once leaves so much to gain that even a small search and trial show it.
#[test]
fn where_there_is_much_to_gain_it_is_found_and_shown_on_families_never_searched() {
    let hopeless = with(|table| table.theta = 0.01);
    let recommendation = calibrate(&Calibration { incumbent: hopeless, ..small() }).unwrap();
    assert!(recommendation.is_better(), "{recommendation:?}");
    assert!(recommendation.evidence.lower > 0.05, "{recommendation:?}");
    assert!(recommendation.evidence.lower < recommendation.evidence.gain);
    assert!(recommendation.evidence.gain < recommendation.evidence.upper);
}

#[test]
fn a_calibration_that_means_nothing_is_refused_by_name() {
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

/// The log of one round of one subtask that fails `unmet` of four criteria.
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

#[test]
fn a_log_speaks_for_a_profile_only_where_it_decides_alike() {
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
