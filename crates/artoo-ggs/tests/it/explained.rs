//! The explanations of a decision: the dominant term, the counterfactual that leads to another state, and the
//! configuration.

use artoo_ggs::*;
use proptest::prelude::*;

use crate::build::*;
use crate::properties::{hyperparameters, profile, unit};

/// Random inputs of a decision.
fn decision_inputs() -> impl Strategy<Value = DecisionInputs> {
    let before = proptest::option::weighted(0.8, (unit(), unit(), unit()));
    ((unit(), unit(), unit()), before, proptest::bool::weighted(0.2), 0_u32..6, 0_u32..4).prop_map(
        |((d, p, omega), before, required_unmet, replans, worsening_before)| {
            let before = before.map(|(d, p, omega)| Loss::new(d, p, omega, &Hyperparameters::DEFAULT));
            let mut inputs = DecisionInputs::first_round(d, p, omega);
            (inputs.before, inputs.required_unmet) = (before, required_unmet);
            (inputs.replans, inputs.worsening_before) = (replans, worsening_before);
            inputs
        },
    )
}

/// The inputs, with the previous loss computed again under `profile`.
fn under(profile: &Profile, mut inputs: DecisionInputs) -> DecisionInputs {
    let before = inputs.before.map(|b| Loss::new(b.d, b.p, b.omega, profile.parameters()));
    inputs.before = before;
    inputs
}

/// The absolute size of the change of D, P and Ω that a counterfactual makes, in micro-units.
fn size(change: &Counterfactual) -> i64 {
    (change.d_micros + change.p_micros + change.omega_micros).abs()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_048))]

    #[test]
    fn applied_counterfactual_changes_the_state(profile in profile(), inputs in decision_inputs()) {
        let inputs = under(&profile, inputs);
        let before = inputs.evaluate(&profile).state();
        let change = inputs.counterfactual(&profile);
        let after = change.apply(&inputs).evaluate(&profile).state();
        prop_assert_eq!(after, change.then, "{}", change);
        prop_assert_ne!(after, before, "{}", change);
    }

    #[test]
    fn smaller_changes_do_not_flip_state(
        profile in profile(), inputs in decision_inputs(), shares in prop::collection::vec(0.0..1.0_f64, 40),
    ) {
        let inputs = under(&profile, inputs);
        let before = inputs.evaluate(&profile).state();
        let least = inputs.counterfactual(&profile);
        for term in LossTerm::ALL {
            let flip = inputs.flip(term, &profile);
            let reach = flip.map_or(1_000_000, |flip| size(&flip) - 1);
            let alone = flip.is_none_or(|flip| size(&flip) >= size(&least) || least.required_met);
            prop_assert!(alone, "{:?} is nearer than {}", flip, least);
            // The very next micro-unit, and forty others in between, in both directions.
            let nearer = shares.iter().map(|share| (share * reach as f64) as i64).chain([reach]);
            for change in nearer.flat_map(|n| [n, -n]).filter(|n| *n != 0) {
                let at = inputs.term(term).micros() + change;
                let value = Unit::clamped(at as f64 / 1e6);
                let mut moved = inputs;
                match term {
                    LossTerm::D => moved.d = value,
                    LossTerm::P => moved.p = value,
                    LossTerm::Omega => moved.omega = value,
                }
                let state = moved.evaluate(&profile).state();
                prop_assert!(state == before, "{term} by {change} gives {state}, nearer than {flip:?}");
            }
        }
    }

    #[test]
    fn dominant_part_is_the_largest(before in (unit(), unit(), unit()), after in (unit(), unit(), unit()), h in hyperparameters()) {
        let loss = |(d, p, omega)| Loss::new(d, p, omega, &h);
        let gradient = Gradient::between(&loss(before), &loss(after), &h);
        let sizes = LossTerm::ALL.map(|term| gradient.part(term).abs());
        let largest = sizes.into_iter().fold(0.0, f64::max);
        match gradient.dominant() {
            Some(term) => prop_assert!(gradient.part(term).abs() + 1e-6 > largest),
            None => prop_assert!(largest < 1e-6),
        }
    }

    /// Evaluating a decision's saved inputs again gives its loss, gradient, cell, state and counterfactual.
    #[test]
    fn inputs_reproduce_the_decisions_numbers((profile, rounds) in crate::properties::task()) {
        for (_, decision) in crate::properties::decide_all_rounds(&profile, &rounds) {
            let ruling = decision.inputs.evaluate(&profile);
            prop_assert_eq!((ruling.loss, ruling.gradient), (decision.loss, decision.gradient));
            prop_assert_eq!((Some(ruling.cell), ruling.worsening_rounds), (decision.cell, decision.worsening_rounds));
            let exhausted = decision.outcome == Outcome::Abandon(StopReason::ToolsExhausted);
            prop_assert!(exhausted || ruling.state() == decision.state());
            let otherwise = decision.counterfactual.expect("every decision on a round has one");
            let flipped = otherwise.apply(&decision.inputs).evaluate(&profile).state();
            prop_assert!(flipped == otherwise.then && flipped != decision.state(), "{}", decision);
            prop_assert_eq!((decision.propensity, decision.config), (Unit::ONE, profile.config_hash()));
        }
    }
}

