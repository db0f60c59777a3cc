//! What recall returns for an intent, and how strongly it advises.

use super::{DAY, NOW, burst, environmental, event, why, write};
use artoo_mkct::{
    Action, Engine, NewMegram, RecallQuery, State, Tag,
    advice::{ANY_ENTITY, Advice, Cap, Recall, Scope},
    record::{ENV_LOCAL, intent_tag, path_tag, tool_tag, via_tag},
};

const INTENT: &str = "Count the PDF files in Documents";

/// The recall for an intent with these tools and targets.
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

/// An event of an approach with these tools.
fn approach(tools: &[&str], state: State, task: &str) -> NewMegram {
    event(&intent_tag(INTENT), &via_tag(tools), state, task).intent(INTENT)
}

/// An event of another intent with all its words.
fn about(intent: &str, entity: &str, state: State, task: &str) -> NewMegram {
    event(&intent_tag(intent), entity, state, task).intent(intent)
}

/// Failures in two tasks forbid the set of tools used for an intent; the intent itself only gets caution.
#[doc = "holds: principle 8; design M8"]
#[test]
fn approaches_are_forbidden_intents_never() {
    let mut engine = Engine::new();
    for task in ["t", "u"] {
        for (tools, state) in [(["shell"], State::Abandon), (["glob"], State::Accept)] {
            write(&mut engine, NOW, approach(&tools, state, task));
            write(&mut engine, NOW, about(INTENT, ENV_LOCAL, State::Abandon, task));
        }
    }
    let recall = recall(&engine, "count the pdf FILES, in documents!", &[], &[]);
    assert_eq!(
        told(&recall),
        [
            (Scope::Approach, "via:shell", Action::Avoid, None),
            (Scope::Approach, "via:glob", Action::Exploit, None),
            (Scope::Intent, ENV_LOCAL, Action::Caution, Some(Cap::Unspecific)),
        ]
    );
}

/// Failures in two tasks forbid a tool on exactly one target; about the tool in general memory only advises caution.
#[doc = "holds: design M7"]
#[test]
fn exact_pairs_are_forbidden_tools_advised() {
    let mut engine = Engine::new();
    let (space, entity) = (tool_tag("shell"), path_tag("/a|b"));
    write(&mut engine, NOW, event(&space, &entity, State::ChangeApproach, "t"));
    let one_task = recall(&engine, INTENT, &["shell"], &["/a|b"]);
    assert_eq!(told(&one_task)[0], (Scope::Pair, entity.as_str(), Action::Caution, Some(Cap::OneTask)));
    write(&mut engine, NOW, event(&space, &entity, State::ChangeApproach, "u"));
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
    assert_eq!((tool.megrams.len(), tool.megrams_total, tool.tag.space.as_str()), (3, 3, "tool:shell"));
    assert!((tool.potentials.attention - 2.65).abs() < 1e-12, "its pairs and its approaches: {tool:?}");
    assert!((tool.potentials.decision + 2.65).abs() < 1e-12);
}

#[doc = "holds: law 3.1; design M13"]
#[test]
fn environmental_failures_forbid_nothing() {
    let mut engine = Engine::new();
    let (space, entity) = (intent_tag(INTENT), via_tag(&["web"]));
    for i in 0..3 {
        write(&mut engine, NOW, environmental(&space, &entity, State::Abandon, &format!("t{i}")).intent(INTENT));
    }
    let told_off = recall(&engine, INTENT, &[], &[]);
    assert_eq!(told(&told_off), [(Scope::Approach, "via:web", Action::Caution, Some(Cap::Environmental))]);
    // The tuple is untouched: the potentials are the plane's own.
    assert_eq!(engine.query_mk(&Tag::new(&space, &entity), NOW).action, Action::Avoid);
    assert!((told_off.advice[0].potentials.decision + 2.85).abs() < 1e-12);
    // Failures of the approach itself are reason enough, of two tasks, or of two sources in one task.
    for (task, source, capped) in [("own fault", "a", Some(Cap::OneTask)), ("own fault", "b", None)] {
        write(&mut engine, NOW, approach(&["web"], State::Abandon, task).source(source));
        let action = if capped.is_some() { Action::Caution } else { Action::Avoid };
        assert_eq!(told(&recall(&engine, INTENT, &[], &[])), [(Scope::Approach, "via:web", action, capped)]);
    }
}

/// Advice from a similar intent is multiplied by the similarity and limited to caution, and used only if the intent
/// itself is unknown.
#[doc = "holds: design M9"]
#[test]
fn similar_intent_advice_is_discounted() {
    let mut engine = Engine::new();
    write(&mut engine, NOW, approach(&["glob"], State::Accept, "t"));
    let found = recall(&engine, "Please tell me the number of PDF documents here?", &[], &[]);
    let [advice] = found.advice.try_into().unwrap();
    assert_eq!((advice.potentials.action, advice.capped), (Action::Caution, Some(Cap::Similar)));
    assert!((0.2..=0.9).contains(&advice.similarity), "{}", advice.similarity);
    assert!((advice.potentials.attention - 0.9 * advice.similarity).abs() < 1e-12);
    assert!((advice.potentials.decision - 0.9 * advice.similarity).abs() < 1e-12, "the decision is discounted too");
    assert_eq!(advice.intent.as_deref(), Some(INTENT));
    assert_eq!(told(&recall(&engine, "Rename my holiday photos", &[], &[])), []);
    // Where the intent itself is known, nothing vaguer is asked, not even an intent with all its words.
    let known = "Please tell: count the PDF files in Documents today";
    let similar = recall(&engine, known, &[], &[]);
    assert_eq!(told(&similar), [(Scope::Approach, "via:glob", Action::Caution, Some(Cap::Similar))]);
    write(&mut engine, NOW, about(known, &via_tag(&["web"]), State::Accept, "t"));
    let exact = recall(&engine, known, &[], &[]);
    assert_eq!(told(&exact), [(Scope::Approach, "via:web", Action::Exploit, None)]);
}

