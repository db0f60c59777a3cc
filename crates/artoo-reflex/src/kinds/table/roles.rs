//! What the words of a question about a table mean: headings, cells, dates, numbers and words for questions.

use super::cells::{Table, is_number, is_plural_of};

/// The words that can be in a question about a table, as lines `role: phrase|phrase`.
const WORDS: &str = include_str!("words.txt");

/// Maximum number of words of a heading, a cell or a phrase.
const MAX_PHRASE: usize = 6;

/// What a phrase means in a question about a table: a heading, a cell, a number or another word; columns count from 1.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Role {
    Head(usize),
    /// A cell, with the only column that has it.
    Cell(usize, String),
    Number(String),
    /// The start of a date: the year, the month or the day.
    Date(String),
    /// "cheapest" or "cheaper than": a role of [`WORDS`] with its column.
    Of(&'static str, usize),
    /// A role of [`WORDS`].
    Word(&'static str),
}

/// Whether a word is the name of a file without its extension, in the singular or plural.
pub(super) fn is_name_of(word: &str, stem: &str) -> bool {
    is_plural_of(word, stem) || is_plural_of(stem, word)
}

/// The meanings of all words in a question about a table, in order, fillers left out; `None` if a word has none.
pub(super) fn roles(words: &[String], stem: &str, table: &Table) -> Option<Vec<Role>> {
    // "the sales table" is named, whatever else "table" is in it.
    let names = |at: usize| at.checked_sub(1).and_then(|at| words.get(at)).is_some_and(|word| is_name_of(word, stem));
    let is_noun = |(at, word): &(usize, &String)| ["table", "file", "sheet"].contains(&word.as_str()) && names(*at);
    let words: Vec<String> =
        words.iter().enumerate().filter(|word| !is_noun(word)).map(|(_, word)| word.clone()).collect();
    let (mut found, mut at, mut start) = (Vec::new(), 0, 0);
    while at < words.len() {
        let longest = MAX_PHRASE.min(words.len() - at);
        let (length, role) = (1..=longest).rev().find_map(|length| {
            let phrase = words.get(at..at + length)?.join(" ");
            Some((length, role(&phrase, stem, table)?))
        })?;
        // "names and towns" asks for names, which this table doesn't have.
        let is_name = |at: usize| words.get(at).is_some_and(|word| matches!(word.as_str(), "name" | "names"));
        let is_and = |at: Option<usize>| at.and_then(|at| words.get(at)).is_some_and(|word| word == "and");
        if role == Role::Word("skip") && is_name(at) && (is_and(Some(at + 1)) || is_and(at.checked_sub(1))) {
            return None;
        }
        // "from May on": the words before the date say so.
        let is_from = |at: usize| at.checked_sub(1).and_then(|at| words.get(at)).is_some_and(|word| word == "from");
        let role = match (role, found.last()) {
            (Role::Word("on"), Some(Role::Date(_) | Role::Number(_))) if is_from(start) => Role::Word("upwards"),
            (Role::Word("on"), _) => Role::Word("skip"),
            (role, _) => role,
        };
        start = at;
        found.push(role);
        at += length;
    }
    // "how often does each town occur" counts each time.
    let is_times = found.contains(&Role::Word("times"));
    found.retain(|role| *role != Role::Word("skip") && !(is_times && *role == Role::Word("different")));
    // "the units overall" are added up, "the highest units overall" may not be.
    let computes = ["count", "total_count", "sum", "average", "maximum", "minimum", "most_of_all"];
    let is_computed = found.iter().any(|role| matches!(role, Role::Word(word) if computes.contains(word)));
    let settled = |role| match role {
        Role::Word("times") => Role::Word("count"),
        Role::Word("overall") if !is_computed => Role::Word("sum"),
        role => role,
    };
    Some(found.into_iter().map(settled).collect())
}

/// The meaning of a phrase in a question about a table; `None` if it has none.
fn role(phrase: &str, stem: &str, table: &Table) -> Option<Role> {
    // A quoted text is a cell or a heading, whatever its words mean elsewhere.
    let quoted = phrase.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let phrase = quoted.unwrap_or(phrase);
    if is_number(phrase) && quoted.is_none() {
        return Some(Role::Number(phrase.to_owned()));
    }
    if let Some(column) = table.column(phrase).or_else(|| table.column(&phrase.replace(' ', "_"))) {
        return Some(Role::Head(column));
    }
    // "errors" are lines with the level ERROR, "lamps" rows with a lamp.
    let single = phrase.strip_suffix('s').filter(|single| single.len() > 2);
    if let Some((column, value)) = table.value(phrase, None).or_else(|| table.value(single?, None)) {
        return Some(Role::Cell(column, value));
    }
    if quoted.is_some() {
        return None;
    }
    if let Some(date) = date(phrase, table) {
        return Some(Role::Date(date));
    }
    // "unpaid".
    if let Some(column) = phrase.strip_prefix("un").and_then(|rest| table.column(rest)) {
        return truth(table, column).map(|_| Role::Of("not", column));
    }
    let says = |(_, phrases): &(&str, &'static str)| phrases.split('|').any(|known| known == phrase);
    let mut lines = WORDS.lines().filter_map(|line| line.split_once(": "));
    let Some((name, _)) = lines.find(says) else {
        return is_name_of(phrase, stem).then_some(Role::Word("named"));
    };
    let Some((name, heads)) = name.strip_prefix('[').and_then(|inside| inside.trim_end_matches(']').split_once(' '))
    else {
        return match name {
            "request" => table.log.map(|_| Role::Word("row")),
            "entity" if is_name_of(phrase, stem) => Some(Role::Word("named")),
            name => Some(Role::Word(name)),
        };
    };
    let column = heads.split(' ').find_map(|head| table.column(head))?;
    Some(if name == "head" { Role::Head(column) } else { Role::Of(name, column) })
}

/// The start of a date that a phrase such as "march", "6 march" or "march 2024" names, as in the only column of dates;
/// without a year, that of the table's dates if there is one alone.
fn date(phrase: &str, table: &Table) -> Option<String> {
    const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let parts: Vec<&str> = phrase.split('-').collect();
    if matches!(parts.as_slice(), [year, rest @ ..] if year.len() == 4 && (1..=2).contains(&rest.len()))
        && parts.iter().all(|part| part.len() <= 4 && part.bytes().all(|byte| byte.is_ascii_digit()))
    {
        return table.only_dates().map(|_| phrase.to_owned());
    }
    let (mut year, mut month, mut day) = (None, None, None);
    for word in phrase.split(' ').filter(|word| *word != "of") {
        let number = ["st", "nd", "rd", "th"].iter().find_map(|end| word.strip_suffix(end)).unwrap_or(word);
        let at = MONTHS.iter().position(|month| word.starts_with(month) && is_month(word));
        match (number.parse::<u32>(), at) {
            (Ok(number @ 1..=31), _) => set(&mut day, number)?,
            (Ok(number @ 1000..=9999), _) => set(&mut year, number.to_string())?,
            (Err(_), Some(at)) => set(&mut month, at + 1)?,
            _ => return None,
        }
    }
    let month = format!("{:02}", month?);
    // Looking at all cells is left to phrases that name a date.
    let column = table.only_dates()?;
    let years = || table.rows.iter().filter_map(|(_, row)| table.cell(row, column).split_once('-'));
    let only = |mut years: Vec<&str>| {
        years.dedup();
        years.pop().filter(|_| years.is_empty()).map(str::to_owned)
    };
    let of_month = || years().filter(|(_, rest)| rest.starts_with(&month)).map(|(year, _)| year).collect();
    let year = year.or_else(|| only(of_month())).or_else(|| only(years().map(|(year, _)| year).collect()))?;
    let day = day.map(|day| format!("-{day:02}")).unwrap_or_default();
    Some(format!("{year}-{month}{day}"))
}

/// Whether a word is the English name of a month, whole or shortened.
fn is_month(word: &str) -> bool {
    const NAMES: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let bare = word.trim_end_matches('.');
    bare.len() > 2 && (bare == "sept" || NAMES.iter().any(|name| *name == bare || name.get(..3) == Some(bare)))
}

/// How a word of [`WORDS`] compares: the name of the condition.
pub(super) fn comparison(word: &str) -> Option<&'static str> {
    let of = [
        ("above", "above"),
        ("below", "below"),
        ("least", "least"),
        ("most", "most"),
        ("after", "above"),
        ("before", "below"),
        ("since", "least"),
        ("until", "most"),
    ];
    of.into_iter().find(|(known, _)| *known == word).map(|(_, how)| how)
}

/// Whether a number is written like a year.
pub(super) fn is_year(number: &str) -> bool {
    number.len() == 4 && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// Sets an option that may be said only once; `None` if it is set already.
pub(super) fn set<T>(slot: &mut Option<T>, value: T) -> Option<()> {
    slot.is_none().then(|| *slot = Some(value))
}

/// Whether a word of [`WORDS`] compares dates alone.
pub(super) fn is_of_dates(word: &str) -> bool {
    ["after", "before", "since", "until"].contains(&word)
}

/// The words for a true and a false cell in a column that has nothing else; `None` for any other column.
pub(super) fn truth(table: &Table, column: usize) -> Option<[&'static str; 2]> {
    let is_of = |words: &[&str; 2]| table.rows.iter().all(|(_, row)| words.contains(&table.cell(row, column)));
    [["true", "false"], ["yes", "no"]].into_iter().find(is_of)
}

/// A cell of dates as a date; any other role as it is.
pub(super) fn dated(role: Role, table: &Table) -> Role {
    match role {
        Role::Cell(column, date) if table.dates(column).is_some() => Role::Date(date),
        role => role,
    }
}
