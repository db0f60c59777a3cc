//! Questions about a text in the request itself: encoded, shortened or split; and runs of numbers.

use super::{Known, Row};
use crate::algebra::Query;
use crate::english::quoted;
use crate::eval::{EvalError, FileSystem, digest};
use crate::lower::{Argv, Pipeline, Unsupported};
use crate::parse::Form;

/// The kind of question about a text that stands in the request.
pub(super) const ROW: Row = Row { name: "string", forms: include_str!("string.txt"), read, english, lower, eval };

/// Largest number of numbers in a run.
const MAX_RUN: u64 = 10_000;

/// The query for a form about a text in the request; `None` if its values don't fit together.
fn read(form: &Form<'_>, wording: &str) -> Option<Query> {
    let number = |name: &str| form.number(name).map(|number| number.to_string());
    let text = form.text("text").unwrap_or_default();
    // Programs and this crate count, cut and change only ASCII alike.
    let is_plain = text.is_ascii() && !text.contains(|c: char| c.is_ascii_control());
    let fits = match wording {
        "sequence" => {
            let (from, to) = (form.number("from")?, form.number("to")?);
            from <= to && to - from < MAX_RUN && form.text("by").is_none_or(|by| by.len() == 1 && by.is_ascii())
        }
        "host" => text.contains("://"),
        "unbase64" => decoded(text).is_some(),
        "keep" => {
            form.text("set").is_some_and(|set| set.chars().all(|c| c.is_ascii_punctuation() && !"[]\\^-".contains(c)))
        }
        _ => !text.is_empty(),
    };
    let n = number("n").unwrap_or_else(|| "1".to_owned());
    (fits && is_plain).then(|| {
        Known::of(
            "string",
            [
                ("shape", Some(wording.to_owned())),
                ("text", Some(text.to_owned())),
                ("n", Some(n)),
                ("set", form.text("set").map(str::to_owned)),
                ("from", number("from")),
                ("to", number("to")),
                ("by", form.text("by").map(str::to_owned).or_else(|| form.has_word(&["line"]).then(|| " ".to_owned()))),
            ],
        )
    })
}

/// The question about a text in the request as a noun phrase in English.
fn english(known: &Known) -> String {
    let (text, n) = (quoted(known.value("text")), known.value("n"));
    match known.value("shape") {
        "base64" => format!("text {text} in base64"),
        "unbase64" => format!("text that {text} is in base64"),
        "upper" => format!("text {text} in upper case"),
        "lower" => format!("text {text} in lower case"),
        "reversed" => format!("text {text}, reversed"),
        "length" => format!("number of characters of the text {text}"),
        "drop_last" => format!("text {text} without its last {n} characters"),
        "drop_first" => format!("text {text} without its first {n} characters"),
        "first" | "last" => format!("{} {n} characters of the text {text}", known.value("shape")),
        "digits" => format!("digits of the text {text}"),
        "no_digits" => format!("text {text} without digits"),
        "no_spaces" => format!("text {text} without spaces"),
        "keep" => format!("digits and {} of the text {text}", quoted(known.value("set"))),
        "host" => format!("host name in {text}"),
        "base" => format!("last part of the path {text}"),
        "folder" => format!("folder of the path {text}"),
        "md5" => format!("MD5 of the text {text}"),
        "sha256" => format!("SHA-256 of the text {text}"),
        _ => {
            let by = known.get("by").map(|by| format!(", separated by {}", quoted(by))).unwrap_or_default();
            format!("numbers from {} to {}{by}", known.value("from"), known.value("to"))
        }
    }
}

/// The command that computes the answer from the text in the request.
fn lower(known: &Known) -> Result<Pipeline, Unsupported> {
    let (text, n, shape) = (known.value("text"), known.value("n"), known.value("shape"));
    // A sum is one of the text alone, without a newline.
    let format = if matches!(shape, "base64" | "md5" | "sha256" | "length") { "%s" } else { "%s\\n" };
    let said = Pipeline::of(Argv::new("printf").value(format).value(text));
    let sed = |script: String| Argv::bytewise("sed -E -e").value(script);
    Ok(match shape {
        "base64" => said.pipe(Argv::new("base64 -w 0")).pipe(sed("s/$//".to_owned())),
        "unbase64" => said.pipe(Argv::new("base64 -d")),
        "upper" => said.pipe(Argv::bytewise("tr [:lower:] [:upper:]")),
        "lower" => said.pipe(Argv::bytewise("tr [:upper:] [:lower:]")),
        "reversed" => said.pipe(Argv::new("rev")),
        "length" => said.pipe(Argv::new("wc -c")),
        "drop_last" => said.pipe(sed(format!("s/.{{{n}}}$//"))),
        "drop_first" => said.pipe(sed(format!("s/^.{{{n}}}//"))),
        "first" => said.pipe(sed(format!("s/^(.{{0,{n}}}).*$/\\1/"))),
        "last" => said.pipe(sed(format!("s/^.*(.{{{n}}})$/\\1/"))),
        "digits" => said.pipe(sed("s/[^0-9]//g".to_owned())),
        "no_digits" => said.pipe(sed("s/[0-9]//g".to_owned())),
        "no_spaces" => said.pipe(sed("s/ //g".to_owned())),
        "keep" => said.pipe(Argv::bytewise("tr -d -c").value(format!("0-9{}\\n", known.value("set")))),
        "host" => said.pipe(sed("s|^[^:]*://([^/@]*@)?([^/:?#]*).*$|\\2|".to_owned())),
        "base" => Pipeline::of(Argv::new("basename").operands([text])),
        "folder" => Pipeline::of(Argv::new("dirname").operands([text])),
        "md5" => said.pipe(Argv::new("md5sum")).pipe(Argv::new("cut -c 1-32")),
        "sha256" => said.pipe(Argv::new("sha256sum")).pipe(Argv::new("cut -c 1-64")),
        _ => {
            let run = Argv::new("seq").value(known.value("from")).value(known.value("to"));
            let joined = known.get("by").map(|by| Argv::bytewise("paste -s -d").value(by));
            joined.into_iter().fold(Pipeline::of(run), Pipeline::pipe)
        }
    })
}

