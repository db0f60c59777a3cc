//! The controller: rounds, endings, the clock and errors.

use artoo_ggs::*;

use crate::build::*;

/// Duration of a round, short enough that four rounds fit into the time budget.
const QUICK_MS: u64 = 1_000;

#[doc = "holds: design G1"]
#[test]
fn first_round_is_numbered_zero() {
    let decisions = run(Profile::default(), 0, &[shares(1, 0, 1), shares(1, 0, 1)]);
    let seen: Vec<_> = decisions.iter().map(|d| (d.round, d.replans, d.loss.omega.to_string())).collect();
    assert_eq!(seen, [(0, 1, "0.00".to_owned()), (1, 2, "0.20".to_owned())]);
}

#[doc = "holds: law 2.2; design G2"]
#[test]
fn fifth_execution_is_impossible_in_every_profile() {
    for profile in [Profile::default(), Profile::strict_spec()] {
        let decisions = run(profile, 0, &vec![shares(0, 1, 1); 9]);
        assert_eq!(decisions.len(), 4);
        assert!(decisions[3].loss.omega < Unit::try_new(0.8).unwrap(), "Ω alone would have gone on");
        assert_eq!(decisions[3].outcome, Outcome::Abandon(StopReason::MaxReplans));
        assert_eq!((decisions[3].replans, decisions[3].cell.map(|c| c.number)), (3, Some(13)));
    }
}

#[doc = "holds: design G2"]
#[test]
fn fourth_execution_may_still_succeed() {
    let decisions = run(Profile::default(), 0, &[shares(0, 1, 1), shares(0, 1, 1), shares(0, 1, 1), shares(0, 1, 4)]);
    assert_eq!(states(&decisions), ["change_path", "change_path", "change_path", "success"]);
}

/// Law 2 does not end a task whose loss rises only because time passes while D (the distance) falls.
#[doc = "holds: law 2.1; design G4"]
#[test]
fn slow_rounds_with_falling_distance_continue() {
    // D .50, .46, .42 at 90 s a round: L rises by more than ε each time, through Ω alone.
    let rounds = [shares(0, 50, 100), shares(0, 46, 100), shares(0, 42, 100)];
    let decisions = run(Profile::default(), 90_000, &rounds);
    assert_eq!(states(&decisions), ["change_path", "refine", "refine"]);
    assert!(decisions[1].gradient.total > 0.1 && decisions[1].gradient.d < 0.0);
    assert!(decisions.iter().all(|d| d.worsening_rounds == 0));
    let literal = run(Profile::strict_spec(), 90_000, &rounds);
    assert_eq!(literal[2].outcome, Outcome::Abandon(StopReason::Diverging), "to the letter it is killed");
}

#[doc = "holds: law 2.1; invariant 22; design G4"]
#[test]
fn distance_rising_twice_ends_the_task() {
    let grow = [shares(0, 40, 100), shares(0, 60, 100), shares(0, 80, 100)];
    let decisions = run(Profile::default(), 0, &grow);
    assert_eq!(states(&decisions), ["change_path", "refine", "abandon diverging"]);
    assert_eq!(decisions[2].worsening_rounds, 2);
    // A round in between that doesn't count starts the count again.
    let pause = [shares(0, 40, 100), shares(0, 60, 100), shares(0, 60, 100), shares(0, 80, 100)];
    let counts: Vec<_> = run(Profile::default(), 0, &pause).iter().map(|d| d.worsening_rounds).collect();
    assert_eq!(counts, [0, 1, 0, 1]);
}

/// A round counts as worsening for Law 2 only if the loss without Ω rose by more than ε, not by ε exactly.
#[doc = "holds: design G4"]
#[test]
fn rise_of_exactly_epsilon_does_not_count() {
    // α·ΔD is exactly 0.1: a signal for the table, not for Law 2.
    let alpha_half = parameters(|t| t.alpha = 0.5);
    let profile = Profile::new("half", alpha_half, Rules::DEFAULT).unwrap();
    let counts =
        |rounds: &[Round]| -> Vec<u32> { run(profile.clone(), 0, rounds).iter().map(|d| d.worsening_rounds).collect() };
    assert_eq!(counts(&[shares(0, 40, 100), shares(0, 60, 100)]), [0, 0]);
    assert_eq!(counts(&[shares(0, 40, 100), shares(0, 61, 100)]), [0, 1]);
}

