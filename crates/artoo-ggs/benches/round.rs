//! Benchmarks of one full round (measuring, deciding, blocking, storing), and of its growth with the number of
//! outcomes.

#![allow(clippy::expect_used, missing_docs, reason = "a bench fails by panicking; criterion's macros write functions")]

use std::hint::black_box;

use artoo_ggs::{
    AvailableTool, Controller, CriterionMeasure, CriterionMode, FailureClass, Hyperparameters, Profile, Round, Rules,
    SubtaskMeasure, TableCell, TableInputs, ToolTarget, Unit,
};
use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

/// Number of controllers prepared before the clock starts: few enough to stay in the cache, as the one of a real task
/// does.
const BATCH: BatchSize = BatchSize::NumIterations(16);
/// Number of criteria of each subtask.
const CRITERIA: usize = 5;

/// A round of `subtasks` with five criteria and one call each; every `fails_every`-th subtask fails two criteria.
fn round(subtasks: usize, fails_every: usize, attempt: usize) -> Round {
    let criterion = |subtask: usize, n: usize, fails: bool| {
        let claim = format!("claim {n} of step {subtask}");
        let criterion = if fails {
            CriterionMeasure::unmet(claim).blamed_on(FailureClass::Environmental)
        } else {
            CriterionMeasure::met(claim)
        };
        let mut criterion = criterion.plausible(u32::from(fails), 2);
        if n.is_multiple_of(2) {
            criterion.mode = CriterionMode::Verifiable;
        }
        criterion
    };
    let subtask = |index: usize| {
        let fails = index.is_multiple_of(fails_every);
        let criteria = (0..CRITERIA).map(|n| criterion(index, n, fails && n < 2)).collect();
        let target = format!("/srv/reports/{attempt}/{index}.pdf");
        let subtask = if fails {
            SubtaskMeasure::failed(criteria).with_calls([ToolTarget::failed("read_file", target)])
        } else {
            SubtaskMeasure::matched(criteria).with_calls([ToolTarget::worked("read_file", target)])
        };
        subtask.with_tools(["read_file", "glob"])
    };
    // The combined result was judged too, and rejected, so that no size of round ends as a success.
    let tools = ["read_file", "glob", "shell"].map(|name| AvailableTool::new(name, "files"));
    Round::new((0..subtasks).map(subtask).collect())
        .with_task_criteria(vec![criterion(0, 0, true)])
        .with_available_tools(tools.to_vec())
}

/// A controller whose task has had one round.
fn after_one_round(first: &Round) -> Controller<u32> {
    let mut controller = Controller::new(Profile::default());
    controller.begin(1, 0).expect("a fresh task");
    controller.observe(&1, first, 1_000).expect("a directive");
    controller
}

/// Measures the time of a controller's decision on a round of the usual size.
fn one_round(c: &mut Criterion) {
    let mut group = c.benchmark_group("round");
    for (name, fails_every) in [("a fifth failed", 5), ("all failed", 1)] {
        let (first, second) = (round(10, fails_every, 0), round(10, fails_every, 1));
        let controller = after_one_round(&first);
        group.bench_function(BenchmarkId::new("10 x 5", name), |b| {
            b.iter_batched_ref(
                || controller.clone(),
                |controller| controller.observe(&1, black_box(&second), 2_000).expect("a directive"),
                BATCH,
            );
        });
    }
    group.finish();
}

/// Measures the time of a decision on rounds with more and more subtasks.
fn growth(c: &mut Criterion) {
    let mut group = c.benchmark_group("growth");
    for subtasks in [10, 100, 1_000] {
        let (first, second) = (round(subtasks, 5, 0), round(subtasks, 5, 1));
        let controller = after_one_round(&first);
        group.throughput(Throughput::Elements(subtasks as u64));
        group.bench_function(BenchmarkId::from_parameter(subtasks), |b| {
            b.iter_batched_ref(
                || controller.clone(),
                |controller| controller.observe(&1, black_box(&second), 2_000).expect("a directive"),
                BATCH,
            );
        });
    }
    group.finish();
}

/// Measures the parts of a round one by one.
fn parts(c: &mut Criterion) {
    let second = round(10, 5, 1);
    c.bench_function("measure 10 x 5", |b| b.iter(|| black_box(&second).measure(&Rules::DEFAULT).expect("a round")));
    let decided = after_one_round(&round(10, 5, 0)).observe(&1, &second, 2_000).expect("a directive");
    let profile = Profile::default();
    c.bench_function("evaluate", |b| b.iter(|| black_box(&decided.inputs).evaluate(&profile)));
    c.bench_function("counterfactual", |b| b.iter(|| black_box(&decided.inputs).counterfactual(&profile)));
    let [d, p, omega] = [0.4, 0.6, 0.2].map(Unit::clamped);
    let inputs = TableInputs::new(d, p, omega, 0.05, false).expect("a finite gradient");
    c.bench_function("table", |b| b.iter(|| TableCell::look_up(black_box(&inputs), &Hyperparameters::DEFAULT)));
}

criterion_group!(benches, one_round, growth, parts);
criterion_main!(benches);
