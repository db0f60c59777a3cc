//! What a planner is told, how strongly, and on whose word.

use super::{DAY, NOW, burst, environmental, event, why, write};
use artoo_mkct::{
    Action, Engine, NewMegram, RecallQuery, State, Tag,
    advice::{ANY_ENTITY, Advice, Cap, Recall, Scope},
    record::{ENV_LOCAL, intent_tag, path_tag, tool_tag, via_tag},
};

const INTENT: &str = "Count the PDF files in Documents";

fn recall(engine: &Engine, intent: &str, tools: &[&str], targets: &[&str]) -> Recall {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let (tools, targets) = (owned(tools), owned(targets));
    let query = RecallQuery::new(intent).tools(&tools).targets(&targets);
    engine.recall(&query, NOW)
}

/// Scope, entity, action and cap of each piece of advice.
fn told(recall: &Recall) -> Vec<(Scope, &str, Action, Option<Cap>)> {
    let line = |advice: &Advice| (advice.scope, advice.potentials.action, advice.capped);
    recall
        .advice
        .iter()
        .map(|advice| (line(advice), advice.tag.entity.as_str()))
        .map(|((s, a, c), e)| (s, e, a, c))
        .collect()
}

fn approach(tools: &[&str], state: State, task: &str) -> NewMegram {
    event(&intent_tag(INTENT), &via_tag(tools), state, task)
}

#[doc = "holds: principle 8; design M8"]
#[test]
fn approaches_are_told_apart_and_the_intent_itself_is_never_forbidden() {
    let mut engine = Engine::new();
    for (tools, state) in [(["shell"], State::Abandon), (["glob"], State::Accept)] {
        write(&mut engine, NOW, approach(&tools, state, "t"));
        write(&mut engine, NOW, event(&intent_tag(INTENT), ENV_LOCAL, State::Abandon, "t"));
    }
    let recall = recall(&engine, "count the pdf FILES", &[], &[]);
    assert_eq!(
        told(&recall),
        [
            (Scope::Approach, "via:shell", Action::Avoid, None),
            (Scope::Approach, "via:glob", Action::Exploit, None),
            (Scope::Intent, ENV_LOCAL, Action::Caution, Some(Cap::Unspecific)),
        ]
    );
}

#[doc = "holds: design M7"]
#[test]
fn an_exact_pair_can_be_forbidden_and_a_tool_only_advised() {
    let mut engine = Engine::new();
    let (space, entity) = (tool_tag("shell"), path_tag("/a|b"));
    write(&mut engine, NOW, event(&space, &entity, State::ChangeApproach, "t"));
    write(
        &mut engine,
        NOW,
        event(&intent_tag("something else entirely"), &via_tag(&["shell", "glob"]), State::Abandon, "t"),
    );
    let recall = recall(&engine, INTENT, &["shell", "find"], &["/a|b", "/other"]);
    assert_eq!(
        told(&recall),
        [
            (Scope::Pair, entity.as_str(), Action::Avoid, None),
            (Scope::Tool, ANY_ENTITY, Action::Caution, Some(Cap::Unspecific)),
        ]
    );
    let tool = &recall.advice[1];
    assert_eq!((tool.megrams.len(), tool.megrams_total, tool.tag.space.as_str()), (2, 2, "tool:shell"));
    assert!((tool.potentials.attention - 1.8).abs() < 1e-12, "its pairs and its approaches: {tool:?}");
    assert!((tool.potentials.decision + 1.8).abs() < 1e-12);
}