/// A round whose D is exactly `micros` micro-units: one plausible criterion failed in that many of a million attempts.
fn at_distance(micros: i64, class: FailureClass) -> Round {
    let attempts = 1_000_000;
    let failed_attempts = u32::try_from(micros).expect("not negative");
    let criterion = CriterionMeasure::unmet("a").plausible(failed_attempts, attempts).blamed_on(class);
    round(vec![subtask(vec![criterion])])
}

/// A round whose D differs as a decision's counterfactual says leads to the state that the counterfactual names.
#[test]
fn controller_at_changed_distance_decides_otherwise() {
    use FailureClass::{Environmental, Logical};
    let table = [
        (vec![500_000], Environmental, "change_path", "D lower by 0.20 → success"),
        (vec![300_001], Logical, "break_symmetry", "D lower by 0.000001 → success"),
        (vec![300_000], Logical, "success", "D higher by 0.000001 → break_symmetry"),
        (vec![900_000, 700_000], Environmental, "refine", "D higher by 0.033335 → change_path"),
        (vec![900_000, 860_000], Logical, "break_symmetry", "D lower by 0.126666 → change_approach"),
        (vec![400_000, 600_000, 800_000], Environmental, "abandon", "D lower by 0.033333 → refine"),
    ];
    for (distances, class, state, shown) in table {
        let rounds: Vec<_> = distances.iter().map(|d| at_distance(*d, class)).collect();
        // Without weight of its own the budget leaves the gradient to the distance.
        let timeless = parameters(|t| {
            t.lambda = 0.0;
            t.beta = 0.0
        });
        let profile = Profile::new("timeless", timeless, Rules::DEFAULT).unwrap();
        let decisions = run(profile.clone(), 0, &rounds);
        let decision = decisions.last().unwrap();
        let otherwise = decision.counterfactual.unwrap();
        assert_eq!((decision.state().name(), otherwise.to_string().as_str()), (state, shown));
        let mut changed = distances.clone();
        *changed.last_mut().unwrap() += otherwise.d_micros;
        let rounds: Vec<_> = changed.iter().map(|d| at_distance(*d, class)).collect();
        assert_eq!(run(profile, 0, &rounds).last().unwrap().state(), otherwise.then, "{distances:?} → {changed:?}");
    }
}

/// A round observed as much later as the counterfactual for Ω says leads to the state that it names.
#[test]
fn controller_at_changed_time_decides_otherwise() {
    // Ω's time part is 0.4 of 300 s: 0.000001 of Ω is 0.75 ms, so whole milliseconds can follow it.
    let profile = Profile::default();
    let decide_at = |now_ms| {
        let mut controller = begun(Profile::default());
        controller.observe(&1, &shares(0, 31, 100), now_ms).unwrap()
    };
    let decision = decide_at(590_000);
    let flip = decision.inputs.flip(LossTerm::Omega, &profile).unwrap();
    assert_eq!(flip.to_string(), "Ω higher by 0.013333 → abandon");
    assert_eq!(decide_at(590_000 + flip.omega_micros as u64 * 3 / 4).state(), MacroState::ChangePath);
    assert_eq!(decide_at(590_000 + flip.omega_micros as u64 * 3 / 4 + 1).state(), flip.then);
}

