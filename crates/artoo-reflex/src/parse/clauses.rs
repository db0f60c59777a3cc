//! Splits a request into clauses and parses each by itself, so that the fewest words stay unread.

#[cfg(test)]
mod tests;
mod wanted;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;

use artoo_proto::{CoverageState, Unread};

use wanted::asks_for_words;

use super::antecedent::Antecedent;
use super::background::background;
use super::build::Built;
use super::chart::Chart;
use super::item::Context;
use super::lexical::Phrases;
use super::pattern::{Named, Pattern, Piece, ends, is_word, pattern};
use super::steps::{self, StepBoundaries};
use super::{MAX_BYTES, MAX_TOKENS, ReadClause, attempt, changes_something, existing, refuse, steps_of};
use crate::algebra::{Act, Query, Step};
use crate::concept::Concept;
use crate::lex::{Class, Token, lex};
use crate::lexicon::{Meaning, TypeForm, lexicon};

/// Maximum length in bytes of a request that is split into clauses.
#[doc(alias = "limit")]
const MAX_BYTES_TO_SPLIT: usize = 16_000;

/// The word lists of `clauses.txt` by name, such as "courtesy" or "determiners".
static WORDS: LazyLock<BTreeMap<&'static str, Pattern>> = LazyLock::new(|| {
    let lines = include_str!("clauses.txt").lines().filter(|line| !line.starts_with('#'));
    let mut lists: BTreeMap<&str, Vec<Pattern>> = BTreeMap::new();
    for (name, words) in lines.filter_map(|line| line.split_once(": ")) {
        lists.entry(name).or_default().push(pattern(words, &Named::new()));
    }
    lists.into_iter().map(|(name, patterns)| (name, &*vec![Piece::Choice(patterns.leak())].leak())).collect()
});

/// The names of the word lists whose names begin with a text.
pub(super) fn lists(beginning: &str) -> impl Iterator<Item = &'static str> {
    WORDS.keys().copied().filter(move |name| name.starts_with(beginning))
}

/// The position after the longest phrase of a word list that starts at token `at`; `None` if no phrase of the list
/// does.
pub(super) fn phrase(list: &str, tokens: &[Token], at: usize) -> Option<usize> {
    ends(WORDS.get(list)?, tokens, at).into_iter().max()
}

/// The token range of the first phrase in tokens that is in a word list.
fn first(list: &str, tokens: &[Token]) -> Option<Range<usize>> {
    (0..tokens.len()).find_map(|at| Some(at..phrase(list, tokens, at)?))
}

/// The token range of the first phrase of a word list that is neither a name nor measured: a capital inside a clause
/// begins a name, as in "replace Best regards", and so does "called"; "fix-login" is one word, and "two weeks old" has
/// a bound.
fn first_common(list: &str, tokens: &[Token]) -> Option<Range<usize>> {
    let opens = after_lead(tokens, 0);
    let is_name = |at: usize| {
        let begins =
            |token: &Token| token.raw.starts_with(char::is_uppercase) && token.raw.chars().any(char::is_lowercase);
        let is_called = |before: usize| ["called", "units"].iter().any(|list| phrase(list, tokens, before).is_some());
        let is_joined = |token: &Token| {
            tokens.get(at + 1).is_some_and(|next| next.span.start == token.span.end && next.raw.starts_with('-'))
        };
        (at > opens && tokens.get(at).is_some_and(begins))
            || at.checked_sub(1).is_some_and(is_called)
            || tokens.get(at).is_some_and(is_joined)
    };
    (0..tokens.len()).filter(|at| !is_name(*at)).find_map(|at| Some(at..phrase(list, tokens, at)?))
}

/// Whether the word at a position is a noun, because a determiner such as "the" stands before it.
pub(super) fn is_noun(tokens: &[Token], at: usize) -> bool {
    at.checked_sub(1).is_some_and(|before| phrase("determiners", tokens, before).is_some())
}

