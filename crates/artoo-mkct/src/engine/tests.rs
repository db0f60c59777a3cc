//! Compares the engine, over random operations, with a plain list of records that follows the same rules.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::Engine;
use crate::{
    advice::Contribution,
    clock::Clocks,
    record::{DeletionReason, FailureClass, Frame, Level, Megram, MegramId, NewMegram, RuleKind, State, Tag},
    rules::{Evidence, PromotionTicket},
};

const DAY: i64 = 86_400_000;
const NOW: i64 = 1_772_000_000_000;

const TAGS: [(&str, &str); 5] = [
    ("intent:a", "env:local"),
    ("intent:a", "via:glob,shell"),
    ("intent:b", "via:shell"),
    ("tool:shell", "path:/x"),
    ("tool:glob", "path:/x"),
];

/// An event of a task under a tag.
fn event(space: &str, entity: &str, state: State, task: &str) -> NewMegram {
    NewMegram::new(Tag::new(space, entity), state, format!("{state:?} in {task}")).task(task)
}

/// An engine rebuilt from frames that were converted to text and back.
#[track_caller]
fn replayed(frames: &[Frame]) -> Engine {
    let mut engine = Engine::new();
    for frame in frames {
        let text = serde_json::to_string(frame).unwrap();
        engine.apply(&serde_json::from_str(&text).unwrap()).unwrap();
    }
    engine
}

/// Every record with its text, by id.
fn all(engine: &Engine) -> Vec<Megram> {
    let mut all: Vec<Megram> = engine.heads().filter_map(|head| engine.get(head.id).unwrap()).collect();
    all.reverse();
    all
}

/// The contributions of the records under a tag.
fn why(engine: &Engine, space: &str, entity: &str, now_ms: i64) -> Vec<Contribution> {
    engine.why(&Tag::new(space, entity), now_ms).collect()
}

/// Tickets and evidence of the rules that could be made, without the sums, whose last bit depends on the order of
/// additions.
fn tickets(engine: &Engine, now_ms: i64) -> Vec<(PromotionTicket, Vec<Evidence>)> {
    engine.promotions(now_ms).into_iter().map(|promotion| (promotion.ticket, promotion.evidence)).collect()
}

/// An operation of the random test: a write, a deletion, a sweep, a new rule and the like.
#[derive(Debug, Clone)]
enum Operation {
    Write { tag: usize, state: usize, task: u8, source: u8, environmental: bool, times: u8 },
    Forget { nth: usize },
    Sweep,
    Promote,
    Feedback { task: u8 },
    QueryC { tag: usize },
    Clock { by_ms: i64 },
    Reopen,
}

/// A random operation.
fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        8 => (0..TAGS.len(), 0..State::ALL.len(), 0..5_u8, 0..5_u8, any::<bool>(), 1..6_u8).prop_map(
            |(tag, state, task, source, environmental, times)| Operation::Write { tag, state, task, source, environmental, times }
        ),
        1 => (0..50_usize).prop_map(|nth| Operation::Forget { nth }),
        2 => Just(Operation::Sweep),
        2 => Just(Operation::Promote),
        1 => (0..4_u8).prop_map(|task| Operation::Feedback { task }),
        1 => (0..TAGS.len()).prop_map(|tag| Operation::QueryC { tag }),
        2 => (0..DAY).prop_map(|by_ms| Operation::Clock { by_ms }),
        1 => (0..400 * DAY).prop_map(|by_ms| Operation::Clock { by_ms }),
        1 => (-30 * DAY..0).prop_map(|by_ms| Operation::Clock { by_ms }),
        1 => Just(Operation::Reopen),
    ]
}

/// A plain list of records, with the rules of the engine implemented by searching the list.
#[derive(Default)]
struct Naive {
    records: Vec<Megram>,
    /// How far each kind of rule has used up the evidence of a tag.
    used: BTreeMap<(String, String, RuleKind), (i64, MegramId)>,
}

