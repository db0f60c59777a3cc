//! Puts requests into plainer words and orders: without what only asks to be shown, and with the verb first.

use std::ops::Range;

use super::clauses::{lead, lists, phrase};
use super::pattern::{is_table_name, is_word, wishes_new};
use crate::lex::{Class, Token};

/// A request whose words are put in other orders.
struct Words<'a> {
    text: &'a str,
    tokens: &'a [Token],
}

/// A question in plainer words and orders, the most likely first: "could you tell me how big a.mp4 is" as "how big is
/// a.mp4". Each keeps every word that may restrict what is asked.
pub(super) fn questions(text: &str, tokens: &[Token]) -> Vec<String> {
    if wishes_new(tokens) {
        return Vec::new();
    }
    let words = Words { text, tokens };
    let core = words.core(&["lead", "opening", "courtesy"]);
    let mut ways: Vec<String> = Vec::new();
    // A name alone asks for nothing.
    let is_article = |at: &usize| words.is_any(*at, &["the", "a", "my", "our"]);
    let is_name = core.clone().filter(|at| !is_article(at)).count() < 2;
    if core != (0..tokens.len()) && !is_name {
        ways.push(words.said(core.clone()));
    }
    // "duplicate files in Music" and "zip files?" name them, with nothing said of where they go.
    let is_plural = |token: &Token| token.class == Class::Word && token.folded.ends_with('s');
    let names = words.is_any(core.start, &["duplicate"]) || (words.is_any(core.start, &["zip"]) && text.ends_with('?'));
    if names && tokens.get(core.start + 1).is_some_and(is_plural) {
        ways.push(format!("list {}", words.said(core.clone())));
    }
    ways.extend(
        [
            words.asked_last(&core),
            words.measured(&core),
            words.listed(&core),
            words.fronted(&core),
            words.inverted(&core),
            words.owned(&core),
            words.relative(&core),
            words.placed(&core),
            words.held(&core),
            words.stem(&core),
            words.of_it(&core),
            words.headed(&core),
            words.chosen(&core),
            words.told_where(&core),
            words.pulled(&core),
        ]
        .into_iter()
        .flatten(),
    );
    ways.extend(words.bracketed(&core));
    ways
}

/// A change with its verb first, the most likely first: "I want a.txt moved to b" as "move a.txt to b".
pub(super) fn changes(text: &str, tokens: &[Token]) -> Vec<String> {
    let words = Words { text, tokens };
    let core = words.core(&["lead", "courtesy"]);
    let mut ways: Vec<String> =
        [words.wished(&core), words.passive(&core), words.filled(&core)].into_iter().flatten().collect();
    ways.extend(words.bracketed(&core));
    if core != (0..tokens.len()) {
        ways.push(words.said(core));
    }
    ways
}

