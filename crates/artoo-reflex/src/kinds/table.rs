//! Questions about the columns of CSV, TSV and JSON tables by their headings: sums, averages, groups, conditions and
//! order.

mod cells;
mod log;
mod question;
mod roles;

use std::cmp::Ordering;
use std::path::Path;

pub(super) use self::cells::is_table;
use self::cells::{Table, is_number, written};
use super::{Known, Row};

use crate::algebra::{Function, NameTest, Pred, Query};
use crate::eval::{EvalError, FileSystem, decimal, text};
use crate::lower::{Argv, Pipeline, Unsupported};
use crate::parse::{Form, sorted};

/// The kind of question about the rows, columns and numbers of a table.
pub(super) const ROW: Row = Row { name: "table", forms: include_str!("table.txt"), read, english, lower, eval };

/// Characters that can separate the cells of a table.
const SEPARATORS: [char; 4] = [',', ';', '\t', '|'];

/// The ends of the names under which a question has its conditions, of which all must hold: `where` has the column, the
/// name of a row of [`TESTS`] the value.
const CONDITIONS: [&str; 3] = ["", "2", "3"];

/// How a condition compares a cell with its value: its name, its words in English, and the operator of `awk`, if it is
/// one for numbers and dates.
const TESTS: [(&str, &str, &str); 8] = [
    ("is", "is", ""),
    ("not", "is not", ""),
    ("among", "is one of", ""),
    ("within", "begins with", ""),
    ("above", "is more than", ">"),
    ("below", "is less than", "<"),
    ("least", "is at least", ">="),
    ("most", "is at most", "<="),
];

/// Maximum number of rows shown because they rank the same as the last one asked for.
#[doc(alias = "limit")]
const MAX_RANKED: usize = 1_000;

/// The separator between the values of the condition `among`.
const OR: char = '|';

/// The `awk` functions that split a line into cells, and print numbers and cells.
const AWK: &str = include_str!("table.awk");

/// The jq program that prints a list of objects as a table with tabs.
const TO_TABLE: &str = "(.[0]|keys) as $h | $h, (.[]|[.[$h[]]|tostring]) | @tsv";

/// The query for a form about a table; `None` if its values don't fit together.
fn read(form: &Form<'_>, wording: &str) -> Option<Query> {
    let path = form.path_there("file")?;
    let table = table_in(&path, form.fs())?;
    if wording == "has_column" {
        return Some(has_column(path, &table, form.text("column")?));
    }
    let one = match form.text("one") {
        Some(name) => Some(table.column(name)?),
        None => None,
    };
    // Numbers as text are in no order: 10 comes before 9.
    let is_sorted = wording == "distinct_sorted";
    if is_sorted && one.is_none_or(|column| table.is_numeric(column)) {
        return None;
    }
    let shape = if is_sorted { "distinct" } else { wording };
    let query = Known::of(
        "table",
        [
            ("path", Some(path)),
            ("separator", Some(table.separator.to_string())),
            ("log", table.log.map(str::to_owned)),
            ("shape", Some(shape.to_owned())),
            ("one", table.label(one)),
            ("first", form.number("first").map(|first| first.to_string())),
        ],
    );
    let query = finished(form.fs(), wording, query, false, false)?;
    Some(if is_sorted { sorted(query) } else { query })
}

/// Parses the file at a path as a table; `None` if it is none.
fn table_in(path: &str, fs: &dyn FileSystem) -> Option<Table> {
    let content = text::content(Path::new(path), fs).ok()?;
    Table::in_file(path, &String::from_utf8_lossy(&content), None)
        .filter(|table| table.heads.len() > 1 && !table.rows.is_empty())
        .filter(|_| !path.ends_with(".json") || super::has_program(fs, "jq"))
}

/// The query that words in any order ask of the table in a file; `None` if the file is no table or a word has no
/// meaning there, or if they say fewer than `least` things of the table; all but questions for a number must say two
/// unless the words name the file, for which `least` is 0.
pub(crate) fn question(words: &[String], path: &str, least: usize, fs: &dyn FileSystem) -> Option<Query> {
    question::question(words, path, &table_in(path, fs)?, least, fs)
}

