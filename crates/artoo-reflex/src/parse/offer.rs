//! Finds the nearest request that can be answered, to offer it in place of a declined one.

mod edits;

pub(super) use self::edits::rephrased;

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

use artoo_proto::Offer;

use self::edits::{Edit, applied, cost, joined, plainer};
use super::adjust::is_empty;
use super::background::{Background, background};
use super::clauses::{after_lead, lists, phrase};
use super::described::{described, is_safe};
use super::item::Context;
use super::lexical::acts_at_a_start;
use super::located::{elsewhere, entries, typed};
use super::pattern::is_word;
use super::steps::{begins_a_step, begins_unknown, joins};
use super::{Antecedent, Built, Parsed, as_said, read_after};
use crate::algebra::{Act, Query, Step, Target};
use crate::eval::EntryKind;
use crate::lex::{Class, Token, lex};
use crate::lexicon::{lexicon, slips};
use crate::place::file_name;
use crate::suggest::near;
use crate::texts;

/// Maximum number of tokens of all requests tried for an offer for each kind of edit; each request is parsed in full.
const MAX_TOKENS_TRIED: usize = 36;

/// Maximum number of words of a request that are corrected; with more, the offer would be another request.
const MAX_MENDED: usize = 2;

/// Maximum number of replacements tried for one word.
const MAX_REPLACEMENTS: usize = 3;

/// Maximum number of tokens of a request for which an offer is looked for; the work grows with their cube.
const MAX_TOKENS: usize = 16;

/// Maximum number of entries whose names are compared with the words of a request.
const MAX_NAMES: usize = 2_000;

/// Maximum number of words of a name that is put in quotes.
const MAX_WORDS_OF_NAME: usize = 6;

/// The first request near a declined one that is read in full, in one way, and that `accepts` takes.
pub(super) fn nearest(
    context: &Context<'_>,
    text: &str,
    before: Option<&Antecedent>,
    accepts: &dyn Fn(&Parsed) -> bool,
) -> Option<Offer> {
    let tokens = &lex(text);
    if tokens.is_empty() || tokens.len() > MAX_TOKENS {
        return None;
    }
    let mut declined = Declined { context, text, tokens, before, names: names(context, tokens) };
    declined.names.extend(spaced(context));
    let names = tokens.iter().filter(|token| token.class == Class::FileName);
    let below = names.filter_map(|token| Some((token.raw.clone(), elsewhere_typed(context, token)?)));
    declined.names.extend(below);
    let changes = |parsed: &Parsed| parsed.steps.iter().any(|step| matches!(step, Step::Do(_)));
    let mut read = declined.candidates().into_iter().filter_map(|edits| {
        let request = applied(text, &edits);
        let is_whole = edits.iter().all(|edit| !edit.with.is_empty() || edit.slips == 0);
        let parsed = read_after(context, &request, before, false).ok()?;
        let fits = (is_whole || !changes(&parsed)) && !makes_namesake(context, &parsed);
        // "here" is offered for changes alone: a question without a folder is about the current folder anyway. It must
        // neither become part of a text nor replace words that are left out.
        let leaves_none_out = || edits.iter().all(|edit| !edit.with.is_empty());
        let is_placed = || changes(&parsed) && !parsed.reading.contains(" here") && leaves_none_out();
        let fits = fits && (!edits.iter().any(|edit| edit.span.is_empty()) || is_placed());
        (fits && accepts(&parsed)).then_some((edits, request, parsed))
    });
    let (edits, request, parsed) = read.next()?;
    // A change that could be another one is not offered.
    let mut as_near = read.take_while(|(others, ..)| cost(others) == cost(&edits));
    if changes(&parsed) && as_near.any(|(_, _, other)| other.reading != parsed.reading) {
        return None;
    }
    let said = |edit: &Edit| text.get(edit.span.clone()).unwrap_or_default().to_owned();
    let changed = edits.iter().map(|edit| texts::changed(&said(edit), edit.name()));
    Some(Offer { request, reading: parsed.reading, change: changed.collect::<Vec<_>>().join(" and ") })
}

/// The request with the longest unquoted name with spaces that exists in quotes, as a path; `None` without such a name.
pub(super) fn in_quotes(
    context: &Context<'_>,
    text: &str,
    tokens: &[Token],
    before: Option<&Antecedent>,
) -> Option<String> {
    let mut declined = Declined { context, text, tokens, before, names: names(context, tokens) };
    declined.names.extend(spaced(context));
    let edits =
        declined.quoted().into_iter().max_by_key(|edits| edits.iter().map(|edit| edit.span.len()).sum::<usize>())?;
    Some(applied(text, &edits))
}

