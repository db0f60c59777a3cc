//! The profile `anytime`: environments in which `v0.8` ends badly, and each switch alone.

use std::collections::BTreeSet;

use artoo_ggs::*;

use crate::build::*;

/// An environment: the result of a call of `tool` on `target` in execution `n`, counted from 0.
type Environment<'a> = dyn Fn(&AvailableTool, &str, usize) -> SubtaskMeasure + 'a;

/// The last decision of a task, and the calls of all plans.
struct Run {
    last: Decision,
    calls: Vec<String>,
}

impl Run {
    /// Whether the task was accepted.
    fn is_accepted(&self) -> bool {
        self.last.outcome == Outcome::Accept
    }
}

/// Runs a task with one subtask: the planner takes the first tool and target that are not blocked, and after `refine`
/// keeps the last ones.
fn drive(profile: Profile, tools: &[&str], targets: &[&str], round_ms: u64, environment: &Environment<'_>) -> Run {
    let tools = crate::build::tools(tools);
    let mut controller = begun(profile);
    let (mut directive, mut calls, mut now_ms): (Option<Replan>, Vec<String>, u64) = (None, Vec::new(), 0);
    let mut current: Option<(AvailableTool, &str)> = None;
    loop {
        let pairs = tools.iter().flat_map(|tool| targets.iter().map(move |target| (tool, *target)));
        let is_open = |(tool, target): &(&AvailableTool, &str)| {
            let Some(directive) = &directive else { return true };
            let classes = directive.subtasks.first().map_or(&directive.novel_classes, |own| &own.novel_classes);
            (classes.is_empty() || classes.contains(&tool.class)) && !directive.blocks_in(0, &tool.name, target)
        };
        let open: Vec<_> = pairs.filter(is_open).map(|(tool, target)| (tool.clone(), target)).collect();
        let keeps = directive.as_ref().is_some_and(|directive| directive.action == ReplanAction::Refine);
        let kept = current.take().filter(|pair| keeps && open.contains(pair));
        let Some((tool, target)) = kept.or_else(|| open.first().cloned()) else {
            match controller.release(&1, now_ms).unwrap() {
                Some(amended) => directive = Some(amended),
                None => return Run { last: controller.stop(&1, None, now_ms).unwrap(), calls },
            }
            continue;
        };
        now_ms += round_ms;
        let subtask = environment(&tool, target, calls.len());
        calls.push(format!("{} {target}", tool.name));
        let round = round(vec![subtask]).with_available_tools(tools.clone());
        let decision = controller.observe(&1, &round, now_ms).unwrap();
        current = Some((tool, target));
        match &decision.outcome {
            Outcome::Replan(replan) => directive = Some(replan.clone()),
            Outcome::Success(_) | Outcome::Abandon(_) | Outcome::Accept => return Run { last: decision, calls },
        }
    }
}

/// A subtask that called `tool` on `target` and met `met` of `total` criteria.
fn partly(tool: &AvailableTool, target: &str, met: usize, total: usize, class: FailureClass) -> SubtaskMeasure {
    let criterion = |n: usize| {
        let claim = format!("c{n}");
        if n < met { CriterionMeasure::met(claim) } else { CriterionMeasure::unmet(claim).blamed_on(class) }
    };
    subtask((0..total).map(criterion).collect()).with_calls([ToolTarget::worked(&tool.name, target)])
}

/// A subtask whose only call failed for environmental reasons.
fn failed_call(tool: &AvailableTool, target: &str) -> SubtaskMeasure {
    subtask(vec![environmental("done")]).with_calls([ToolTarget::failed(&tool.name, target)])
}

/// The share of 1,000 tasks that are accepted if each call fails at random every second time, by a verdict or (without
/// `is_judged`) by infrastructure.
fn share_done(profile: &Profile, is_judged: bool) -> f64 {
    let mut random = 7_u64;
    let mut fails = move || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        random >> 63 == 1
    };
    let done = (0..1_000).filter(|_| {
        let luck: Vec<bool> = (0..4).map(|_| fails()).collect();
        let environment = |tool: &AvailableTool, target: &str, n: usize| {
            if !luck[n] {
                return subtask(vec![pass("done")]);
            }
            let mut failed = failed_call(tool, target);
            failed.infrastructure = !is_judged;
            failed
        };
        drive(profile.clone(), &["fetch/web"], &["https://a"], 10_000, &environment).is_accepted()
    });
    done.count() as f64 / 1_000.0
}

