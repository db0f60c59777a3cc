//! Reading lists, pipelines, blocks and redirections: a strict subset, so that what is read is what a shell reads.

use std::ops::Range;

use super::words::is_name;
use super::{Body, Chain, DEPTH_MAX, Doubt, Join, List, PROVABLE_MAX_BYTES, Pipeline, Redirect, Simple, Stage, Word};
use super::{text_doubt, witness};

/// Words that begin or end a block and are read here.
const BLOCKS: [&str; 14] =
    ["if", "then", "elif", "else", "fi", "for", "in", "while", "do", "done", "{", "}", "[[", "!"];

/// Words of the language that are not judged.
const UNJUDGED: [&str; 6] = ["until", "case", "esac", "select", "function", "coproc"];

/// Reads a script; both readers must agree about it.
pub(crate) fn parse(text: &str) -> Result<List, Doubt> {
    if text.len() > PROVABLE_MAX_BYTES {
        return Err(Doubt::TooLong);
    }
    text_doubt(text)?;
    let mut reader = Reader::new(text);
    let list = reader.list(&[])?;
    if list.is_empty() {
        return Err(Doubt::Empty);
    }
    if let Some(c) = reader.peek() {
        return Err(Doubt::Syntax { c });
    }
    if !reader.heredocs.is_empty() {
        return Err(Doubt::Unclosed);
    }
    witness::agrees(text, reader.seen).map(|()| list)
}

/// Where commands and words stand, as the first reader saw it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) names: Vec<Range<usize>>,
    pub(super) words: Vec<Range<usize>>,
    pub(super) tests: Vec<Range<usize>>,
}

/// A here-document whose body begins behind the next line break.
struct HereDocument {
    end: String,
    is_quoted: bool,
    strips_tabs: bool,
}

