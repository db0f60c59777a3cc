//! Questions computed by a program from the lines or files of another query: lines around a text, medians, addresses in
//! a text, facts and counts of each file, sizes in units, whether there is nothing.

mod eval;
mod shapes;

use std::path::Path;

use self::eval::eval;
use self::shapes::{From, shape};
use super::{Known, Row};
use crate::algebra::{Depth, Fact, Function, GroupKey, Kind, Pred, Query, Ty};
use crate::english::{english, quoted};
use crate::eval::{digest, evaluate};
use crate::lower::{Argv, Pipeline, Unsupported, files_to, lines_to, number_to};
use crate::parse::Form;

/// The kind of question that is computed from the answer to another query.
pub(super) const ROW: Row = Row { name: "piped", forms: include_str!("piped.txt"), read, english: phrase, lower, eval };

/// A pattern: classes of characters in a row, each with the least and the largest number of repetitions.
type Pieces = &'static [(&'static str, usize, usize)];

/// The patterns of URLs, email addresses and IP addresses, by name.
const PATTERNS: [(&str, Pieces); 3] = [
    ("urls", &[("h", 1, 1), ("t", 2, 2), ("p", 1, 1), ("s", 0, 1), (":", 1, 1), ("/", 2, 2), (URL, 1, MANY)]),
    ("emails", &[("A-Za-z0-9._%+-", 1, MANY), ("@", 1, 1), ("A-Za-z0-9.-", 1, MANY), (".", 1, 1), ("A-Za-z", 2, MANY)]),
    ("addresses", &[D, DOT, D, DOT, D, DOT, D]),
];
/// No upper limit of repetitions in a pattern.
const MANY: usize = usize::MAX;
const D: (&str, usize, usize) = ("0-9", 1, 3);
const DOT: (&str, usize, usize) = (".", 1, 1);
const URL: &str = "A-Za-z0-9/_.~%?=&#:@+-";

/// Units of a size: the start of the word, the short name, and the number of bytes.
const UNITS: [(&str, &str, u64); 9] = [
    ("kb", "kB", 1000),
    ("kilo", "kB", 1000),
    ("mb", "MB", 1_000_000),
    ("mega", "MB", 1_000_000),
    ("gb", "GB", 1_000_000_000),
    ("giga", "GB", 1_000_000_000),
    ("kib", "KiB", 1024),
    ("mib", "MiB", 1 << 20),
    ("gib", "GiB", 1 << 30),
];

/// Shapes of question about two folders; their text is the path of the second folder.
const FOLDERS: [&str; 6] = ["differ", "twins", "copies", "fuller", "larger", "richer"];

/// Facts of a file that can be asked for: the word, and the format in which `stat` prints the fact.
const FACTS: [(&str, &str); 5] =
    [("permission", "%a"), ("owner", "%U"), ("user", "%U"), ("group", "%G"), ("size", "%s")];

/// The query with subfolders, if a condition on files is looked for in it, as "files larger than 1 MB" is.
fn deepened(form: &Form<'_>, name: &str, mut of: Query) -> Query {
    let is_deep = matches!(name, "longer" | "shorter") && !form.has_word(&["directly", "only", "just"]);
    if is_deep && matches!(&of, Query::Tree { depth: Depth::Direct, hidden: false, .. }) {
        of.set_depth(Depth::Whole);
    }
    of
}

