//! Learning a skill: what differs between episodes of one kind must follow from what differs between their requests.

use std::collections::BTreeSet;

use serde_json::Value;

use super::episode::{Episode, occurrences};
use super::pattern::{MARK, Piece, Slots, filled, marker, number_marker, words};
use super::{EPISODES_MIN, Skill};

/// Number of requests that a skill names as examples.
const EXAMPLES: usize = 3;

/// Learns the skill that explains all episodes of one kind, or all but a single contradicting one; an error says why
/// there is none.
pub(super) fn skill(episodes: &[Episode]) -> Result<Skill, String> {
    let all: Vec<&Episode> = episodes.iter().collect();
    let first = of_all(&all);
    let without = |at: usize| {
        let others: Vec<&Episode> =
            all.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, one)| *one).collect();
        of_all(&others).ok()
    };
    first.or_else(|problem| (0..all.len()).find_map(without).ok_or(problem))
}

/// Learns the skill that explains every one of these episodes; an error says why there is none.
fn of_all(episodes: &[&Episode]) -> Result<Skill, String> {
    let Some(first) = episodes.first().filter(|_| episodes.len() >= EPISODES_MIN) else {
        return Err(format!("{} tasks of {EPISODES_MIN} needed", episodes.len()));
    };
    let folder = &first.folder;
    if episodes.iter().any(|episode| episode.folder != *folder) {
        return Err("the tasks ran in different folders".to_owned());
    }
    let requests: Vec<Vec<String>> = episodes.iter().filter_map(|episode| words(&episode.request)).collect();
    let length = requests.first().map_or(0, Vec::len);
    if requests.len() < episodes.len() || requests.iter().any(|words| words.len() != length) {
        return Err("the requests have different numbers of words".to_owned());
    }
    let column = |at: usize| requests.iter().filter_map(|words| words.get(at).map(String::as_str)).collect::<Vec<_>>();
    let mut pattern: Vec<Piece> = (0..length).map(|at| piece(&column(at))).collect();
    let slots: Vec<Slots> = episodes.iter().filter_map(|episode| Slots::of(&pattern, &episode.request)).collect();
    if slots.len() < episodes.len() {
        return Err("the requests differ in more than single words".to_owned());
    }
    let bodies: Vec<Value> =
        episodes.iter().map(|episode| serde_json::to_value(&episode.body).unwrap_or_default()).collect();
    let mut used = Used::default();
    let body = template(&bodies.iter().collect::<Vec<_>>(), &slots, false, &mut used)?;
    let mut number = 0..;
    for piece in &mut pattern {
        if let Piece::Slot { shell, .. } = piece {
            let slot = number.next().unwrap_or_default();
            if !used.anywhere.contains(&slot) {
                return Err("a word that differs changes nothing in what was done".to_owned());
            }
            *shell = used.shell.contains(&slot);
        }
    }
    let skill = Skill {
        examples: episodes.iter().take(EXAMPLES).map(|episode| episode.request.clone()).collect(),
        folder: folder.clone(),
        pattern,
        body,
    };
    // A slot that a shell parses takes fewer characters, so the skill is tried on what it was learned from.
    match episodes.iter().all(|episode| skill.body(&episode.request, folder).as_ref() == Some(&episode.body)) {
        true => Ok(skill),
        false => Err("a request has characters that a shell interprets".to_owned()),
    }
}

/// The piece of a pattern for the words at one position of the requests.
fn piece(words: &[&str]) -> Piece {
    let lowered: BTreeSet<String> = words.iter().map(|word| word.to_lowercase()).collect();
    if let (1, Some(word)) = (lowered.len(), lowered.first()) {
        return Piece::Word(word.clone());
    }
    let first = words.first().copied().unwrap_or_default();
    let is_mark = |c: char| !c.is_alphanumeric();
    let before = first.char_indices().rev().filter(|(_, c)| is_mark(*c)).find_map(|(at, c)| {
        let head = first.get(..at + c.len_utf8())?;
        words.iter().all(|word| word.len() > head.len() && word.starts_with(head)).then_some(head)
    });
    let before = before.unwrap_or_default();
    let rests: Vec<&str> = words.iter().filter_map(|word| word.strip_prefix(before)).collect();
    let first = rests.first().copied().unwrap_or_default();
    let after = first.char_indices().filter(|(_, c)| is_mark(*c)).find_map(|(at, _)| {
        let tail = first.get(at..)?;
        rests.iter().all(|word| word.len() > tail.len() && word.ends_with(tail)).then_some(tail)
    });
    let after = after.unwrap_or_default();
    let values = || rests.iter().filter_map(|word| word.strip_suffix(after));
    Piece::Slot {
        before: before.to_owned(),
        after: after.to_owned(),
        digits: values().all(|value| value.chars().all(|c| c.is_ascii_digit())),
        slash: values().any(|value| value.contains('/')),
        shell: false,
    }
}

