//! Programs whose words follow no common rule, each with the few forms of it that only show.

use super::danger;
use super::judge::{Judge, State};
use super::objection::Objection;
use super::options::{self, Order};
use super::programs::{self, Operands, Program};
use super::scene::Use;
use super::value::{Arg, Stream};

static UNZIP: Program = Program::new("unzip", "lvtpqCz", "x", "", Operands::Text);
static ZIPINFO: Program = Program::new("unzip -Z", "Z12smlvhtTzC", "", "", Operands::Text);
static TOP: Program = Program::new("top", "bcHiS1", "nopudwE", "", Operands::None);

fn words<'a>(program: &str, arguments: &'a [Arg]) -> Result<Vec<&'a str>, Objection> {
    arguments.iter().map(|word| word.text().ok_or_else(|| danger::objection(program, arguments))).collect()
}

fn decided(is_harmless: bool, program: &str, arguments: &[Arg]) -> Result<Stream, Objection> {
    if is_harmless { Ok(Stream::Text) } else { Err(danger::objection(program, arguments)) }
}

/// `unzip` that lists, tests or prints.
pub(super) fn unzip(judge: &mut Judge<'_>, state: &State, arguments: &[Arg]) -> Result<Stream, Objection> {
    let is_info = arguments.first().and_then(Arg::text).is_some_and(|text| text.starts_with("-Z"));
    let parsed = options::parse(if is_info { &ZIPINFO } else { &UNZIP }, arguments, Order::Any)?;
    if !is_info && !parsed.has_any(&["l", "v", "t", "p", "z"]) {
        return Err(Objection::changes("unzip unpacks over files that are there"));
    }
    if let Some(archive) = parsed.operands.first() {
        judge.reads(state, archive, Use::Content)?;
    }
    Ok(Stream::Text)
}

/// `7z l archive`, `7z t archive`
pub(super) fn seven_zip(judge: &mut Judge<'_>, state: &State, arguments: &[Arg]) -> Result<Stream, Objection> {
    let given = words("7z", arguments)?;
    let lists = matches!(given.first(), Some(&("l" | "t")));
    let is_plain = given.iter().skip(1).all(|word| !word.starts_with(['-', '@']) || *word == "-slt");
    for word in arguments.iter().skip(1).filter(|word| !word.may_be_option) {
        judge.reads(state, word, Use::Content)?;
    }
    decided(lists && is_plain && given.len() > 1, "7z", arguments)
}

/// `pdftotext file -`: to standard output; any other second word is a file.
pub(super) fn pdf_text(judge: &mut Judge<'_>, state: &State, arguments: &[Arg]) -> Result<Stream, Objection> {
    let mut operands = Vec::new();
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        match word.text() {
            Some("-layout" | "-raw" | "-nopgbrk" | "-q" | "-table") => {}
            Some("-f" | "-l" | "-enc") => {
                rest.next();
            }
            Some("-") => operands.push(word),
            _ if word.may_be_option => return Err(danger::objection("pdftotext", arguments)),
            _ => operands.push(word),
        }
    }
    match operands.as_slice() {
        [file, out] if out.text() == Some("-") => {
            judge.reads(state, file, Use::Content)?;
            Ok(Stream::Text)
        }
        _ => Err(Objection::changes("pdftotext writes a file beside the one it reads")),
    }
}

/// An address in digits; a name would be looked up on the network.
fn is_address(word: &str) -> bool {
    word.contains(['.', ':']) && word.chars().all(|c| c.is_ascii_hexdigit() || ".:/".contains(c))
}

/// A word of `ip` that is no option and no name of a host.
fn is_plain(word: &str) -> bool {
    is_address(word)
        || !word.starts_with('-') && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}

/// `ip`: objects that are shown. Its verbs may be shortened, so only whole ones count.
pub(super) fn ip(_judge: &mut Judge<'_>, _state: &State, arguments: &[Arg]) -> Result<Stream, Objection> {
    let given = words("ip", arguments)?;
    let mut rest = given.iter().skip_while(|word| {
        matches!(
            **word,
            "-4" | "-6"
                | "-s"
                | "-d"
                | "-j"
                | "-p"
                | "-br"
                | "-brief"
                | "-c"
                | "-color"
                | "-o"
                | "-h"
                | "-json"
                | "-details"
                | "-stats"
        )
    });
    let is_object = matches!(
        rest.next(),
        Some(
            &("addr"
                | "address"
                | "a"
                | "link"
                | "l"
                | "route"
                | "r"
                | "neigh"
                | "neighbour"
                | "n"
                | "rule"
                | "ru"
                | "maddr"
                | "netns"
                | "tunnel")
        )
    );
    let is_shown = match rest.next() {
        None => true,
        Some(&("show" | "list" | "ls")) => rest.all(|word| is_plain(word)),
        Some(&"get") => rest.all(|word| is_address(word)),
        Some(_) => false,
    };
    decided(is_object && is_shown, "ip", arguments)
}

/// `getent`: local databases; names of hosts are asked of a server.
pub(super) fn getent(_judge: &mut Judge<'_>, _state: &State, arguments: &[Arg]) -> Result<Stream, Objection> {
    let given = words("getent", arguments)?;
    let is_local = matches!(given.first(), Some(&("passwd" | "group" | "services" | "protocols" | "shells" | "rpc")));
    decided(is_local && given.iter().all(|word| !word.starts_with('-')), "getent", arguments)
}

/// `top` that prints once and ends.
pub(super) fn top(_judge: &mut Judge<'_>, _state: &State, arguments: &[Arg]) -> Result<Stream, Objection> {
    let parsed = options::parse(&TOP, arguments, Order::Any)?;
    decided(parsed.has("b") && parsed.has("n") && parsed.operands.is_empty(), "top", arguments)
}

/// `lsof`: a host's name behind `-i` would be looked up.
pub(super) fn lsof(judge: &mut Judge<'_>, state: &State, arguments: &[Arg]) -> Result<Stream, Objection> {
    let is_port = |text: &str| {
        text.strip_prefix("-i").is_some_and(|rest| rest.chars().all(|c| c.is_ascii_alphanumeric() || ":,".contains(c)))
            || text.strip_prefix(':').is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || ",-".contains(c)))
            || ["+D", "+d", "+L1", "-t", "-nP", "-Pn"].contains(&text)
            || text.strip_prefix("-s").is_some_and(|rest| rest == "TCP:LISTEN")
    };
    let rest: Vec<Arg> = arguments.iter().filter(|word| !word.text().is_some_and(is_port)).cloned().collect();
    let program = programs::find("lsof words").ok_or_else(|| danger::objection("lsof", arguments))?;
    judge.program(state, program, &rest, judge.depth)
}

/// A pager on text that is no terminal only shows it; `+` begins a command of its own.
pub(super) fn pager(judge: &mut Judge<'_>, state: &State, arguments: &[Arg]) -> Result<Stream, Objection> {
    let begins_command = |word: &Arg| word.text().is_none_or(|text| text.starts_with('+')) && word.text() != Some("--");
    let is_literal = |word: &Arg| word.text().is_some();
    if arguments.iter().any(|word| begins_command(word) && (is_literal(word) || word.may_be_option)) {
        return Err(Objection::opaque("a word that begins with + is a command of the pager"));
    }
    let program = programs::find("less words").ok_or_else(|| danger::objection("less", arguments))?;
    judge.program(state, program, arguments, judge.depth)
}
