//! Tests of recipes: calls run in order without a model, and stop at the first failure.

use super::*;

/// A subtask whose recipe has these calls: tool, number, and whether the output is an answer.
fn recipe(calls: &[(&str, usize, bool)]) -> SubTask {
    let step = |(tool, number, answers): &(&str, usize, bool)| RecipeStep {
        call: ToolRequest { tool: (*tool).to_owned(), input: json!({"n": number}) },
        answers: *answers,
        paths_from: None,
    };
    let recipe = Recipe { steps: calls.iter().map(step).collect(), reading: "count".to_owned(), skill: None };
    SubTask { recipe: Some(recipe), ..self::step() }
}

#[doc = "holds: design G17"]
#[test]
fn recipe_runs_without_a_model() {
    let (mut bench, effects) = assigned(recipe(&[("glob", 1, true), ("glob", 2, false), ("shell", 1, true)]));
    let mut effects = effects;
    for output in ["a", "b", "c"] {
        effects = called(&mut bench, &effects, |order| ok_call(order, output));
    }
    let result = report(&effects);
    assert_eq!((result.output.as_str(), result.output_from_tool), ("a\nc", true));
    let (mut bench, effects) = assigned(recipe(&[("glob", 1, true), ("shell", 1, false)]));
    let effects = called(&mut bench, &effects, |order| ok_call(order, "a"));
    let result = report(&called(&mut bench, &effects, |order| ok_call(order, "b")));
    assert_eq!(result.output, "a", "the same input of another tool is another call");
}

/// A subtask whose recipe lists files and then calls a tool with the listed paths.
fn listing_and_act() -> SubTask {
    let mut subtask = recipe(&[("glob", 1, false), ("shell", 2, true)]);
    subtask.recipe.as_mut().unwrap().steps[1].paths_from = Some(0);
    subtask
}

/// A recipe may make more calls than a model, and a step gets the paths of all listings from the named one on.
#[test]
fn step_uses_lines_of_all_earlier_listings() {
    let listings: Vec<(&str, usize, bool)> =
        (1..=usize::try_from(CALLS_PER_ATTEMPT).unwrap()).map(|n| ("glob", n, false)).collect();
    let mut subtask = recipe(&[listings.as_slice(), &[("shell", 99, true)]].concat());
    subtask.recipe.as_mut().unwrap().steps.last_mut().unwrap().paths_from = Some(1);
    let (mut bench, mut effects) = assigned(subtask);
    for at in 0..CALLS_PER_ATTEMPT {
        effects = called(&mut bench, &effects, |order| ok_call(order, &format!("/{at}\n")));
    }
    let paths: Vec<String> = (1..CALLS_PER_ATTEMPT).map(|at| format!("/{at}")).collect();
    assert_eq!(ordered(&effects).1.request.input, json!({"n": 99, "paths": paths}));
}

/// A recipe step gets as its `paths` the lines that an earlier step listed.
#[test]
fn step_uses_lines_of_earlier_output() {
    let (mut bench, effects) = assigned(listing_and_act());
    let effects = called(&mut bench, &effects, |order| ok_call(order, "/a b\n/c\\n\n"));
    assert_eq!(ordered(&effects).1.request.input, json!({"n": 2, "paths": ["/a b", "/c\\n"]}));
}

#[doc = "holds: law 1.7"]
#[test]
fn empty_or_truncated_list_is_not_used() {
    let check = |listing: fn(&ToolOrder) -> ToolOutcome, reason: &str| {
        let (mut bench, effects) = assigned(listing_and_act());
        let result = report(&called(&mut bench, &effects, listing));
        assert_eq!((result.status, result.tool_calls.len()), (ExecutionStatus::Failed, 1), "{result:?}");
        assert!(result.reason.unwrap().contains(reason));
    };
    check(|order| ok_call(order, "\n"), "nothing fits");
    let cut = |order: &ToolOrder| {
        let ToolOutcome::Called { mut call } = ok_call(order, "/a\n/b") else { unreachable!() };
        call.truncated = true;
        ToolOutcome::Called { call }
    };
    check(cut, "not whole");
}

#[test]
fn recipe_ends_at_first_failed_call() {
    let (mut bench, effects) = assigned(recipe(&[("glob", 1, true), ("glob", 2, true)]));
    let result = report(&called(&mut bench, &effects, |order| failed_call(order, "no such folder", true)));
    assert_eq!((result.status, result.tool_calls.len()), (ExecutionStatus::Failed, 1));
    assert_eq!((result.output.as_str(), result.reason.as_deref()), ("", Some("no such folder")));
}