/// The position after the polite and joining words that start at a position, such as "and please".
pub(super) fn after_lead(tokens: &[Token], start: usize) -> usize {
    let mut at = start;
    loop {
        match lead(tokens, at) {
            Some(end) => at = end,
            None if tokens.get(at).is_some_and(steps::joins) => at += 1,
            None => return at,
        }
    }
}

/// The position after a polite or joining phrase at a position. "first" is one before a verb, unlike in "first 3 lines".
pub(super) fn lead(tokens: &[Token], at: usize) -> Option<usize> {
    let is_order = |end: usize| {
        let is_pause = tokens.get(end).is_some_and(|next| next.class == Class::Comma);
        !is_word(tokens.get(end - 1), "first") || is_pause || steps::begins_a_step(tokens, end)
    };
    phrase("lead", tokens, at).filter(|end| is_order(*end))
}

/// Whether tokens ask if something is so, as in "check that a.txt exists".
pub(super) fn asks_whether(tokens: &[Token]) -> bool {
    phrase("checks", without_lead(tokens), 0).is_some()
}

/// The tokens without the polite and joining words at their start.
fn without_lead(tokens: &[Token]) -> &[Token] {
    tokens.get(after_lead(tokens, 0)..).unwrap_or_default()
}

/// Splits a request into clauses, each with its steps or the reason why it was not read.
pub(super) fn clauses(context: &Context<'_>, text: &str, before: Option<Antecedent>) -> Vec<ReadClause> {
    let whole = |read| vec![ReadClause { span: (0, text.len()), read }];
    if text.len() > MAX_BYTES_TO_SPLIT {
        return whole(Err(not_read("the request is too long; put what matters in short sentences".to_owned())));
    }
    let mut tokens = lex(text);
    tokens.retain(|token| {
        let line = text.get(..token.span.start).and_then(|before| before.rsplit('\n').next());
        !(matches!(token.raw.as_str(), "-" | "*" | "•") && line.is_some_and(|line| line.trim().is_empty()))
    });
    if tokens.len() <= MAX_TOKENS
        && text.len() <= MAX_BYTES
        && let Ok(built) = attempt(context, text, &tokens, before.as_ref())
        && guard(text, &tokens, &built).is_none()
    {
        return whole(Ok(steps_of(&built)));
    }
    if is_foreign(&tokens) {
        return whole(Err(not_read("artoo reads English; say it in English so that it can be shown".to_owned())));
    }
    let mut chain = Chain { before, is_lost: context.is_lost, ..Chain::default() };
    for sentence in sentences(text, &tokens) {
        chain = chain.sentence(context, text, &tokens, sentence);
    }
    chain.mark_restricted(&tokens);
    let mut from = 0;
    let count = chain.clauses.len();
    let mut found: Vec<ReadClause> = Vec::new();
    for (at, (range, read)) in chain.clauses.into_iter().enumerate() {
        let end = tokens.get(range.end.saturating_sub(1)).map_or(text.len(), |token| token.span.end);
        let to = if at + 1 == count { text.len() } else { end };
        found.push(ReadClause { span: (from, to), read });
        from = to;
    }
    if found.is_empty() { whole(Err(not_read("nothing is asked for".to_owned()))) } else { found }
}

/// The result `NotRead` for a clause that code can't read, with the reason.
fn not_read(why: String) -> Unread {
    Unread { state: CoverageState::NotRead, why }
}

/// The token ranges of the sentences and lines of a request.
fn sentences(text: &str, tokens: &[Token]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    for (at, token) in tokens.iter().enumerate() {
        let next = tokens.get(at + 1);
        let between = text.get(token.span.end..next.map_or(text.len(), |next| next.span.start)).unwrap_or_default();
        let is_short = at.checked_sub(1).is_some_and(|before| phrase("abbreviations", tokens, before).is_some());
        let stops = token.class == Class::Stop && token.raw != ":" && next.is_none_or(|next| next.class != Class::Stop);
        let stops = stops && !(is_short && token.raw == "." && next.is_some());
        if stops || between.contains('\n') || next.is_none() {
            found.push(start..at + 1);
            start = at + 1;
        }
    }
    found
}