/// The rows that a question asks for with the heading of their table above them, for a file of the same kind; `None` for
/// a question about anything else.
pub(crate) fn with_heading(query: Query, to: &str) -> Option<Query> {
    let Query::Known { known } = query else { return None };
    let separators: &[&str] = if to.ends_with(".tsv") { &["\t"] } else { &[",", ";"] };
    let is_same = separators.contains(&known.value("separator")) && !known.value("path").ends_with(".json");
    let is_plain = known.kind == ROW.name && known.value("shape") == "rows" && known.get("log").is_none();
    let is_whole = known.get("sort").is_none() && known.get("first").is_none();
    (is_same && is_plain && is_whole).then(|| Query::Known { known: known.with("heading", "yes".to_owned()) })
}

/// Whether a question asks for all values of a column, so that a file of them may or may not have the heading.
pub(crate) fn is_whole_column(query: &Query) -> bool {
    let is_whole = |known: &Known| conditions(known).is_empty() && known.get("first").is_none();
    matches!(query, Query::Known { known } if known.kind == ROW.name && known.value("shape") == "select" && is_whole(known))
}

/// The query whether a table has a column with this heading.
fn has_column(path: String, table: &Table, name: &str) -> Query {
    let separator = Some(table.separator.to_string());
    let shape = Some("columns".to_owned());
    let of = Known::of("table", [("path", Some(path)), ("separator", separator), ("shape", shape)]);
    let head = table.column(name).and_then(|at| table.heads.get(at - 1).cloned());
    let keep = Pred::Line(NameTest::Is(head.unwrap_or_else(|| name.to_owned())));
    let of = Box::new(Query::Filter { of: Box::new(of), keep });
    Query::Aggregate { of, function: Function::Any }
}

/// The query, counted if the wording asks for a number of rows or columns, and with all rows that rank the same as the
/// last one asked for; `None` if these are too many.
fn finished(fs: &dyn FileSystem, wording: &str, query: Query, is_ranked: bool, is_grouped: bool) -> Option<Query> {
    // Of several rows that rank the same no first one is chosen: all of them are shown.
    let query = match query {
        Query::Known { known } if is_ranked => {
            let first: usize = known.get("first")?.parse().ok()?;
            let ranks = answer(&known.clone().with("first", MAX_RANKED.to_string()), fs, true).ok()?;
            let least = first.checked_sub(1).and_then(|last| ranks.get(last));
            let more = ranks.iter().skip(first).take_while(|rank| Some(*rank) == least).count();
            (first + more < MAX_RANKED).then_some(())?;
            Query::Known { known: known.with("first", (first + more).to_string()) }
        }
        query => query,
    };
    if wording == "count" || wording == "column_count" {
        if is_grouped {
            return Some(query);
        }
        let of = match query {
            Query::Known { known } => {
                known.with("shape", if wording == "count" { "rows" } else { "columns" }.to_owned())
            }
            _ => return None,
        };
        return Some(Query::Aggregate { of: Box::new(Query::Known { known: of }), function: Function::Count });
    }
    Some(query)
}

/// The number of the column that a question has under this name, from 1.
fn number(known: &Known, name: &str) -> Option<usize> {
    known.get(name)?.split_once(':')?.0.parse().ok()
}

/// The heading of the column that a question has under this name.
fn head<'a>(known: &'a Known, name: &str) -> Option<&'a str> {
    Some(known.get(name)?.split_once(':')?.1)
}

/// The question about a table as a noun phrase in English.
fn english(known: &Known) -> String {
    let of = |name: &str| head(known, name).map(|head| format!("“{head}”")).unwrap_or_default();
    let mut said = match known.value("shape") {
        "columns" => "headings".to_owned(),
        "rows" if known.get("heading").is_some() => "heading and the rows".to_owned(),
        "rows" => "rows".to_owned(),
        "count" => "number of rows".to_owned(),
        "select" => format!("values of {}", of("one")),
        "distinct" => format!("distinct values of {}", of("one")),
        function => format!("{function} of {}", of("number")),
    };
    if known.get("two").is_some() {
        said.push_str(&format!(" and {}", of("two")));
    }
    let what = if known.get("log").is_some() { "log" } else { "table" };
    said.push_str(&format!(" in the {what} {}", crate::english::quoted_path(known.value("path"))));
    if known.get("group").is_some() {
        let period = match known.get("period") {
            Some("7") => "month of ",
            Some(_) => "year of ",
            None => "",
        };
        said.push_str(&format!(", for each {period}{}", of("group")));
    }
    for (column, (_, words, _), value) in conditions(known) {
        let value: Vec<String> = value.split(OR).map(crate::english::quoted).collect();
        said.push_str(&format!(", where {} {words} {}", of(&column), value.join(" or ")));
    }
    if known.get("sort").is_some() {
        said.push_str(&format!(", sorted by {} in {} order", of("sort"), known.value("order")));
    } else if let Some(order) = known.get("order") {
        said.push_str(&format!(", in {order} order"));
    }
    if let Some(first) = known.get("first") {
        said.push_str(&format!(", only the first {first}"));
    }
    said
}