/// The query for a form of the kind `piped`; `None` if its values don't fit together.
fn read(form: &Form<'_>, wording: &str) -> Option<Query> {
    let (name, then) = wording.split_once('.').unwrap_or((wording, ""));
    if name == "linked" {
        let of = Box::new(Query::Paths { paths: vec![form.path("file")?], kind: Kind::Link });
        return Some(Query::Aggregate { of, function: Function::Any });
    }
    let of = deepened(form, name, source(form, name)?);
    let name = match (name, of.ty().ok()?) {
        ("all" | "none", Ty::Files) => "no_files",
        ("all" | "none", _) => "none",
        (name, _) => name,
    };
    let (_, from, ..) = shape(name)?;
    let fits = match from {
        From::Lines => of.ty() == Ok(Ty::Lines) && evaluate(&of, form.fs()).is_ok(),
        From::Files | From::Folder => of.ty() == Ok(Ty::Files),
        From::Room => matches!(&of, Query::System { fact } if fact.is_room()),
    };
    // The order of the sums decides the sum of sums.
    let is_ordered = matches!(of, Query::Sort { .. }) && name == "digest";
    if !fits || is_ordered || (name == "sorted" && !is_order_clear(form, &of)?) {
        return None;
    }
    let text = match name {
        name if FOLDERS.contains(&name) => Some(form.path("other")?),
        "others" => {
            let path = form.path_there("other")?;
            Some(format!("{} {path}", digest::of_file::<sha2::Sha256>(Path::new(&path), form.fs()).ok()?))
        }
        "same" => Some(digest::of_file::<sha2::Sha256>(Path::new(&form.path("other")?), form.fs()).ok()?),
        _ => form.text("text").map(str::to_owned),
    };
    // Of folders that lie in one another, a file would be in both.
    if let (true, Some(one), Some(two)) = (from == &From::Folder, root(&of), form.path("other"))
        && (Path::new(one).starts_with(&two) || Path::new(&two).starts_with(one))
    {
        return None;
    }
    if is_unfit(form, name) {
        return None;
    }
    // Which of several places is meant is not said.
    if matches!(name, "before" | "after") {
        let hits =
            content(form, &of)?.lines().filter(|line| text.as_ref().is_some_and(|text| line.contains(text))).count();
        (hits == 1).then_some(())?;
    }
    let number = |name: &str| form.number(name).map(|number| number.to_string());
    let n = number("n").or_else(|| number("count"));
    let query = Known::of(
        "piped",
        [
            ("of", serde_json::to_string(&of).ok()),
            ("shape", Some(name.to_owned())),
            (
                "n",
                n.or_else(|| {
                    matches!(name, "before" | "after" | "around" | "onward" | "but_last").then(|| "1".to_owned())
                }),
            ),
            ("m", number("m")),
            ("text", text),
            ("unit", form.text("unit").map(str::to_lowercase)),
            ("facts", form.said_of(&FACTS.map(|(word, _)| word))),
        ],
    );
    // "the size of a.txt and b.txt" may be one number.
    if name == "facts" && form.said_of(&FACTS.map(|(word, _)| word)).is_none_or(|facts| facts == "size") {
        return None;
    }
    let is_whole = matches!(&query, Query::Known { known } if lower(known).is_ok());
    is_whole.then(|| counted(query, then, form.number("n").or_else(|| form.number("count")).unwrap_or(1)))
}

/// Whether the values of a form rule out its question: the file of "target" must be a link, and "every" must start at the
/// line whose number is its step.
fn is_unfit(form: &Form<'_>, name: &str) -> bool {
    let leads_nowhere = |path: String| form.fs().link(Path::new(&path)).is_none();
    match name {
        "target" => form.path("file").is_some_and(leads_nowhere),
        "every" => form.number("m").is_some_and(|first| form.number("n") != Some(first)),
        _ => false,
    }
}