/// Whether a record is filed under a tag.
fn is_under(m: &Megram, tag: (&str, &str)) -> bool {
    (m.space.as_str(), m.entity.as_str()) == tag
}

/// Whether a record is a failure that the environment caused.
fn is_excused(m: &Megram) -> bool {
    m.sigma < 0.0 && m.failure_class == Some(FailureClass::Environmental)
}

/// When the decay of a record began.
fn start(m: &Megram) -> i64 {
    m.demoted_at_ms.map_or(m.created_at_ms, |at| at.max(m.created_at_ms).max(m.last_recalled_at_ms.unwrap_or(at)))
}

/// The weight that a record has left at `now_ms`: its magnitude times its decay.
fn left(m: &Megram, now_ms: i64) -> f64 {
    m.f * (-m.k * (now_ms - start(m)) as f64 / DAY as f64).exp()
}

/// The time of the newest record, or `now_ms` if that is later.
fn newest<'a>(records: impl Iterator<Item = &'a Megram>, now_ms: i64) -> i64 {
    records.map(start).fold(now_ms, i64::max)
}

/// Attention and decision of these records, summed one by one.
fn sums<'a>(records: impl Iterator<Item = &'a Megram> + Clone, now_ms: i64) -> (f64, f64) {
    let now_ms = newest(records.clone(), now_ms);
    records.fold((0.0, 0.0), |(attention, decision), m| {
        (attention + left(m, now_ms), decision + m.sigma * left(m, now_ms))
    })
}