#[doc = "holds: law 3.1; design M13"]
#[test]
fn what_the_environment_did_is_no_reason_to_forbid() {
    let mut engine = Engine::new();
    let (space, entity) = (intent_tag(INTENT), via_tag(&["web"]));
    for i in 0..3 {
        write(&mut engine, NOW, environmental(&space, &entity, State::Abandon, &format!("t{i}")));
    }
    let told_off = recall(&engine, INTENT, &[], &[]);
    assert_eq!(told(&told_off), [(Scope::Approach, "via:web", Action::Caution, Some(Cap::Environmental))]);
    // The tuple is untouched: the potentials are the plane's own.
    assert_eq!(engine.query_mk(&Tag::new(&space, &entity), NOW).action, Action::Avoid);
    assert!((told_off.advice[0].potentials.decision + 2.85).abs() < 1e-12);
    // One failure of the approach itself is reason enough.
    write(&mut engine, NOW, event(&space, &entity, State::Abandon, "own fault"));
    assert_eq!(told(&recall(&engine, INTENT, &[], &[])), [(Scope::Approach, "via:web", Action::Avoid, None)]);
}

#[doc = "holds: design M9"]
#[test]
fn a_similar_intent_advises_at_a_discount_that_shows() {
    let mut engine = Engine::new();
    write(&mut engine, NOW, approach(&["glob"], State::Accept, "t"));
    let found = recall(&engine, "Please tell me, count of all the pdf files here?", &[], &[]);
    let [advice] = found.advice.try_into().unwrap();
    assert_eq!((advice.potentials.action, advice.capped), (Action::Caution, Some(Cap::Similar)));
    assert!((advice.similarity - 0.9).abs() < 1e-12, "all three remembered words: {}", advice.similarity);
    assert!((advice.potentials.attention - 0.81).abs() < 1e-12);
    assert!((advice.potentials.decision - 0.81).abs() < 1e-12);
    assert_eq!(told(&recall(&engine, "Rename my holiday photos", &[], &[])), []);
    // Where the intent itself is known, nothing vaguer is asked.
    write(&mut engine, NOW, event(&intent_tag("count all pdf"), &via_tag(&["shell"]), State::Abandon, "t"));
    let exact = recall(&engine, "Count all PDF", &[], &[]);
    assert_eq!(told(&exact), [(Scope::Approach, "via:shell", Action::Avoid, None)]);
    // Not even one that shares all its words.
    let known = "Please tell: count the pdf";
    let similar = recall(&engine, known, &[], &[]);
    assert_eq!(told(&similar)[0], (Scope::Approach, "via:glob", Action::Caution, Some(Cap::Similar)));
    write(&mut engine, NOW, event(&intent_tag(known), &via_tag(&["web"]), State::Accept, "t"));
    let exact = recall(&engine, known, &[], &[]);
    assert_eq!(told(&exact), [(Scope::Approach, "via:web", Action::Exploit, None)]);
}

#[doc = "holds: design M9"]
#[test]
fn similar_intents_in_a_script_without_spaces() {
    let mut engine = Engine::new();
    write(&mut engine, NOW, event(&intent_tag("统计文档里的文件数量"), &via_tag(&["glob"]), State::Accept, "t"));
    let found = recall(&engine, "请统计文档里的文件数量吧", &[], &[]);
    assert_eq!(told(&found), [(Scope::Approach, "via:glob", Action::Caution, Some(Cap::Similar))]);
    assert_eq!(told(&recall(&engine, "删除照片", &[], &[])), []);
}

#[doc = "holds: design M9"]
#[test]
fn a_forgotten_intent_resembles_nothing() {
    let mut engine = Engine::new();
    let id = write(&mut engine, NOW, approach(&["glob"], State::Accept, "t")).id;
    engine.forget(id, NOW).unwrap();
    assert_eq!(told(&recall(&engine, "please count the pdf files", &["glob"], &[])), []);
}

