//! The visible text of HTML, one block a line.

use html5gum::emitters::default::DefaultEmitter;
use html5gum::{StartTag, Token, Tokenizer};

use crate::limit::Limit;

/// Names of HTML elements without visible text, such as `script`.
const UNREAD: &str = "script style noscript template svg math iframe object canvas audio video select";

/// Names of HTML block elements, which begin and end a line.
const BLOCKS: &str = "address article aside blockquote body br caption dd details div dl dt figcaption figure footer \
    form h1 h2 h3 h4 h5 h6 header hr html li main nav ol p pre section summary table tr ul";

/// Names of HTML elements that have no end tag and no content.
const VOID: &str = "area base br col embed hr img input link meta source track wbr";

/// Names of HTML elements whose end tag is optional; they are not treated as hidden, since their end is not known.
const OPEN_ENDED: &str = "p li dt dd td th tr option";

/// A start tag, an end tag or a text of a page.
#[derive(Debug)]
pub(crate) enum Event<'a> {
    Start(&'a StartTag<()>),
    End(&'a [u8]),
    Text(&'a str),
}

/// The title and the visible text of a page, and whether it was cut.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct VisibleText {
    pub(crate) title: String,
    pub(crate) text: String,
    /// Whether the limit was reached before the end of the page.
    pub(crate) is_cut: bool,
}

/// Passes the tags and texts of a page to `visit`; `false` if the limit was reached before its end.
pub(crate) fn events(html: &str, limit: &Limit, mut visit: impl FnMut(Event<'_>)) -> bool {
    let mut emitter = DefaultEmitter::default();
    // So that tags in a script are text.
    emitter.naively_switch_states(true);
    for (count, token) in Tokenizer::new_with_emitter(html, emitter).flatten().enumerate() {
        if count % 1024 == 0 && limit.reached() {
            return false;
        }
        match token {
            Token::StartTag(tag) => visit(Event::Start(&tag)),
            Token::EndTag(tag) => visit(Event::End(&tag.name)),
            Token::String(text) => visit(Event::Text(&String::from_utf8_lossy(&text))),
            Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
        }
    }
    true
}

/// The value of an attribute of an HTML tag; `None` if it is missing.
pub(crate) fn attribute(tag: &StartTag<()>, name: &str) -> Option<String> {
    tag.attributes.get(name.as_bytes()).map(|value| String::from_utf8_lossy(value).into_owned())
}

/// Whether the HTML element has this class.
pub(crate) fn has_class(tag: &StartTag<()>, class: &str) -> bool {
    attribute(tag, "class").is_some_and(|classes| classes.split_ascii_whitespace().any(|word| word == class))
}

/// The title and the visible text of a page, as far as they were read before the deadline.
pub(crate) fn visible_text(html: &str, limit: &Limit) -> VisibleText {
    let mut reader = Reader::default();
    let is_whole = events(html, limit, |event| reader.handle_event(event));
    VisibleText { title: joined(&reader.title), text: reader.lines(), is_cut: !is_whole }
}

/// The text with each run of whitespace as one space, without blanks at the ends.
pub(crate) fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Collects the title and the visible text of a page.
#[derive(Default)]
struct Reader {
    title: String,
    text: String,
    in_title: bool,
    /// The hidden element, and the nesting depth of elements of its name in it.
    hidden: Option<(Vec<u8>, usize)>,
}

impl Reader {
    /// Handles one start tag, end tag or text of the page; adds text that is visible to the output.
    fn handle_event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(name) => self.end(name),
            Event::Text(_) if self.hidden.is_some() => {}
            Event::Text(text) if self.in_title => self.title.push_str(text),
            Event::Text(text) => self.text.push_str(&text.replace(['\n', '\r', '\t'], " ")),
        }
    }

    /// Handles a start tag: begins a line, a table cell, the title or a hidden element.
    fn start(&mut self, tag: &StartTag<()>) {
        let name: &[u8] = &tag.name;
        if let Some((hiding, depth)) = &mut self.hidden {
            if hiding.as_slice() == name {
                *depth += 1;
            }
            return;
        }
        self.break_line(name);
        if name == b"title" {
            self.in_title = self.title.is_empty();
        } else if name == b"td" || name == b"th" {
            self.text.push(' ');
        } else if !is_one_of(VOID, name) && (is_one_of(UNREAD, name) || hides(tag)) {
            self.hidden = Some((name.to_vec(), 1));
        }
    }

    /// Handles an end tag: ends a line, the title or a hidden element.
    fn end(&mut self, name: &[u8]) {
        if let Some((hiding, depth)) = &mut self.hidden {
            if hiding.as_slice() == name {
                *depth -= 1;
            }
            if *depth == 0 {
                self.hidden = None;
            }
            return;
        }
        if name == b"title" {
            self.in_title = false;
        }
        self.break_line(name);
    }

    /// Ends the line if `name` is that of a block element.
    fn break_line(&mut self, name: &[u8]) {
        if is_one_of(BLOCKS, name) {
            self.text.push('\n');
        }
    }

    /// The collected text of the page, one line for each block, without empty lines.
    fn lines(&self) -> String {
        let lines = self.text.split('\n').map(joined).filter(|line| !line.is_empty());
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// Whether the name is in a list separated by blanks.
fn is_one_of(names: &str, name: &[u8]) -> bool {
    names.split(' ').any(|known| known.as_bytes() == name)
}

/// Whether an HTML tag, by its `hidden` or `style` attribute, hides its element and everything in it; never if the end
/// tag is optional.
fn hides(tag: &StartTag<()>) -> bool {
    if is_one_of(OPEN_ENDED, &tag.name) {
        return false;
    }
    let style = attribute(tag, "style").unwrap_or_default().to_ascii_lowercase().replace(' ', "");
    tag.attributes.contains_key(b"hidden".as_slice())
        || style.contains("display:none")
        || style.contains("visibility:hidden")
}