/// The query whose answer a question of the kind `piped` is computed from.
fn source(form: &Form<'_>, name: &str) -> Option<Query> {
    let several = form.paths("files").or_else(|| Some(vec![form.path("file")?, form.path("other")?]));
    let of = match (form.query("of"), form.path("file")) {
        (None, _) if several.is_some() && !form.is_given("in") => {
            let mut paths = several?;
            paths.sort();
            Query::Paths { paths, kind: Kind::File }
        }
        (Some(of), _) => of,
        (None, Some(path)) if matches!(name, "broken_any" | "kind" | "target") => {
            Query::Paths { paths: vec![path], kind: Kind::Any }
        }
        (None, Some(path)) => Query::TextFile { path },
        (None, None) if matches!(name, "emails" | "urls") => {
            let roots = vec![form.path("in").unwrap_or_else(|| form.folder())];
            let files = Query::Tree { roots, depth: Depth::Whole, hidden: false, kind: Kind::File };
            Query::TextOf { of: Box::new(files) }
        }
        (None, None) => {
            let roots = vec![form.path("in").unwrap_or_else(|| form.folder())];
            Query::Tree { roots, depth: Depth::Whole, hidden: false, kind: Kind::Any }
        }
    };
    let of = match (form.located(of), name) {
        // Files alone have a content, each in a folder of its own.
        (Query::Tree { roots, depth, hidden, .. }, "others" | "same") => {
            Query::Tree { roots, depth, hidden, kind: Kind::File }
        }
        (of, _) => of,
    };
    // All are of a kind if none is of another.
    if name == "all" { other_than(&of, &form.query("with")?) } else { Some(of) }
}

/// The query for the files in `all` that `kept`, a filter of the same files, leaves out.
fn other_than(all: &Query, kept: &Query) -> Option<Query> {
    let Query::Filter { of, keep } = kept else { return None };
    let keep = Pred::Not(Box::new(keep.clone())).normalise();
    (of.kind() == all.kind()).then(|| Query::Filter { of: Box::new(all.clone()), keep })
}

/// The text of the file that a query reads; `None` if it doesn't read exactly one whole file.
fn content(form: &Form<'_>, of: &Query) -> Option<String> {
    if let Query::TextFile { path } = of { form.content(path) } else { None }
}

/// Whether "sorted" has one answer for these lines, whether or not letter case and numeric order count.
fn is_order_clear(form: &Form<'_>, of: &Query) -> Option<bool> {
    let text = content(form, of)?;
    let lines: Vec<&str> = text.lines().collect();
    let lower: Vec<String> = lines.iter().map(|line| line.to_lowercase()).collect();
    let numbers: Option<Vec<f64>> = lines.iter().map(|line| line.trim().parse().ok()).collect();
    let is_sorted = lines.is_sorted();
    Some(is_sorted == lower.is_sorted() && numbers.is_none_or(|numbers| numbers.is_sorted() == is_sorted))
}

/// The question with its answer processed as `then` says: counted, each line once, or the most frequent lines.
fn counted(query: Query, then: &str, count: u64) -> Query {
    let of = Box::new(query.clone());
    match then {
        "count" => Query::Aggregate { of, function: Function::Count },
        "unique" => Query::Unique { of },
        "unique_count" => Query::Aggregate { of: Box::new(Query::Unique { of }), function: Function::Count },
        "top" => {
            let groups = Query::Group { of, by: GroupKey::Text, function: Function::Count };
            Query::Limit { of: Box::new(groups), skip: 0, count }
        }
        _ => query,
    }
}

/// The query whose answer this question processes.
fn inner_query(known: &Known) -> Option<Query> {
    serde_json::from_str(known.value("of")).ok()
}

/// A question of the kind `piped` as a noun phrase in English.
fn phrase(known: &Known) -> String {
    let of = inner_query(known).map(|of| english(&of)).unwrap_or_default();
    let of = ["show the ", "list the ", "show ", "list "].iter().find_map(|verb| of.strip_prefix(verb)).unwrap_or(&of);
    // A path has no article.
    let is_path = of.starts_with(['/', '"']);
    let said = shape(known.value("shape")).map_or("", |(.., said, _)| said);
    let said = if is_path { said.replace("the {of}", "{of}") } else { said.to_owned() };
    let unit = unit(known).map_or("", |(name, _)| name);
    let values = [("n", known.value("n")), ("m", known.value("m")), ("unit", unit), ("facts", known.value("facts"))];
    let said = values.iter().fold(said, |said, (name, value)| said.replace(&format!("{{{name}}}"), value));
    let (sum, other) = known.value("text").split_once(' ').unwrap_or_default();
    said.replace("{text}", &quoted(known.value("text")))
        .replace("{sum}", sum)
        .replace("{other}", other)
        .replace("{of}", of)
}