/// The steps of a clause, or why it was not read.
type Read = Result<Vec<Step>, Unread>;

/// The clauses of a request that were parsed so far, and what the next clause can refer to.
#[derive(Debug, Clone, Default)]
struct Chain {
    clauses: Vec<(Range<usize>, Read)>,
    /// The number of words in clauses that were not read, without courtesies and background.
    unread: usize,
    before: Option<Antecedent>,
    is_lost: bool,
}

impl Chain {
    /// A copy of the chain with one more clause, read or unread.
    fn with(&self, range: Range<usize>, tokens: &[Token], read: Read) -> Self {
        let words = |range: &Range<usize>| {
            let is_word = |token: &&Token| !matches!(token.class, Class::Comma | Class::Stop | Class::Step);
            tokens.get(range.clone()).unwrap_or_default().iter().filter(is_word).count()
        };
        let said = tokens.get(range.clone()).unwrap_or_default();
        let mut chain = self.clone();
        match &read {
            Ok(steps) => {
                chain.before = steps.last().map(|step| Antecedent::of_step(step, said));
                chain.is_lost = false;
            }
            Err(unread) => {
                // What is polite or only tells how things are is no part of what is unread beside it.
                let is_apart = unread.state == CoverageState::Courtesy || background(said).is_some();
                chain.unread += if is_apart { 0 } else { words(&range) };
                if unread.state != CoverageState::Courtesy {
                    (chain.before, chain.is_lost) = (None, true);
                }
            }
        }
        chain.clauses.push((range, read));
        chain
    }

    /// The chain with a sentence added, split into clauses so that the fewest words are unread, then into the fewest
    /// clauses.
    fn sentence(self, context: &Context<'_>, text: &str, tokens: &[Token], range: Range<usize>) -> Self {
        let said = tokens.get(range.clone()).unwrap_or_default();
        let opens = without_lead(said);
        let unread = |state, why: &str| Err(Unread { state, why: why.to_owned() });
        if is_courtesy(said) {
            return self.with(range, tokens, unread(CoverageState::Courtesy, ""));
        }
        if said.len() > MAX_TOKENS {
            return self.with(range, tokens, unread(CoverageState::NotRead, "the sentence is too long; split it"));
        }
        let mut context = *context;
        context.is_lost = self.is_lost;
        // Nothing in a sentence that asks how something is done is owed.
        let asks_how = is_howto(opens);
        let whole = (range.start > 0 || range.end < tokens.len())
            .then(|| attempt(&context, text, said, self.before.as_ref()).ok())
            .flatten()
            .filter(|built| guard(text, said, built).is_none());
        if let Some(built) = whole {
            return self.with(range, tokens, Ok(steps_of(&built)));
        }
        if asks_how {
            return self.with(range, tokens, Err(classified(&context, text, said)));
        }
        self.split(&context, text, tokens, range)
    }

    /// The chain with the clauses of a sentence that can't be read as a whole.
    fn split(self, context: &Context<'_>, text: &str, tokens: &[Token], range: Range<usize>) -> Self {
        let said = tokens.get(range.clone()).unwrap_or_default();
        let boundaries = StepBoundaries::wide(said);
        let chart = Chart::fill(context, said, Phrases::Longest, &boundaries.ends);
        let already = self.clauses.len();
        let mut best = BTreeMap::from([(0, self)]);
        let mut done = Self::default();
        while let Some((start, chain)) = best.pop_first() {
            if start >= said.len() {
                done = chain;
                break;
            }
            let last = (said.len(), said.len());
            for (end, next) in boundaries.between.iter().copied().filter(|(end, _)| *end > start).chain([last]) {
                let words = said.get(start..end).unwrap_or_default();
                let context = Context { is_lost: chain.is_lost, ..*context };
                let read = (!chart.overflown)
                    .then(|| steps::read_range(&context, &chart, (start, end), chain.before.as_ref(), &mut Vec::new()))
                    .map(|readings| existing(&context, readings));
                let read = match read.as_deref() {
                    Some([only]) if guard(text, words, only).is_none() && asks_alone(words, only) => Ok(steps_of(only)),
                    _ if is_courtesy(words) => Err(Unread { state: CoverageState::Courtesy, why: String::new() }),
                    _ => Err(not_read(String::new())),
                };
                let longer = chain.with(range.start + start..range.start + next, tokens, read);
                let cost = |chain: &Self| (chain.unread, chain.clauses.len());
                if best.get(&next).is_none_or(|known| cost(known) > cost(&longer)) {
                    best.insert(next, longer);
                }
            }
        }
        let mut is_described = false;
        for (range, read) in done.clauses.iter_mut().skip(already) {
            let said = tokens.get(range.clone()).unwrap_or_default();
            if is_described {
                *read = Err(described());
            } else if read.is_err() {
                let why = classified(context, text, said);
                is_described = why.state == CoverageState::Described;
                *read = Err(why);
            }
        }
        done
    }