/// If no change of one number alters the decision, the counterfactual gives a change of Ω and D together.
#[test]
fn combined_change_is_given_if_needed() {
    let mut criteria: Vec<_> = (0..9).map(|i| logical(&format!("p{i}"))).collect();
    criteria.push(environmental("the file exists").required());
    let decision = run(Profile::default(), 700_000, &[round(vec![subtask(criteria)])]).remove(0);
    assert_eq!(
        decision.to_string(),
        "Ω 0.933333 ≥ θ 0.80 → abandon (budget_exhausted); Ω lower by 0.133334 → break_symmetry"
    );
    let mut controller = begun(Profile::default());
    for now in 1..=3 {
        controller.observe(&1, &shares(0, 1, 1), now).unwrap();
    }
    let last = controller.observe(&1, &shares(0, 1, 1), 600_000).unwrap();
    assert_eq!(
        last.to_string(),
        "Ω 1.00 ≥ θ 0.80 → abandon (budget_exhausted); Ω lower by 0.200001 and D lower by 0.70 → success"
    );
}

/// The counterfactual of an accepted round is the state that a D higher by one micro-unit would have led to.
#[test]
fn accept_names_the_state_if_unmet() {
    for (now_ms, then) in [(0, MacroState::Success), (900_000, MacroState::Abandon)] {
        let decision = begun(Profile::default()).observe(&1, &shares(0, 0, 1), now_ms).unwrap();
        let otherwise = decision.counterfactual.unwrap();
        assert_eq!((otherwise.d_micros, otherwise.then), (1, then));
        assert_eq!(otherwise.apply(&decision.inputs).evaluate(&Profile::default()).state(), then);
    }
    assert_eq!(begun(Profile::default()).stop(&1, None, 0).unwrap().counterfactual, None);
}

#[test]
fn config_hash_differs_exactly_with_the_configuration() {
    let renamed = Profile::new("mine", Hyperparameters::DEFAULT, Rules::DEFAULT).unwrap();
    assert_eq!(renamed.config_hash(), Profile::default().config_hash());
    let mut hashes = vec![Profile::default().config_hash(), Profile::strict_spec().config_hash()];
    /// A change of one number or rule.
    type Change = fn(&mut ParameterTable, &mut Rules);
    let changes: [Change; 16] = [
        |t, _| t.alpha = 0.61,
        |t, _| t.beta = 0.31,
        |t, _| t.lambda = 0.41,
        |t, _| t.w1 = 0.61,
        |t, _| t.w2 = 0.41,
        |t, _| t.epsilon = 0.11,
        |t, _| t.delta = 0.31,
        |t, _| t.rho = 0.51,
        |t, _| t.theta = 0.81,
        |t, _| t.time_budget_ms += 1,
        |t, _| t.max_replans += 1,
        |t, _| t.kill_after += 1,
        |_, r| r.kill_switch = KillSwitch::LossRises,
        |_, r| r.task_criteria = TaskCriteria::SubtasksOnly,
        |_, r| r.required_criteria = RequiredCriteria::Ignored,
        |_, r| r.blocks = BlockRule::PerDirective,
    ];
    for change in changes {
        let (mut table, mut rules) = (ParameterTable::DEFAULT, Rules::DEFAULT);
        change(&mut table, &mut rules);
        hashes.push(Profile::new("x", Hyperparameters::try_from(table).unwrap(), rules).unwrap().config_hash());
    }
    let different: std::collections::BTreeSet<_> = hashes.iter().collect();
    assert_eq!(different.len(), hashes.len());
    for hash in hashes {
        assert_eq!(hash.to_string().parse(), Ok(hash));
    }
    for bad in ["", "0", "00000000000000000", "000000000000000G", "0X00000000000000", "000000000000000A"] {
        assert!(bad.parse::<ConfigHash>().is_err(), "{bad}");
    }
}
