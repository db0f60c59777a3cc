//! Blocks, releases and credits of directives; blocked targets as strings.

use artoo_ggs::*;
use proptest::prelude::*;

use crate::build::*;

/// A round with one failed subtask with these criteria and calls.
fn failing(criteria: Vec<CriterionMeasure>, made: &[&str]) -> Round {
    round(vec![calls(subtask(criteria), made)])
}

/// A round with `unmet` of ten criteria failed for environmental reasons, and these calls.
fn environmental_share(unmet: usize, made: &[&str]) -> Round {
    let Round { subtasks, .. } = shares(0, unmet, 10);
    round(subtasks.into_iter().map(|s| calls(s, made)).collect())
}

/// Tools blocked by `break_symmetry` and `change_approach` stay blocked in later rounds.
#[doc = "holds: law 2.3; design G12"]
#[test]
fn both_logical_directives_accumulate_tools() {
    let rounds = [
        failing(vec![logical("a")], &["glob *", "read /x"]),
        failing(vec![logical("a")], &["shell ls"]),
        failing(vec![logical("a"), pass("b"), pass("c")], &["mdfind y"]),
    ];
    let decisions = run(Profile::default(), 0, &rounds);
    assert_eq!(states(&decisions), ["break_symmetry", "break_symmetry", "change_approach"]);
    assert_eq!(replan(&decisions[2]).blocked_tools, ["glob", "read", "shell", "mdfind"]);
    assert_eq!(replan(&decisions[1]).new_blocked, [NewBlock::Tool("shell".to_owned())]);
    let literal = run(Profile::strict_spec(), 0, &rounds);
    assert_eq!(replan(&literal[2]).blocked_tools, ["mdfind"], "to the letter a directive speaks for its own round");
}

#[doc = "holds: design G12"]
#[test]
fn each_tool_is_released_once_oldest_first() {
    let available = |r: Round| r.with_available_tools(tools(&["glob", "shell"]));
    let with = |tool: &str| available(failing(vec![logical("a")], &[&format!("{tool} x")]));
    let decisions = run(Profile::default(), 0, &[with("glob"), with("shell"), with("glob"), with("shell")]);
    let seen: Vec<_> = decisions[..3]
        .iter()
        .map(|d| (replan(d).blocked_tools.join(","), replan(d).released_tools.join(",")))
        .collect();
    let expected = [("glob", ""), ("shell", "glob"), ("glob", "shell")].map(|(a, b)| (a.to_owned(), b.to_owned()));
    assert_eq!(seen, expected);

    let four = parameters(|t| t.max_replans = 9);
    let patient = Profile::new("patient", four, Rules::DEFAULT).unwrap();
    let decisions = run(patient, 0, &[with("glob"), with("shell"), with("glob"), with("shell")]);
    assert_eq!(decisions[3].outcome, Outcome::Abandon(StopReason::ToolsExhausted));
    assert_eq!(
        decisions[3].to_string(),
        "D 1.00 > δ 0.30; P 1.00 > ρ 0.50; every tool blocked, none left to release → abandon (tools_exhausted); \
         D lower by 0.70 → success"
    );
}

#[doc = "holds: design G12"]
#[test]
fn single_tool_is_blocked_and_released_once() {
    let lone = failing(vec![logical("a")], &["shell ls"]).with_available_tools(tools(&["shell"]));
    let decisions = run(Profile::default(), 0, &[lone.clone(), lone]);
    assert_eq!((replan(&decisions[0]).blocked_tools.len(), replan(&decisions[0]).released_tools.len()), (0, 1));
    assert!(replan(&decisions[0]).new_blocked.is_empty());
    assert_eq!(decisions[1].outcome, Outcome::Abandon(StopReason::ToolsExhausted));
}

#[doc = "holds: design G12"]
#[test]
fn release_keeps_the_order_of_other_tools() {
    let rounds = [failing(vec![logical("a")], &["t1 x", "t2 x"]), failing(vec![logical("a")], &["t3 x", "t4 x"])];
    let rounds = rounds.map(|r| r.with_available_tools(tools(&["t1", "t2", "t3", "t4"])));
    let decisions = run(Profile::default(), 0, &rounds);
    assert_eq!(replan(&decisions[1]).released_tools, ["t1"]);
    assert_eq!(replan(&decisions[1]).blocked_tools, ["t2", "t3", "t4"]);
}

/// If the combined result was rejected although every subtask matched, all tools of the plan are blocked.
#[test]
fn rejected_whole_blocks_all_tools_of_plan() {
    let matched = calls(subtask(vec![pass("a")]), &["glob *"]);
    let unused = subtask(vec![pass("b")]).with_tools(["read"]);
    let rejected = round(vec![matched, unused]).with_task_criteria(vec![logical("t")]);
    let decision = run(Profile::default(), 0, &[rejected]).remove(0);
    assert_eq!(replan(&decision).blocked_tools, ["glob", "read"]);
}