/// If calls fail at random every second time, `anytime` accepts at least 90 % of tasks, and `v0.8` less than 55 %.
#[test]
fn random_call_failures_are_retried() {
    for is_judged in [false, true] {
        let (v08, anytime) = (share_done(&Profile::default(), is_judged), share_done(&Profile::anytime(), is_judged));
        assert!(v08 < 0.55 && anytime >= 0.9, "{v08} and {anytime} with judged {is_judged}");
    }
}

/// `anytime` keeps using a tool whose results improve from round to round until the task is accepted; `v0.8` abandons.
#[test]
fn improving_tool_is_kept() {
    let tools = ["writer/text", "shell/shell", "web/web"];
    let run = |profile| {
        let written = std::cell::Cell::new(0);
        let environment = |tool: &AvailableTool, target: &str, _: usize| match tool.name.as_str() {
            "writer" => partly(tool, target, 6 + 2 * written.replace(written.get() + 1), 12, FailureClass::Logical),
            _ => partly(tool, target, 1, 12, FailureClass::Logical),
        };
        drive(profile, &tools, &["report"], 20_000, &environment)
    };
    let anytime = run(Profile::anytime());
    assert!(anytime.is_accepted(), "{}", anytime.last);
    assert_eq!(anytime.calls, ["writer report"; 4]);
    let v08 = run(Profile::default());
    assert!(matches!(v08.last.outcome, Outcome::Abandon(_)), "{}", v08.last);
}

/// With rounds of up to a minute, `anytime` does not block the folder of failed targets and finds the third one.
#[test]
fn long_rounds_do_not_block_folders() {
    let environment = |tool: &AvailableTool, target: &str, _: usize| match target {
        "/data/1" | "/data/2" => failed_call(tool, target),
        _ => subtask(vec![pass("done")]),
    };
    let targets = ["/data/1", "/data/2", "/data/3", "/data/4"];
    let run = |profile, ms| drive(profile, &["read/files"], &targets, ms, &environment);
    for ms in [5_000, 30_000, 60_000] {
        let anytime = run(Profile::anytime(), ms);
        assert!(anytime.is_accepted() && anytime.calls.len() == 3, "{ms}: {:?} {}", anytime.calls, anytime.last);
    }
    assert!(run(Profile::default(), 5_000).is_accepted() && !run(Profile::default(), 60_000).is_accepted());
}

/// `anytime` does not end a task whose D rises while it tries the new tools that `break_symmetry` demanded.
#[test]
fn ordered_exploration_is_not_killed() {
    let environment = |tool: &AvailableTool, target: &str, _: usize| match tool.name.as_str() {
        "a" => partly(tool, target, 16, 40, FailureClass::Logical),
        "b" => partly(tool, target, 8, 40, FailureClass::Logical),
        "c" => partly(tool, target, 0, 40, FailureClass::Logical),
        _ => partly(tool, target, 40, 40, FailureClass::Logical),
    };
    let run = |profile| drive(profile, &["a/a", "b/b", "c/c", "d/d"], &["x"], 20_000, &environment);
    let anytime = run(Profile::anytime());
    assert!(anytime.is_accepted(), "{}", anytime.last);
    assert_eq!(anytime.calls, ["a x", "b x", "c x", "d x"]);
    let v08 = run(Profile::default());
    assert_eq!(v08.last.outcome, Outcome::Abandon(StopReason::Diverging));
}

/// A profile with the numbers of v0.8 and these switches.
fn with(switches: &[Switch]) -> Profile {
    let mut rules = Rules::DEFAULT;
    rules.switches = switches.iter().copied().collect();
    Profile::new("with", Hyperparameters::DEFAULT, rules).unwrap()
}

/// A failed subtask with these claims unmet and these calls.
fn failing(claims: &[&str], class: FailureClass, made: &[&str]) -> SubtaskMeasure {
    let criteria = claims.iter().map(|claim| CriterionMeasure::unmet(*claim).blamed_on(class));
    calls(subtask(criteria.collect()), made)
}