/// The conditions of a question as an `awk` expression, and the variables with their values.
fn tests(known: &Known) -> (String, Vec<String>) {
    let (mut wanted, mut given) = (vec!["1".to_owned()], Vec::new());
    for (at, (column, (test, _, operator), value)) in conditions(known).into_iter().enumerate() {
        let (cell, text) = (format!("F[{}]", number(known, &column).unwrap_or(0)), format!("ENVIRON[\"V{at}\"]"));
        wanted.push(match test {
            "is" => format!("{cell}=={text}"),
            "not" => format!("{cell}!={text}"),
            "among" => format!("index(\"{OR}\" {text} \"{OR}\",\"{OR}\" {cell} \"{OR}\")>0"),
            "within" => format!("index({cell},{text})==1"),
            _ if is_number(value) => format!("num({cell})&&{cell}+0{operator}{value}"),
            _ => format!("({cell} \"\"){operator}({text} \"\")"),
        });
        given.push(format!("V{at}={value}"));
    }
    (wanted.join("&&"), given)
}

/// The `awk`, `jq` and `sort` calls that answer a question about a table.
fn lower(known: &Known) -> Result<Pipeline, Unsupported> {
    let (shape, column) = (known.value("shape"), |name: &str| number(known, name).unwrap_or(0));
    let cell = |name: &str| format!("F[{}]", column(name));
    let separator = if known.value("separator") == "\t" { "\\t" } else { known.value("separator") };
    let log = log::is_named(known.value("path")).then(|| log::form(known.value("log"))).flatten();
    let (wanted, given) = tests(known);
    let value = cell("number");
    let group = match (known.get("group"), known.get("period")) {
        (None, _) => "\"\"".to_owned(),
        (_, None) => cell("group"),
        (_, Some(length)) => format!("substr({},1,{length})", cell("group")),
    };
    // Texts are sorted up to a sign that none of them has.
    let is_text = known.get("by").is_some();
    let sign = if is_text { OR.to_string() } else { "\\t".to_owned() };
    let key = known.get("sort").map_or(String::new(), |_| format!("{}\"{sign}\"", cell("sort")));
    let row = match known.get("two") {
        Some(_) => format!("q({})S q({})", cell("one"), cell("two")),
        None => cell("one"),
    };
    let add = format!("k={group};if(!(k in C)){{C[k]=0;O[++m]=k}}");
    let (each, end) = match shape {
        "columns" => (String::new(), String::new()),
        // The last cell of a log's row is the line itself.
        "rows" => {
            let line = log.map_or("$0".to_owned(), |(heads, _)| format!("F[{}]", heads.len() + 1));
            (format!("print {key}{line}"), String::new())
        }
        "select" => (format!("print {key}{row}"), String::new()),
        "distinct" => (format!("if(!({row} in D)){{D[{row}]=1;print {row}}}"), String::new()),
        "count" => (format!("{add}C[k]++"), "V=C[k]".to_owned()),
        function => {
            let add = format!("if(num({value})){{{add}x={value}+0;");
            let best = |sign: &str| format!("{add}if(!C[k]++||x{sign}T[k])T[k]=x}}");
            match function {
                "maximum" => (best(">"), "V=out(T[k])".to_owned()),
                "minimum" => (best("<"), "V=out(T[k])".to_owned()),
                "average" => (format!("{add}C[k]++;T[k]+=x}}"), "V=out(sprintf(\"%.4f\",T[k]/C[k]))".to_owned()),
                _ => (format!("{add}C[k]++;T[k]+=x}}"), "V=out(T[k])".to_owned()),
            }
        }
    };
    let is_grouped = known.get("group").is_some();
    let shown = if is_grouped { "V\"\\t\"k" } else { "V" };
    let heading = match (shape, log) {
        ("columns", _) => "NR==1{n=cut($0);for(i=1;i<=n;i++)print F[i];exit}",
        (_, Some(_)) => "",
        _ if known.get("heading").is_some() => "NR==1{print;next}",
        _ => "NR==1{next}",
    };
    let end = if end.is_empty() { end } else { format!("END{{for(i=1;i<=m;i++){{k=O[i];{end};print {shown}}}}}") };
    let script = format!(
        "{} BEGIN{{S=\"{separator}\"}} {{sub(/\\r$/,\"\")}} {heading} length($0){{cut($0);if({wanted}){{{each}}}}} {end}",
        AWK.trim_end()
    );
    let mut call = Argv::new("env LC_ALL=C");
    for value in given {
        call = call.value(value);
    }
    let awk = call.and("awk").value(script);
    let path = known.value("path");
    let pipeline = match log {
        Some((_, expression)) => Pipeline::of(Argv::bytewise("sed -E -n -e").value(expression).value(path)).pipe(awk),
        None if path.ends_with(".json") => Pipeline::of(Argv::new("jq -r").value(TO_TABLE).value(path)).pipe(awk),
        None => Pipeline::of(awk.value(path)),
    };
    Ok(arranged(pipeline, known, sign))
}