/// The path, as it is typed, of the only file elsewhere with the name that a token has; `None` if one is in the current
/// folder.
fn elsewhere_typed(context: &Context<'_>, token: &Token) -> Option<String> {
    let path = context.resolve(&token.raw).filter(|place| context.on_disk(&place.path).is_none())?.path;
    elsewhere(context, &path).filter(|path| is_safe(path)).map(|path| typed(context, &path))
}

/// The edit that replaces a file name that is not in the current folder by the path of the only file of that name.
fn located_edit(context: &Context<'_>, token: &Token) -> Option<Edit> {
    let path = elsewhere_typed(context, token)?;
    let with = if path.contains(' ') { format!("\"{path}\"") } else { path };
    Some(Edit { span: token.span.clone(), with, slips: 0 })
}

/// The notes on words of a request that edits take for names.
fn taken(text: &str, edits: &[Edit]) -> Vec<String> {
    let said = edits.iter().map(|edit| (text.get(edit.span.clone()).unwrap_or_default(), edit.name()));
    said.filter(|(said, with)| said != with).map(|(said, with)| format!("“{said}” is taken as {with}")).collect()
}

/// Whether a step would make a folder to put files into although the only folder of that name is elsewhere.
fn makes_namesake(context: &Context<'_>, parsed: &Parsed) -> bool {
    parsed.steps.iter().any(|step| match step {
        Step::Do(Act::Copy { to: Target::Into(to), .. } | Act::Move { to: Target::Into(to), .. }) => {
            context.on_disk(to).is_none() && elsewhere(context, to).is_some()
        }
        _ => false,
    })
}

/// The only reading of a question in which names with spaces that exist are put in quotes, or words that describe an
/// entry are replaced by its path; `None` without one.
pub(super) fn quoted(
    context: &Context<'_>,
    text: &str,
    tokens: &[Token],
    before: Option<&Antecedent>,
) -> Option<Vec<Built>> {
    let mut declined = Declined { context, text, tokens, before, names: names(context, tokens) };
    declined.names.extend(spaced(context));
    let asks_place = (0..tokens.len()).any(|at| phrase("asks for a place", tokens, at).is_some());
    let read = |edits: Vec<Edit>| {
        let request = applied(text, &edits);
        // The name of a file alone asks for its text.
        let is_alone = request.starts_with("the file ") && edits.iter().all(|edit| edit.with == request);
        let request = if is_alone { format!("show {request}") } else { request };
        let mut built = as_said(context, &request, &lex(&request), before).ok()?;
        built.first_mut()?.assumptions.extend(taken(text, &edits));
        // "what's the weather" asks for more than where the file of this name is.
        let is_place = |built: &Built| matches!(built.step, Step::Ask(Query::Paths { .. }));
        // "notes that mention x" may mean other files than those with "notes" in their names, if none of these does.
        // "2022" may be a part of the name of "Vacation 2022", and no time.
        let is_time = |query: &Query| crate::english::english(query).contains(", modified ");
        let is_guess = |query: &Query| edits.iter().any(|edit| edit.with.ends_with("in the name")) || is_time(query);
        let is_none = |query: &Query| is_empty(context, query) == Some(true);
        let fits = |built: &Built| match &built.step {
            Step::Ask(query) => (asks_place || !is_place(built)) && !(is_guess(query) && is_none(query)),
            Step::Do(_) => false,
        };
        // "te" before a file is no text to look for in it.
        let reading = crate::english::english_steps(&super::steps_of(&built));
        let is_slip = |token: &Token| {
            let is_strange = token.class == Class::Word && token.raw.len() < 3 && !lexicon().knows(&token.folded);
            is_strange && reading.contains(&format!("\"{}\"", token.raw))
        };
        (built.iter().all(fits) && !tokens.iter().any(is_slip)).then_some(built)
    };
    only(declined.quoted().into_iter().filter_map(&read))
        .or_else(|| only(declined.described().into_iter().filter_map(&read)))
}