#[test]
fn targets_are_released_oldest_first() {
    let profile = with(&[Switch::ReleaseTargets]);
    let mut controller = begun(profile);
    let closed =
        |target: &str| round(vec![failing(&["a"], FailureClass::Environmental, &[&format!("!read {target}")])]);
    assert_eq!(controller.release(&1, 0), Ok(None), "nothing was blocked yet");
    controller.observe(&1, &closed("/x"), 1).unwrap();
    controller.observe(&1, &closed("/w/./"), 2).unwrap();
    let first = controller.release(&1, 3).unwrap().unwrap();
    assert_eq!(
        (shown(&first.released_targets), shown(&first.blocked_targets)),
        (vec!["*:/x".into()], vec!["*:/w".into()])
    );
    // `/x` is blocked again, since `/w` can still be released.
    let again = controller.observe(&1, &closed("/x"), 4).unwrap();
    assert_eq!(shown(&replan(&again).blocked_targets), ["*:/w", "*:/x"]);
    let second = controller.release(&1, 5).unwrap().unwrap();
    assert_eq!(shown(&second.blocked_targets), ["*:/x"]);
    assert_eq!(controller.release(&1, 6), Ok(None), "each at most once");

    // The last released target stays open.
    let mut controller = begun(with(&[Switch::ReleaseTargets]));
    controller.observe(&1, &closed("/x"), 1).unwrap();
    controller.release(&1, 2).unwrap().unwrap();
    let again = controller.observe(&1, &closed("/./x"), 3).unwrap();
    assert!(replan(&again).blocked_targets.is_empty());

    let mut controller = begun(Profile::default());
    controller.observe(&1, &closed("/x"), 1).unwrap();
    assert_eq!(controller.release(&1, 2), Ok(None), "without the switch nothing is released");
    assert_eq!(controller.release(&2, 2), Err(ControllerError::UnknownTask));
}

/// With the switch `Retry` a subtask that failed without a verdict is repeated unchanged twice, then treated as failed.
#[test]
fn subtasks_without_verdict_are_retried_twice() {
    let flaked = || {
        let subtask = SubtaskMeasure::failed_by_infrastructure(vec![CriterionMeasure::undecided("a")]);
        round(vec![calls(subtask, &["!read /x"])])
    };
    let decisions = run(with(&[Switch::Retry]), 0, &vec![flaked(); 3]);
    let seen: Vec<_> =
        decisions.iter().map(|d| (d.state().name(), replan(d).same_again, replan(d).blocked_targets.len())).collect();
    assert_eq!(seen, [("refine", true, 0), ("refine", true, 0), ("change_path", false, 1)]);
    // A verdict, or a missing one beside it, is no retry; a missing verdict alone is.
    let one = |criteria| run(with(&[Switch::Retry]), 0, &[round(vec![SubtaskMeasure::failed(criteria)])]).remove(0);
    let missing = || CriterionMeasure::undecided("a");
    assert!(!replan(&one(vec![missing(), environmental("b")])).same_again);
    assert!(replan(&one(vec![missing()])).same_again);
    assert!(!replan(&one(Vec::new())).same_again, "it failed by its own work");
}

/// A subtask that never started because another failed does not use up its unchanged retries.
#[test]
fn subtasks_not_run_keep_their_retries() {
    let waits = || {
        let flaked = SubtaskMeasure::failed_by_infrastructure(vec![CriterionMeasure::undecided("a")]);
        round(vec![flaked, SubtaskMeasure::not_run(vec![CriterionMeasure::undecided("b")])])
    };
    let decisions = run(with(&[Switch::Retry, Switch::BySubtask]), 0, &vec![waits(); 3]);
    let again: Vec<Vec<bool>> =
        decisions.iter().map(|d| replan(d).subtasks.iter().map(|s| s.same_again).collect()).collect();
    assert_eq!(again, [[true, true], [true, true], [false, true]]);
    assert!(replan(&decisions[1]).same_again && !replan(&decisions[2]).same_again);
}

#[test]
fn each_subtask_gets_its_own_directive() {
    let available = tools(&["shell/shell", "read/files", "web/web"]);
    let first = round(vec![
        failing(&["a"], FailureClass::Logical, &["shell make"]),
        failing(&["b"], FailureClass::Environmental, &["!shell ls /b"]),
        calls(subtask(vec![pass("c")]), &["!read /typo", "read /c"]),
    ])
    .with_available_tools(available.clone());
    // In the next plan the subtasks come in another order; they are recognized by their claims.
    let second = round(vec![
        failing(&["b"], FailureClass::Logical, &["web q"]),
        failing(&["a"], FailureClass::Logical, &["read /a"]),
    ])
    .with_available_tools(available);
    let decisions = run(with(&[Switch::BySubtask]), 0, &[first, second]);
    let shown_of = |decision: &Decision| {
        let of = |s: &SubtaskDirective| {
            format!("{} {} [{}] {}", s.subtask, s.action, s.blocked_tools.join(","), s.novel_classes.join(","))
        };
        replan(decision).subtasks.iter().map(of).collect::<Vec<_>>()
    };
    assert_eq!(shown_of(&decisions[0]), ["0 break_symmetry [shell] files,web", "1 change_path [] "]);
    let whole = replan(&decisions[0]);
    assert_eq!(
        (whole.action, whole.blocked_tools.len()),
        (ReplanAction::BreakSymmetry, 0),
        "shell is open to subtask 2"
    );
    assert_eq!(shown(&whole.blocked_targets), ["*:ls /b", "read:/typo"]);
    assert_eq!(whole.novel_classes, ["files", "web"]);
    assert!(whole.blocks_in(0, "shell", "x") && !whole.blocks_in(1, "shell", "x"));
    assert!(whole.blocks_in(1, "read", "ls /b") && !whole.blocks("shell", "x"));
    assert_eq!(shown_of(&decisions[1]), ["0 change_approach [web] ", "1 change_approach [shell,read] "]);
}

