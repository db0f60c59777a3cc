//! Intents with the same meaning in other words, and intents with another meaning in similar words.

use std::collections::BTreeMap;

use super::{NOW, event, write};
use artoo_mkct::{Action, Engine, RecallQuery, State, advice::Cap, record::intent_tag};

/// The pairs of intents in a fixture file, one tab-separated pair a line.
fn pairs(text: &str) -> Vec<(&str, &str)> {
    text.lines().filter_map(|line| line.split_once('\t')).collect()
}

/// A memory in which each intent succeeded in two tasks, each with its own tool.
fn remembering<'a>(intents: impl IntoIterator<Item = &'a str>) -> Engine {
    let mut engine = Engine::new();
    for (number, intent) in intents.into_iter().enumerate() {
        for task in ["a", "b"] {
            let event =
                event(&intent_tag(intent), &format!("via:tool{number}"), State::Accept, &format!("{task}{number}"));
            write(&mut engine, NOW, event.intent(intent));
        }
    }
    engine
}

/// Of at least 30 paraphrased intents, 95 % find the original alone and 90 % among all, always with reduced strength.
#[test]
fn paraphrases_are_recalled_as_alike() {
    let pairs = pairs(include_str!("../../fixtures/intents/paraphrases.tsv"));
    assert!(pairs.len() >= 30);
    let all = remembering(pairs.iter().map(|(intent, _)| *intent));
    let mut found = BTreeMap::from([("alone", 0), ("best of all", 0), ("among all", 0)]);
    for (known, other) in &pairs {
        let alone = remembering([*known]).recall(&RecallQuery::new(other), NOW);
        let among = all.recall(&RecallQuery::new(other), NOW);
        for advice in alone.advice.iter().chain(&among.advice) {
            assert_eq!((advice.potentials.action, advice.capped), (Action::Caution, Some(Cap::Similar)), "{other}");
        }
        let right: Vec<bool> = among.advice.iter().map(|advice| advice.intent.as_deref() == Some(*known)).collect();
        *found.get_mut("alone").unwrap() += usize::from(!alone.advice.is_empty());
        *found.get_mut("best of all").unwrap() += usize::from(right.first() == Some(&true));
        *found.get_mut("among all").unwrap() += usize::from(right.contains(&true));
    }
    for (what, percent) in [("alone", 95), ("among all", 90), ("best of all", 75)] {
        assert!(found[what] * 100 >= pairs.len() * percent, "{what}: {found:?} of {}", pairs.len());
    }
}

/// Intents with similar words and another meaning never count as the same, and the opposite of a known intent gives no
/// advice.
#[test]
fn different_actions_in_similar_words_differ() {
    for (known, other) in pairs(include_str!("../../fixtures/intents/others.tsv")) {
        for (known, other) in [(known, other), (other, known)] {
            let recall = remembering([known]).recall(&RecallQuery::new(other), NOW);
            assert!(
                recall.advice.iter().all(|a| a.capped == Some(Cap::Similar) && a.similarity < 1.0),
                "{known}: {other}"
            );
        }
    }
    let opposite =
        remembering(["Encrypt the backup folder"]).recall(&RecallQuery::new("Decrypt the backup folder"), NOW);
    assert_eq!(opposite.advice, []);
}

/// Pairs of intents whose author knew neither the keys nor the word lists; the first is the header. `None` outside the
/// workspace.
fn held_out(name: &str) -> Option<Vec<(String, String)>> {
    let path = format!("{}/../../fixtures/heldout/recall_{name}.tsv", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).ok()?;
    Some(pairs(&text).into_iter().skip(1).map(|(known, other)| (known.to_owned(), other.to_owned())).collect())
}

#[test]
#[ignore = "a report on pairs outside the crate"]
fn unseen_paraphrases_are_recalled() {
    let Some(paraphrases) = held_out("paraphrases") else { return println!("no pairs beside this crate") };
    let among = remembering(paraphrases.iter().map(|(known, _)| known.as_str()));
    let recalled = |engine: &Engine, known: &str, other: &str| {
        engine.recall(&RecallQuery::new(other), NOW).advice.iter().any(|advice| advice.intent.as_deref() == Some(known))
    };
    let alone = paraphrases.iter().filter(|(known, other)| recalled(&remembering([known.as_str()]), known, other));
    let (alone, all) =
        (alone.count(), paraphrases.iter().filter(|(known, other)| recalled(&among, known, other)).count());
    println!("paraphrases: {alone} recalled alone, {all} among all, of {}", paraphrases.len());
    for (known, other) in paraphrases.iter().filter(|(known, other)| !recalled(&among, known, other)) {
        println!("  missed: {known} | {other}");
    }
    for name in ["others", "same_place_other_values"] {
        let (mut same, mut exploit, mut alike) = (0, 0, 0);
        let pairs = held_out(name).unwrap();
        for (known, other) in &pairs {
            let advice = remembering([known.as_str()]).recall(&RecallQuery::new(other), NOW).advice;
            same += usize::from(advice.iter().any(|advice| advice.similarity >= 1.0));
            exploit += usize::from(advice.iter().any(|advice| advice.potentials.action == Action::Exploit));
            alike += usize::from(!advice.is_empty());
        }
        println!("{name}: {same} as the same intent, {exploit} as Exploit, {alike} as alike, of {}", pairs.len());
    }
}
