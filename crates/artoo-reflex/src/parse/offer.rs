//! Offers the nearest request that can be answered in place of a declined one.

use std::ops::Range;
use std::path::Path;

use artoo_proto::{Offer, escape};

use super::clauses::{after_lead, lists, phrase};
use super::item::Context;
use super::steps::{begins_a_step, begins_unknown, joins};
use super::{Antecedent, Parsed, read_after};
use crate::algebra::Step;
use crate::lex::{Class, Token, lex};
use crate::lexicon::{lexicon, slips};
use crate::suggest::near;

/// Maximum number of requests tried for an offer: each is parsed in full, and a decline should cost no more than an
/// answer.
const MAX_TRIED: usize = 12;

/// Maximum number of words of a request that are mended: with more, the offer would be another request.
const MAX_MENDED: usize = 2;

/// Maximum number of replacements tried for one word.
const MAX_REPLACEMENTS: usize = 4;

/// Maximum number of tokens of a request for which an offer is looked for; the work grows with their cube.
const MAX_TOKENS: usize = 16;

/// Maximum number of entries whose names are compared with the words of a request.
const MAX_NAMES: usize = 2_000;

/// Maximum number of words of a name that is put in quotes.
const MAX_WORDS_OF_NAME: usize = 6;

/// A replacement of bytes of the request, with the number of slips it mends.
#[derive(Clone)]
struct Edit {
    span: Range<usize>,
    with: String,
    slips: usize,
}

/// A request to try.
struct Candidate {
    edits: Vec<Edit>,
    leaves_out: bool,
}

/// What an offer is made of: the declined request and what its words can name.
struct Declined<'a> {
    context: &'a Context<'a>,
    text: &'a str,
    tokens: &'a [Token],
    /// Names of existing entries, each with how it is typed.
    names: Vec<(String, String)>,
}

/// The first request near a declined one that is read in full, in one way, and that `accepts` takes.
pub(super) fn nearest(
    context: &Context<'_>,
    text: &str,
    before: Option<&Antecedent>,
    accepts: &dyn Fn(&Parsed) -> bool,
) -> Option<Offer> {
    let tokens = lex(text);
    if tokens.is_empty() || tokens.len() > MAX_TOKENS {
        return None;
    }
    let declined = Declined { context, text, tokens: &tokens, names: names(context, &tokens) };
    let mut found: Option<(Candidate, String, Parsed)> = None;
    for candidate in declined.candidates() {
        let is_as_near =
            |known: &Candidate| known.edits.len() == candidate.edits.len() && known.slips() == candidate.slips();
        if found.as_ref().is_some_and(|(known, ..)| !is_as_near(known)) {
            break;
        }
        let request = candidate.applied(text);
        let Ok(parsed) = read_after(context, &request, before) else { continue };
        let changes = parsed.steps.iter().any(|step| matches!(step, Step::Do(_)));
        if (changes && candidate.leaves_out) || !accepts(&parsed) {
            continue;
        }
        match &found {
            // A change that could be another one is not offered.
            Some((_, _, first)) if changes && first.reading != parsed.reading => return None,
            Some(_) => {}
            None if changes => found = Some((candidate, request, parsed)),
            None => return Some(candidate.offer(text, request, parsed)),
        }
    }
    found.map(|(candidate, request, parsed)| candidate.offer(text, request, parsed))
}

impl Candidate {
    fn slips(&self) -> usize {
        self.edits.iter().map(|edit| edit.slips).sum()
    }

    /// The request with the edits, which are in the order of their places.
    fn applied(&self, text: &str) -> String {
        let mut request = text.to_owned();
        for edit in self.edits.iter().rev() {
            request.replace_range(edit.span.clone(), &edit.with);
        }
        request.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn offer(&self, text: &str, request: String, parsed: Parsed) -> Offer {
        let changed = self.edits.iter().map(|edit| {
            let said = text.get(edit.span.clone()).unwrap_or_default();
            crate::texts::changed(said, edit.with.trim_matches('"'))
        });
        Offer { request, reading: parsed.reading, change: changed.collect::<Vec<_>>().join(" and ") }
    }
}

impl Declined<'_> {
    /// The requests to try, the nearest first.
    fn candidates(&self) -> Vec<Candidate> {
        let mended = |edit: Edit| Candidate { edits: vec![edit], leaves_out: false };
        let mut found: Vec<Candidate> = self.command().into_iter().chain(self.quoted()).map(mended).collect();
        let strange: Vec<&Token> = self.tokens.iter().filter(|token| self.is_strange(token)).collect();
        let mut combined: Vec<Vec<Edit>> = vec![Vec::new()];
        for token in &strange {
            let replacements = self.replacements(token);
            let longer: Vec<Vec<Edit>> = combined
                .iter()
                .filter(|edits| edits.len() < MAX_MENDED)
                .flat_map(|edits| replacements.iter().map(|edit| [edits.clone(), vec![edit.clone()]].concat()))
                .collect();
            combined.extend(longer);
        }
        let mut combined: Vec<Candidate> =
            combined.into_iter().skip(1).map(|edits| Candidate { edits, leaves_out: false }).collect();
        combined.sort_by_key(|candidate| (candidate.edits.len(), candidate.slips()));
        found.extend(combined);
        found.truncate(MAX_TRIED);
        let unknown: Vec<&&Token> = strange.iter().filter(|token| token.class == Class::Word).collect();
        if let [only] = unknown.as_slice()
            && self.may_be_left_out(only)
        {
            let edits = vec![Edit { span: only.span.clone(), with: String::new(), slips: usize::MAX }];
            found.push(Candidate { edits, leaves_out: true });
        }
        found
    }