/// Changes of P (the share of blamed failures) at the same D never count as worsening for Law 2.
#[doc = "holds: design G4"]
#[test]
fn plausible_share_alone_never_kills() {
    // P jumps from 0 to 1 and back while D stays: ∇L without Ω exceeds ε, but the gap did not grow.
    let rounds = [shares(0, 5, 10), shares(5, 0, 10), shares(0, 5, 10), shares(5, 0, 10)];
    assert!(run(Profile::default(), 0, &rounds).iter().all(|d| d.worsening_rounds == 0));
}

#[doc = "holds: invariant 21; design G6"]
#[test]
fn first_round_has_no_gradient() {
    for (failing, expected) in [(shares(1, 0, 1), "break_symmetry"), (shares(0, 1, 1), "change_path")] {
        let decision = run(Profile::default(), 250_000, &[failing]).remove(0);
        assert_eq!((decision.gradient, decision.previous), (Gradient::ZERO, PreviousAction::Init));
        assert_eq!((decision.state().name(), decision.prior_state()), (expected, None));
    }
    let second = run(Profile::default(), 0, &[shares(1, 0, 1), shares(1, 0, 1)]).remove(1);
    assert_eq!(second.previous.to_string(), "break_symmetry");
}

/// A round whose subtasks matched but whose combined result was rejected leads to a replan, not to a success.
#[doc = "holds: design G8"]
#[test]
fn rejected_whole_is_not_a_success() {
    let rejected = round(vec![subtask(vec![pass("a")])]).with_task_criteria(vec![logical("t")]);
    assert_eq!(states(&run(Profile::default(), 0, std::slice::from_ref(&rejected))), ["break_symmetry"]);
    // To the letter D is 0, yet the success must name what was rejected.
    let literal = run(Profile::strict_spec(), 0, &[rejected]).remove(0);
    let Outcome::Success(success) = literal.outcome else { panic!("{literal}") };
    assert_eq!(success.unmet().iter().map(|u| u.claim.as_str()).collect::<Vec<_>>(), ["t"]);
}

#[doc = "holds: law 0.5; design G10"]
#[test]
fn success_lists_all_unmet_criteria() {
    let close = shares(1, 1, 10).with_task_criteria(vec![pass("t")]);
    let decision = run(Profile::default(), QUICK_MS, &[close]).remove(0);
    let Outcome::Success(success) = &decision.outcome else { panic!("{decision}") };
    let unmet: Vec<_> = success.unmet().iter().map(|u| (u.claim.as_str(), u.scope, u.class)).collect();
    let scope = CriterionScope::Subtask(0);
    assert_eq!(unmet, [("c0", scope, Some(FailureClass::Logical)), ("c1", scope, Some(FailureClass::Environmental))]);
}

#[doc = "holds: design G10"]
#[test]
fn unmet_required_criterion_prevents_success() {
    let mut criteria: Vec<_> = (0..9).map(|i| pass(&format!("p{i}"))).collect();
    criteria.push(environmental("the file exists").required());
    let near = round(vec![subtask(criteria)]);
    let decision = run(Profile::default(), 0, std::slice::from_ref(&near)).remove(0);
    assert_eq!((decision.state(), decision.required_unmet), (MacroState::ChangePath, true));
    assert_eq!(decision.loss.d.to_string(), "0.10", "D stays as measured");
    assert!((decision.loss.l - 0.06).abs() < 1e-12, "L stays as measured");
    assert_eq!(decision.primary_failed.as_deref(), Some("the file exists"));
    assert_eq!(states(&run(Profile::strict_spec(), 0, &[near])), ["success"]);
}