/// The question when the files or folders of a query were last changed.
pub(crate) fn last_change(of: Query) -> Query {
    Known::of("piped", [("of", serde_json::to_string(&of).ok()), ("shape", Some("changed".to_owned()))])
}

/// The question whether there are files of a query, and which.
pub(crate) fn which_ones(of: &Query) -> Query {
    Known::of("piped", [("of", serde_json::to_string(of).ok()), ("shape", Some("some".to_owned()))])
}

/// The files that a question of [`which_ones`] is about; `None` for any other question.
pub(crate) fn asked_of(query: &Query) -> Option<Query> {
    let Query::Known { known } = query else { return None };
    inner_query(known).filter(|_| known.kind == ROW.name && known.value("shape") == "some")
}

/// The queries whose files and folders must exist so that a question can be answered: the query from whose answer it is
/// computed and, if it is about two folders, the second folder.
pub(super) fn needed(known: &Known) -> Vec<Query> {
    let Some(of) = inner_query(known).filter(|_| known.kind == ROW.name) else { return Vec::new() };
    let shape = known.value("shape");
    // These shapes ask whether there are any files or lines, or how many: without any there is still an answer.
    let asks_for_number = ["some", "none", "no_files", "more", "least", "fewer"].contains(&shape);
    let of = if asks_for_number { of.source().clone() } else { of };
    let other =
        FOLDERS.contains(&shape).then(|| Query::Paths { paths: vec![known.value("text").to_owned()], kind: Kind::Any });
    [of].into_iter().chain(other).collect()
}

/// The fact that a question asks for in a unit of size, and the unit in bytes; `None` for any other question.
pub(super) fn room(known: &Known) -> Option<(Fact, u64)> {
    let Query::System { fact } = inner_query(known)? else { return None };
    let (_, bytes) = unit(known)?;
    (known.kind == ROW.name && known.value("shape") == "room").then_some((fact, bytes))
}

/// The only folder or path that a query reads; `None` if there are several.
fn root(of: &Query) -> Option<&str> {
    match of.source() {
        Query::Tree { roots: one, .. } | Query::Paths { paths: one, .. } if one.len() == 1 => {
            one.first().map(String::as_str)
        }
        _ => None,
    }
}

/// The largest number of parts, divided by slashes, of a path that is as many levels below the folder of a query as a
/// question asks for.
fn deepest(known: &Known, query: &Query) -> Option<usize> {
    let levels: usize = known.value("n").parse().ok()?;
    Some(root(query)?.trim_end_matches('/').split('/').count() + levels)
}

/// The regular expression for grep that finds a pattern of [`PATTERNS`].
fn expression(name: &str) -> String {
    let pieces = PATTERNS.iter().find(|(known, _)| *known == name).map_or(&[][..], |(_, pieces)| *pieces);
    let most = |to: usize| if to == MANY { String::new() } else { to.to_string() };
    pieces.iter().map(|(class, from, to)| format!("[{class}]{{{from},{}}}", most(*to))).collect()
}

/// The rows of [`FACTS`] that a question asks for, in the order in which they are shown.
fn facts(known: &Known) -> Vec<(&'static str, &'static str)> {
    let asked: Vec<&str> = known.value("facts").split(' ').collect();
    FACTS.into_iter().filter(|(word, _)| asked.contains(word)).collect()
}

/// The unit of size that a question asks for: its short name and its number of bytes.
fn unit(known: &Known) -> Option<(&'static str, u64)> {
    let said = known.value("unit");
    UNITS.into_iter().find(|(word, ..)| said.starts_with(word)).map(|(_, name, bytes)| (name, bytes))
}