/// The programs followed by those that sort and shorten what they print; `sign` ends the key before each line.
fn arranged(mut pipeline: Pipeline, known: &Known, sign: String) -> Pipeline {
    if known.get("sort").is_some() || known.get("group").is_some() {
        let sort = match known.get("by") {
            Some(_) => Argv::bytewise("sort -s -t").value(sign.clone()).and("-k 1,1"),
            None => Argv::bytewise("sort -s -n"),
        };
        let is_ascending = known.get("order") == Some("ascending");
        pipeline = pipeline.pipe(if is_ascending { sort } else { sort.and("-r") });
    }
    if known.get("sort").is_some() {
        let cut = if known.get("by").is_some() {
            Argv::new("cut -d").value(sign).and("-f 2-")
        } else {
            Argv::new("cut -f 2-")
        };
        pipeline = pipeline.pipe(cut);
    }
    if let Some(first) = known.get("first") {
        pipeline = pipeline.pipe(Argv::new("head -n").value(first));
    }
    pipeline
}

/// The answer to a question about a table, computed without programs.
fn eval(known: &Known, fs: &dyn FileSystem) -> Result<Vec<String>, EvalError> {
    answer(known, fs, false)
}

/// The lines of the answer to a question about a table; with `ranks`, the numbers by which they are sorted.
fn answer(known: &Known, fs: &dyn FileSystem, ranks: bool) -> Result<Vec<String>, EvalError> {
    let content = text::content(Path::new(known.value("path")), fs)?;
    let content = String::from_utf8_lossy(&content);
    let separator = known.value("separator").chars().next();
    let table = Table::in_file(known.value("path"), &content, separator).ok_or(EvalError::Meaningless)?;
    let get =
        |row: &[String], name: &str| number(known, name).map_or(String::new(), |at| table.cell(row, at).to_owned());
    let mut rows: Vec<&(String, Vec<String>)> = table.rows.iter().collect();
    for (column, (test, ..), value) in conditions(known) {
        rows.retain(|(_, row)| holds(&get(row, &column), test, value));
    }
    let ordered = |a: i128, b: i128| match known.get("order") {
        Some("ascending") => a.cmp(&b),
        _ => b.cmp(&a),
    };
    if known.get("sort").is_some() {
        rows.sort_by(|(_, a), (_, b)| {
            let (a, b) = (get(a, "sort"), get(b, "sort"));
            let number = |cell: &str| amount(cell).unwrap_or(0);
            let order = if known.get("by").is_some() { a.cmp(&b) } else { number(&a).cmp(&number(&b)) };
            if known.get("order") == Some("ascending") { order } else { order.reverse() }
        });
    }
    let cells = |row: &[String]| {
        [get(row, "one"), get(row, "two")]
            .map(|cell| written(&cell, table.separator))
            .join(&table.separator.to_string())
    };
    let shown = |row: &[String]| if known.get("two").is_some() { cells(row) } else { get(row, "one") };
    let mut lines: Vec<String> = match known.value("shape") {
        "columns" => table.heads.clone(),
        "rows" | "select" if ranks => rows.iter().map(|(_, row)| get(row, "sort")).collect(),
        "rows" => {
            let head = known.get("heading").and_then(|_| content.lines().next().map(str::to_owned));
            head.into_iter().chain(rows.iter().map(|(line, _)| line.clone())).collect()
        }
        "select" => rows.iter().map(|(_, row)| shown(row)).collect(),
        "distinct" => rows.iter().map(|(_, row)| shown(row)).fold(Vec::new(), |mut all, line| {
            if !all.contains(&line) {
                all.push(line);
            }
            all
        }),
        function => {
            let mut groups: Vec<(String, Vec<i128>)> = Vec::new();
            for (_, row) in &rows {
                let Some(value) = (if function == "count" { Some(0) } else { amount(&get(row, "number")) }) else {
                    continue;
                };
                let period = known.get("period").and_then(|length| length.parse().ok()).unwrap_or(usize::MAX);
                let name: String = get(row, "group").chars().take(period).collect();
                match groups.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, values)) => values.push(value),
                    None => groups.push((name, vec![value])),
                }
            }
            let mut found: Vec<(i128, String)> =
                groups.into_iter().map(|(name, values)| (computed(function, &values), name)).collect();
            if known.get("group").is_some() {
                found.sort_by(|a, b| ordered(a.0, b.0));
            }
            let is_grouped = known.get("group").is_some() && !ranks;
            let line =
                |(value, name)| decimal::shown(value) + &if is_grouped { format!("\t{name}") } else { String::new() };
            found.into_iter().map(line).collect()
        }
    };
    if let Some(first) = known.get("first").and_then(|first| first.parse().ok()) {
        lines.truncate(first);
    }
    Ok(lines)
}