impl Naive {
    /// The records of levels M and K under a tag.
    fn live<'a>(&'a self, tag: (&'a str, &'a str)) -> impl Iterator<Item = &'a Megram> + Clone {
        self.records.iter().filter(move |m| is_under(m, tag) && matches!(m.level, Level::M | Level::K))
    }

    /// The rules of a tag.
    fn rules(&self, tag: (&str, &str)) -> Vec<Megram> {
        self.records.iter().filter(|m| is_under(m, tag) && m.level == Level::C).cloned().collect()
    }

    /// Number of distinct tasks whose records contradict a rule with this valence.
    fn opposing_tasks(&self, tag: (&str, &str), sigma: f64) -> usize {
        let opposes = |m: &&Megram| m.sigma * sigma < 0.0 && !is_excused(m);
        self.live(tag).filter(opposes).filter_map(|m| m.task.clone()).collect::<BTreeSet<_>>().len()
    }

    /// The events of a tag after a position that count as evidence, strongest first: at most three of a task, and four
    /// of a source that is not a tool of the tag.
    fn fresh(&self, tag: (&str, &str), after: Option<(i64, MegramId)>, now_ms: i64) -> Vec<Megram> {
        let counts = |m: &&Megram| m.level == Level::M && !m.is_dissonance() && !is_excused(m);
        let mut fresh: Vec<Megram> = self
            .live(tag)
            .filter(counts)
            .filter(|m| after.is_none_or(|after| (start(m), m.id) > after))
            .cloned()
            .collect();
        fresh.sort_by(|a, b| left(b, now_ms).total_cmp(&left(a, now_ms)).then(a.id.cmp(&b.id)));
        let (mut tasks, mut sources) = (BTreeMap::new(), BTreeMap::new());
        fresh.retain(|m| {
            let so_far: &mut i32 = tasks.entry(m.task.clone()).or_default();
            *so_far += 1;
            *so_far <= 3
        });
        fresh.retain(|m| {
            let so_far: &mut i32 = sources.entry(m.provenance.source.clone()).or_default();
            *so_far += 1;
            let named = m.provenance.source.as_ref();
            *so_far <= 4 || named.is_none_or(|source| crate::record::tools_of(tag.0, tag.1).contains(source))
        });
        fresh
    }

    /// The rules that a sweep must report as contradicted, with their valence and the evidence.
    fn contradicted(&self, tag: (&str, &str), now_ms: i64) -> Vec<(MegramId, f64, Vec<MegramId>)> {
        let now_ms = newest(self.live(tag), now_ms);
        let said = |sigma: f64| {
            let by_sign = move |m: &&Megram| m.is_dissonance() && m.sigma * sigma < 0.0;
            self.live(tag).filter(by_sign).map(|m| (start(m), m.id)).max()
        };
        let is_contradicted = |rule: &Megram| {
            let key = (rule.space.clone(), rule.entity.clone(), RuleKind::of_sigma(rule.sigma));
            let fresh = self.fresh(tag, self.used.get(&key).copied().max(said(rule.sigma)), now_ms);
            let (attention, decision) = sums(fresh.iter(), now_ms);
            let against: Vec<&Megram> = fresh.iter().filter(|m| m.sigma * rule.sigma < 0.0).collect();
            let tasks: BTreeSet<_> = against.iter().filter_map(|m| m.task.as_ref()).collect();
            (attention >= 0.5 && decision * rule.sigma < -0.2 && tasks.len() >= 2)
                .then(|| (rule.id, rule.sigma, against.iter().map(|m| m.id).take(64).collect()))
        };
        self.rules(tag).iter().filter_map(is_contradicted).collect()
    }

    /// Applies a sweep to the list, and asserts that the engine's frames say the same.
    fn sweep(&mut self, frames: &[Frame], now_ms: i64) {
        let mut said: BTreeMap<MegramId, Megram> = BTreeMap::new();
        for frame in frames {
            if let Frame::Written { megram } = frame {
                said.insert(megram.provenance.contradicts.unwrap(), megram.clone());
            }
        }
        for tag in TAGS {
            for (rule, sigma, evidence) in self.contradicted(tag, now_ms) {
                let megram = said.remove(&rule).expect("a contradicted rule is said to be");
                assert_eq!((megram.f, megram.k, megram.sigma), (0.95, 0.05, -sigma));
                assert_eq!((megram.provenance.evidence.as_slice(), megram.task.as_ref()), (evidence.as_slice(), None));
                self.records.push(megram);
            }
        }
        assert_eq!(said, BTreeMap::new(), "nothing else is contradicted");
        for tag in TAGS {
            let (_, decision) = sums(self.live(tag), now_ms);
            let demoted_at = newest(self.live(tag), now_ms);
            for rule in self.rules(tag) {
                if rule.sigma * decision < 0.0 && self.opposing_tasks(tag, rule.sigma) >= 2 {
                    let m = self.records.iter_mut().find(|m| m.id == rule.id).unwrap();
                    (m.level, m.k, m.demoted_at_ms) = (Level::K, 0.05, Some(demoted_at));
                }
            }
        }
        let attention = |tag: (&str, &str)| sums(self.live(tag), now_ms).0;
        let faded = TAGS.map(|tag| (attention(tag), tag));
        let faded = faded.iter().filter(|(attention, tag)| *attention < 0.1 && self.live(*tag).next().is_some());
        let weakest = faded.map(|(attention, _)| *attention).reduce(f64::min);
        let deleted =
            frames.iter().find_map(|frame| if let Frame::Deleted { ids, .. } = frame { Some(ids) } else { None });
        // A tenth of at most five tags, rounded up, is one; which of two equally weak ones is a matter of rounding.
        assert_eq!(deleted.is_some(), weakest.is_some());
        let (Some(deleted), Some(weakest)) = (deleted, weakest) else { return };
        let gone = self.records.iter().find(|m| m.id == deleted[0]).unwrap().clone();
        let gone = (gone.space.as_str(), gone.entity.as_str());
        assert!(attention(gone) <= weakest * (1.0 + 1e-12));
        assert_eq!(BTreeSet::from_iter(deleted.iter().copied()), self.live(gone).map(|m| m.id).collect());
        self.records.retain(|m| !is_under(m, gone) || matches!(m.level, Level::C | Level::T));
    }

    /// Asserts that an engine has the records and potentials of the list.
    fn check(&self, engine: &Engine, now_ms: i64) {
        let mut expected = self.records.clone();
        expected.sort_by_key(|m| m.id);
        assert_eq!(all(engine), expected);
        for later_ms in [0, 3 * DAY, 5 * 365 * DAY] {
            let now_ms = now_ms + later_ms;
            for (space, entity) in TAGS {
                let (attention, decision) = sums(self.live((space, entity)), now_ms);
                let found = engine.query_mk(&Tag::new(space, entity), now_ms);
                close(found.attention, attention, attention);
                close(found.decision, decision, attention);
                let shares = why(engine, space, entity, now_ms);
                close(shares.iter().map(|s| s.decision).sum(), decision, attention);
                assert!(shares.is_sorted_by(|a, b| a.age_days <= b.age_days));
            }
            for tool in ["glob", "shell"] {
                let of_tool: Vec<&Megram> = TAGS
                    .iter()
                    .filter(|tag| crate::record::tools_of(tag.0, tag.1).iter().any(|name| name == tool))
                    .flat_map(|tag| self.live(*tag))
                    .collect();
                let (attention, decision) = sums(of_tool.iter().copied(), now_ms);
                let sum = engine.index.tool(tool).cloned().unwrap_or_default();
                let found = sum.aggregate.at(now_ms);
                close(found.attention, attention, attention);
                close(found.decision, decision, attention);
                let mut places: Vec<_> = of_tool.iter().map(|m| (start(m), m.id)).collect();
                places.sort_unstable_by(|a, b| b.cmp(a));
                places.truncate(crate::engine::MAX_NAMED_MEGRAMS);
                assert_eq!(sum.newest.iter().map(|place| (place.at_ms, place.id)).collect::<Vec<_>>(), places);
                assert_eq!(sum.live, of_tool.len() as u64);
            }
        }
    }
}