    /// Whether a token is an unknown word or a name, and nothing of that name exists.
    fn is_strange(&self, token: &Token) -> bool {
        let is_name = match token.class {
            Class::Word => !lexicon().knows(&token.folded),
            Class::Path | Class::FileName | Class::Quoted => true,
            _ => false,
        };
        is_name && self.context.resolve(&token.raw).is_none_or(|place| self.context.on_disk(&place.path).is_none())
    }

    /// The command of a shell that the request begins with, in words.
    fn command(&self) -> Option<Edit> {
        const COMMANDS: [(&str, &str); 1] = [("tree", "list the files and folders in")];
        let [first, _, ..] = self.tokens else { return None };
        let (_, with) = COMMANDS.iter().find(|(command, _)| first.folded == *command)?;
        Some(Edit { span: first.span.clone(), with: (*with).to_owned(), slips: 0 })
    }

    /// Names with spaces that exist and are not in quotes.
    fn quoted(&self) -> Vec<Edit> {
        let runs = (2..=MAX_WORDS_OF_NAME).rev().flat_map(|length| self.tokens.windows(length));
        let spans = runs.filter_map(|run| Some(run.first()?.span.start..run.last()?.span.end));
        let named = spans.flat_map(|span| {
            let said = self.text.get(span.clone()).unwrap_or_default().to_lowercase();
            let is_said = move |(name, _): &&(String, String)| name.to_lowercase() == said;
            let edit = move |(_, typed): &(String, String)| Edit {
                span: span.clone(),
                with: format!("\"{typed}\""),
                slips: 0,
            };
            self.names.iter().filter(is_said).map(edit)
        });
        named.take(MAX_REPLACEMENTS).collect()
    }

    /// What a word may be a slip of: names that exist first, then words of the lexicon.
    fn replacements(&self, token: &Token) -> Vec<Edit> {
        let edit = |slips, with: &str| {
            let is_plain = !with.contains(char::is_whitespace) && token.class != Class::Quoted;
            let with = if is_plain { with.to_owned() } else { format!("\"{with}\"") };
            Edit { span: token.span.clone(), with, slips }
        };
        // Nothing but another restriction stands in the place of one.
        if restricts(&token.folded) || near_words(token, is_condition).next().is_some() {
            return near_words(token, is_condition)
                .map(|(slips, known)| edit(slips, known))
                .take(MAX_REPLACEMENTS)
                .collect();
        }
        let mut found: Vec<Edit> = Vec::new();
        if !token.raw.contains('/') {
            let named =
                |(name, typed): &(String, String)| Some(edit(slips(&token.folded, &name.to_lowercase())?, typed));
            found.extend(self.names.iter().filter_map(named));
        }
        if token.class != Class::Word {
            found.extend(self.elsewhere(token).iter().map(|typed| edit(1, typed)));
        } else {
            found.extend(near_words(token, restricts).map(|(slips, known)| edit(slips, known)));
            found.extend(near_words(token, |_| true).map(|(slips, known)| edit(slips, known)));
        }
        found.sort_by_key(|edit| edit.slips);
        let mut seen: Vec<String> = Vec::new();
        found.retain(|edit| {
            !seen.contains(&edit.with) && {
                seen.push(edit.with.clone());
                true
            }
        });
        found.truncate(MAX_REPLACEMENTS);
        found
    }

