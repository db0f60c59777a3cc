//! The cost of one full round (measure, decide, draw the blocks, remember), and how it grows with the outcomes.

#![allow(clippy::expect_used, missing_docs, reason = "a bench fails by panicking; criterion's macros write functions")]

use std::hint::black_box;

use artoo_ggs::{
    Controller, CriterionMeasure, DecisionInputs, FailureClass, Hyperparameters, Mode, Profile, Round, Rules,
    SubtaskMeasure, SubtaskStatus, Tool, ToolTarget, Unit, Verdict, decide, measure,
};
use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

/// Controllers prepared before the clock starts: few enough to stay in the cache, as the one of a real task does.
const BATCH: BatchSize = BatchSize::NumIterations(16);
/// Criteria of each subtask.
const CRITERIA: usize = 5;

/// A round of `subtasks` with five criteria and one call each; every `fails_every`-th subtask failed two of them.
fn round(subtasks: usize, fails_every: usize, attempt: usize) -> Round {
    let criterion = |subtask: usize, n: usize, fails: bool| CriterionMeasure {
        claim: format!("claim {n} of step {subtask}"),
        mode: if n.is_multiple_of(2) { Mode::Verifiable } else { Mode::Plausible },
        required: false,
        verdict: if fails { Verdict::Fail } else { Verdict::Pass },
        class: fails.then_some(FailureClass::Environmental),
        failed_attempts: u32::from(fails),
        attempts: 2,
    };
    let subtask = |index: usize| {
        let fails = index.is_multiple_of(fails_every);
        let target = format!("/srv/reports/{attempt}/{index}.pdf");
        SubtaskMeasure {
            status: if fails { SubtaskStatus::Failed } else { SubtaskStatus::Matched },
            infrastructure: false,
            criteria: (0..CRITERIA).map(|n| criterion(index, n, fails && n < 2)).collect(),
            calls: vec![ToolTarget { tool: "read_file".to_owned(), target, failed: fails }],
            tools: vec!["read_file".to_owned(), "glob".to_owned()],
        }
    };
    let tool = |name: &str| Tool { name: name.to_owned(), class: "files".to_owned() };
    // The whole was judged too, and rejected, so that no size of round ends as a success.
    let rejected = CriterionMeasure { class: Some(FailureClass::Environmental), ..criterion(0, 0, true) };
    Round {
        subtasks: (0..subtasks).map(subtask).collect(),
        task_criteria: vec![rejected],
        available_tools: vec![tool("read_file"), tool("glob"), tool("shell")],
    }
}

/// A controller whose task has one round behind it.
fn after_one_round(first: &Round) -> Controller<u32> {
    let mut controller = Controller::new(Profile::v0_8());
    controller.begin(1, 0).expect("a fresh task");
    controller.round(&1, 1_000, first).expect("a directive");
    controller
}

fn one_round(c: &mut Criterion) {
    let mut group = c.benchmark_group("round");
    for (name, fails_every) in [("a fifth failed", 5), ("all failed", 1)] {
        let (first, second) = (round(10, fails_every, 0), round(10, fails_every, 1));
        let controller = after_one_round(&first);
        group.bench_function(BenchmarkId::new("10 x 5", name), |b| {
            b.iter_batched_ref(
                || controller.clone(),
                |controller| controller.round(&1, 2_000, black_box(&second)).expect("a directive"),
                BATCH,
            );
        });
    }
    group.finish();
}

fn growth(c: &mut Criterion) {
    let mut group = c.benchmark_group("growth");
    for subtasks in [10, 100, 1_000] {
        let (first, second) = (round(subtasks, 5, 0), round(subtasks, 5, 1));
        let controller = after_one_round(&first);
        group.throughput(Throughput::Elements(subtasks as u64));
        group.bench_function(BenchmarkId::from_parameter(subtasks), |b| {
            b.iter_batched_ref(
                || controller.clone(),
                |controller| controller.round(&1, 2_000, black_box(&second)).expect("a directive"),
                BATCH,
            );
        });
    }
    group.finish();
}

fn parts(c: &mut Criterion) {
    let second = round(10, 5, 1);
    c.bench_function("measure 10 x 5", |b| b.iter(|| measure(black_box(&second), &Rules::V0_8).expect("a round")));
    let decided = after_one_round(&round(10, 5, 0)).round(&1, 2_000, &second).expect("a directive");
    let profile = Profile::v0_8();
    c.bench_function("cascade", |b| b.iter(|| black_box(&decided.inputs).ruling(&profile)));
    c.bench_function("counterfactual", |b| b.iter(|| black_box(&decided.inputs).counterfactual(&profile)));
    let [d, p, omega] = [0.4, 0.6, 0.2].map(Unit::clamped);
    let inputs = DecisionInputs::new(d, p, omega, 0.05, false).expect("a finite gradient");
    c.bench_function("table", |b| b.iter(|| decide(black_box(&inputs), &Hyperparameters::V0_8)));
}

criterion_group!(benches, one_round, growth, parts);
criterion_main!(benches);