/// The number that a cell holds; `None` if it holds another text.
fn amount(cell: &str) -> Option<i128> {
    if is_number(cell) { decimal::leading(cell.as_bytes()) } else { None }
}

/// The conditions of a question: the name of the column, the row of [`TESTS`] and the value of each.
fn conditions(known: &Known) -> Vec<(String, (&'static str, &'static str, &'static str), &str)> {
    let of = |end: &str| {
        let (test, value) = TESTS.iter().find_map(|test| Some((*test, known.get(&format!("{}{end}", test.0))?)))?;
        Some((format!("where{end}"), test, value))
    };
    CONDITIONS.into_iter().filter_map(of).collect()
}

/// Whether a cell meets a condition: the name of a row of [`TESTS`] and its value.
fn holds(cell: &str, test: &str, value: &str) -> bool {
    let order = match decimal::leading(value.as_bytes()).filter(|_| is_number(value)) {
        Some(bound) => amount(cell).map(|cell| cell.cmp(&bound)),
        None => Some(cell.cmp(value)),
    };
    match test {
        "is" => cell == value,
        "not" => cell != value,
        "among" => value.split(OR).any(|value| cell == value),
        "within" => cell.starts_with(value),
        "above" => order.is_some_and(Ordering::is_gt),
        "below" => order.is_some_and(Ordering::is_lt),
        "least" => order.is_some_and(Ordering::is_ge),
        _ => order.is_some_and(Ordering::is_le),
    }
}

/// The sum, average or other function of numbers, in billionths, rounded to six decimals.
fn computed(function: &str, values: &[i128]) -> i128 {
    /// The last decimal that is shown, in billionths.
    const SHOWN: i128 = 1_000;
    let sum: i128 = values.iter().sum();
    let count = values.len() as i128;
    let value = match function {
        "count" => return count * decimal::UNIT,
        "maximum" => values.iter().copied().max().unwrap_or(0),
        "minimum" => values.iter().copied().min().unwrap_or(0),
        "average" => return decimal::rounded(sum / count.max(1), SHOWN * 100),
        _ => sum,
    };
    decimal::rounded(value, SHOWN)
}
