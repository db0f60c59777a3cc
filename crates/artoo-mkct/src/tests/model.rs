//! Random operations against a plain list of records that follows the same rules by brute force.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::{DAY, NOW, event, replayed};
use crate::{Clocks, DeletionReason, Engine, FailureClass, Frame, Level, Megram, NewMegram, RuleKind, State, tools_of};

const TAGS: [(&str, &str); 5] = [
    ("intent:a", "env:local"),
    ("intent:a", "via:glob,shell"),
    ("intent:b", "via:shell"),
    ("tool:shell", "path:/x"),
    ("tool:glob", "path:/x"),
];

#[derive(Debug, Clone)]
enum Operation {
    Write { tag: usize, state: usize, task: u8, environmental: bool, times: u8 },
    Forget { nth: usize },
    Sweep,
    Promote,
    Feedback { task: u8 },
    QueryC { tag: usize },
    Clock { by_ms: i64 },
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        6 => (0..TAGS.len(), 0..State::ALL.len(), 0..4_u8, any::<bool>(), 1..6_u8)
            .prop_map(|(tag, state, task, environmental, times)| Operation::Write { tag, state, task, environmental, times }),
        1 => (0..50_usize).prop_map(|nth| Operation::Forget { nth }),
        2 => Just(Operation::Sweep),
        2 => Just(Operation::Promote),
        1 => (0..4_u8).prop_map(|task| Operation::Feedback { task }),
        1 => (0..TAGS.len()).prop_map(|tag| Operation::QueryC { tag }),
        2 => (0..DAY).prop_map(|by_ms| Operation::Clock { by_ms }),
        1 => (0..400 * DAY).prop_map(|by_ms| Operation::Clock { by_ms }),
        1 => (-30 * DAY..0).prop_map(|by_ms| Operation::Clock { by_ms }),
    ]
}

/// The list, and the rules by brute force.
#[derive(Default)]
struct Naive {
    records: Vec<Megram>,
}

impl Naive {
    fn live<'a>(&'a self, tag: (&'a str, &'a str)) -> impl Iterator<Item = &'a Megram> {
        let here = move |m: &&Megram| (m.space.as_str(), m.entity.as_str()) == tag;
        self.records.iter().filter(here).filter(|m| matches!(m.level, Level::M | Level::K))
    }

    fn start(m: &Megram) -> i64 {
        m.demoted_at_ms.map_or(m.created_at_ms, |at| at.max(m.created_at_ms).max(m.last_recalled_at_ms.unwrap_or(at)))
    }

    fn now<'a>(records: impl Iterator<Item = &'a Megram>, now_ms: i64) -> i64 {
        records.map(Self::start).fold(now_ms, i64::max)
    }

    fn sums<'a>(records: impl Iterator<Item = &'a Megram> + Clone, now_ms: i64) -> (f64, f64) {
        let now_ms = Self::now(records.clone(), now_ms);
        records.fold((0.0, 0.0), |(attention, decision), m| {
            let left = m.f * (-m.k * (now_ms - Self::start(m)) as f64 / DAY as f64).exp();
            (attention + left, decision + m.sigma * left)
        })
    }

    fn tag_sums(&self, tag: (&str, &str), now_ms: i64) -> (f64, f64) {
        Self::sums(self.live(tag).collect::<Vec<_>>().into_iter(), now_ms)
    }

    fn sweep(&mut self, now_ms: i64) {
        for tag in TAGS {
            let (_, decision) = self.tag_sums(tag, now_ms);
            let demoted_at = Self::now(self.live(tag), now_ms);
            let witnesses = |sign: f64| {
                let contrary = |m: &&Megram| {
                    m.sigma * sign < 0.0 && !(m.sigma < 0.0 && m.failure_class == Some(FailureClass::Environmental))
                };
                self.live(tag).filter(contrary).filter_map(|m| m.task.clone()).collect::<BTreeSet<_>>().len()
            };
            let witnesses = [witnesses(1.0), witnesses(-1.0)];
            for m in &mut self.records {
                let against = if m.sigma > 0.0 { witnesses[0] } else { witnesses[1] };
                let here = (m.space.as_str(), m.entity.as_str()) == tag && m.level == Level::C;
                if here && m.sigma * decision < 0.0 && against >= 2 {
                    (m.level, m.k, m.demoted_at_ms) = (Level::K, 0.05, Some(demoted_at));
                }
            }
        }
        let alive: Vec<_> = TAGS.iter().filter(|tag| self.live(**tag).count() > 0).collect();
        let mut faded: Vec<_> = alive.iter().map(|tag| (self.tag_sums(**tag, now_ms).0, **tag)).collect();
        faded.retain(|(attention, _)| *attention < 0.1);
        faded.sort_by(|a, b| a.partial_cmp(b).unwrap());
        // A tenth of at most five tags, rounded up, is one.
        for (_, tag) in faded.into_iter().take(1) {
            self.records
                .retain(|m| (m.space.as_str(), m.entity.as_str()) != tag || matches!(m.level, Level::C | Level::T));
        }
    }

    fn check(&self, engine: &Engine, now_ms: i64) {
        let mut records: BTreeMap<_, _> = engine.megrams().map(|m| (m.id, m)).collect();
        for m in &self.records {
            assert_eq!(records.remove(&m.id), Some(m));
        }
        assert!(records.is_empty(), "{records:?}");
        for later_ms in [0, 3 * DAY, 5 * 365 * DAY] {
            let now_ms = now_ms + later_ms;
            for (space, entity) in TAGS {
                let (attention, decision) = self.tag_sums((space, entity), now_ms);
                let found = engine.query_mk(space, entity, now_ms);
                close(found.attention, attention, attention);
                close(found.decision, decision, attention);
                let shares = engine.why(space, entity, now_ms);
                close(shares.iter().map(|s| s.decision).sum(), decision, attention);
            }
            for tool in ["glob", "shell"] {
                let of_tool: Vec<&Megram> = TAGS
                    .iter()
                    .filter(|tag| tools_of(tag.0, tag.1).iter().any(|name| name == tool))
                    .flat_map(|tag| self.live(*tag))
                    .collect();
                let (attention, decision) = Self::sums(of_tool.iter().copied(), now_ms);
                let found = engine.index.tool(tool).map(|sum| sum.aggregate.at(now_ms)).unwrap_or_default();
                close(found.attention, attention, attention);
                close(found.decision, decision, attention);
            }
        }
    }
}