#[doc = "holds: invariant 18; design M16"]
#[test]
fn a_recall_has_ten_entries_rules_and_prohibitions_first() {
    let mut engine = Engine::new();
    for i in 0..30 {
        let state = if i % 2 == 0 { State::Accept } else { State::ChangePath };
        for task in ["a", "b"] {
            write(&mut engine, NOW, approach(&[&format!("tool{i}")], state, task));
        }
    }
    write(&mut engine, NOW, approach(&["zzz"], State::Abandon, "t"));
    burst(&mut engine, NOW, ENV_LOCAL, State::Accept, 6);
    let ticket = engine.promotions(NOW).remove(0).ticket;
    engine.promote(&ticket, "use glob", NOW).unwrap();

    let found = recall(&engine, INTENT, &[], &[]);
    assert_eq!((found.sops.len(), found.advice.len(), found.frames.len()), (0, 10, 0));
    assert_eq!(found.advice[0].tag.entity, "via:zzz");
    assert!(found.advice[1..].iter().all(|advice| advice.potentials.action == Action::Exploit));

    let found = recall(&engine, "x", &[], &[]);
    assert_eq!((found.sops.len(), found.advice.len(), found.frames.len()), (1, 1, 1));
    let none = engine.recall(&RecallQuery::new("x").limit(0), NOW);
    assert_eq!(none, Recall::default());
}

#[test]
fn rules_of_the_intent_its_approaches_and_named_pairs_come_back_constraints_first() {
    let mut engine = Engine::new();
    let tags = [
        (intent_tag(INTENT), ENV_LOCAL.to_owned(), State::Accept),
        (intent_tag(INTENT), via_tag(&["glob"]), State::Success),
        (tool_tag("shell"), path_tag("/x"), State::ChangeApproach),
        (tool_tag("shell"), path_tag("/y"), State::ChangeApproach),
    ];
    for (space, entity, state) in &tags {
        for i in 0..7 {
            write(&mut engine, NOW, event(space, entity, *state, &format!("t{i}")));
        }
    }
    for promotion in engine.promotions(NOW) {
        engine.promote(&promotion.ticket, "rule", NOW).unwrap();
    }
    assert_eq!(engine.stats().common_sense, 4);
    let found = recall(&engine, INTENT, &["shell"], &["/x"]);
    let entities: Vec<&str> = found.sops.iter().map(|sop| sop.tag.entity.as_str()).collect();
    assert_eq!(entities, ["path:/x", "via:glob", ENV_LOCAL]);
    let [artoo_mkct::record::Frame::Recalled { ids, at_ms: NOW }] = found.frames.as_slice() else {
        panic!("{:?}", found.frames)
    };
    assert_eq!(ids, &found.sops.iter().map(|sop| sop.id).collect::<Vec<_>>());
}

#[doc = "holds: design M16"]
#[test]
fn shares_sum_to_what_was_advised() {
    let mut engine = Engine::new();
    for (i, state) in State::ALL.iter().cycle().take(40).enumerate() {
        write(&mut engine, NOW - (40 - i as i64) * DAY, approach(&["glob"], *state, &format!("t{i}")));
    }
    let found = recall(&engine, INTENT, &[], &[]);
    let [advice] = found.advice.try_into().unwrap();
    let shares = why(&engine, &advice.tag.space, &advice.tag.entity, NOW);
    assert_eq!(
        (shares.len(), advice.megrams_total, advice.megrams.len()),
        (40, 40, artoo_mkct::engine::MAX_NAMED_MEGRAMS)
    );
    assert!(shares.iter().zip(&advice.megrams).all(|(share, id)| share.id == *id), "newest first, both");
    let attention: f64 = shares.iter().map(|share| share.attention).sum();
    let decision: f64 = shares.iter().map(|share| share.decision).sum();
    assert!((attention - advice.potentials.attention).abs() < 1e-12 * attention);
    assert!((decision - advice.potentials.decision).abs() < 1e-12 * attention);
    assert_eq!(why(&engine, "intent:unknown", ENV_LOCAL, NOW), []);
}

#[test]
fn hostile_queries_cost_little() {
    let mut engine = Engine::new();
    burst(&mut engine, NOW, ENV_LOCAL, State::Accept, 3);
    let names: Vec<String> = (0..100_000).map(|i| format!("name {i}")).collect();
    let intent = "word ".repeat(2_000_000);
    let query = RecallQuery::new(&intent).tools(&names).targets(&names).limit(usize::MAX);
    assert_eq!(engine.recall(&query, NOW).advice, []);
}