/// Under `BySubtask` a tool blocked in each failing subtask is blocked for the plan; one blocked in a single subtask is
/// not.
#[test]
fn tool_blocked_in_all_subtasks_is_blocked() {
    let both = round(vec![
        failing(&["a"], FailureClass::Logical, &["shell make", "web q"]),
        failing(&["b"], FailureClass::Logical, &["shell make"]),
    ]);
    let decision = run(with(&[Switch::BySubtask]), 0, &[both]).remove(0);
    assert_eq!(replan(&decision).blocked_tools, ["shell"]);
    let blocks = [NewBlock::Tool("shell".into()), NewBlock::Tool("web".into())];
    assert_eq!(replan(&decision).new_blocked, blocks, "each is named once");
    // A rejected combined result counts for every subtask, and each tool is released once for each of them.
    let rejected = || {
        round(vec![calls(subtask(vec![pass("a")]), &["shell make"])])
            .with_task_criteria(vec![logical("t")])
            .with_available_tools(tools(&["shell"]))
    };
    let decisions = run(with(&[Switch::BySubtask]), 0, &[rejected(), rejected()]);
    assert_eq!(replan(&decisions[0]).released_tools, ["shell"]);
    assert!(replan(&decisions[0]).new_blocked.is_empty());
    assert_eq!(decisions[1].outcome, Outcome::Abandon(StopReason::ToolsExhausted));
}

/// With `KeepMostlyMet` a result with half of its criteria met is refined, unless its loss fell suspiciously.
#[test]
fn half_met_results_are_kept_unless_suspect() {
    let half = |met: usize| round(vec![calls(shares(10 - met, 0, 10).subtasks.remove(0), &["shell make"])]);
    let decisions = run(with(&[Switch::KeepMostlyMet, Switch::BySubtask]), 0, &[half(5), half(4)]);
    assert_eq!(states(&decisions), ["refine", "break_symmetry"]);
    assert!(replan(&decisions[0]).subtasks[0].blocked_tools.is_empty() && replan(&decisions[0]).new_blocked.is_empty());
    // From 3 to 6 met while the approach is to blame: the loss falls, and that is suspect.
    let suspect = run(with(&[Switch::KeepMostlyMet]), 0, &[half(3), half(6)]);
    assert_eq!(states(&suspect), ["break_symmetry", "change_approach"]);
    assert!(suspect[1].suspect);
}

/// Passing time raises the urgency, but not with the switch `UrgencyWithoutOmega`.
#[test]
fn urgency_ignores_time_only_with_its_switch() {
    let slow = |profile| run(profile, 100_000, &[shares(0, 5, 10), shares(0, 5, 10)])[1].clone();
    let (with_time, without) = (slow(Profile::default()), slow(with(&[Switch::UrgencyWithoutOmega])));
    assert_eq!((with_time.urgency, replan(&with_time).urgency), (Urgency::High, Urgency::High));
    assert_eq!((without.urgency, replan(&without).urgency), (Urgency::Normal, Urgency::Normal));
    assert_eq!(with_time.state(), without.state(), "the table still sees the whole gradient");
}

/// With `SpareExploration` a rise of D after `break_symmetry` does not count as worsening; other rises do.
#[test]
fn rise_counts_unless_exploration_was_ordered() {
    let rise = |class: fn(usize) -> Round| [class(4), class(6), class(8), class(10)];
    let counts = |profile, rounds: &[Round]| -> Vec<u32> {
        run(profile, 0, rounds).iter().map(|d| d.worsening_rounds).collect()
    };
    let spare = || with(&[Switch::SpareExploration]);
    assert_eq!(counts(spare(), &rise(|n| shares(n, 0, 10))), [0, 0, 0, 0]);
    assert_eq!(counts(spare(), &rise(|n| shares(0, n, 10))), [0, 1, 2], "a change of target is no exploration");
    assert_eq!(counts(Profile::default(), &rise(|n| shares(n, 0, 10))), [0, 1, 2]);
}

