//! Collects the conditions on files in a parsed phrase, and applies what it says about case and whole words.

use super::super::draft::Draft;
use super::BuildContext;
use crate::algebra::Pred;

/// Removes the conditions on files from a parsed phrase and returns them as predicates.
pub(super) fn predicates(cx: &mut BuildContext<'_>, draft: &mut Draft) -> Vec<Pred> {
    let mut preds = std::mem::take(&mut draft.preds);
    draft.loose = false;
    let types = std::mem::take(&mut draft.types);
    let are_endings = !types.is_empty() && types.iter().all(|kind| matches!(kind, Pred::Extension(_)));
    if !types.is_empty() {
        preds.push(Pred::Any(types));
    }
    let says_case = draft.ignore_case.is_some();
    preds = as_worded(draft, preds);
    let has_names = preds.iter().any(|pred| pred.has(&|property| matches!(property, Pred::Name(_))));
    if !says_case && preds.iter().any(has_content) {
        cx.notes.push("upper and lower case differ in the text looked for".to_owned());
    }
    if has_names
        && let Some(true) = draft.ignore_case
        && draft.names.is_none()
    {
        draft.ignore_case = None;
        preds = preds.into_iter().map(in_any_case).collect();
    }
    // Endings are compared in any case.
    draft.ignore_case.take_if(|ignore| *ignore && are_endings);
    if preds.iter().any(|pred| matches!(pred, Pred::Name(_))) {
        cx.notes.push("upper and lower case differ in names".to_owned());
    }
    preds
}

/// The predicates with texts in content matched as the phrase says: as whole words, with or without regard to case.
pub(super) fn as_worded(draft: &mut Draft, mut preds: Vec<Pred>) -> Vec<Pred> {
    if draft.whole_word.take_if(|()| preds.iter().any(has_content)).is_some() {
        preds = preds.into_iter().map(as_word).collect();
    }
    match draft.ignore_case.take_if(|_| preds.iter().any(has_content)) {
        Some(ignore) => preds.into_iter().map(|pred| with_case(pred, ignore)).collect(),
        None => preds,
    }
}

/// Whether a predicate tests the content of files.
fn has_content(pred: &Pred) -> bool {
    pred.has(&|property| matches!(property, Pred::Contains { .. } | Pred::Word { .. }))
}

/// The predicate with its texts in content matched with or without regard to case.
fn with_case(pred: Pred, ignore_case: bool) -> Pred {
    pred.map(&|property| match property {
        Pred::Contains { text, .. } => Pred::Contains { text, ignore_case },
        Pred::Word { text, .. } => Pred::Word { text, ignore_case },
        other => other,
    })
}

/// The predicate with its texts in content matched as whole words.
fn as_word(pred: Pred) -> Pred {
    pred.map(&|property| match property {
        Pred::Contains { text, ignore_case } => Pred::Word { text, ignore_case },
        other => other,
    })
}

/// The predicate with its tests of names changed to ignore case.
fn in_any_case(pred: Pred) -> Pred {
    pred.map(&|property| match property {
        Pred::Name(test) => Pred::NameIgnoringCase(test),
        other => other,
    })
}