/// The slots that a template uses, and those of them that a shell parses.
#[derive(Default)]
struct Used {
    anywhere: BTreeSet<usize>,
    shell: BTreeSet<usize>,
}

/// A JSON template with markers that gives each of these values from the slots of its request; an error if a difference
/// does not follow from the slots. `shell` says that a shell parses the texts.
fn template(values: &[&Value], slots: &[Slots], shell: bool, used: &mut Used) -> Result<Value, String> {
    let Some(first) = values.first() else { return Ok(Value::Null) };
    if values.iter().all(|value| value == first) {
        return Ok((*first).clone());
    }
    let unexplained = || format!("the requests don't explain why {first} differs");
    match first {
        Value::Object(fields) => {
            let is_shell = fields.get("tool").is_some_and(|tool| tool == "shell");
            let mut made = serde_json::Map::new();
            for name in fields.keys() {
                let inner: Vec<&Value> = values.iter().filter_map(|value| value.get(name)).collect();
                let is_alike =
                    values.iter().all(|value| value.as_object().map(serde_json::Map::len) == Some(fields.len()));
                if inner.len() < values.len() || !is_alike {
                    return Err(unexplained());
                }
                made.insert(name.clone(), template(&inner, slots, shell || is_shell, used)?);
            }
            Ok(Value::Object(made))
        }
        Value::Array(items) => {
            if values.iter().any(|value| value.as_array().map(Vec::len) != Some(items.len())) {
                return Err(unexplained());
            }
            let item = |at: usize| {
                template(&values.iter().filter_map(|value| value.get(at)).collect::<Vec<_>>(), slots, shell, used)
            };
            (0..items.len()).map(item).collect::<Result<_, _>>().map(Value::Array)
        }
        Value::String(_) | Value::Number(_) => leaf(values, slots, shell, used).ok_or_else(unexplained),
        Value::Null | Value::Bool(_) => Err(unexplained()),
    }
}

/// A text with markers that gives each of these differing texts or numbers from the slots of its request; `None` if
/// there is none.
fn leaf(values: &[&Value], slots: &[Slots], shell: bool, used: &mut Used) -> Option<Value> {
    let count = slots.first()?.0.len();
    let numbers = (0..count).map(number_marker);
    let texts = values.iter().zip(slots).filter_map(|(value, slots)| marked(value.as_str()?, slots)).map(Value::String);
    let explains =
        |made: &Value| values.iter().zip(slots).all(|(value, slots)| filled(made, slots).as_ref() == Some(*value));
    let made = numbers.chain(texts).find(explains)?;
    let text = made.as_str().unwrap_or_default();
    for number in text.split(MARK).skip(1).step_by(2) {
        let slot = number.trim_start_matches('n').parse().ok()?;
        used.anywhere.insert(slot);
        if shell {
            used.shell.insert(slot);
        }
    }
    Some(made)
}

/// A text with the values of the slots replaced by markers, longest values first; `None` if two slots have the same
/// value, so that the text doesn't tell which is meant.
fn marked(text: &str, slots: &Slots) -> Option<String> {
    let mut by_length: Vec<(usize, &String)> = slots.0.iter().enumerate().collect();
    by_length.sort_by_key(|(_, value)| std::cmp::Reverse(value.len()));
    let distinct: BTreeSet<&String> = slots.0.iter().collect();
    if distinct.len() < slots.0.len() || text.contains(MARK) {
        return None;
    }
    let mut pieces = vec![Ok(text.to_owned())];
    for (slot, value) in by_length {
        let mut split: Vec<Result<String, usize>> = Vec::new();
        for piece in pieces {
            let Ok(text) = piece else {
                split.push(piece);
                continue;
            };
            let mut from = 0;
            for at in occurrences(&text, value).collect::<Vec<_>>() {
                split.push(Ok(text.get(from..at)?.to_owned()));
                split.push(Err(slot));
                from = at + value.len();
            }
            split.push(Ok(text.get(from..)?.to_owned()));
        }
        pieces = split;
    }
    Some(pieces.into_iter().map(|piece| piece.unwrap_or_else(marker)).collect())
}