    /// Marks clauses as unread that the clause before or after them may restrict, such as one before "if there are
    /// any".
    fn mark_restricted(&mut self, tokens: &[Token]) {
        let opens = |range: &Range<usize>| {
            let said = tokens.get(range.clone()).unwrap_or_default();
            let joins = |token: &&Token| is_word(Some(token), "and") || token.class != Class::Word;
            let skipped = said.iter().take_while(joins).count();
            phrase("limits", said, skipped).or_else(|| phrase("corrections", said, skipped)).is_some()
        };
        let is_stop = |end: usize| tokens.get(end.saturating_sub(1)).is_some_and(|token| token.class == Class::Stop);
        for at in 1..self.clauses.len() {
            let Some([(before, read), (range, next)]) = self.clauses.get_mut(at - 1..=at) else { continue };
            // "if there are any" can be a question of its own, but after something asked for it is a condition.
            let is_condition = ["if", "unless"].iter().any(|word| is_word(tokens.get(range.start), word));
            let corrects = phrase("corrects", tokens, range.start).is_some();
            let is_unread = next.as_ref().is_err_and(|unread| unread.state != CoverageState::Courtesy);
            if is_condition && next.is_ok() {
                *next = Err(not_read("it may restrict what is said before it".to_owned()));
            }
            if (is_condition || corrects || (is_unread && opens(range))) && read.is_ok() {
                *read = Err(not_read("what is said after it may restrict it".to_owned()));
            }
            let begins = |at: usize| {
                let joins =
                    |token: &Token| token.class == Class::Step || token.class == Class::Stop || steps::joins(token);
                at.checked_sub(1).and_then(|last| tokens.get(last)).is_some_and(joins)
            };
            let is_condition = |at: usize| begins(at) && phrase("conditional", tokens, at).is_some();
            let is_frame = (phrase("frames", tokens, before.start).is_some() || before.clone().any(is_condition))
                && !is_stop(before.end);
            if is_frame && read.as_ref().is_err_and(|unread| unread.state != CoverageState::Courtesy) && next.is_ok() {
                *next = Err(not_read("what is said before it may restrict it".to_owned()));
            }
        }
    }
}

/// Whether tokens ask how something is done, as "how do I …"; "tell me how many" asks for a number.
fn is_howto(opens: &[Token]) -> bool {
    let asks_number = |end| phrase("degrees", opens, end).is_some();
    ["described", "howto"].iter().any(|list| phrase(list, opens, 0).is_some_and(|end| !asks_number(end)))
}

/// The result `Described` for a clause that asks how something is done.
fn described() -> Unread {
    let why = "it asks how something is done, so nothing has to be done".to_owned();
    Unread { state: CoverageState::Described, why }
}

/// Whether tokens only greet, ask kindly or thank.
fn is_courtesy(tokens: &[Token]) -> bool {
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        match phrase("courtesy", tokens, at) {
            Some(end) => at = end,
            // The number of an item in a list stands before a full stop.
            None if matches!(token.class, Class::Comma | Class::Stop | Class::Number(_)) => at += 1,
            None => return false,
        }
    }
    true
}

