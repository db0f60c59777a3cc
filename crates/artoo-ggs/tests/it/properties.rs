//! Properties over random inputs and random tasks.

use artoo_ggs::*;
use proptest::prelude::*;

use crate::build::{self, begun};

/// A random [`Unit`].
pub(crate) fn unit() -> impl Strategy<Value = Unit> {
    prop_oneof![
        (0_u32..=1_000_000).prop_map(|n| Unit::clamped(f64::from(n) / 1e6)),
        prop::sample::select(vec![0.0, 0.1, 0.1 + 0.2, 0.3, 0.5, 0.6 + 0.2, 0.8, 1.0]).prop_map(Unit::clamped),
    ]
}

/// Generates random decision parameters within their ranges.
pub(crate) fn hyperparameters() -> impl Strategy<Value = Hyperparameters> {
    let weights = (1e-6..=1.0, 0.0..=1.0, 0.0..=1.0, 0.0..=1.0, 0.0..=1.0);
    let thresholds = (1e-6..=1.0, 0.0..=0.999_999, 0.0..=1.0, 1e-6..=1.0);
    (weights, thresholds, 1_u64..1_000_000, 1_u32..6, 1_u32..4).prop_map(
        |((alpha, beta, lambda, w1, w2), (epsilon, delta, rho, theta), time_budget_ms, max_replans, kill_after)| {
            build::parameters(|t| {
                (t.alpha, t.beta, t.lambda, t.w1, t.w2) = (alpha, beta, lambda, w1, w2);
                (t.epsilon, t.delta, t.rho, t.theta) = (epsilon, delta, rho, theta);
                (t.time_budget_ms, t.max_replans, t.kill_after) = (time_budget_ms, max_replans, kill_after);
            })
        },
    )
}

/// A random set of switches.
pub(crate) fn switches() -> impl Strategy<Value = Switches> {
    prop::sample::subsequence(Switch::ALL.to_vec(), 0..=Switch::ALL.len()).prop_map(|on| on.into_iter().collect())
}

/// A random profile.
pub(crate) fn profile() -> impl Strategy<Value = Profile> {
    prop_oneof![
        3 => Just(Profile::default()),
        1 => Just(Profile::strict_spec()),
        2 => Just(Profile::anytime()),
        2 => (hyperparameters(), switches()).prop_map(|(h, switches)| {
            let mut rules = Rules::DEFAULT;
            rules.switches = switches;
            Profile::new("any", h, rules).unwrap()
        }),
        3 => hyperparameters().prop_map(|h| Profile::new("any", h, Rules::DEFAULT).unwrap()),
        1 => hyperparameters().prop_map(|h| Profile::new("any", h, Rules::STRICT_SPEC).unwrap()),
    ]
}

/// A random criterion.
fn criterion() -> impl Strategy<Value = CriterionMeasure> {
    let verdict = prop::sample::select(vec![Verdict::Pass, Verdict::Fail, Verdict::Fail, Verdict::Missing]);
    let class = prop::option::of(prop::sample::select(vec![FailureClass::Logical, FailureClass::Environmental]));
    ("[a-d]", any::<bool>(), prop::bool::weighted(0.1), verdict, class, 0_u32..4, 0_u32..4).prop_map(
        |(claim, verifiable, required, verdict, class, k, rest)| {
            let mut criterion = CriterionMeasure::unmet(claim).plausible(k, k + rest).blamed_on(class);
            if verifiable {
                criterion.mode = CriterionMode::Verifiable;
            }
            (criterion.required, criterion.verdict) = (required, verdict);
            criterion
        },
    )
}

/// Generates a random tool call with its target, worked or failed.
fn call() -> impl Strategy<Value = ToolTarget> {
    let target = prop::sample::select(vec!["/a/x", "/a/y", "/a/b/x", "/a/./x", "*.pdf", "ls /a", "~/n", "q"]);
    ("[f-i]", target, any::<bool>()).prop_map(|(tool, target, failed)| {
        if failed { ToolTarget::failed(tool, target) } else { ToolTarget::worked(tool, target) }
    })
}