    /// Existing paths that a path which doesn't exist may be a slip of.
    fn elsewhere(&self, token: &Token) -> Vec<String> {
        let Some(place) = self.context.resolve(&token.raw) else { return Vec::new() };
        let path = Path::new(&place.path);
        let is_absent = |above: &&Path| self.context.fs.metadata(above).is_err();
        let absent = path.ancestors().take_while(is_absent).last().unwrap_or(path);
        let rest = path.strip_prefix(absent).unwrap_or(Path::new(""));
        let whole = |found: std::path::PathBuf| if rest.as_os_str().is_empty() { found } else { found.join(rest) };
        let found = near(absent, self.context.fs).into_iter().map(whole);
        found
            .filter(|path| self.context.fs.metadata(path).is_ok())
            .filter_map(|path| typed(self.context, path.to_str()?))
            .collect()
    }

    /// Whether the request without this unknown word asks a question that the word doesn't seem to restrict.
    fn may_be_left_out(&self, token: &Token) -> bool {
        let Some(at) = self.tokens.iter().position(|other| other.span == token.span) else { return false };
        let rest: Vec<Token> = self.tokens.iter().filter(|other| other.span != token.span).cloned().collect();
        let is_listed = ["judged", "verbs", "vague", "sends"]
            .into_iter()
            .chain(lists("as "))
            .any(|list| phrase(list, self.tokens, at).is_some());
        let follows_joint = at.checked_sub(1).and_then(|before| self.tokens.get(before)).is_some_and(joins);
        let is_word = token.raw.chars().all(|c| c.is_ascii_lowercase());
        is_word
            && !is_listed
            && !follows_joint
            && !restricts(&token.folded)
            && near_words(token, restricts).next().is_none()
            && !begins_unknown(self.tokens, at)
            && begins_a_step(&rest, after_lead(&rest, 0))
    }
}

/// Whether a word negates, excepts or limits what is said beside it.
fn is_condition(word: &str) -> bool {
    let tokens = lex(word);
    let is_listed = |list: &str| phrase(list, &tokens, 0).is_some();
    ["conditions", "exceptions", "negations", "moods", "hedges", "limits"].into_iter().any(is_listed)
        || ["un", "non", "dis"].iter().any(|start| word.starts_with(start))
        || ["ly", "less", "n't"].iter().any(|end| word.ends_with(end))
}

/// Whether a word limits, counts or dates what is said beside it.
fn restricts(word: &str) -> bool {
    is_condition(word) || phrase("restricts", &lex(word), 0).is_some()
}

/// Words of the lexicon that a word may be a slip of, with the number of slips, the fewest first.
fn near_words(token: &Token, test: fn(&str) -> bool) -> impl Iterator<Item = (usize, &'static str)> {
    lexicon().near(&token.folded).into_iter().filter(move |(_, known)| test(known))
}

/// The names in the current folder, in the home folder, in the folders of both and in those that the request names.
fn names(context: &Context<'_>, tokens: &[Token]) -> Vec<(String, String)> {
    let environment = context.environment;
    let named = tokens.iter().filter_map(|token| context.resolve(&token.raw)).map(|place| place.path);
    let mut open: Vec<(String, bool)> =
        [environment.cwd.clone(), environment.home.clone()].into_iter().map(|path| (path, true)).collect();
    open.extend(named.map(|path| (path, false)));
    let mut found: Vec<(String, String)> = Vec::new();
    let mut at = 0;
    while let Some((folder, has_more)) = open.get(at).cloned().filter(|_| found.len() < MAX_NAMES) {
        at += 1;
        for entry in context.fs.list(Path::new(&folder)).unwrap_or_default() {
            let Some(path) = entry.path.to_str().filter(|path| escape::one_line(path) == **path && !path.contains('"'))
            else {
                continue;
            };
            let Some(name) = entry.path.file_name().and_then(|name| name.to_str()) else { continue };
            let is_of_request = !has_more
                && tokens.iter().any(|token| context.resolve(&token.raw).is_some_and(|place| place.path == folder));
            let typed = if is_of_request { Some(name.to_owned()) } else { typed(context, path) };
            if has_more
                && context.is_folder(path)
                && !name.starts_with('.')
                && !open.iter().any(|(known, _)| known == path)
            {
                open.push((path.to_owned(), false));
            }
            found.extend(typed.map(|typed| (name.to_owned(), typed)));
        }
    }
    found
}

/// How a path is typed: from the current folder if it lies below, else from the home folder.
fn typed(context: &Context<'_>, path: &str) -> Option<String> {
    let below = |folder: &str| path.strip_prefix(folder)?.strip_prefix('/').map(str::to_owned);
    let environment = context.environment;
    let from_home = || below(&environment.home).map(|rest| format!("~/{rest}"));
    below(&environment.cwd).or_else(from_home).or_else(|| Some(path.to_owned()))
}