/// With `StopCycles`, claims failing in turn again lead to `break_symmetry` once and then end the task as cycling.
#[test]
fn returning_claims_break_symmetry_then_stop() {
    let of = |claims: &[&str]| {
        let all = ["a", "b", "c"].map(|c| if claims.contains(&c) { environmental(c) } else { pass(c) });
        round(vec![calls(subtask(all.to_vec()), &["shell make"])])
    };
    let patient = parameters(|t| t.max_replans = 9);
    let mut rules = Rules::DEFAULT;
    rules.switches = [Switch::StopCycles].into_iter().collect();
    let profile = || Profile::new("patient", patient, rules).unwrap();
    let (a, b) = (of(&["a", "b"]), of(&["b", "c"]));
    let turning = run(profile(), 0, &[a.clone(), b.clone(), a.clone(), b.clone()]);
    assert_eq!(states(&turning), ["change_path", "change_path", "break_symmetry", "abandon cycling"]);
    assert_eq!(replan(&turning[2]).blocked_tools, ["shell"]);
    assert_eq!(
        turning[3].to_string(),
        "D 0.666667 > δ 0.30; the same criteria failed in turn again → abandon (cycling); D lower by 0.366667 → success"
    );
    let stuck = run(profile(), 0, &[a.clone(), a.clone(), a.clone()]);
    assert_eq!(states(&stuck), ["change_path"; 3], "what stays the same is a plateau, no cycle");
    // Criteria without a verdict don't make a cycle.
    let flaked = || round(vec![SubtaskMeasure::failed_by_infrastructure(vec![CriterionMeasure::undecided("a")])]);
    assert_eq!(states(&run(profile(), 0, &[flaked(), b, flaked()]))[2], "refine");
}

/// With `DeliverLast` a result with D ≤ δ is refined while rounds are left and delivered when the task would be
/// abandoned.
#[test]
fn close_results_are_delivered_at_the_end() {
    let profile = || with(&[Switch::DeliverLast]);
    let decisions = run(profile(), 0, &vec![shares(0, 3, 10); 4]);
    assert_eq!(states(&decisions), ["change_path", "change_path", "change_path", "success"]);
    assert_eq!(decisions[0].cell.unwrap().choice, TableChoice::Success, "the cell is the table's");
    let late = run(profile(), 700_000, &[shares(0, 3, 10)]);
    assert_eq!(states(&late), ["success"], "a spent budget delivers what is close");
    assert_eq!(states(&run(profile(), 700_000, &[shares(0, 4, 10)])), ["abandon budget_exhausted"]);
    let required = round(vec![subtask(vec![environmental("a").required(), pass("b"), pass("c"), pass("d")])]);
    assert_eq!(states(&run(profile(), 700_000, &[required])), ["abandon budget_exhausted"]);
    let lone = calls(shares(2, 0, 10).subtasks.remove(0), &["shell make"]);
    let lone = round(vec![lone]).with_available_tools(tools(&["shell"]));
    assert_eq!(states(&run(profile(), 0, &[lone.clone(), lone]))[1], "success", "no tool is left");
}

#[test]
fn example_releases_a_target_and_succeeds() {
    let mut out = Vec::new();
    assert_eq!(crate::retry_loop_example::run(&mut out), Ok(Outcome::Accept));
    let lines = String::from_utf8(out).unwrap();
    assert_eq!(lines.lines().last(), Some("every criterion met → accept"), "{lines}");
    assert!(
        lines.contains("  subtask 0: break_symmetry, not [\"web_search\"]\n  subtask 1: change_path, not []\n"),
        "{lines}"
    );
}

#[test]
fn profiles_are_found_by_name() {
    let found: Vec<_> = Profile::NAMES.iter().map(|name| Profile::named(name).unwrap()).collect();
    assert_eq!(found, [Profile::default(), Profile::strict_spec(), Profile::anytime()]);
    assert_eq!(Profile::named("other"), None);
    let hashes: BTreeSet<_> = found.iter().map(Profile::config_hash).collect();
    assert_eq!(hashes.len(), 3);
    for switch in Switch::ALL {
        assert!(Switches::ALL.has(switch) && !Switches::ALL.without(switch).has(switch));
        assert!(Switches::NONE.with(switch).has(switch));
        assert_eq!(with(&[switch]).rules().switches.iter().collect::<Vec<_>>(), [switch]);
        assert!(with(&[switch]).config_text().ends_with(&format!("blocks accumulate\nswitch {}\n", switch.name())));
    }
}