#[doc = "holds: law 2.4; design D4"]
#[test]
fn break_symmetry_lists_unused_tool_classes() {
    let available_tools = tools(&["glob/files", "mdfind/files", "shell/shell", "read/text"]);
    let stuck = failing(vec![logical("a")], &["glob *"]).with_available_tools(available_tools);
    let decision = run(Profile::default(), 0, &[stuck]).remove(0);
    assert_eq!(replan(&decision).novel_classes, ["shell", "text"]);
}

/// At low urgency only tools of subtasks with a criterion that failed again are blocked; if none did, those of all
/// failing ones.
#[doc = "holds: design G13"]
#[test]
fn low_urgency_blocks_tools_of_repeated_failures() {
    let second = |again: &str| {
        round(vec![
            calls(subtask(vec![logical(again), pass("p"), pass("q")]), &["glob *"]),
            calls(subtask(vec![logical("new"), pass("r"), pass("s")]), &["shell ls"]),
        ])
    };
    let first = failing(vec![logical("old")], &["mdfind x"]);
    let blocked = |again| {
        let decisions = run(Profile::default(), 0, &[first.clone(), second(again)]);
        assert_eq!((decisions[1].state(), decisions[1].urgency), (MacroState::ChangeApproach, Urgency::Low));
        replan(&decisions[1]).blocked_tools.join(",")
    };
    assert_eq!(blocked("old"), "mdfind,glob");
    assert_eq!(blocked("other"), "mdfind,glob,shell", "nothing failed twice: all of the failing subtasks");
}

/// A failed target is blocked for one tool at low urgency, for all tools at normal, and with its folder at high
/// urgency.
#[doc = "holds: principle 3; design G13"]
#[test]
fn urgency_sets_the_scope_of_targets() {
    let first = |unmet| environmental_share(unmet, &[]);
    let second = |unmet| environmental_share(unmet, &["!read /srv/a/x.txt", "!shell cat /srv/y", "read /srv/z"]);
    let table = [
        (9, 6, Urgency::Low, vec!["read:/srv/a/x.txt", "shell:cat /srv/y"]),
        (6, 6, Urgency::Normal, vec!["*:/srv/a/x.txt", "*:cat /srv/y"]),
        (4, 6, Urgency::High, vec!["*:/srv/a/**", "*:cat /srv/y"]),
    ];
    for (before, now, urgency, expected) in table {
        // Four tenths of a budget of one replan in 0 ms keep Ω's share the same for all.
        let table = parameters(|t| t.lambda = 0.0);
        let profile = Profile::new("p", table, Rules::DEFAULT).unwrap();
        let decisions = run(profile, 0, &[first(before), second(now)]);
        assert_eq!(replan(&decisions[1]).urgency, urgency);
        assert_eq!(shown(&replan(&decisions[1]).blocked_targets), expected);
    }
}

#[doc = "holds: invariant 12; design G13"]
#[test]
fn later_directives_keep_all_earlier_blocks() {
    let rounds = [
        environmental_share(9, &["!read /x"]),
        failing(vec![logical("a")], &["!shell ls /y"]),
        round(vec![
            calls(subtask(vec![logical("a"), pass("b"), pass("c")]), &["!glob *.x"]),
            calls(subtask(vec![logical("n")]), &["!mdfind q"]),
        ]),
    ];
    let decisions = run(Profile::default(), 0, &rounds);
    assert_eq!(states(&decisions)[1..], ["change_approach", "change_approach"]);
    let last = replan(&decisions[2]);
    assert_eq!(last.urgency, Urgency::Low);
    assert_eq!(last.blocked_tools, ["shell", "glob"]);
    // mdfind stays allowed (its criterion failed once), so the pair that failed with it is closed by itself.
    assert_eq!(shown(&last.blocked_targets), ["*:/x", "mdfind:q"]);
}

/// A failed call of a subtask that matched blocks only its own tool and target, even at high urgency.
#[doc = "holds: design G13"]
#[test]
fn failed_calls_of_matched_subtasks_widen_nothing() {
    let rounds = [
        environmental_share(4, &[]),
        round(vec![
            calls(subtask(vec![environmental("a")]), &["!read /srv/x"]),
            calls(subtask(vec![pass("b")]), &["!read /home/u/typo", "read /home/u/right"]),
        ]),
        environmental_share(9, &[]),
    ];
    let decisions = run(Profile::default(), 200, &rounds[..2]);
    let blocked = replan(&decisions[1]);
    assert_eq!(blocked.urgency, Urgency::High);
    assert_eq!(shown(&blocked.blocked_targets), ["*:/srv/**", "read:/home/u/typo"]);
}

/// A target that an earlier block for every tool covers is not added again.
#[test]
fn wider_block_covers_later_targets() {
    let rounds = [environmental_share(9, &["!read /x/y"]), environmental_share(9, &["!glob /x/y", "!glob /x//./y/"])];
    let decisions = run(Profile::default(), 0, &rounds);
    assert!(replan(&decisions[1]).new_blocked.is_empty());
    assert_eq!(shown(&replan(&decisions[1]).blocked_targets), ["*:/x/y"]);
}