/// Whether the words are mostly unknown and some belong to another language, or to another script.
fn is_foreign(tokens: &[Token]) -> bool {
    let words: Vec<&Token> = tokens.iter().filter(|token| token.class == Class::Word).collect();
    let unknown = words.iter().filter(|token| !lexicon().knows(&token.folded)).count();
    // A file may have a name in any script.
    let script = |token: &&&Token| token.raw.chars().any(|c| c.is_alphabetic() && c > '\u{24f}');
    let others = words.iter().filter(script).count();
    let is_mixed = first("foreign", tokens).is_some() && unknown * 2 >= words.len();
    (is_mixed && !words.is_empty()) || others * 2 > words.len().max(1)
}

/// Why steps read from tokens must not be used although each word has a meaning; `None` if they may be used.
fn guard(text: &str, tokens: &[Token], built: &[Built]) -> Option<Unread> {
    let opens = without_lead(tokens);
    let changes = changes_something(built);
    let howto = phrase("howto", opens, 0).is_some();
    if is_howto(opens) && (changes || !howto) {
        return Some(described());
    }
    if changes && phrase("asks", opens, 0).is_some() {
        return Some(not_read("a question changes nothing".to_owned()));
    }
    // "the most recent file" is one file; "recent files" are none in particular.
    let is_most = |at: usize| at.checked_sub(1).is_some_and(|before| phrase("most", tokens, before).is_some());
    let guessed = first("guessed", tokens).filter(|range| changes && !is_most(range.start));
    if built.iter().any(|built| is_made_up(text, built)) {
        return Some(not_read("the text to write is unclear; put it in quotes".to_owned()));
    }
    if is_elsewhere(tokens, built) {
        return Some(not_read("“there” is not read; name the folder".to_owned()));
    }
    let typo = super::finished(built, tokens).err().map(|refusal| not_read(refusal.remedy));
    let kept = ("unchanged", tokens, super::edits_in_place(built));
    let limits = [("hedges", tokens, true), ("unclear", tokens, changes), ("told", opens, changes), kept];
    // What is there twice is a duplicate.
    let is_duplicate = |range: &Range<usize>| {
        let finds = |built: &Built| matches!(built.step, Step::Ask(Query::Duplicates { .. }));
        is_word(tokens.get(range.start), "twice") && range.len() == 1 && built.iter().all(finds)
    };
    // A new name stands instead of the old one.
    let renames = |built: &Built| matches!(built.step, Step::Do(Act::Rename { .. }) | Step::Ask(Query::Replace { .. }));
    let is_instead = |range: &Range<usize>| is_word(tokens.get(range.start), "instead") && built.iter().all(renames);
    let said = |(list, said, _): (&str, _, _)| {
        first(list, said).filter(|range| !is_duplicate(range) && !is_instead(range)).map(|range| words(said, range))
    };
    if let Some(said) = limits.into_iter().filter(|(_, _, holds)| *holds).find_map(said) {
        return Some(not_read(format!("“{said}” is not read")));
    }
    // What a new file is made from may be here, as that of a question.
    let is_made = |built: &&Built| matches!(built.step, Step::Do(Act::Save { .. }));
    if let Some(note) = built.iter().filter(|built| !is_made(built)).find_map(Built::chosen).filter(|_| changes) {
        return Some(not_read(note.to_owned()));
    }
    if let Some(range) = but_one(tokens).filter(|_| changes) {
        return Some(not_read(format!("“{}” is not read", words(tokens, range))));
    }
    // Where files are lying restricts no question, and "any of my photos" are all of them.
    let lies = |range: &Range<usize>| changes || phrase("lying", tokens, range.start).is_none();
    let loose = first("never_empty", tokens).filter(lies).or(guessed);
    typo.or_else(|| loose.map(|range| vague(tokens, range)))
}