/// The answer to a question about a text in the request, computed without programs.
fn eval(known: &Known, _: &dyn FileSystem) -> Result<Vec<String>, EvalError> {
    let text = known.value("text");
    let number = |name: &str| known.value(name).parse::<u64>().map_err(|_| EvalError::Meaningless);
    let n = usize::try_from(number("n")?).map_err(|_| EvalError::Meaningless)?;
    let kept = |test: &dyn Fn(char) -> bool| text.chars().filter(|c| test(*c)).collect::<String>();
    let rest = text.len().saturating_sub(n);
    Ok(vec![match known.value("shape") {
        "base64" => encoded(text.as_bytes()),
        "unbase64" => decoded(text).ok_or(EvalError::Meaningless)?,
        "upper" => text.to_ascii_uppercase(),
        "lower" => text.to_ascii_lowercase(),
        "reversed" => text.chars().rev().collect(),
        "length" => text.len().to_string(),
        "drop_last" => text.get(..if n > text.len() { text.len() } else { rest }).unwrap_or_default().to_owned(),
        "drop_first" => text.get(if n > text.len() { 0 } else { n }..).unwrap_or_default().to_owned(),
        "first" => text.get(..n.min(text.len())).unwrap_or_default().to_owned(),
        "last" => text.get(rest..).unwrap_or_default().to_owned(),
        "digits" => kept(&|c| c.is_ascii_digit()),
        "no_digits" => kept(&|c| !c.is_ascii_digit()),
        "no_spaces" => kept(&|c| c != ' '),
        "keep" => kept(&|c| c.is_ascii_digit() || known.value("set").contains(c)),
        "host" => {
            let rest = text.split_once("://").map_or("", |(_, rest)| rest);
            let place = rest.split('/').next().unwrap_or_default();
            let host = place.rsplit_once('@').map_or(place, |(_, host)| host);
            host.split([':', '?', '#']).next().unwrap_or_default().to_owned()
        }
        "base" => text.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned(),
        "folder" => match text.trim_end_matches('/').rsplit_once('/') {
            Some(("", _)) => "/".to_owned(),
            Some((folder, _)) => folder.trim_end_matches('/').to_owned(),
            None => ".".to_owned(),
        },
        "md5" => <md5::Md5 as md5::Digest>::digest(text).iter().map(|byte| format!("{byte:02x}")).collect(),
        "sha256" => digest::of_bytes(text.as_bytes()),
        _ => {
            let run = (number("from")?..=number("to")?).map(|number| number.to_string());
            match known.get("by") {
                Some(by) => run.collect::<Vec<_>>().join(by),
                None => return Ok(run.collect()),
            }
        }
    }])
}

/// The 64 characters of base64.
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Bytes in base64.
fn encoded(bytes: &[u8]) -> String {
    let group = |group: &[u8]| {
        let bits = group.iter().chain([&0; 2]).take(3).fold(0, |bits: usize, byte| bits << 8 | usize::from(*byte));
        let sign = |at: usize| ALPHABET.get(bits >> (18 - 6 * at) & 63).map_or('=', |sign| char::from(*sign));
        (0..4).map(|at| if at <= group.len() { sign(at) } else { '=' }).collect::<String>()
    };
    bytes.chunks(3).map(group).collect()
}

/// The text that base64 encodes; `None` if it is not exactly one line of text.
fn decoded(text: &str) -> Option<String> {
    let signs = text.trim_end_matches('=');
    let values: Vec<usize> =
        signs.bytes().map(|sign| ALPHABET.iter().position(|known| *known == sign)).collect::<Option<_>>()?;
    let group = |group: &[usize]| {
        let bits = group.iter().chain([&0; 3]).take(4).fold(0, |bits, value| bits << 6 | value);
        (0..group.len().saturating_sub(1))
            .map(|at| u8::try_from(bits >> (16 - 8 * at) & 255))
            .collect::<Result<Vec<_>, _>>()
    };
    let bytes: Vec<Vec<u8>> = values.chunks(4).map(group).collect::<Result<_, _>>().ok()?;
    let plain = String::from_utf8(bytes.concat()).ok()?;
    let is_whole = text.len().is_multiple_of(4) && encoded(plain.as_bytes()) == text;
    (is_whole && !plain.contains(['\n', '\0'])).then_some(plain)
}