/// A block of a path does not cover the paths below it; a block of the folder does.
#[test]
fn blocked_path_does_not_block_its_folder() {
    let timeless = parameters(|t| t.lambda = 0.0);
    let profile = Profile::new("p", timeless, Rules::DEFAULT).unwrap();
    let rounds = [
        environmental_share(4, &["!read /srv/a"]),
        environmental_share(6, &["!read /srv/a/x", "!read /srv/a/b/y", "!read /srv/a/z"]),
    ];
    let decisions = run(profile, 0, &rounds);
    assert_eq!(replan(&decisions[1]).urgency, Urgency::High);
    assert_eq!(shown(&replan(&decisions[1]).blocked_targets), ["*:/srv/a", "*:/srv/a/**"]);
    let new = [NewBlock::Target(BlockedTarget::folder("/srv/a"))];
    assert_eq!(replan(&decisions[1]).new_blocked, new, "the folder covers what lies in it, at any depth");
}

/// A decision lists only the failed (tool, target) pairs of its own round, each once.
#[doc = "holds: invariant 16; design M1"]
#[test]
fn failed_pairs_are_of_the_current_round() {
    let rounds = [environmental_share(9, &["!read /x", "!read /x"]), environmental_share(9, &["!read /y"])];
    let pairs: Vec<_> = run(Profile::default(), 0, &rounds)
        .iter()
        .map(|d| d.failed_pairs.iter().map(|p| p.target.clone()).collect::<Vec<_>>())
        .collect();
    assert_eq!(pairs, [["/x"], ["/y"]]);
}

#[doc = "holds: design M2"]
#[test]
fn break_symmetry_is_credited_after_distance_falls() {
    let worked = &["read /log", "read /ledger", "!shell ls", "glob *"];
    let second = |unmet| environmental_share(unmet, worked);
    let credit = |decision: &Decision| {
        decision.credit.iter().map(|c| format!("{} {}", c.tool, c.target)).collect::<Vec<_>>().join(", ")
    };
    let first = failing(vec![logical("a")], &["glob *"]);
    let fell = run(Profile::default(), 0, &[first.clone(), second(9), second(5)]);
    assert_eq!(fell[0].state(), MacroState::BreakSymmetry);
    assert_eq!(credit(&fell[0]), "");
    assert_eq!(credit(&fell[1]), "read /ledger", "glob is blocked, shell failed");
    assert_eq!(credit(&fell[2]), "", "the directive before was another one");
    let stayed = run(Profile::default(), 0, &[first.clone(), second(10)]);
    assert_eq!(credit(&stayed[1]), "");

    let mut controller = begun(Profile::default());
    controller.observe(&1, &first, 1).unwrap();
    let met = round(vec![calls(subtask(vec![pass("a")]), &["read /ledger"])]);
    assert_eq!(credit(&controller.observe(&1, &met, 2).unwrap()), "read /ledger");
}

#[test]
fn blocked_targets_match_their_calls_only() {
    let table = [
        ("read:/a/b", "read", "/a/b", true),
        ("read:/a/b", "read", "/a/./c/../b/", true),
        ("read:/a/b", "glob", "/a/b", false),
        ("read:/a/b", "read", "/a/b/c", false),
        ("*:/a/b", "glob", "/a/b", true),
        ("*:/a/b/**", "glob", "/a/b", true),
        ("*:/a/b/**", "glob", "/a/b/c/d", true),
        ("*:/a/b/**", "glob", "/a/bc", false),
        ("*:/a/b/**", "glob", "/a/b/../c", false),
        ("*:~/x/**", "glob", "~/x/y", true),
        ("*:*.pdf", "glob", "*.pdf", true),
        ("*:ls  -l", "shell", "ls -l", false),
        ("*:", "shell", "", true),
    ];
    for (blocked, tool, target, expected) in table {
        let blocked: BlockedTarget = blocked.parse().unwrap();
        assert_eq!(blocked.matches(tool, target), expected, "{blocked} against {tool} {target}");
    }
}

#[test]
fn invalid_blocked_targets_are_rejected() {
    assert!(matches!("no tool".parse::<BlockedTarget>(), Err(BlockedTargetError::NoTool { .. })));
    for bad in ["a*:x", "%:x", "a%3a:x", "%2:x"] {
        assert!(matches!(bad.parse::<BlockedTarget>(), Err(BlockedTargetError::BadEscape { .. })), "{bad}");
    }
}

proptest! {
    #[test]
    fn blocked_targets_round_trip_as_strings(
        tool in proptest::option::of("[a-z:%*\\\\ ]{0,6}"),
        target in prop_oneof!["[a-z/*:%\\\\ .~]{0,12}", ".{0,12}"],
        subtree: bool,
    ) {
        let mut blocked = BlockedTarget::folder(target);
        (blocked.tool, blocked.subtree) = (tool, subtree);
        prop_assert_eq!(blocked.to_string().parse::<BlockedTarget>(), Ok(blocked));
    }

    /// A block matches its own target, whatever its spelling.
    #[test]
    fn block_matches_its_own_target(target in "[a-z/.~]{0,12}", subtree: bool) {
        let mut blocked = BlockedTarget::any_tool(target.clone());
        blocked.subtree = subtree;
        prop_assert!(blocked.matches("any", &target));
    }
}