/// A random subtask.
fn subtask() -> impl Strategy<Value = SubtaskMeasure> {
    use SubtaskStatus::{Failed, Matched, NotRun};
    let status = prop::sample::select(vec![Matched, Failed, Failed, NotRun]);
    let criteria = prop::collection::vec(criterion(), 0..4);
    let calls = prop::collection::vec(call(), 0..5);
    (status, prop::bool::weighted(0.1), criteria, calls, prop::collection::vec("[f-i]", 0..3)).prop_map(
        |(status, infrastructure, criteria, calls, tools)| {
            let mut subtask = SubtaskMeasure::failed(criteria).with_calls(calls).with_tools(tools);
            (subtask.status, subtask.infrastructure) = (status, infrastructure);
            subtask
        },
    )
}

/// A random round with at least one subtask.
pub(crate) fn round() -> impl Strategy<Value = Round> {
    let available = prop_oneof![Just(vec![]), Just(build::tools(&["f/p", "g/p", "h/q"]))];
    (prop::collection::vec(subtask(), 1..4), prop::collection::vec(criterion(), 0..3), available).prop_map(
        |(subtasks, criteria, tools)| Round::new(subtasks).with_task_criteria(criteria).with_available_tools(tools),
    )
}

/// A random task: a profile, and rounds with the time that each took.
pub(crate) fn task() -> impl Strategy<Value = (Profile, Vec<(u64, Round)>)> {
    (profile(), prop::collection::vec((0_u64..120_000, round()), 1..9))
}