/// A place in the text.
pub(super) struct Reader<'a> {
    text: &'a str,
    pub(super) at: usize,
    depth: usize,
    heredocs: Vec<HereDocument>,
    seen: Seen,
    /// Words inside a test are not compared: the other reader sees operators there.
    in_test: bool,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Self {
        let seen = Seen::default();
        Self { text, at: 0, depth: 0, heredocs: Vec::new(), seen, in_test: false }
    }

    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn before(&self) -> Option<char> {
        self.text.get(..self.at).and_then(|text| text.chars().next_back())
    }

    pub(super) fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn takes(&mut self, token: &str) -> bool {
        let is_there = self.rest().starts_with(token);
        if is_there {
            self.at += token.len();
        }
        is_there
    }

    /// Passes blanks, continued lines and a comment.
    fn blanks(&mut self) {
        loop {
            if self.takes(" ") || self.takes("\t") || self.takes("\\\n") {
                continue;
            }
            let begins_word = self.before().is_none_or(|c| " \t\n;&|(".contains(c));
            if self.peek() == Some('#') && begins_word {
                self.at += self.rest().find('\n').unwrap_or(self.rest().len());
            }
            return;
        }
    }

    /// Passes blanks and line breaks; bodies of here-documents are read on the way.
    fn lines(&mut self) -> Result<(), Doubt> {
        loop {
            self.blanks();
            if !self.takes("\n") {
                return Ok(());
            }
            for document in std::mem::take(&mut self.heredocs) {
                self.body(&document)?;
            }
        }
    }

    fn body(&mut self, document: &HereDocument) -> Result<(), Doubt> {
        loop {
            let rest = self.rest();
            if rest.is_empty() {
                return Err(Doubt::Unclosed);
            }
            let line = rest.split('\n').next().unwrap_or_default();
            self.at += (line.len() + 1).min(rest.len());
            let line = if document.strips_tabs { line.trim_start_matches('\t') } else { line };
            if line == document.end {
                return Ok(());
            }
            if let Some(c) = line.chars().find(|c| !document.is_quoted && "$`\\".contains(*c)) {
                return Err(Doubt::Syntax { c });
            }
        }
    }

    /// The unquoted word that stands here, without reading it.
    fn upcoming(&self) -> &'a str {
        let rest = self.rest();
        rest.get(..rest.find([' ', '\t', '\n', ';', '&', '|', '<', '>', '(', ')']).unwrap_or(rest.len()))
            .unwrap_or_default()
    }

    /// A list up to one of these words, which is left standing.
    fn list(&mut self, ends: &[&str]) -> Result<List, Doubt> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(Doubt::TooDeep);
        }
        let mut list = Vec::new();
        loop {
            self.lines()?;
            if self.peek().is_none_or(|c| c == ')') || ends.contains(&self.upcoming()) {
                break;
            }
            list.push(self.chain()?);
            self.blanks();
            match self.peek() {
                Some(';') if !self.rest().starts_with(";;") => self.at += 1,
                Some('\n' | ')') | None => {}
                Some(c) => return Err(Doubt::Syntax { c }),
            }
        }
        self.depth -= 1;
        Ok(list)
    }

    /// A list in brackets, whose closing one is passed.
    pub(super) fn nested_list(&mut self, end: &str) -> Result<List, Doubt> {
        let in_test = std::mem::replace(&mut self.in_test, false);
        let begins_clean = self.heredocs.is_empty();
        let list = self.list(&[])?;
        // A here-document across a bracket is read differently by different shells.
        if !begins_clean || !self.takes(end) || list.is_empty() || !self.heredocs.is_empty() {
            return Err(Doubt::Unclosed);
        }
        self.in_test = in_test;
        Ok(list)
    }

    fn chain(&mut self) -> Result<Chain, Doubt> {
        let first = self.pipeline()?;
        let mut rest = Vec::new();
        loop {
            self.blanks();
            let join = if self.takes("&&") {
                Join::And
            } else if self.takes("||") {
                Join::Or
            } else {
                return Ok(Chain { first, rest });
            };
            self.lines()?;
            rest.push((join, self.pipeline()?));
        }
    }

    fn pipeline(&mut self) -> Result<Pipeline, Doubt> {
        self.blanks();
        if self.upcoming() == "!" {
            self.at += 1;
            self.blanks();
        }
        let mut stages = vec![self.stage()?];
        loop {
            self.blanks();
            if self.rest().starts_with("||") || !self.takes("|") {
                return Ok(Pipeline { stages });
            }
            self.takes("&");
            self.lines()?;
            stages.push(self.stage()?);
        }
    }

    fn stage(&mut self) -> Result<Stage, Doubt> {
        self.blanks();
        let word = self.upcoming();
        let body = match word {
            "" if self.rest().starts_with("((") => return Err(Doubt::Reserved { word: "((".to_owned() }),
            "" if self.takes("(") => Body::Subshell(self.nested_list(")")?),
            "{" => {
                self.at += 1;
                Body::Group(self.block("}")?)
            }
            "if" => self.conditional()?,
            "for" => self.for_loop()?,
            "while" => {
                self.at += word.len();
                let condition = self.block("do")?;
                Body::While { condition, body: self.block("done")? }
            }
            "[[" => self.test()?,
            word if BLOCKS.contains(&word) || UNJUDGED.contains(&word) => {
                return Err(Doubt::Reserved { word: word.to_owned() });
            }
            _ => return self.simple(),
        };
        let mut redirects = Vec::new();
        loop {
            self.blanks();
            match self.redirect()? {
                Some(redirect) => redirects.push(redirect),
                None => return Ok(Stage { body, redirects }),
            }
        }
    }

    /// A list that is not empty, with the word that ends it.
    fn block(&mut self, end: &str) -> Result<List, Doubt> {
        let list = self.list(&[end])?;
        if list.is_empty() || self.upcoming() != end {
            return Err(Doubt::Unclosed);
        }
        self.at += end.len();
        Ok(list)
    }

    fn conditional(&mut self) -> Result<Body, Doubt> {
        self.at += "if".len();
        let mut lists = vec![self.block("then")?];
        loop {
            lists.push(self.list(&["elif", "else", "fi"])?);
            match self.upcoming() {
                "elif" => {
                    self.at += "elif".len();
                    lists.push(self.block("then")?);
                }
                "else" => {
                    self.at += "else".len();
                    lists.push(self.block("fi")?);
                    break;
                }
                "fi" => {
                    self.at += "fi".len();
                    break;
                }
                _ => return Err(Doubt::Unclosed),
            }
        }
        if lists.iter().any(Vec::is_empty) { Err(Doubt::Unclosed) } else { Ok(Body::If(lists)) }
    }

    fn for_loop(&mut self) -> Result<Body, Doubt> {
        self.at += "for".len();
        self.blanks();
        let name = self.upcoming().to_owned();
        self.at += name.len();
        self.blanks();
        if !is_name(&name) || self.upcoming() != "in" {
            return Err(Doubt::Reserved { word: "for".to_owned() });
        }
        self.at += "in".len();
        let mut words = Vec::new();
        loop {
            self.blanks();
            match self.peek() {
                Some(';') => {
                    self.at += 1;
                    break;
                }
                Some('\n') => break,
                Some(c) if !"&|<>()".contains(c) => {
                    let word = self.word()?;
                    self.seen.words.push(word.span.clone());
                    words.push(word);
                }
                Some(c) => return Err(Doubt::Syntax { c }),
                None => return Err(Doubt::Unclosed),
            }
        }
        self.lines()?;
        if self.upcoming() != "do" {
            return Err(Doubt::Unclosed);
        }
        self.at += "do".len();
        Ok(Body::For { name, words, body: self.block("done")? })
    }

    fn test(&mut self) -> Result<Body, Doubt> {
        let start = self.at;
        self.at += "[[".len();
        let outer = std::mem::replace(&mut self.in_test, true);
        let mut words = Vec::new();
        loop {
            self.blanks();
            let joined = self.rest().starts_with("&&") || self.rest().starts_with("||");
            let at = self.at;
            match self.peek() {
                Some(_) if joined => {
                    self.at += 2;
                    words.push(operator(self.text, at..self.at));
                }
                Some('<' | '>') => {
                    self.at += 1;
                    words.push(operator(self.text, at..self.at));
                }
                Some(c) if "\n;&|()".contains(c) => return Err(Doubt::Syntax { c }),
                Some(_) if self.upcoming() == "]]" => {
                    self.at += "]]".len();
                    break;
                }
                Some(_) => words.push(self.word()?),
                None => return Err(Doubt::Unclosed),
            }
        }
        self.in_test = outer;
        self.seen.tests.push(start..self.at);
        Ok(Body::Test(words))
    }

    fn simple(&mut self) -> Result<Stage, Doubt> {
        let mut simple = Simple::default();
        let mut redirects = Vec::new();
        let start = self.at;
        let outer = self.in_test;
        loop {
            self.blanks();
            if let Some(redirect) = self.redirect()? {
                redirects.push(redirect);
                continue;
            }
            match self.peek() {
                None | Some('\n' | ';' | '&' | '|' | ')') => break,
                Some('(') => return Err(Doubt::Syntax { c: '(' }),
                Some(_) if simple.words.is_empty() && self.assigned().is_some() => {
                    let name = self.assigned().unwrap_or_default().to_owned();
                    self.at += name.len() + 1;
                    let value = self.word()?;
                    simple.assignments.push((name, value));
                }
                Some(_) => {
                    let word = self.word()?;
                    if simple.words.is_empty() && word.plain() == Some("[") {
                        self.in_test = true;
                    } else if !self.in_test {
                        let seen = if simple.words.is_empty() { &mut self.seen.names } else { &mut self.seen.words };
                        seen.push(word.span.clone());
                    }
                    simple.words.push(word);
                }
            }
        }
        if self.in_test && !outer {
            let end = simple.words.last().map_or(start, |word| word.span.end);
            let start = simple.words.first().map_or(start, |word| word.span.start);
            self.seen.tests.push(start..end);
            self.in_test = outer;
        }
        if simple.words.is_empty() && simple.assignments.is_empty() && redirects.is_empty() {
            return Err(self.peek().map_or(Doubt::Unclosed, |c| Doubt::Syntax { c }));
        }
        Ok(Stage { body: Body::Simple(simple), redirects })
    }

    /// The name of an assignment that begins here.
    fn assigned(&self) -> Option<&'a str> {
        let (name, _) = self.rest().split_once('=')?;
        is_name(name).then_some(name)
    }

    fn redirect(&mut self) -> Result<Option<Redirect>, Doubt> {
        let digits = self.rest().find(|c: char| !c.is_ascii_digit()).unwrap_or(0);
        let behind = self.rest().get(digits..).unwrap_or_default();
        let is_both = digits == 0 && behind.starts_with("&>");
        if !(is_both || behind.starts_with(['<', '>'])) {
            return Ok(None);
        }
        // Only the three streams every program has.
        if !matches!(self.rest().get(..digits), Some("" | "0" | "1" | "2")) {
            return Err(Doubt::Reserved { word: "a numbered stream".to_owned() });
        }
        let from = self.rest().get(..digits).unwrap_or_default();
        self.at += digits;
        let inward = from.is_empty() || from == "0";
        let outward = from != "0";
        let operators = ["<<<", "<<-", "<<", "<>", "<&", "&>>", "&>", ">>", ">&", ">|", "<", ">"];
        let operator = operators.into_iter().find(|operator| self.takes(operator)).unwrap_or_default();
        self.blanks();
        match operator {
            "<" if inward => Ok(Some(Redirect::Input(self.target()?))),
            "<<<" if inward => Ok(Some(Redirect::Text(Some(self.target()?)))),
            "<<" | "<<-" if inward => self.here_document(operator == "<<-").map(Some),
            ">" | ">>" | "&>" | "&>>" if outward => Ok(Some(Redirect::Output(self.target()?))),
            ">&" if outward && matches!(self.upcoming(), "1" | "2") => {
                let word = self.target()?;
                debug_assert!(word.plain().is_some(), "a digit is plain");
                Ok(Some(Redirect::Same))
            }
            _ => Err(Doubt::Reserved { word: operator.to_owned() }),
        }
    }

    fn target(&mut self) -> Result<Word, Doubt> {
        let word = self.word()?;
        if word.span.is_empty() {
            return Err(self.peek().map_or(Doubt::Unclosed, |c| Doubt::Syntax { c }));
        }
        if !self.in_test {
            self.seen.words.push(word.span.clone());
        }
        Ok(word)
    }

    fn here_document(&mut self, strips_tabs: bool) -> Result<Redirect, Doubt> {
        let word = self.word()?;
        let end =
            word.literal().filter(|end| !end.is_empty() && end.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'));
        let end = end.ok_or(Doubt::Reserved { word: "<<".to_owned() })?;
        self.heredocs.push(HereDocument { end, is_quoted: word.plain().is_none(), strips_tabs });
        Ok(Redirect::Text(None))
    }
}

/// An operator of a test as a word.
fn operator(text: &str, span: Range<usize>) -> Word {
    let text = text.get(span.clone()).unwrap_or_default().to_owned();
    Word { parts: vec![super::Part::Text { text, quoted: false }], span }
}