/// The reading of a question with each file name that is not in the current folder replaced by the path of the only file
/// of that name; `None` without one.
pub(super) fn located(
    context: &Context<'_>,
    text: &str,
    tokens: &[Token],
    before: Option<&Antecedent>,
) -> Option<Vec<Built>> {
    let names = tokens.iter().filter(|token| token.class == Class::FileName);
    let edits: Vec<Edit> = names.filter_map(|token| located_edit(context, token)).collect();
    let request = applied(text, &edits);
    let mut built = as_said(context, &request, &lex(&request), before).ok().filter(|_| !edits.is_empty())?;
    built.first_mut()?.assumptions.extend(taken(text, &edits));
    // "what a.zip contains" asks for more than where it is.
    let is_content = |built: &Built| matches!(&built.step, Step::Ask(query) if !matches!(query, Query::Paths { .. }));
    built.iter().all(is_content).then_some(built)
}

/// The names with spaces of entries below the current folder, each with how it is typed.
fn spaced(context: &Context<'_>) -> impl Iterator<Item = (String, String)> {
    entries(context).unwrap_or_default().into_iter().filter_map(|entry| {
        let path = entry.path.to_str().filter(|path| is_safe(path))?;
        let name = file_name(path).filter(|name| name.contains(' '))?;
        Some((name.to_owned(), typed(context, path)))
    })
}

/// The first of several readings that all ask for the same.
pub(super) fn only(mut found: impl Iterator<Item = Vec<Built>>) -> Option<Vec<Built>> {
    let first = found.next()?;
    let is_same = |other: &Vec<Built>| other.iter().map(|built| &built.step).eq(first.iter().map(|built| &built.step));
    found.all(|other| is_same(&other)).then_some(first)
}

/// The only reading of a question after mistyped words are corrected, with the fewest corrections; `None` without one,
/// or if a corrected word would be a text or a name.
pub(super) fn slipped(
    context: &Context<'_>,
    text: &str,
    tokens: &[Token],
    before: Option<&Antecedent>,
) -> Option<Vec<Built>> {
    let declined = Declined { context, text, tokens, before, names: Vec::new() };
    // A word that is no name or text stays none; others may be what is looked for.
    let is_word = |edit: &Edit| (1..=2).contains(&edit.slips) && phrase("mended", &lex(&edit.with), 0).is_some();
    let mended = declined.candidates().into_iter().filter(|edits| edits.iter().all(is_word));
    let read = |edits: Vec<Edit>| {
        let request = applied(text, &edits);
        let mut built = as_said(context, &request, &lex(&request), before).ok()?;
        let steps = super::steps_of(&built);
        let reading = crate::english::english_steps(&steps);
        let is_text = |edit: &Edit| reading.split('"').skip(1).step_by(2).any(|said| said.contains(&edit.with));
        if edits.iter().any(is_text) || !steps.iter().all(|step| matches!(step, Step::Ask(_))) {
            return None;
        }
        let said = |edit: &Edit| texts::changed(text.get(edit.span.clone()).unwrap_or_default(), &edit.with);
        built.first_mut()?.assumptions.extend(edits.iter().map(said));
        Some((cost(&edits), reading, built))
    };
    let mut found: Vec<_> = mended.filter_map(read).collect();
    found.sort_by_key(|(cost, ..)| *cost);
    let (least, reading, _) = found.first()?;
    let is_only = found.iter().take_while(|(cost, ..)| cost == least).all(|(_, other, _)| other == reading);
    is_only.then(|| found.swap_remove(0).2)
}

/// A declined request with what can replace its words: existing names, each with how it is typed.
struct Declined<'a> {
    context: &'a Context<'a>,
    text: &'a str,
    tokens: &'a [Token],
    before: Option<&'a Antecedent>,
    names: Vec<(String, String)>,
}