impl Words<'_> {
    /// The request's text from one token up to another.
    fn said(&self, range: Range<usize>) -> String {
        let tokens = self.tokens.get(range).unwrap_or_default();
        let span = tokens.first().zip(tokens.last()).map(|(first, last)| first.span.start..last.span.end);
        span.and_then(|span| self.text.get(span)).unwrap_or_default().to_owned()
    }

    /// Whether the token at a position is one of some words.
    fn is_any(&self, at: usize, words: &[&str]) -> bool {
        self.tokens.get(at).is_some_and(|token| words.iter().any(|word| is_word(Some(token), word)))
    }

    /// The tokens without polite words and the phrases of these lists around them, which only ask to be shown something.
    fn core(&self, opens: &[&str]) -> Range<usize> {
        let (mut start, mut end) = (0, self.tokens.len());
        let is_mark =
            |at: usize| self.tokens.get(at).is_some_and(|token| matches!(token.class, Class::Comma | Class::Stop));
        while let Some(next) = opens
            .iter()
            .filter_map(
                |list| if *list == "lead" { lead(self.tokens, start) } else { phrase(list, self.tokens, start) },
            )
            .max()
            .or(is_mark(start).then_some(start + 1))
            && next < end
        {
            start = next;
        }
        loop {
            // "remove the blank lines, just show it" is no change.
            let lists = if opens.contains(&"opening") { &["closing", "shown alone"][..] } else { &["closing"][..] };
            let closes = |at: &usize| lists.iter().any(|list| phrase(list, self.tokens, *at) == Some(end));
            if end > start && is_mark(end - 1) {
                end -= 1;
            } else if let Some(at) = (start + 1..end).find(closes) {
                end = at;
            } else {
                return start..end;
            }
        }
    }

    /// "items on the list, how many" as "how many items on the list".
    fn asked_last(&self, core: &Range<usize>) -> Option<String> {
        let closes = |at: usize| {
            let mut found = lists("last ").filter(|list| phrase(list, self.tokens, at) == Some(core.end));
            found.find_map(|list| Some((at, list.strip_prefix("last ")?)))
        };
        let (at, asks) = (core.start + 1..core.end).find_map(closes)?;
        Some(format!("{asks} {}", self.said(core.start..at).trim_end_matches([',', ' ', '-', '–'])))
    }

    /// "at least 1 and at most 2 MB" as "at least 1 MB and at most 2 MB".
    fn measured(&self, core: &Range<usize>) -> Option<String> {
        let is_number = |at: usize| self.tokens.get(at).is_some_and(|token| matches!(token.class, Class::Number(_)));
        let joins = |at: &usize| is_number(*at) && self.is_any(at + 1, &["and", "but"]);
        let at = core.clone().find(joins)?;
        let other = (at + 2..core.end).take(5).find(|at| is_number(*at))?;
        let unit = phrase("measures", self.tokens, other + 1)?;
        let unit = self.said(other + 1..unit);
        Some(format!("{} {unit} {}", self.said(core.start..at + 1), self.said(at + 1..core.end)))
    }

    /// "in the logs and data folders" as "in the folders logs and data".
    fn listed(&self, core: &Range<usize>) -> Option<String> {
        let noun = core.clone().rev().find(|at| self.is_any(*at, &["folders", "directories"]))?;
        let start = (core.start..noun).rev().find(|at| self.is_any(*at, &["in", "of", "under", "inside", "from"]))? + 1;
        (start..noun).find(|at| self.is_any(*at, &["and", "or"]))?;
        let (before, rest) = (self.said(core.start..start), self.said(noun + 1..core.end));
        Some(format!("{before} {} {} {rest}", self.said(noun..noun + 1), self.said(start..noun)))
    }

    /// "in staff.csv, who earns most" as "who earns most in staff.csv".
    fn fronted(&self, core: &Range<usize>) -> Option<String> {
        let place = phrase("fronted", self.tokens, core.start)?;
        let is_pause = |token: &Token| token.class == Class::Comma || is_word(Some(token), "and");
        let pause = (place + 1..core.end).find(|at| self.tokens.get(*at).is_some_and(is_pause))?;
        let rest = Words { text: self.text, tokens: self.tokens.get(pause + 1..core.end)? };
        let joint = if self.is_any(core.start, &["from"]) { "from" } else { "in" };
        Some(format!("{} {joint} {}", rest.said(rest.core(&["lead", "opening", "courtesy"])), self.said(place..pause)))
    }

    /// "docs: how many pdfs are there" as "how many pdfs are there in docs".
    fn headed(&self, core: &Range<usize>) -> Option<String> {
        let colon = core.clone().find(|at| self.tokens.get(*at).is_some_and(|token| token.raw == ":"))?;
        let from = phrase("fronted", self.tokens, core.start).unwrap_or(core.start);
        let place = from..colon;
        let is_place = |token: &Token| {
            matches!(token.class, Class::Path | Class::FileName | Class::Quoted)
                || token.raw.starts_with(char::is_uppercase)
        };
        let is_named = self.tokens.get(place.clone())?.iter().any(is_place) && place.len() < 4;
        let rest = Words { text: self.text, tokens: self.tokens.get(colon + 1..core.end)? };
        is_named.then(|| format!("{} in {}", rest.said(rest.core(&["lead", "opening", "courtesy"])), self.said(place)))
    }

    /// "of the files in docs, which ones are empty" as "which files in docs are empty".
    fn chosen(&self, core: &Range<usize>) -> Option<String> {
        let opens = self.is_any(core.start, &["of", "among", "from"]);
        let comma = core.clone().find(|at| self.tokens.get(*at).is_some_and(|token| token.class == Class::Comma))?;
        let asks = self.is_any(comma + 1, &["which", "what"]).then_some(comma + 2)?;
        let rest = asks + usize::from(self.is_any(asks, &["ones", "one"]));
        let from = core.start + 1 + usize::from(self.is_any(core.start + 1, &["all"]));
        let from = from + usize::from(self.is_any(from, &["the", "my", "our"]));
        opens.then(|| format!("which {} {}", self.said(from..comma), self.said(rest..core.end)))
    }

    /// "who earns most? it is in a.csv" and "who earns most? a.csv knows it" as "who earns most in a.csv".
    fn told_where(&self, core: &Range<usize>) -> Option<String> {
        let ends =
            |at: &usize| self.tokens.get(*at).is_some_and(|token| matches!(token.class, Class::Stop | Class::Comma));
        let pause = core.clone().rev().find(ends)?;
        let place = match phrase("look there", self.tokens, pause + 1) {
            Some(place) => place..core.end,
            None => {
                pause + 1..(pause + 2..core.end).find(|at| phrase("knows it", self.tokens, *at) == Some(core.end))?
            }
        };
        Some(format!("{} in {}", self.said(core.start..pause), self.said(place.clone()))).filter(|_| place.len() < 5)
    }

    /// "pull all links out of a.txt" as "list all links of a.txt".
    fn pulled(&self, core: &Range<usize>) -> Option<String> {
        let pulls = self.is_any(core.start, &["pull", "get", "take", "dig", "fish", "grab", "pick", "filter"]);
        let at = core.clone().find(|at| self.is_any(*at, &["out"]) && self.is_any(at + 1, &["of"]))?;
        pulls.then(|| format!("list {} of {}", self.said(core.start + 1..at), self.said(at + 2..core.end)))
    }

    /// The request without brackets: the bracketed words stay in place, move to the end, or are left out if `clauses.txt`
    /// lists them as an aside.
    fn bracketed(&self, core: &Range<usize>) -> Vec<String> {
        let is = |class: Class| move |at: &usize| self.tokens.get(*at).is_some_and(|token| token.class == class);
        let Some(open) = core.clone().find(is(Class::Open)) else { return Vec::new() };
        let close = (open..self.tokens.len()).find(is(Class::Close)).unwrap_or(core.end);
        let (before, inside) = (self.said(core.start..open), self.said(open + 1..close));
        let after = self.said((close + 1).min(core.end)..core.end);
        let mut ways = vec![format!("{before} {inside} {after}"), format!("{before} {after} {inside}")];
        if phrase("aside", self.tokens, open + 1) == Some(close) {
            ways.insert(0, format!("{before} {after}"));
        }
        // "my letters (docs/Letters)".
        let is_path =
            self.tokens.get(open + 1).is_some_and(|token| matches!(token.class, Class::Path | Class::FileName));
        let article = (core.start..open).rev().find(|at| self.is_any(*at, &["the", "my", "our"]));
        if let Some(article) = article.filter(|_| is_path && close == open + 2) {
            ways.insert(0, format!("{} {inside} {after}", self.said(core.start..article)));
        }
        ways.into_iter().map(|way| way.trim().to_owned()).collect()
    }

    /// "how big a.mp4 is" as "how big is a.mp4", "whether a and b are alike" as "are a and b alike".
    fn inverted(&self, core: &Range<usize>) -> Option<String> {
        let start = core.start;
        let asks = phrase("asking", self.tokens, start)?;
        let is_whether = self.is_any(start, &["if", "whether"]);
        let verb = (asks + 1..core.end).rev().find(|at| self.is_any(*at, &["is", "are", "was", "were", "has", "have"]));
        let asked = if is_whether { String::new() } else { self.said(start..asks) + " " };
        if let Some(verb) = verb {
            let rest = self.said(verb + 1..core.end);
            return Some(
                format!("{asked}{} {} {rest}", self.said(verb..verb + 1), self.said(asks..verb)).trim().to_owned(),
            );
        }
        // "how often is" has its verb already.
        let asks_verb = self.is_any(asks, &["is", "are", "was", "were", "do", "does", "did", "has", "have"]);
        // "if the notes mention heating".
        (!asks_verb).then(|| format!("{asked}does {}", self.said(asks..core.end)))
    }

    /// "the nurse's salary" as "the salary of the nurse".
    fn owned(&self, core: &Range<usize>) -> Option<String> {
        let ends = |at: &usize| {
            let token = self.tokens.get(*at)?;
            ["'s", "’s"].iter().find_map(|end| token.raw.strip_suffix(end)).filter(|_| token.class == Class::Word)
        };
        let at = core.clone().find(|at| ends(at).is_some())?;
        let owner = ends(&at)?;
        let begin =
            (core.start..at).rev().take_while(|at| self.is_any(*at, &["the", "a", "my", "our"])).last().unwrap_or(at);
        let before = self.said(core.start..begin);
        let article = self.said(begin..at);
        Some(
            format!("{before} {} of {article} {owner} {}", self.said(at + 1..at + 2), self.said(at + 2..core.end))
                .trim()
                .to_owned(),
        )
    }

    /// "the Documents files with a blank in the name" as "the files in Documents with a blank in the name".
    fn placed(&self, core: &Range<usize>) -> Option<String> {
        let is_name = |at: &usize| {
            self.is_any(at + 1, &["file", "files"])
                && self.tokens.get(*at).is_some_and(|token| token.raw.starts_with(char::is_uppercase))
        };
        let at = core.clone().find(is_name)?;
        let (before, folder) = (self.said(core.start..at), self.said(at..at + 1));
        Some(
            format!("{before} {} in {folder} {}", self.said(at + 1..at + 2), self.said(at + 2..core.end))
                .trim()
                .to_owned(),
        )
    }

    /// "which PDFs does Documents contain" and "how many PDFs has Documents" as "PDFs in Documents".
    fn held(&self, core: &Range<usize>) -> Option<String> {
        let asks = phrase("asking", self.tokens, core.start)?;
        let holds = ["contain", "have", "hold", "include", "got"];
        // "how many files Photos has".
        if self.is_any(core.end - 1, &["has", "contains", "holds"]) && core.end > asks + 1 {
            let (what, name) = (self.said(core.start..core.end - 2), self.said(core.end - 2..core.end - 1));
            return Some(format!("{what} are in {name}"));
        }
        let verb = (asks..core.end).rev().find(|at| self.is_any(*at, &["do", "does", "has", "have", "holds"]))?;
        let end = if self.is_any(core.end - 1, &holds) { core.end - 1 } else { core.end };
        let is_held = end < core.end || self.is_any(verb, &["has", "have", "holds"]);
        let subject = verb + 1..end;
        let is_name = !self.is_any(subject.start, &["i", "we", "you", "they", "it", "each", "every", "all"]);
        let what = self.said(core.start..verb);
        (is_held && is_name && !subject.is_empty()).then(|| format!("{what} are in {}", self.said(subject)))
    }

    /// "the different fruits in fruits.txt" as "the different lines in fruits.txt", in a table its rows.
    fn stem(&self, core: &Range<usize>) -> Option<String> {
        let file = core.clone().find(|at| self.tokens.get(*at).is_some_and(|token| token.class == Class::FileName))?;
        let name = &self.tokens.get(file)?.folded;
        let stem = name.rsplit('/').next()?.split_once('.').map(|(stem, _)| stem.trim_end_matches('s'))?;
        let is_stem = |at: &usize| {
            let word = self.tokens.get(*at).filter(|token| token.class == Class::Word).map(|token| &*token.folded);
            *at != file && word.is_some_and(|word| word.trim_end_matches('s').replace("colour", "color") == stem)
        };
        let at = core.clone().find(is_stem)?;
        let is_many = self.tokens.get(at).is_some_and(|token| token.folded.ends_with('s'));
        let line = if is_table_name(name) { "row" } else { "line" };
        let (before, after) = (self.said(core.start..at), self.said(at + 1..core.end));
        Some(format!("{before} {line}{} {after}", if is_many { "s" } else { "" }).trim().to_owned())
    }

    /// "what is its date" as "what is the date of it".
    fn of_it(&self, core: &Range<usize>) -> Option<String> {
        let joins = core.clone().any(|at| self.is_any(at, &["and"]));
        let at = core.clone().find(|at| self.is_any(*at, &["its"])).filter(|_| !joins)?;
        Some(format!("{} the {} of it", self.said(core.start..at), self.said(at + 1..core.end)).trim().to_owned())
    }

    /// "which tracks in Music are not mp3" as "tracks in Music that are not mp3", "what in backup is empty" as "everything
    /// in backup that is empty".
    fn relative(&self, core: &Range<usize>) -> Option<String> {
        let first = core.start;
        let asks = self.is_any(first, &["which", "what"]);
        let is_verb =
            |at: &usize| self.is_any(*at, &["is", "are", "was", "were", "has", "have", "contain", "contains"]);
        let verb = (first + 2..core.end).find(is_verb).filter(|_| asks)?;
        let is_place = self.is_any(first + 1, &["in", "on", "under", "inside"]);
        let noun = if is_place { "everything " } else { "" };
        Some(format!("{noun}{} that {}", self.said(first + 1..verb), self.said(verb..core.end)))
    }

    /// The verb that something is done with by a participle at a position, and the position after it.
    fn done(&self, at: usize) -> Option<(&'static str, usize)> {
        let found =
            lists("done ").filter_map(|list| Some((list.strip_prefix("done ")?, phrase(list, self.tokens, at)?)));
        found.max_by_key(|(_, end)| *end)
    }

    /// "I want a.txt moved to b" as "move a.txt to b".
    fn wished(&self, core: &Range<usize>) -> Option<String> {
        let start = (0..core.start + 1).find_map(|at| phrase("wished", self.tokens, at))?;
        let (at, (verb, end)) = (start + 1..core.end).find_map(|at| Some((at, self.done(at)?)))?;
        // "the files deleted yesterday" are gone already.
        let times = ["yesterday", "today", "last", "ago", "since", "before", "after", "recently", "by"];
        if (end..core.end).any(|at| self.is_any(at, &times)) {
            return None;
        }
        Some(format!("{verb} {} {}", self.said(start..at), self.said(end..core.end)))
    }

    /// "create docs/new and move a.txt there" as "create the folder docs/new and move a.txt there".
    fn filled(&self, core: &Range<usize>) -> Option<String> {
        let path = core.start + 1;
        let is_path = self.tokens.get(path).is_some_and(|token| token.class == Class::Path && !token.raw.contains('.'));
        let fills = (path + 1..core.end).any(|at| {
            self.is_any(at, &["there"]) || self.is_any(at, &["into", "in", "inside"]) && self.is_any(at + 1, &["it"])
        });
        let makes = self.is_any(core.start, &["create", "make", "add"]) && is_path && fills;
        makes.then(|| format!("{} the folder {}", self.said(core.start..path), self.said(path..core.end)))
    }

    /// "a.txt should be moved to b" as "move a.txt to b".
    fn passive(&self, core: &Range<usize>) -> Option<String> {
        let (at, be) = (core.start + 1..core.end).find_map(|at| Some((at, phrase("to be done", self.tokens, at)?)))?;
        // "which files can be deleted?" and "the files that should be moved" change nothing.
        let asks = ["which", "what", "who", "how", "is", "are", "do", "does", "if"];
        let is_part = self.is_any(at - 1, &["that", "which", "who", "what"]);
        let is_question = self.tokens.iter().any(|token| token.raw == "?");
        let (verb, end) = self.done(be).filter(|_| !is_part && !is_question && !self.is_any(core.start, &asks))?;
        Some(format!("{verb} {} {}", self.said(core.start..at), self.said(end..core.end)))
    }
}
