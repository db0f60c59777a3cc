//! Reads follow-up questions with the missing words of the question before: "and in Music?", "how many lines?".

use super::antecedent::Antecedent;
use super::as_said;
use super::build::Built;
use super::clauses::phrase;
use super::item::Context;
use super::mend::{of_table, only_question, quoted_texts};
use super::pattern::{is_table_name, is_word};
use crate::algebra::Step;
use crate::concept::Concept;
use crate::lex::{Class, Token, lex};
use crate::lexicon::{Meaning, lexicon};

/// Number of the class of words that a follow-up question can put in place of a word; `None` for other words.
fn substitution_class(concept: &Concept) -> Option<u8> {
    match concept {
        Concept::Ask(_) => Some(0),
        Concept::Edge(_) => Some(1),
        Concept::Lines { .. } | Concept::TextUnit(_) | Concept::Characters => Some(2),
        Concept::Superlative { .. } => Some(3),
        _ => None,
    }
}

/// The reading of a follow-up question about the file of the answer before: "how many lines?".
pub(super) fn of_it(
    context: &Context<'_>,
    text: &str,
    tokens: &[Token],
    before: Option<&Antecedent>,
) -> Option<Vec<Built>> {
    before.filter(|before| before.file().is_some())?;
    let end = tokens.iter().rposition(|token| token.class != Class::Stop && !is_word(Some(token), "please"))? + 1;
    let said = tokens.get(..end)?;
    let asked = |place: &str| only_question(context, text, &[said, &lex(place)].concat(), before);
    ["in it", "of it"].into_iter().find_map(asked)
}

/// The reading of a follow-up question about the same rows of a table, or about another folder.
fn of_same(context: &Context<'_>, tokens: &[Token], earlier: &str, before: Option<&Antecedent>) -> Option<Vec<Built>> {
    // "what is their average salary?" after a question about a table asks it of the same rows.
    let refers = (0..tokens.len()).any(|at| phrase("rows spoken of", tokens, at).is_some());
    if refers && let Some(built) = of_table(context, &[tokens, &lex(earlier)].concat()) {
        return Some(vec![built]);
    }
    // "and how many in Music?" after "how many files are in Downloads".
    let counts = ["and", "how", "many"];
    let joined = if is_word(tokens.first(), "how") { [&lex("and"), tokens].concat() } else { tokens.to_vec() };
    if joined.iter().zip(counts).all(|(token, word)| is_word(Some(token), word))
        && earlier.to_lowercase().contains("how many")
        && let Some(place) = joined.get(counts.len()..).filter(|rest| !rest.is_empty())
    {
        let request = [joined.get(..1)?, place].concat();
        return as_said(context, earlier, &request, before).ok();
    }
    // "and the largest one in Music?" after "what is the largest file in Photos".
    let said_before = lex(earlier);
    let is_said = |token: &Token| {
        ["one", "ones", "the", "those"].contains(&token.folded.as_str())
            || said_before.iter().any(|other| other.folded == token.folded)
    };
    let place = tokens.iter().position(|token| ["in", "from", "of"].contains(&token.folded.as_str()));
    if let Some((words, rest)) = place.and_then(|place| tokens.split_at_checked(place))
        && let Some((and, words)) = words.split_first().filter(|(and, _)| is_word(Some(and), "and"))
        && !words.is_empty()
        && words.iter().all(is_said)
        && rest.len() > 1
    {
        let request = [std::slice::from_ref(and), rest].concat();
        return as_said(context, earlier, &request, before).ok();
    }
    // "what is the highest salary in it?" after a question about the file of the table, or "the highest salary?".
    let (_, others): (Vec<Token>, Vec<Token>) = tokens.iter().cloned().partition(|token| is_word(Some(token), "it"));
    let tables: Vec<Token> = lex(earlier).into_iter().filter(|token| is_table_name(&token.raw)).collect();
    if tables.len() == 1
        && !tokens.iter().any(|token| is_table_name(&token.raw))
        && let Some(built) = of_table(context, &[others, tables].concat())
    {
        return Some(vec![built]);
    }
    None
}

/// The reading of "and the average?" after "the sum of …": the question before with one of its words replaced by one of
/// the same kind; `None` unless exactly one question comes of it.
pub(super) fn substituted(context: &Context<'_>, tokens: &[Token], before: Option<&Antecedent>) -> Option<Vec<Built>> {
    let earlier = context.earlier?;
    let is_filler = |token: &&Token| {
        const FILLERS: [&str; 11] = ["and", "the", "what", "about", "one", "ones", "in", "for", "of", "with", "from"];
        matches!(token.class, Class::Stop | Class::Comma) || FILLERS.contains(&token.folded.as_str())
    };
    if let Some(built) = of_same(context, tokens, earlier, before) {
        return Some(built);
    }
    let said: Vec<&Token> = tokens.iter().filter(|token| !is_filler(token)).collect();
    let [only] = said.as_slice() else { return None };
    let opens = is_word(tokens.first(), "and") || is_word(tokens.first(), "what");
    let classes = |word: &str| -> Vec<u8> {
        let class = |meaning: &Meaning| match meaning {
            Meaning::Concept(concept) => substitution_class(concept),
            Meaning::FileType { .. } => None,
        };
        // "and the highest?" after "the mean wind".
        let of_numbers = phrase("of numbers", &lex(word), 0).map(|_| 9);
        lexicon().meanings(word).iter().filter_map(class).chain(of_numbers).collect()
    };
    let wanted = classes(&only.folded);
    let says_one = tokens.iter().any(|token| is_word(Some(token), "one"));
    let old = lex(earlier);
    let plain = Context { is_lost: false, ..*context };
    let asked = |request: &str| {
        let tokens = lex(request);
        as_said(&plain, request, &tokens, None).ok().or_else(|| of_table(&plain, &tokens).map(|built| vec![built]))
    };
    // What was looked for may be another text: "and warnings?" after "how many errors are in a.log".
    // A verb for a change is no text to look for.
    let is_act = |meaning: &Meaning| matches!(meaning, Meaning::Concept(Concept::Do(_) | Concept::Act));
    let is_new_text = wanted.is_empty() && !lexicon().meanings(&only.folded).iter().any(is_act);
    let texts = if is_new_text { asked(earlier).map(|built| quoted_texts(&built)) } else { None };
    let is_text = |token: &Token| {
        let stem = token.folded.trim_end_matches('s');
        texts.iter().flatten().any(|text| text.to_lowercase().trim_end_matches('s') == stem)
    };
    let mut found: Vec<Vec<Built>> = Vec::new();
    for (at, token) in old.iter().enumerate().filter(|_| opens) {
        let is_counted = says_one && matches!(old.get(at + 1).map(|next| &next.class), Some(Class::Number(_)));
        if is_counted
            || token.folded == only.folded
            || !(is_text(token) || classes(&token.folded).iter().any(|class| wanted.contains(class)))
        {
            continue;
        }
        let mut request = earlier.to_owned();
        request.replace_range(token.span.clone(), &only.raw);
        let Some(built) = asked(&request) else { continue };
        let is_act = built.iter().any(|built| matches!(built.step, Step::Do(_)));
        if !is_act && !found.contains(&built) {
            found.push(built);
        }
    }
    found.pop().filter(|_| found.is_empty())
}