/// Two intents that start with the same three words, and so share a key, get separate advice.
#[test]
fn equal_keys_may_be_different_intents() {
    let mut engine = Engine::new();
    let (deleted, other) = ("Delete all the temporary files", "Delete all the customer records of 2019");
    for task in ["t", "u"] {
        write(&mut engine, NOW, about(deleted, "via:shell", State::Accept, task));
        write(&mut engine, NOW, about(other, "via:sql", State::Abandon, task));
    }
    assert_eq!(intent_tag(deleted), intent_tag(other));
    let told_of = |engine: &Engine, intent| {
        recall(engine, intent, &[], &[])
            .advice
            .into_iter()
            .map(|a| (a.tag.entity, a.potentials.action, a.megrams_total))
            .collect::<Vec<_>>()
    };
    assert_eq!(told_of(&engine, deleted), [("via:shell".to_owned(), Action::Exploit, 2)]);
    assert_eq!(told_of(&engine, other), [("via:sql".to_owned(), Action::Avoid, 2)]);
    // A third one with the key is like one of the two at most.
    let third = recall(&engine, "Delete all the records of last year", &[], &[]);
    assert!(third.advice.iter().all(|advice| advice.capped == Some(Cap::Similar)), "{third:?}");
    // One tag, two approaches: what was said of one intent does not count for the other.
    write(&mut engine, NOW, about(other, "via:shell", State::Abandon, "v"));
    assert_eq!(told_of(&engine, deleted), [("via:shell".to_owned(), Action::Exploit, 2)]);
}

/// Records without the words of their intent count fully only if the key has all words of the queried intent.
#[test]
fn wordless_records_are_capped_without_full_key() {
    let mut engine = Engine::new();
    for (intent, capped) in [("count files", None), ("count the files", Some(Cap::Similar))] {
        write(&mut engine, NOW, event(&intent_tag(intent), "via:glob", State::Accept, "t"));
        let [advice] = recall(&engine, intent, &[], &[]).advice.try_into().unwrap();
        assert_eq!((advice.capped, advice.similarity), (capped, if capped.is_some() { 0.9 } else { 1.0 }), "{intent}");
    }
}

#[doc = "holds: design M9"]
#[test]
fn similarity_works_without_spaces_between_words() {
    let mut engine = Engine::new();
    write(&mut engine, NOW, event(&intent_tag("统计文档里的文件数量"), &via_tag(&["glob"]), State::Accept, "t"));
    let found = recall(&engine, "请统计文档里的文件数量吧", &[], &[]);
    assert_eq!(told(&found), [(Scope::Approach, "via:glob", Action::Caution, Some(Cap::Similar))]);
    assert_eq!(told(&recall(&engine, "删除照片", &[], &[])), []);
}

/// An intent whose only record was deleted gives no advice for similar intents.
#[doc = "holds: design M9"]
#[test]
fn deleted_intent_is_not_similar() {
    let mut engine = Engine::new();
    let id = write(&mut engine, NOW, approach(&["glob"], State::Accept, "t")).id;
    engine.forget(id, NOW).unwrap();
    assert_eq!(told(&recall(&engine, "please count the pdf files", &["glob"], &[])), []);
}

#[doc = "holds: invariant 18; design M16"]
#[test]
fn recall_has_ten_entries_rules_first() {
    let mut engine = Engine::new();
    for i in 0..30 {
        let state = if i % 2 == 0 { State::Accept } else { State::ChangePath };
        for task in ["a", "b"] {
            write(&mut engine, NOW, approach(&[&format!("tool{i}")], state, task));
        }
    }
    for task in ["t", "u"] {
        write(&mut engine, NOW, approach(&["zzz"], State::Abandon, task));
    }
    burst(&mut engine, NOW, "via:x", State::Accept, 6);
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
fn recall_returns_related_rules_constraints_first() {
    let mut engine = Engine::new();
    let tags = [
        (intent_tag(INTENT), via_tag(&["shell"]), State::Accept),
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
    assert_eq!(engine.stats().common_sense, 4, "nothing is a rule of a whole intent");
    let found = recall(&engine, INTENT, &["shell"], &["/x"]);
    let entities: Vec<&str> = found.sops.iter().map(|sop| sop.tag.entity.as_str()).collect();
    assert_eq!(entities, ["path:/x", "via:shell", "via:glob"]);
    let [artoo_mkct::record::Frame::Recalled { ids, at_ms: NOW }] = found.frames.as_slice() else {
        panic!("{:?}", found.frames)
    };
    assert_eq!(ids, &found.sops.iter().map(|sop| sop.id).collect::<Vec<_>>());
}

/// The shares of the records behind a piece of advice add up to its attention and decision.
#[doc = "holds: design M16"]
#[test]
fn advice_shares_sum_to_the_total() {
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

/// A query with a 10 MB intent and 100,000 tool and target names returns, without advice.
#[test]
fn hostile_queries_cost_little() {
    let mut engine = Engine::new();
    burst(&mut engine, NOW, ENV_LOCAL, State::Accept, 3);
    let names: Vec<String> = (0..100_000).map(|i| format!("name {i}")).collect();
    let intent = "word ".repeat(2_000_000);
    let query = RecallQuery::new(&intent).tools(&names).targets(&names).limit(usize::MAX);
    assert_eq!(engine.recall(&query, NOW).advice, []);
}