impl Declined<'_> {
    /// The edits of each request to try, the nearest first.
    fn candidates(&self) -> Vec<Vec<Edit>> {
        let mut strange: Vec<&Token> = self.tokens.iter().filter(|token| self.is_strange(token)).collect();
        if strange.len() > MAX_MENDED {
            // The name of no existing file is likelier mistyped than a word is.
            strange.retain(|token| token.class != Class::Word);
        }
        let mut mended: Vec<Vec<Edit>> = vec![Vec::new()];
        for token in strange.iter().filter(|_| strange.len() <= MAX_MENDED) {
            let replacements = self.replacements(token);
            let fewer: Vec<_> = mended.iter().filter(|edits| edits.len() < MAX_MENDED).cloned().collect();
            let with = |edits: &Vec<Edit>, edit: &Edit| [edits.clone(), vec![edit.clone()]].concat();
            mended.extend(fewer.iter().flat_map(|edits| replacements.iter().map(|edit| with(edits, edit))));
        }
        mended.sort_by_key(|edits| cost(edits));
        let mut found: Vec<Vec<Edit>> = self.together().into_iter().chain(self.told()).collect();
        found.extend(self.quoted());
        found.extend(self.described());
        found.extend(self.here());
        let plainer = plainer(self.tokens);
        let both: Vec<_> =
            plainer.iter().flat_map(|plain| found.iter().filter_map(|edits| joined(plain, edits))).collect();
        let most = MAX_TOKENS_TRIED / self.tokens.len().max(1);
        found.truncate(most);
        found.extend(plainer.into_iter().chain(both).take(most));
        found.extend(mended.into_iter().skip(1).take(most));
        let mut unknown = strange.iter().filter(|token| token.class == Class::Word);
        if let (Some(only), None) = (unknown.next(), unknown.next())
            && self.may_be_left_out(only)
        {
            found.push(vec![Edit { span: only.span.clone(), with: String::new(), slips: usize::MAX }]);
        }
        found
    }

    /// Whether a token is an unknown word or a name, and nothing of that name exists.
    fn is_strange(&self, token: &Token) -> bool {
        let is_name = match token.class {
            Class::Word => !lexicon().knows(&token.folded),
            Class::Path | Class::FileName => true,
            // A text in quotes without a folder may be anything.
            Class::Quoted => token.raw.contains('/'),
            _ => false,
        };
        is_name && self.context.resolve(&token.raw).is_none_or(|place| self.context.on_disk(&place.path).is_none())
    }

    /// The edit that adds "here" to a change of files for which no folder is named.
    fn here(&self) -> Option<Vec<Edit>> {
        let is_end = |token: &Token| {
            matches!(token.class, Class::Comma | Class::Stop) || ["to", "into"].contains(&token.folded.as_str())
        };
        let what = self.tokens.split(is_end).next()?;
        let names_folder = |token: &Token| {
            let place = self.context.resolve(&token.raw);
            phrase("machines", std::slice::from_ref(token), 0).is_some()
                || place.is_some_and(|place| self.context.is_folder(&place.path))
        };
        let start = after_lead(what, 0);
        let is_change = acts_at_a_start(what) || lists("as ").any(|list| phrase(list, what, start).is_some());
        let last = what.last().filter(|_| is_change && !what.iter().any(names_folder))?;
        Some(vec![Edit { span: last.span.end..last.span.end, with: " here".to_owned(), slips: 0 }])
    }

    /// The edits that put existing names with spaces in quotes, one list for each request to try.
    fn quoted(&self) -> Vec<Vec<Edit>> {
        let runs = (2..=MAX_WORDS_OF_NAME).rev().flat_map(|length| self.tokens.windows(length));
        let spans = runs.filter_map(|run| Some(run.first()?.span.start..run.last()?.span.end));
        let named = spans.flat_map(|span| {
            let said = self.text.get(span.clone()).unwrap_or_default().to_lowercase();
            let is_it = move |known: &str| known.to_lowercase() == said;
            let found = self.names.iter().filter(move |(name, typed)| is_it(name) || is_it(typed));
            found.map(move |(_, typed)| vec![self.in_its_place(span.clone(), typed)])
        });
        // "the folder called old" is one of that name.
        let called = self.tokens.windows(2).filter_map(|pair| {
            let [by, word] = pair else { return None };
            let is_called = phrase("called", std::slice::from_ref(by), 0).is_some() && word.class == Class::Word;
            let is_known = is_called && self.names.iter().any(|(name, _)| name.to_lowercase() == word.folded);
            is_known.then(|| vec![Edit { span: word.span.clone(), with: format!("\"{}\"", word.raw), slips: 0 }])
        });
        called.chain(named.take(MAX_REPLACEMENTS)).collect()
    }

    /// The edits that together replace every file name that is in another folder, every unquoted name with spaces and every
    /// description of a file, and leave out a reason; `None` if there are fewer than two.
    fn together(&self) -> Option<Vec<Edit>> {
        let names = self.tokens.iter().filter(|token| token.class == Class::FileName);
        let located = names.filter_map(|token| Some(vec![located_edit(self.context, token)?]));
        let all = self.quoted().into_iter().chain(located).chain(self.described()).chain(self.told());
        let edits = all.fold(Vec::new(), |edits, more| joined(&edits, &more).unwrap_or(edits));
        (edits.len() > 1).then_some(edits)
    }

    /// The edit that puts a name in quotes; "the Taxes 2024 folder" becomes "the folder "Taxes 2024"".
    fn in_its_place(&self, span: Range<usize>, typed: &str) -> Edit {
        let noun = self.tokens.iter().find(|token| token.span.start >= span.end);
        let noun = noun.filter(|noun| ["folder", "directory"].iter().any(|word| is_word(Some(noun), word)));
        match noun {
            Some(noun) => Edit { span: span.start..noun.span.end, with: format!("folder \"{typed}\""), slips: 0 },
            None => Edit { span, with: format!("\"{typed}\""), slips: 0 },
        }
    }

    /// The edits that leave out a clause at one end that only tells how things are.
    fn told(&self) -> Vec<Vec<Edit>> {
        let is_pause = |token: &Token| matches!(token.class, Class::Comma | Class::Stop);
        let tells = |part: &[Token]| part.len() > 2 && background(part) == Some(Background::Circumstances);
        let mut found = Vec::new();
        // "make it read-only so I don't spoil it".
        let ends = |at: &usize| phrase("purposes", self.tokens, *at).is_some();
        for at in (2..self.tokens.len()).filter(ends) {
            let Some(rest @ [first, ..]) = self.tokens.get(at..) else { continue };
            if background(rest) == Some(Background::Circumstances) {
                found.push(vec![Edit { span: first.span.start..self.text.len(), with: String::new(), slips: 0 }]);
            }
        }
        for (at, _) in self.tokens.iter().enumerate().filter(|(_, token)| is_pause(token)) {
            let (head, tail) = (self.tokens.get(..at), self.tokens.get(at..));
            let (Some(head), Some(tail)) = (head, tail) else { continue };
            let (Some(pause), Some(rest)) = (tail.first(), tail.get(1..)) else { continue };
            let spans = [(tells(head), 0..pause.span.end), (tells(rest), pause.span.start..self.text.len())];
            for (_, span) in spans.into_iter().filter(|(tells, _)| *tells) {
                found.push(vec![Edit { span, with: String::new(), slips: 0 }]);
            }
        }
        found
    }

    /// Words that describe an entry, replaced by its path.
    fn described(&self) -> Vec<Vec<Edit>> {
        let edit = |(span, with)| vec![Edit { span, with, slips: 0 }];
        // "the copy" is the one that was just made.
        let copy = self.before.and_then(Antecedent::copy);
        let said = self.tokens.windows(2).find(|pair| phrase("the copy", pair, 0).is_some());
        if let (Some(path), Some([first, last])) = (copy, said) {
            return vec![edit((first.span.start..last.span.end, format!("\"{}\"", typed(self.context, &path))))];
        }
        described(self.context, self.tokens).into_iter().map(edit).collect()
    }

    /// The edits that replace a word by what it may be mistyped from: existing names first, then dictionary words.
    fn replacements(&self, token: &Token) -> Vec<Edit> {
        let near = lexicon().near(&token.folded);
        let known = |test: fn(&str) -> bool| near.iter().copied().filter(move |(_, known)| test(known));
        // Swapped letters are the likelier slip: "teh" is "the" rather than "ten".
        let letters = |word: &str| word.chars().collect::<BTreeSet<char>>();
        let is_swapped = |known: &str| known.len() == token.folded.len() && letters(known) == letters(&token.folded);
        let cost = |slips: usize, known: &str| (slips * 2).saturating_sub(usize::from(is_swapped(known)));
        let owned = |(slips, known): (usize, &str)| (cost(slips, known), known.to_owned());
        let mut found: Vec<(usize, String)> = if restricts(&token.folded) || known(is_condition).next().is_some() {
            // Nothing but another restriction stands in the place of one.
            known(is_condition).map(owned).collect()
        } else {
            let is_bare = !token.raw.contains('/');
            let named = |(name, typed): &(String, String)| {
                let name = name.to_lowercase();
                Some((cost(slips(&token.folded, &name)?, &name), typed.clone()))
            };
            let names = self.names.iter().filter(|_| is_bare).filter_map(named);
            let words = known(restricts).chain(known(|_| true)).filter(|_| token.class == Class::Word);
            let paths = self.elsewhere(token).into_iter().map(|path| (2, path));
            // Another verb that begins otherwise is no slip of the first word.
            let is_first = self.tokens.get(after_lead(self.tokens, 0)).is_some_and(|first| first.span == token.span);
            let begins = |known: &str| !is_first || known.chars().next() == token.folded.chars().next();
            names.chain(paths).chain(words.filter(|(_, known)| begins(known)).map(owned)).collect()
        };
        found.sort_by_key(|(slips, _)| *slips);
        found.dedup_by(|a, b| a.1 == b.1);
        found.truncate(MAX_REPLACEMENTS);
        let is_name = token.class != Class::Word || found.iter().any(|(_, with)| with.contains('/'));
        let in_quotes = |with: String| if is_name && with.contains(' ') { format!("\"{with}\"") } else { with };
        found.into_iter().map(|(slips, with)| Edit { span: token.span.clone(), with: in_quotes(with), slips }).collect()
    }

    /// Existing paths that a file name may be mistyped from.
    fn elsewhere(&self, token: &Token) -> Vec<String> {
        let Some(place) = self.context.resolve(&token.raw).filter(|_| token.class != Class::Word) else {
            return Vec::new();
        };
        let path = Path::new(&place.path);
        let exists = |path: &Path| self.context.fs.metadata(path).is_ok();
        let absent = path.ancestors().take_while(|above| !exists(above)).last().unwrap_or(path);
        let rest: PathBuf = path.components().skip(absent.components().count()).collect();
        let whole = near(absent, self.context.fs)
            .into_iter()
            .map(|found| found.components().chain(rest.components()).collect());
        whole
            .filter(|path: &PathBuf| exists(path))
            .filter_map(|path| Some(typed(self.context, path.to_str()?)))
            .collect()
    }

    /// Whether the request without this unknown word asks a question that the word doesn't seem to restrict.
    fn may_be_left_out(&self, token: &Token) -> bool {
        let Some(at) = self.tokens.iter().position(|other| other.span == token.span) else { return false };
        let (before, after) =
            (self.tokens.get(..at).unwrap_or_default(), self.tokens.get(at + 1..).unwrap_or_default());
        let rest = [before, after].concat();
        let mut verbs = ["judged", "verbs", "vague", "sends"].into_iter().chain(lists("as "));
        let is_verb = verbs.any(|list| phrase(list, self.tokens, at).is_some()) || begins_unknown(self.tokens, at);
        let is_limit =
            restricts(&token.folded) || lexicon().near(&token.folded).iter().any(|(_, known)| restricts(known));
        let is_plain = token.raw.chars().all(|c| c.is_ascii_lowercase()) && !before.last().is_some_and(joins);
        is_plain && !is_verb && !is_limit && begins_a_step(&rest, after_lead(&rest, 0))
    }
}

