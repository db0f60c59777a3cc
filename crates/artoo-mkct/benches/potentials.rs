//! Benchmarks of potentials, recalls, writes into a clone and sweep plans, of engines with 1,000 to 1,000,000 records
//! under one tag.

use std::hint::black_box;

use artoo_mkct::{
    Engine, NewMegram, RecallQuery, State, Tag,
    clock::Clocks,
    record::{Frame, Offset},
};
use criterion::{BatchSize, BenchmarkId, Criterion, criterion_group, criterion_main};

const NOW_MS: i64 = 1_772_000_000_000;
const MS_PER_DAY: i64 = 86_400_000;
const SIZES: [u64; 4] = [1_000, 10_000, 100_000, 1_000_000];

/// An engine with this number of records under one tag, spread over three years; their texts are not in RAM.
fn engine(records: u64) -> Engine {
    let mut engine = Engine::new();
    let tag = tag();
    for i in 0..records {
        let at_ms = NOW_MS - ((records - i) * (3 * 365 * MS_PER_DAY) as u64 / records) as i64;
        let state = State::ALL.get((i % 7) as usize).copied().unwrap_or(State::Refine);
        let draft = NewMegram::new(tag.clone(), state, "what happened").task(format!("task-{}", i / 4));
        if let Ok(Frame::Written { megram }) = engine.write(draft, at_ms) {
            engine.set_offset(megram.id, Offset(i));
        }
    }
    engine
}

/// The tag that all records are filed under.
fn tag() -> Tag {
    Tag::approach("count the files", &["glob"])
}

/// Measures `query_mk`, `recall`, a hundred writes into a clone, and `plan_sweep`, for each number of records in
/// `SIZES`.
fn by_size(criterion: &mut Criterion) {
    let tag = tag();
    let mut group = criterion.benchmark_group("one tag");
    for records in SIZES {
        let engine = engine(records);
        group.bench_function(BenchmarkId::new("query_mk", records), |bencher| {
            bencher.iter(|| black_box(engine.query_mk(&tag, black_box(NOW_MS))));
        });
        let query = RecallQuery::new("count the files");
        group.bench_function(BenchmarkId::new("recall", records), |bencher| {
            bencher.iter(|| black_box(engine.recall(&query, black_box(NOW_MS))));
        });
        group.bench_function(BenchmarkId::new("clone, write a hundred", records), |bencher| {
            let write = |mut copy: Engine| {
                for _ in 0..100 {
                    let draft = NewMegram::new(tag.clone(), State::Accept, "x");
                    black_box(copy.write(draft, NOW_MS).is_ok());
                }
                copy
            };
            bencher.iter_batched(|| engine.clone(), write, BatchSize::SmallInput);
        });
        group.bench_function(BenchmarkId::new("plan_sweep", records), |bencher| {
            let now = Clocks { wall_ms: NOW_MS, uptime_ms: NOW_MS };
            bencher.iter(|| black_box(engine.plan_sweep(now)));
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = by_size
}
criterion_main!(benches);