/// The token range of the first exception such as "except the pdf" in "all files except the pdf", which doesn't say
/// which PDF.
fn but_one(tokens: &[Token]) -> Option<Range<usize>> {
    let means = |at: usize, test: fn(&Meaning) -> bool| {
        tokens.get(at).is_some_and(|token| lexicon().meanings(&token.folded).iter().any(test))
    };
    (0..tokens.len()).find_map(|at| {
        let end = phrase("but_one", tokens, at)?;
        let is_one = means(end, |meaning| matches!(meaning, Meaning::FileType { form: TypeForm::Singular, .. }));
        let is_many = |meaning: &Meaning| matches!(meaning, Meaning::Concept(Concept::Noun { plural: true, .. }));
        (is_one && !means(end + 1, is_many)).then_some(at..end + 1)
    })
}

/// Whether a text to write does not stand in the request as it is, as when words of two lines are joined.
fn is_made_up(text: &str, built: &Built) -> bool {
    let Step::Do(Act::CreateFile { text: said, .. } | Act::Insert { text: said, .. }) = &built.step else {
        return false;
    };
    said.lines().any(|line| !text.contains(line))
}

/// Whether "there" stands beside a change of files that has no folder which the word could name.
fn is_elsewhere(tokens: &[Token], built: &[Built]) -> bool {
    let has_no_folder = |built: &Built| match &built.step {
        Step::Do(act) => {
            matches!(act, Act::Delete { .. } | Act::Rename { .. } | Act::SetMode { .. } | Act::Insert { .. })
        }
        Step::Ask(_) => false,
    };
    let is_place = |at: usize| {
        let is_verb = ["is", "are", "was", "were"].iter().any(|verb| is_word(tokens.get(at + 1), verb));
        is_word(tokens.get(at), "there") && !is_verb
    };
    built.last().is_some_and(has_no_folder) && (0..tokens.len()).any(is_place)
}

/// Whether a part of a sentence asks for something by itself: a verb, a question or a change, not a noun alone.
fn asks_alone(tokens: &[Token], built: &[Built]) -> bool {
    changes_something(built) || steps::begins_a_step(without_lead(tokens), 0)
}

/// The result `Vague` for words without a bound, such as "big files", with a hint what to say.
fn vague(tokens: &[Token], range: Range<usize>) -> Unread {
    let word = words(tokens, range);
    let hint = match word.as_str() {
        "big" | "large" | "huge" | "small" | "tiny" => "say e.g. larger than 10 MB",
        "recent" | "recently" | "old" | "outdated" | "stale" => "say e.g. older than 30 days",
        _ => "name the files, a pattern or a number",
    };
    Unread { state: CoverageState::Vague, why: format!("“{word}”: no bound; {hint}") }
}

/// The tokens of a range as text in lower case, joined by spaces.
fn words(tokens: &[Token], range: Range<usize>) -> String {
    let run = tokens.get(range).unwrap_or_default();
    run.iter().map(|token| token.folded.as_str()).collect::<Vec<_>>().join(" ")
}

/// The reason why a clause was not read: courtesy, a how-to question, a matter of judgement, vague or unknown words.
fn classified(context: &Context<'_>, text: &str, tokens: &[Token]) -> Unread {
    let opens = without_lead(tokens);
    if is_courtesy(tokens) {
        return Unread { state: CoverageState::Courtesy, why: String::new() };
    }
    if is_howto(opens) {
        return described();
    }
    if let Some(range) = first_common("judged", tokens) {
        let why = format!("“{}”: only a model or a person can judge it", words(tokens, range));
        let state = if asks_for_words(opens) { CoverageState::Words } else { CoverageState::Judged };
        return Unread { state, why };
    }
    if let Some(range) = first_common("vague", tokens) {
        return vague(tokens, range);
    }
    if let Some(range) = first("moods", tokens) {
        return not_read(format!(
            "“{}” restricts what is asked for in a way that artoo does not read",
            words(tokens, range)
        ));
    }
    not_read(refuse::why(context, text, tokens))
}