#[doc = "holds: law 2.5; design G11"]
#[test]
fn abandon_names_the_round_with_lowest_distance() {
    let rounds = [shares(0, 9, 10), shares(0, 5, 10), shares(0, 7, 10), shares(0, 7, 10)];
    let decisions = run(Profile::default(), 0, &rounds);
    assert_eq!(decisions.iter().map(|d| d.best_round).collect::<Vec<_>>(), [0, 1, 1, 1]);
    let tied = run(Profile::default(), 0, &vec![shares(0, 9, 10); 4]);
    assert_eq!(tied[3].best_round, 3, "of equals the last");
}

/// A round with every criterion met is accepted even when the time budget and all replans are used up.
#[doc = "holds: design G11"]
#[test]
fn accept_bypasses_the_table_even_late() {
    let mut controller = begun(Profile::default());
    for now in [1, 2, 3] {
        controller.observe(&1, &shares(0, 1, 1), now).unwrap();
    }
    let met = shares(0, 0, 2);
    let decision = controller.observe(&1, &met, 900_000).unwrap();
    assert_eq!((&decision.outcome, decision.loss.omega, decision.cell), (&Outcome::Accept, Unit::ONE, None));
    assert_eq!((decision.loss.d, decision.replans, decision.best_round), (Unit::ZERO, 3, 3));
    assert_eq!(decision.to_string(), "every criterion met → accept");
}

#[doc = "holds: design G14"]
#[test]
fn tied_failure_classes_are_mixed() {
    let decision = run(Profile::default(), 0, &[shares(1, 1, 2)]).remove(0);
    assert_eq!((decision.state(), decision.failure_mix), (MacroState::ChangePath, FailureMix::Mixed));
}

#[doc = "holds: law 0.8; design G15"]
#[test]
fn suspect_flag_stays_set() {
    let rounds = [shares(9, 0, 10), shares(5, 0, 10), shares(0, 1, 10)];
    let decisions = run(Profile::default(), 0, &rounds);
    assert_eq!(states(&decisions), ["break_symmetry", "change_approach", "success"]);
    assert_eq!(decisions.iter().map(|d| d.suspect).collect::<Vec<_>>(), [false, true, true]);
    assert_eq!(decisions[1].cell.map(|c| c.number), Some(6));
}

#[doc = "holds: design G16"]
#[test]
fn pauses_do_not_count_as_time() {
    let mut controller = begun(Profile::default());
    controller.begin(2, 500).unwrap();
    controller.pause(&1, 10_000).unwrap();
    controller.pause(&1, 20_000).unwrap();
    controller.resume(&1, 200_000).unwrap();
    assert_eq!(controller.elapsed_ms(&1), Some(10_000), "one question is still open");
    controller.resume(&1, 900_000).unwrap();
    assert_eq!(controller.resume(&1, 900_000), Err(ControllerError::NotPaused));
    let decision = controller.observe(&1, &shares(0, 1, 1), 965_000).unwrap();
    assert_eq!((controller.elapsed_ms(&1), decision.loss.omega.to_string()), (Some(75_000), "0.10".to_owned()));
    // The clock goes back and then forward, and a saved state is restored under another clock.
    controller.observe(&1, &shares(0, 1, 1), 1_000).unwrap();
    assert_eq!(controller.elapsed_ms(&1), Some(75_000));
    controller.rebase(5);
    controller.observe(&1, &shares(0, 1, 1), 1_005).unwrap();
    assert_eq!(controller.elapsed_ms(&1), Some(76_000));
}