#[track_caller]
fn close(found: f64, expected: f64, attention: f64) {
    assert!((found - expected).abs() <= 1e-12 * attention + 1e-300, "{found} against {expected}");
}

/// Engine, list, journal and clock side by side.
struct Pair {
    engine: Engine,
    naive: Naive,
    frames: Vec<Frame>,
    now_ms: i64,
}

impl Pair {
    fn step(&mut self, operation: &Operation) {
        let now_ms = self.now_ms;
        match *operation {
            Operation::Clock { by_ms } => self.now_ms += by_ms,
            Operation::Write { tag, state, task, environmental, times } => {
                for _ in 0..times {
                    let (space, entity) = TAGS[tag];
                    let draft = event(space, entity, State::ALL[state], &format!("task-{task}"));
                    let class = environmental.then_some(FailureClass::Environmental);
                    let frame = self.engine.write(now_ms, NewMegram { failure_class: class, ..draft }).unwrap();
                    self.written(frame, now_ms);
                }
            }
            Operation::Forget { nth } => {
                let Some(id) = self.naive.records.get(nth).map(|m| m.id) else { return };
                self.naive.records.retain(|m| m.id != id);
                self.frames.push(self.engine.forget(id, now_ms).unwrap());
            }
            Operation::Sweep => {
                // Both clocks move as one, so the sweep trusts them.
                let report = self.engine.sweep(Clocks { wall_ms: now_ms, uptime_ms: now_ms });
                self.naive.sweep(now_ms);
                self.frames.extend(report.frames);
            }
            Operation::Promote => {
                for promotion in self.engine.promotions(now_ms) {
                    let frame = self.engine.promote(&promotion.ticket, "rule", now_ms).unwrap();
                    let Frame::Promoted { rule, rule_kind, supersedes, .. } = &frame else { panic!("{frame:?}") };
                    let (attention, decision) = self.naive.tag_sums((&rule.space, &rule.entity), now_ms);
                    assert!(attention > 4.999_999 && decision * f64::from(rule_kind.sign()) > 2.999_999);
                    let tasks: BTreeSet<_> = promotion.evidence.iter().filter_map(|e| e.task.as_ref()).collect();
                    assert!(tasks.len() >= 2);
                    self.naive.records.retain(|m| Some(m.id) != *supersedes);
                    let rivals = |m: &&Megram| {
                        m.level == Level::C
                            && (&m.space, &m.entity) == (&rule.space, &rule.entity)
                            && RuleKind::of_sigma(m.sigma) == *rule_kind
                    };
                    assert_eq!(self.naive.records.iter().filter(rivals).count(), 0, "one rule a tag and kind");
                    self.naive.records.push(rule.clone());
                    self.frames.push(frame);
                }
            }
            Operation::Feedback { task } => {
                let Some(id) = self.naive.records.iter().find(|m| m.level == Level::C).map(|m| m.id) else { return };
                let task = format!("task-{task}");
                let frame = self.engine.record_negative_feedback(id, "no", Some(&task), now_ms).unwrap();
                self.written(frame, now_ms);
            }
            Operation::QueryC { tag } => {
                let (space, entity) = TAGS[tag];
                let (sops, frames) = self.engine.query_c(space, entity, now_ms);
                for m in &mut self.naive.records {
                    if m.level == Level::C && (m.space.as_str(), m.entity.as_str()) == (space, entity) {
                        assert!(sops.iter().any(|sop| sop.id == m.id));
                        m.last_recalled_at_ms = m.last_recalled_at_ms.max(Some(now_ms));
                    }
                }
                self.frames.extend(frames);
            }
        }
    }

    fn written(&mut self, frame: Frame, now_ms: i64) {
        let Frame::Written { megram } = &frame else { panic!("{frame:?}") };
        let created = Naive::now(self.naive.live((&megram.space, &megram.entity)), now_ms);
        assert_eq!(megram.created_at_ms, created);
        self.naive.records.push(megram.clone());
        self.frames.push(frame);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn the_engine_agrees_with_a_plain_list(operations in prop::collection::vec(operation(), 1..60)) {
        let mut pair = Pair { engine: Engine::new(), naive: Naive::default(), frames: Vec::new(), now_ms: NOW };
        let law = pair.engine.write_thinking(NOW, "law:0", "env:local", "never deceive").unwrap().unwrap();
        let Frame::Written { megram } = &law else { panic!("{law:?}") };
        pair.naive.records.push(megram.clone());
        pair.frames.push(law);
        for operation in &operations {
            if let Operation::Forget { nth: 0 } = operation {
                continue; // The law; that it stays is tested elsewhere.
            }
            pair.step(operation);
        }
        pair.naive.check(&pair.engine, pair.now_ms);
        pair.naive.check(&replayed(&pair.frames), pair.now_ms);
        let deleted = |frame: &Frame| matches!(frame, Frame::Deleted { reason: DeletionReason::Forgotten, .. });
        prop_assert_eq!(pair.engine.stats().forgotten, pair.frames.iter().filter(|f| deleted(f)).count());
    }
}