/// Whether a word negates, excepts or limits the words beside it.
fn is_condition(word: &str) -> bool {
    let tokens = lex(word);
    let is_listed = |list: &str| phrase(list, &tokens, 0).is_some();
    ["conditions", "exceptions", "negations", "moods", "hedges", "limits"].into_iter().any(is_listed)
        || ["un", "non", "dis"].iter().any(|start| word.starts_with(start))
        || ["ly", "less", "n't"].iter().any(|end| word.ends_with(end))
}

/// Whether a word limits, counts or dates the words beside it.
fn restricts(word: &str) -> bool {
    is_condition(word) || phrase("restricts", &lex(word), 0).is_some()
}

/// The names in the folders that the request names, in the current and the home folder, and in the folders of these
/// two, each with how it is typed.
fn names(context: &Context<'_>, tokens: &[Token]) -> Vec<(String, String)> {
    let environment = context.environment;
    let named: Vec<String> = tokens.iter().filter_map(|token| Some(context.resolve(&token.raw)?.path)).collect();
    let mut open = [named.clone(), vec![environment.cwd.clone(), environment.home.clone()]].concat();
    let (mut found, mut at, tops) = (Vec::new(), 0, open.len());
    while let Some(folder) = open.get(at).cloned().filter(|_| found.len() < MAX_NAMES) {
        for entry in context.fs.list(Path::new(&folder)).unwrap_or_default() {
            let path = entry.path.to_str().filter(|path| is_safe(path));
            let Some((path, name)) = path.and_then(|path| Some((path.to_owned(), file_name(path)?.to_owned()))) else {
                continue;
            };
            let is_in_named = at < named.len();
            let is_top = !is_in_named && at < tops && entry.kind == EntryKind::Folder && !name.starts_with('.');
            found.push((name.clone(), if is_in_named { name } else { typed(context, &path) }));
            open.extend(Some(path).filter(|_| is_top));
        }
        at += 1;
    }
    found
}