#[doc = "holds: design G20"]
#[test]
fn time_budget_raises_omega_without_ending() {
    let mut controller = begun(Profile::default());
    let never = controller.stop(&1, None, 60_000).unwrap();
    assert_eq!((&never.outcome, never.loss.d), (&Outcome::Abandon(StopReason::External), Unit::ONE));
    assert_eq!(never.to_string(), "ended by the caller at D 1.00 → abandon (external)");

    let mut controller = begun(Profile::default());
    let last = controller.observe(&1, &shares(1, 2, 4), 1_000).unwrap();
    let stopped = controller.stop(&1, None, 290_000).unwrap();
    assert_eq!((stopped.loss, stopped.gradient), (last.loss, Gradient::ZERO));
    assert_eq!((stopped.primary_failed, stopped.failure_mix), (last.primary_failed, last.failure_mix));

    let mut controller = begun(Profile::default());
    controller.observe(&1, &shares(1, 2, 4), 1_000).unwrap();
    let with_round = controller.stop(&1, Some(&shares(0, 1, 4)), 2_000).unwrap();
    assert_eq!((with_round.loss.d.to_string().as_str(), with_round.best_round), ("0.25", 1));
    assert_eq!(with_round.outcome, Outcome::Abandon(StopReason::External), "close, but the caller's word stands");
}

/// A decision names the unmet criterion that contributes most to D: required first, then the heaviest.
#[test]
fn primary_failed_contributes_most_to_d() {
    let table = [
        (round(vec![subtask(vec![plausible("light", 1, 3), logical("heavy")])]), "heavy"),
        (round(vec![subtask(vec![logical("heavy"), plausible("must", 1, 3).required()])]), "must"),
        (shares(1, 0, 9).with_task_criteria(vec![logical("whole")]), "whole"),
        (shares(9, 0, 9).with_task_criteria(vec![logical("whole"), pass("x")]), "c0"),
    ];
    for (failing, expected) in table {
        assert_eq!(run(Profile::default(), 0, &[failing])[0].primary_failed.as_deref(), Some(expected));
    }
}

#[test]
fn every_decision_displays_its_reason() {
    let required_near = round(vec![subtask(vec![pass("a"), pass("b"), pass("c"), logical("d").required()])]);
    let table: [(u64, Vec<Round>, &str); 10] = [
        (
            0,
            vec![shares(0, 32, 100)],
            "D 0.32 > δ 0.30; |∇L| 0.00 < ε 0.10; P 0.00 ≤ ρ 0.50 → change_path; D lower by 0.02 → success",
        ),
        (
            0,
            vec![shares(1, 2, 9)],
            "D 0.333333 > δ 0.30; |∇L| 0.00 < ε 0.10; P 0.333333 ≤ ρ 0.50 → change_path; D lower by 0.033333 → success",
        ),
        (
            0,
            vec![shares(10, 9, 20)],
            "D 0.95 > δ 0.30; |∇L| 0.00 < ε 0.10; P 0.526316 > ρ 0.50 → break_symmetry; \
             P lower by 0.026316 → change_path",
        ),
        (
            0,
            vec![required_near],
            "D 0.25 ≤ δ 0.30, but a required criterion is unmet; |∇L| 0.00 < ε 0.10; P 1.00 > ρ 0.50 → break_symmetry; \
             P lower by 0.50 → change_path",
        ),
        (
            0,
            vec![shares(9, 0, 10), shares(5, 0, 10)],
            "D 0.50 > δ 0.30; |∇L| 0.22 ≥ ε 0.10 (mostly D -0.24); P 1.00 > ρ 0.50 → change_approach, urgency low, suspect; \
             D lower by 0.20 → success",
        ),
        (
            90_000,
            vec![shares(0, 50, 100), shares(0, 46, 100)],
            "D 0.46 > δ 0.30; |∇L| 0.104 ≥ ε 0.10 (mostly Ω 0.128); P 0.00 ≤ ρ 0.50 → refine, urgency high; \
             D lower by 0.006668 → change_path",
        ),
        (
            0,
            vec![shares(0, 3, 10)],
            "Ω 0.00 < θ 0.80; D 0.30 ≤ δ 0.30 → success with 3 unmet; D higher by 0.000001 → change_path",
        ),
        (
            600_000,
            vec![shares(0, 3, 10)],
            "Ω 0.80 ≥ θ 0.80 → abandon (budget_exhausted); Ω lower by 0.000001 → success",
        ),
        (
            0,
            vec![shares(0, 1, 1); 4],
            "D 1.00 > δ 0.30; all 3 replans used → abandon (max_replans); D lower by 0.70 → success",
        ),
        (
            0,
            vec![shares(0, 4, 10), shares(0, 6, 10), shares(0, 8, 10)],
            "D 0.80 > δ 0.30; the gap grew 2 rounds in a row → abandon (diverging); D lower by 0.033333 → refine",
        ),
    ];
    for (step_ms, rounds, expected) in table {
        assert_eq!(run(Profile::default(), step_ms, &rounds).last().unwrap().to_string(), expected);
    }
}