/// The values for the `{names}` in the programs of a question; values that the question lacks are left out.
fn values(known: &Known, query: &Query) -> Vec<(&'static str, String)> {
    const NUMBER: &str = "$0~/^[ \\t]*-?[0-9]+([.][0-9]+)?[ \\t]*$/";
    const BEST: &str = "{n=$0; sub(/.*:/,\"\",n); n+=0; sub(/:[0-9]+$/,\"\"); if(NR==1||n>b){b=n;k=$0} else if(n==b)k=k \"\\n\" $0} END{print k}";
    let name = known.value("shape");
    let formats: Vec<&str> = facts(known).into_iter().map(|(_, format)| format).collect();
    let given = |name: &'static str| known.get(name).map(|value| (name, value.to_owned()));
    let known_values = [
        given("n"),
        given("m"),
        known.get("text").map(|text| ("raw", text.to_owned())),
        unit(known).map(|(name, _)| ("unit", name.to_owned())),
        unit(known).map(|(_, bytes)| ("bytes", bytes.to_string())),
        root(query).map(|root| ("root", root.to_owned())),
        deepest(known, query).map(|parts| ("deepest", parts.to_string())),
        (!formats.is_empty()).then(|| ("formats", format!("{} %n", formats.join(" ")))),
        Some(("pattern", expression(name))),
        Some(("number", NUMBER.to_owned())),
        Some(("figure", if name == "larger" { "%s" } else { "1" }.to_owned())),
        Some(("best", BEST.replace("n>b", if name == "most" { "n>b" } else { "n<b" }))),
    ];
    known_values.into_iter().flatten().collect()
}

/// The programs that compute the answer to a question of the kind `piped`.
fn lower(known: &Known) -> Result<Pipeline, Unsupported> {
    let unknown = || Unsupported::Arrangement("this question");
    let query = inner_query(known).ok_or_else(unknown)?;
    let (_, from, _, programs) = shape(known.value("shape")).ok_or_else(unknown)?;
    let values = values(known, &query);
    let calls = programs.split(" | ").map(|program| call(known, program, &values).ok_or_else(unknown));
    let mut calls = calls.collect::<Result<Vec<_>, _>>()?.into_iter();
    let first = match from {
        From::Lines => lines_to(&query)?,
        From::Files => files_to(&query)?,
        From::Room => number_to(&query)?,
        From::Folder => Pipeline::of(calls.next().ok_or_else(unknown)?),
    };
    Ok(calls.fold(first, Pipeline::pipe))
}

/// A program call from a text written as for a shell, with single quotes around arguments with spaces. A leading `V`
/// passes the question's text in the variable `V`, a leading `U` sets a UTF-8 locale.
fn call(known: &Known, program: &'static str, values: &[(&str, String)]) -> Option<Argv> {
    let (lead, program) =
        program.split_once(' ').filter(|(lead, _)| ["U", "V"].contains(lead)).unwrap_or(("", program));
    let mut argv = match lead {
        "U" => Argv::new("env LC_ALL=C.UTF-8"),
        "V" => Argv::new("env LC_ALL=C").value(format!("V={}", known.value("text"))),
        _ => Argv::new("env LC_ALL=C"),
    };
    for (at, piece) in program.split('\'').enumerate() {
        let words: Vec<&str> = if at % 2 == 0 { piece.split_whitespace().collect() } else { vec![piece] };
        for word in words {
            let mut filled = word.to_owned();
            for (name, value) in values {
                filled = filled.replace(&format!("{{{name}}}"), value);
            }
            let is_missing = ["n", "m", "raw", "unit", "bytes", "root", "formats", "deepest"]
                .iter()
                .any(|name| word.contains(&format!("{{{name}}}")) && !values.iter().any(|(known, _)| known == name));
            argv = if is_missing { return None } else { argv.value(filled) };
        }
    }
    Some(argv)
}