/// Asserts that two numbers are equal except for rounding.
#[track_caller]
fn close(found: f64, expected: f64, attention: f64) {
    assert!((found - expected).abs() <= 1e-12 * attention + 1e-300, "{found} against {expected}");
}

/// An engine, its plain list, the frames so far, and the clock.
struct Pair {
    engine: Engine,
    naive: Naive,
    frames: Vec<Frame>,
    now_ms: i64,
}

impl Pair {
    /// Performs an operation on both, and compares them.
    fn step(&mut self, operation: &Operation) {
        let now_ms = self.now_ms;
        match *operation {
            Operation::Clock { by_ms } => self.now_ms += by_ms,
            Operation::Write { tag, state, task, source, environmental, times } => {
                for _ in 0..times {
                    let (space, entity) = TAGS[tag];
                    let draft = event(space, entity, State::ALL[state], &format!("task-{task}"));
                    let failure_class = environmental.then_some(FailureClass::Environmental);
                    let source = [None, None, Some("page"), Some("shell"), Some("glob")][source as usize];
                    let task = draft.task.clone().filter(|_| task > 0);
                    let draft = NewMegram { failure_class, task, source: source.map(str::to_owned), ..draft };
                    let frame = self.engine.write(draft, now_ms).unwrap();
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
                let clocks = Clocks { wall_ms: now_ms, uptime_ms: now_ms };
                let planned = self.engine.plan_sweep(clocks);
                let report = self.engine.sweep(clocks);
                assert_eq!(planned, report);
                self.naive.sweep(&report.frames, now_ms);
                self.frames.extend(report.frames);
            }
            Operation::Promote => self.promote(now_ms),
            Operation::Feedback { task } => {
                let Some(id) = self.naive.records.iter().find(|m| m.level == Level::C).map(|m| m.id) else { return };
                let task = format!("task-{task}");
                let frame = self.engine.record_negative_feedback(id, "no", Some(&task), now_ms).unwrap();
                self.written(frame, now_ms);
            }
            Operation::QueryC { tag } => {
                let (sops, frames) = self.engine.query_c(&Tag::new(TAGS[tag].0, TAGS[tag].1), now_ms);
                for m in self.naive.records.iter_mut().filter(|m| m.level == Level::C && is_under(m, TAGS[tag])) {
                    assert!(sops.iter().any(|sop| sop.id == m.id));
                    m.last_recalled_at_ms = m.last_recalled_at_ms.max(Some(now_ms));
                }
                for frame in frames {
                    self.engine.apply(&frame).unwrap();
                    self.frames.push(frame);
                }
            }
            Operation::Reopen => {
                let mut bytes = Vec::new();
                self.engine.encode_state(&mut bytes).unwrap();
                self.engine = Engine::decode_state(&mut bytes.as_slice(), None).unwrap();
            }
        }
    }

    /// Makes every rule that qualifies, in the engine and in the plain list.
    fn promote(&mut self, now_ms: i64) {
        for promotion in self.engine.promotions(now_ms) {
            let frame = self.engine.promote(&promotion.ticket, "rule", now_ms).unwrap();
            let Frame::Promoted { rule, rule_kind, supersedes, watermark } = &frame else { panic!("{frame:?}") };
            let tag = (rule.space.as_str(), rule.entity.as_str());
            let (attention, decision) = sums(self.naive.live(tag), now_ms);
            assert!(attention > 4.999_999 && decision * f64::from(rule_kind.sign()) > 2.999_999);
            let evidence: BTreeSet<MegramId> = promotion.evidence.iter().map(|e| e.id).collect();
            let of = |m: &&Megram| evidence.contains(&m.id);
            let tasks: BTreeSet<_> = self.naive.live(tag).filter(of).filter_map(|m| m.task.clone()).collect();
            assert!(tasks.len() >= 2);
            self.naive.records.retain(|m| Some(m.id) != *supersedes);
            let rivals = self.naive.rules(tag).iter().filter(|m| RuleKind::of_sigma(m.sigma) == *rule_kind).count();
            assert_eq!(rivals, 0, "one rule a tag and kind");
            let key = (rule.space.clone(), rule.entity.clone(), *rule_kind);
            self.naive.used.insert(key, (watermark.at_ms, watermark.id));
            self.naive.records.push(rule.clone());
            self.frames.push(frame);
        }
    }

    /// Adds the record of a frame to the plain list.
    fn written(&mut self, frame: Frame, now_ms: i64) {
        let Frame::Written { megram } = &frame else { panic!("{frame:?}") };
        let created = newest(self.naive.live((&megram.space, &megram.entity)), now_ms);
        assert_eq!(megram.created_at_ms, created);
        self.naive.records.push(megram.clone());
        self.frames.push(frame);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[doc = "holds: principle 8"]
    #[test]
    fn engine_agrees_with_a_plain_list(operations in prop::collection::vec(operation(), 1..80)) {
        let mut pair = Pair { engine: Engine::new(), naive: Naive::default(), frames: Vec::new(), now_ms: NOW };
        let law = pair.engine.write_thinking(&Tag::new("law:0", "env:local"), "never deceive", NOW).unwrap().unwrap();
        let Frame::Written { megram } = &law else { panic!("{law:?}") };
        pair.naive.records.push(megram.clone());
        pair.frames.push(law);
        for operation in &operations {
            if let Operation::Forget { nth: 0 } = operation {
                continue; // The law; that it stays is tested elsewhere.
            }
            let before = pair.engine.clone();
            let seen = all(&before);
            pair.step(operation);
            prop_assert_eq!(all(&before), seen, "a clone stays what it was");
        }
        pair.naive.check(&pair.engine, pair.now_ms);
        pair.naive.check(&replayed(&pair.frames), pair.now_ms);
        let exported = replayed(&pair.engine.state_frames().collect::<Result<Vec<_>, _>>().unwrap());
        pair.naive.check(&exported, pair.now_ms);
        prop_assert_eq!(tickets(&exported, pair.now_ms), tickets(&pair.engine, pair.now_ms));
        let deleted = |frame: &Frame| matches!(frame, Frame::Deleted { reason: DeletionReason::Forgotten, .. });
        prop_assert_eq!(pair.engine.stats().forgotten, pair.frames.iter().filter(|f| deleted(f)).count());
    }
}