/// Lets a controller decide on the rounds of a task until it ends; rounds without unmet criteria are left out.
pub(crate) fn decide_all_rounds(profile: &Profile, rounds: &[(u64, Round)]) -> Vec<(Round, Decision)> {
    let mut controller = begun(profile.clone());
    let (mut now, mut played) = (0, Vec::new());
    for (took, round) in rounds {
        now += took;
        if round.measure(profile.rules()).is_ok_and(|measured| measured.unmet == 0) {
            continue;
        }
        match controller.observe(&1, round, now) {
            Ok(decision) => played.push((round.clone(), decision)),
            Err(ControllerError::AlreadyEnded) => {}
            Err(other) => panic!("{other}"),
        }
    }
    played
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Any inputs lead to a cell of the decision table: Ω is compared first, then D, and P chooses the kind of replan.
    #[doc = "holds: invariant 10"]
    #[test]
    fn table_covers_all_inputs_in_priority_order(
        d in unit(), p in unit(), omega in unit(), gradient in -2.0..2.0_f64, required: bool, h in hyperparameters(),
    ) {
        let cell = TableCell::look_up(&TableInputs::new(d, p, omega, gradient, required).unwrap(), &h);
        let at = |threshold: f64| Unit::clamped(threshold).micros();
        let expected_first = if omega.micros() >= at(h.theta) {
            TableChoice::Abandon
        } else if d.micros() <= at(h.delta) && !required {
            TableChoice::Success
        } else {
            let TableChoice::Replan(action) = cell.choice else {
                return Err(TestCaseError::fail(format!("{cell:?} for a far, affordable goal")));
            };
            prop_assert_eq!(action.is_logical(), p.micros() > at(h.rho));
            TableChoice::Replan(action)
        };
        prop_assert_eq!(cell.choice, expected_first);
        prop_assert!((1..=24).contains(&cell.number));
    }

    /// The decision table uses only the size of the gradient: a gradient and its negative lead to the same choice.
    #[doc = "holds: invariant 11"]
    #[test]
    fn sign_of_the_gradient_never_changes_state(
        d in unit(), p in unit(), omega in unit(), gradient in -2.0..2.0_f64, h in hyperparameters(),
    ) {
        let choice = |g| TableCell::look_up(&TableInputs::new(d, p, omega, g, false).unwrap(), &h).choice;
        prop_assert_eq!(choice(gradient), choice(-gradient));
    }

    #[test]
    fn random_thresholds_are_exact_to_micro_units(
        d in unit(), p in unit(), gradient in -1.5..1.5_f64, h in hyperparameters(), negative: bool,
    ) {
        let micros = |value: f64| Unit::clamped(value).micros();
        let at = |micros: i64| Unit::clamped(micros as f64 / 1e6);
        let choice = |d, p, omega, gradient| {
            TableCell::look_up(&TableInputs::new(d, p, omega, gradient, false).unwrap(), &h).choice
        };
        let (delta, rho, theta, epsilon) = (micros(h.delta), micros(h.rho), micros(h.theta), micros(h.epsilon));
        // θ: at it and above, spent; below, not.
        prop_assert_eq!(choice(d, p, at(theta), gradient), TableChoice::Abandon);
        prop_assert_eq!(choice(d, p, at(theta + 1), gradient), TableChoice::Abandon);
        let below = at(theta - 1);
        prop_assert_ne!(choice(d, p, below, gradient), TableChoice::Abandon);
        // δ: at it and below, close enough; above, not.
        prop_assert_eq!(choice(at(delta), p, below, gradient), TableChoice::Success);
        prop_assert_eq!(choice(at(delta - 1), p, below, gradient), TableChoice::Success);
        let far = at(delta + 1);
        prop_assert!(matches!(choice(far, p, below, gradient), TableChoice::Replan(_)));
        // ρ: at it and below, the environment; above, the approach.
        let logical = |p, gradient| match choice(far, p, below, gradient) {
            TableChoice::Replan(action) => action.is_logical(),
            TableChoice::Abandon | TableChoice::Success => unreachable!("checked above"),
        };
        prop_assert!(!logical(at(rho), gradient) && !logical(at(rho - 1), gradient));
        prop_assert!(rho == 1_000_000 || logical(at(rho + 1), gradient));
        // ε: at it and beyond, a signal, whichever the sign; short of it, none.
        let sign = if negative { -1.0 } else { 1.0 };
        let signal = |micros: i64| match choice(far, p, below, sign * micros as f64 / 1e6) {
            TableChoice::Replan(action) => matches!(action, ReplanAction::Refine | ReplanAction::ChangeApproach),
            TableChoice::Abandon | TableChoice::Success => unreachable!("checked above"),
        };
        prop_assert!(signal(epsilon) && signal(epsilon + 1) && !signal(epsilon - 1));
    }

    #[test]
    fn loss_rises_with_distance(a in unit(), b in unit(), p in unit(), omega in unit(), h in hyperparameters()) {
        let l = |d| Loss::new(d, p, omega, &h).l;
        prop_assert!(a <= b || l(a) >= l(b));
    }

    #[doc = "holds: principle 3"]
    #[test]
    fn gradient_parts_sum_to_the_total(
        before in (unit(), unit(), unit()), after in (unit(), unit(), unit()), h in hyperparameters(),
    ) {
        let loss = |(d, p, omega)| Loss::new(d, p, omega, &h);
        let g = Gradient::between(&loss(before), &loss(after), &h);
        prop_assert!((g.d + g.p + g.omega - g.total).abs() <= 4.0 * f64::EPSILON, "{:?}", g);
    }

    /// D of a round with one plausible criterion rises with the number of its failed attempts.
    #[doc = "holds: principle 3"]
    #[test]
    fn distance_rises_with_failed_attempts(n in 1_u32..10, k in 1_u32..10) {
        prop_assume!(k < n);
        let d = |k| build::round(vec![build::subtask(vec![build::plausible("a", k, n)])]).measure(&Rules::DEFAULT).unwrap().d;
        prop_assert!(d(k) < d(k + 1));
    }

    /// In any round, more failed attempts of one plausible criterion raise the subtask distance and never lower D.
    #[test]
    fn distance_rises_with_failed_attempts_among_others(round in round(), n in 2_u32..9, k in 1_u32..8) {
        prop_assume!(k < n);
        let with = |k| {
            let mut round = round.clone();
            round.subtasks.push(build::subtask(vec![build::plausible("new", k, n)]));
            round.measure(&Rules::DEFAULT).unwrap()
        };
        prop_assert!(with(k).subtask_distance < with(k + 1).subtask_distance);
        prop_assert!(with(k).d <= with(k + 1).d);
    }

    #[doc = "holds: principle 1"]
    #[test]
    fn failed_subtasks_never_have_distance_zero(round in round()) {
        for rules in [Rules::DEFAULT, Rules::STRICT_SPEC] {
            let m = round.measure(&rules).unwrap();
            prop_assert!(m.d.value().is_finite() && m.p.value().is_finite());
            if round.subtasks.iter().any(|s| s.status != SubtaskStatus::Matched) {
                prop_assert!(m.d > Unit::ZERO && m.unmet > 0);
            }
        }
    }

    #[doc = "holds: law 2.2"]
    #[test]
    fn every_task_ends_within_max_replans((profile, rounds) in task()) {
        let played = decide_all_rounds(&profile, &rounds);
        let most = profile.parameters().max_replans;
        prop_assert!(played.len() <= most as usize + 1);
        for (n, (_, decision)) in (0_u32..).zip(&played) {
            prop_assert_eq!(decision.round, n);
            prop_assert!(decision.replans <= most);
            prop_assert_eq!(decision.is_terminal(), decision.replans == n);
        }
    }

    /// Law 2 ends a task only if D grew in as many rounds as the profile demands.
    #[doc = "holds: law 2.1"]
    #[test]
    fn law_2_needs_a_growing_distance((profile, rounds) in task()) {
        prop_assume!(profile.rules().kill_switch == KillSwitch::GapRises);
        let played = decide_all_rounds(&profile, &rounds);
        let grew = played.windows(2).filter(|w| w[1].1.loss.d > w[0].1.loss.d).count();
        if grew == 0 {
            prop_assert!(played.iter().all(|(_, d)| d.worsening_rounds == 0));
        }
        let diverging = |d: &Decision| d.outcome == Outcome::Abandon(StopReason::Diverging);
        if played.iter().any(|(_, d)| diverging(d)) {
            prop_assert!(grew >= profile.parameters().kill_after as usize);
        }
    }

    #[doc = "holds: law 0.5"]
    #[test]
    fn success_lists_exactly_the_unmet_criteria((profile, rounds) in task()) {
        for (round, decision) in decide_all_rounds(&profile, &rounds) {
            if let Outcome::Success(success) = &decision.outcome {
                prop_assert_eq!(success.unmet().len(), round.measure(profile.rules()).unwrap().unmet as usize);
                prop_assert!(!decision.required_unmet);
            }
        }
    }

    #[doc = "holds: law 2.3"]
    #[test]
    fn failed_pairs_stay_blocked_unless_released((profile, rounds) in task()) {
        prop_assume!(*profile.rules() == Rules::DEFAULT);
        let (mut failed, mut released): (Vec<ToolTarget>, Vec<String>) = (vec![], vec![]);
        for (_, decision) in decide_all_rounds(&profile, &rounds) {
            failed.extend(decision.failed_pairs.iter().cloned());
            let Outcome::Replan(replan) = &decision.outcome else { continue };
            released.extend(replan.released_tools.iter().cloned());
            for pair in &failed {
                let blocked = replan.blocks(&pair.tool, &pair.target);
                prop_assert!(blocked || released.contains(&pair.tool), "{:?} is open in {:?}", pair, replan);
            }
        }
    }

    #[doc = "holds: invariant 12"]
    #[test]
    fn blocks_only_grow_except_by_releases((profile, rounds) in task()) {
        prop_assume!(*profile.rules() == Rules::DEFAULT);
        let mut before: Option<Replan> = None;
        let mut released = std::collections::BTreeSet::new();
        for (_, decision) in decide_all_rounds(&profile, &rounds) {
            let Outcome::Replan(now) = decision.outcome else { continue };
            for tool in &now.released_tools {
                prop_assert!(released.insert(tool.clone()), "{} twice", tool);
            }
            if let Some(before) = before {
                prop_assert!(before.blocked_targets.iter().all(|t| now.blocked_targets.contains(t)));
                let kept = |t: &String| now.blocked_tools.contains(t) || now.released_tools.contains(t);
                prop_assert!(before.blocked_tools.iter().all(kept));
            }
            before = Some(now);
        }
    }

    #[test]
    fn same_inputs_give_the_same_decisions((profile, rounds) in task()) {
        prop_assert_eq!(decide_all_rounds(&profile, &rounds), decide_all_rounds(&profile, &rounds));
    }

    /// The display line of a decision has no control characters, although its claims and targets have some.
    #[test]
    fn explanations_omit_outside_text((profile, rounds) in task()) {
        for (mut round, _) in decide_all_rounds(&profile, &rounds) {
            for subtask in &mut round.subtasks {
                subtask.criteria.iter_mut().for_each(|c| c.claim.push('\u{1b}'));
                subtask.calls.iter_mut().for_each(|c| c.target.push('\u{1b}'));
            }
            let decision = begun(profile.clone()).observe(&1, &round, 0).unwrap();
            let line = decision.to_string();
            prop_assert!(!line.chars().any(char::is_control), "{}", line);
        }
    }
}