/// A decision states how far D, P, Ω and the gradient are from their thresholds, exact to a micro-unit.
#[test]
fn margins_are_exact() {
    let decision = run(Profile::default(), 0, &[shares(0, 32, 100)]).remove(0);
    let Margins { d_micros, p_micros, omega_micros, gradient_micros, .. } = decision.margins;
    assert_eq!([d_micros, p_micros, omega_micros, gradient_micros], [20_000, -500_000, -800_000, -100_000]);
}

#[test]
fn impossible_calls_return_typed_errors() {
    let mut controller = begun(Profile::default());
    assert_eq!(controller.begin(1, 0), Err(ControllerError::AlreadyBegun));
    assert_eq!(controller.observe(&2, &shares(1, 0, 1), 0).unwrap_err(), ControllerError::UnknownTask);
    assert_eq!(controller.observe(&1, &Round::default(), 0).unwrap_err(), RoundError::Empty.into());
    assert_eq!(controller.observe(&1, &shares(0, 0, 1), 0).unwrap().outcome, Outcome::Accept);
    assert_eq!(controller.observe(&1, &shares(1, 0, 1), 0).unwrap_err(), ControllerError::AlreadyEnded);
    assert_eq!(controller.stop(&1, None, 0).unwrap_err(), ControllerError::AlreadyEnded);
    assert_eq!(controller.pause(&1, 0), Err(ControllerError::AlreadyEnded));
    assert!(controller.end(&1) && !controller.end(&1));
    controller.begin(1, 0).unwrap();
}

#[doc = "holds: law 3.14"]
#[test]
fn tasks_are_independent() {
    let mut controller = begun(Profile::default());
    controller.begin(2, 0).unwrap();
    let alone = run(Profile::default(), 1, &[shares(1, 0, 1), shares(1, 0, 2)]);
    let first = controller.observe(&1, &shares(1, 0, 1), 1).unwrap();
    controller.observe(&2, &shares(0, 1, 1), 1).unwrap();
    let second = controller.observe(&1, &shares(1, 0, 2), 2).unwrap();
    assert_eq!([first, second].as_slice(), alone);
    assert_eq!(controller.tasks().copied().collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn ended_tasks_are_evicted_by_age() {
    let mut controller = begun(Profile::default());
    controller.begin(2, 0).unwrap();
    controller.begin(3, 0).unwrap();
    controller.observe(&1, &shares(0, 0, 1), 1_000).unwrap();
    controller.observe(&2, &shares(0, 0, 1), 5_000).unwrap();
    assert_eq!(controller.evict_ended(10_000, 10_999), Vec::<u32>::new());
    assert_eq!(controller.evict_ended(10_000, 11_000), [1]);
    assert_eq!(controller.tasks().copied().collect::<Vec<_>>(), [2, 3]);
    assert_eq!(controller.evict_ended(0, 5_000), [2], "a running task is never evicted");
    assert_eq!(controller.observe(&2, &shares(1, 0, 1), 6_000).unwrap_err(), ControllerError::UnknownTask);
    controller.begin(2, 6_000).unwrap();
    assert_eq!(controller.elapsed_ms(&2), Some(0), "the key starts afresh");
}
