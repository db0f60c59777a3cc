//! Reads questions about a table with the words in any order: each word must be a heading, a cell or in `words.txt`.

use std::iter::Peekable;
use std::vec::IntoIter;

use super::cells::{Table, is_number, is_plural_of};
use super::{CONDITIONS, finished};
use crate::algebra::{Function, Query};
use crate::eval::FileSystem;
use crate::kinds::Known;
use crate::place::file_name;

/// The words that can be in a question about a table, as lines `role: phrase|phrase`.
const WORDS: &str = include_str!("words.txt");

/// Maximum number of words of a heading, a cell or a phrase.
const MAX_PHRASE: usize = 4;

/// What a phrase means in a question about a table: a heading, a cell, a number or another word; columns count from 1.
#[derive(Debug, Clone, PartialEq)]
enum Role {
    Head(usize),
    /// A cell, with the only column that has it.
    Cell(usize, String),
    Number(String),
    /// "cheapest" or "cheaper than": a role of [`WORDS`] with its column.
    Of(&'static str, usize),
    /// A role of [`WORDS`].
    Word(&'static str),
}

/// What a question asks of a table, collected phrase by phrase: columns, a function, a condition, an order.
#[derive(Default)]
struct Asked {
    function: Option<&'static str>,
    number: Option<usize>,
    shown: Vec<usize>,
    group: Option<usize>,
    /// The columns of the conditions, of which all must hold, and the value each has or the bound it is above or below.
    conditions: Vec<(usize, &'static str, String)>,
    sort: Option<usize>,
    is_descending: Option<bool>,
    first: Option<String>,
    is_distinct: bool,
    /// Whether rows are what is asked for: "which product".
    is_of_rows: bool,
    /// Whether the role before was a word for rows, so that a number is one of them: "order 505".
    is_after_row: bool,
    /// Whether the request asks who, so that the whole row is the answer.
    is_of_whom: bool,
}

/// The query that words in any order ask of a table; `None` if a word has no meaning there or they don't fit together.
pub(super) fn question(
    words: &[String],
    path: &str,
    table: &Table,
    is_named: bool,
    fs: &dyn FileSystem,
) -> Option<Query> {
    let stem = file_name(path)?.split('.').next()?.to_lowercase();
    let roles = roles(words, &stem, table)?;
    let is_of_table = |role: &&Role| !matches!(role, Role::Word(_) | Role::Number(_));
    let told = roles.iter().filter(is_of_table).count() + usize::from(words.iter().any(|word| is_name_of(word, &stem)));
    if !is_named && told < 2 {
        return None;
    }
    let (mut asked, mut roles) = (Asked::default(), roles.into_iter().peekable());
    while let Some(role) = roles.next() {
        let is_row = matches!(role, Role::Word("row" | "named"));
        asked.take(role, &mut roles, table)?;
        asked.is_after_row = is_row;
    }
    asked.query(path, table, fs)
}

/// Whether a word is the name of a file without its extension, in the singular or plural.
fn is_name_of(word: &str, stem: &str) -> bool {
    is_plural_of(word, stem) || is_plural_of(stem, word)
}

/// The meanings of all words in a question about a table, in order, fillers left out; `None` if a word has none.
fn roles(words: &[String], stem: &str, table: &Table) -> Option<Vec<Role>> {
    let (mut found, mut at) = (Vec::new(), 0);
    while at < words.len() {
        let longest = MAX_PHRASE.min(words.len() - at);
        let (length, role) = (1..=longest).rev().find_map(|length| {
            let phrase = words.get(at..at + length)?.join(" ");
            Some((length, role(&phrase, stem, table)?))
        })?;
        found.push(role);
        at += length;
    }
    found.retain(|role| *role != Role::Word("skip"));
    Some(found)
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
    if let Some((column, value)) = table.value(phrase, None) {
        return Some(Role::Cell(column, value));
    }
    if quoted.is_some() {
        return None;
    }
    // "unpaid".
    if let Some(column) = phrase.strip_prefix("un").and_then(|rest| table.column(rest)) {
        return is_truth(table, column).then_some(Role::Of("not", column));
    }
    let says = |(_, phrases): &(&str, &'static str)| phrases.split('|').any(|known| known == phrase);
    let mut lines = WORDS.lines().filter_map(|line| line.split_once(": "));
    let Some((name, _)) = lines.find(says) else {
        return is_name_of(phrase, stem).then_some(Role::Word("named"));
    };
    let Some((name, heads)) = name.strip_prefix('[').and_then(|inside| inside.trim_end_matches(']').split_once(' '))
    else {
        return Some(Role::Word(name));
    };
    let column = heads.split(' ').find_map(|head| table.column(head))?;
    Some(if name == "head" { Role::Head(column) } else { Role::Of(name, column) })
}

impl Asked {
    /// Adds a phrase's role, and those after it that belong to it, to what is asked; `None` if it doesn't fit what was
    /// added before.
    fn take(&mut self, role: Role, rest: &mut Peekable<IntoIter<Role>>, table: &Table) -> Option<()> {
        match role {
            Role::Head(column) => return self.head(column, rest, table),
            Role::Cell(column, value) => {
                rest.next_if_eq(&Role::Head(column));
                self.limit(column, "is", value)?;
            }
            Role::Number(count) => match rest.peek() {
                Some(Role::Word("maximum" | "minimum") | Role::Of("most" | "least", _)) => set(&mut self.first, count)?,
                _ => {
                    let (column, value) = table.value(&count, None).filter(|_| self.is_after_row)?;
                    self.limit(column, "is", value)?;
                }
            },
            Role::Of(how @ ("above" | "below"), column) => {
                let Role::Number(bound) = rest.next()? else { return None };
                self.limit(column, how, bound)?;
            }
            Role::Of("none", column) => self.limit(column, "is", "0".to_owned())?,
            Role::Of("not", column) => self.limit(column, "is", "false".to_owned())?,
            Role::Of(how, column) => {
                set(&mut self.is_descending, how == "most")?;
                // "the cheapest 3".
                if let Some(Role::Number(count)) = rest.next_if(|next| matches!(next, Role::Number(_))) {
                    set(&mut self.first, count)?;
                }
                // "sorted by price, cheapest first".
                let is_order = rest.next_if_eq(&Role::Word("first")).is_some();
                if self.sort != Some(column) {
                    set(&mut self.sort, column)?;
                }
                if !is_order {
                    self.first.get_or_insert_with(|| "1".to_owned());
                }
            }
            Role::Word(word) => return self.word(word, rest, table),
        }
        Some(())
    }

    /// Adds a word of [`WORDS`], such as "average" or "per", to what is asked; `None` if it doesn't fit.
    fn word(&mut self, word: &'static str, rest: &mut Peekable<IntoIter<Role>>, table: &Table) -> Option<()> {
        match word {
            // "the highest row" names no number.
            "row" if self.number.is_none() && matches!(self.function, Some("maximum" | "minimum")) => return None,
            "row" | "named" => self.is_of_rows |= self.function.is_none(),
            "who" => self.is_of_whom = true,
            // "the region with the highest total amount".
            "sum" if self.is_descending.is_some() && self.group.is_none() && self.shown.len() == 1 => {
                self.group = self.shown.pop();
                self.first = Some("1".to_owned());
                self.function = Some("sum");
            }
            "sum" | "average" | "count" => set(&mut self.function, word)?,
            "maximum" | "minimum" => {
                set(&mut self.is_descending, word == "maximum")?;
                // "who earns the most, and where": the numbers were named before.
                if !matches!(rest.peek(), Some(Role::Head(column)) if table.is_numeric(*column)) {
                    self.number = self.shown.pop_if(|column| table.is_numeric(*column));
                }
                set(&mut self.function, word)?;
            }
            "first" | "top" => {
                let Role::Number(count) = rest.next()? else { return None };
                set(&mut self.first, count)?;
                if word == "top" {
                    set(&mut self.is_descending, true)?;
                }
            }
            "above" | "below" => {
                let Role::Number(bound) = rest.next()? else { return None };
                // "orders above 100 and below 200".
                let before = self.conditions.last().filter(|(_, how, _)| *how != "is").map(|(column, ..)| *column);
                let column = match rest.next_if(|next| matches!(next, Role::Head(_))) {
                    Some(Role::Head(column)) => column,
                    _ => before.or_else(|| table.only_numeric())?,
                };
                self.limit(column, word, bound)?;
            }
            // "the role of each person".
            "per" if rest.next_if(|next| matches!(next, Role::Word("row" | "named"))).is_some() => {}
            "per" | "by" => {
                if word == "by" {
                    rest.next_if_eq(&Role::Word("by"));
                }
                let Role::Head(column) = rest.next()? else { return None };
                let is_group = word == "per" || self.function.is_some();
                set(if is_group { &mut self.group } else { &mut self.sort }, column)?;
            }
            "descending" | "ascending" => set(&mut self.is_descending, word == "descending")?,
            "different" => self.is_distinct = true,
            "not" => {
                let Role::Head(column) = rest.next()? else { return None };
                is_truth(table, column).then_some(())?;
                self.limit(column, "is", "false".to_owned())?;
            }
            _ => return None,
        }
        Some(())
    }

    /// Adds a heading to what is asked: as the column of a condition, of the numbers to compute with, or to show.
    fn head(&mut self, column: usize, rest: &mut Peekable<IntoIter<Role>>, table: &Table) -> Option<()> {
        let belongs = |next: &Role| match next {
            Role::Number(_) => true,
            Role::Word("above" | "below") => table.is_numeric(column),
            Role::Cell(of, _) => *of == column,
            _ => false,
        };
        match rest.next_if(belongs) {
            Some(Role::Word(how)) => {
                let Role::Number(bound) = rest.next()? else { return None };
                self.limit(column, how, bound)
            }
            Some(Role::Number(value) | Role::Cell(_, value)) => {
                let (column, value) = table.value(&value, Some(column))?;
                self.limit(column, "is", value)
            }
            _ if is_truth(table, column) => self.limit(column, "is", "true".to_owned()),
            _ if self.function.is_some_and(|function| function != "count") && self.number.is_none() => {
                set(&mut self.number, column)
            }
            _ => {
                self.shown.push(column);
                Some(())
            }
        }
    }

    /// Adds a condition such as "above 5"; `None` if there are two, or if a cell had to have two values.
    fn limit(&mut self, column: usize, how: &'static str, value: String) -> Option<()> {
        let excludes =
            |(of, known, _): &(usize, &str, String)| *of == column && (*known == how || *known == "is" || how == "is");
        if self.conditions.len() == CONDITIONS.len() || self.conditions.iter().any(excludes) {
            return None;
        }
        self.conditions.push((column, how, value));
        Some(())
    }

    /// The query for all that was added; `None` if its parts don't fit together, or nothing of the table is asked.
    fn query(mut self, path: &str, table: &Table, fs: &dyn FileSystem) -> Option<Query> {
        self.settle_rank(table)?;
        self.settle_function(table);
        // "how many different towns".
        let is_counted = self.is_distinct && self.function == Some("count") && self.shown.len() == 1;
        if is_counted {
            self.function = None;
        }
        let shape = match self.function {
            Some("count") => "count",
            Some(function) => {
                self.number = self.number.or_else(|| table.only_numeric());
                self.number?;
                function
            }
            None if self.is_distinct => "distinct",
            None if self.shown.is_empty() => "rows",
            None => "select",
        };
        let bounded = self.conditions.iter().filter(|(_, how, _)| *how != "is").map(|(column, ..)| *column);
        let are_numbers =
            [self.sort, self.number].into_iter().flatten().chain(bounded).all(|column| table.is_numeric(column));
        let is_computed = self.function.is_some();
        let fits = match shape {
            "rows" => !self.conditions.is_empty() || self.sort.is_some() || self.first.is_some(),
            "select" => self.shown.len() <= 2,
            "distinct" => self.shown.len() == 1,
            _ => self.shown.is_empty(),
        };
        let is_order_said = self.is_descending.is_none() || self.sort.is_some() || self.group.is_some() || is_computed;
        if !are_numbers || !fits || !is_order_said || (is_computed || self.is_distinct) && self.sort.is_some() {
            return None;
        }
        // Of groups only the one with the largest or smallest sum is asked for alone.
        let is_top = self.first.as_deref() == Some("1") && self.is_descending.is_some();
        if self.first.is_some() && (self.is_distinct || self.group.is_some() && !is_top)
            || self.group.is_some() && !is_computed
        {
            return None;
        }
        let conditions = self.conditions.iter().zip(CONDITIONS).flat_map(|((column, how, value), names)| {
            let name = names.iter().copied().find(|name| name.trim_end_matches('2') == *how);
            [(names[0], table.label(Some(*column))), (name.unwrap_or_default(), Some(value.clone()))]
        });
        let order = if self.is_descending.unwrap_or(false) { "descending" } else { "ascending" };
        let is_ranked = (self.sort.is_some() || self.group.is_some()) && self.first.is_some();
        // Groups stand in descending order by themselves.
        let is_order_given =
            self.sort.is_some() || self.group.is_some() && (is_ranked || self.is_descending == Some(false));
        let query = Known::of(
            "table",
            [
                ("path", Some(path.to_owned())),
                ("separator", Some(table.separator.to_string())),
                ("shape", Some(shape.to_owned())),
                ("number", table.label(self.number)),
                ("one", table.label(self.shown.first().copied())),
                ("two", table.label(self.shown.get(1).copied())),
                ("group", table.label(self.group)),
                ("sort", table.label(self.sort)),
                ("order", is_order_given.then(|| order.to_owned())),
                ("first", self.first),
            ]
            .into_iter()
            .chain(conditions),
        );
        let query = finished(fs, shape, query, is_ranked, self.group.is_some())?;
        Some(if is_counted { Query::Aggregate { of: Box::new(query), function: Function::Count } } else { query })
    }

    /// Decides whether a superlative picks rows or asks for the number itself; `None` if it has no column.
    fn settle_rank(&mut self, table: &Table) -> Option<()> {
        // "which city has the most rain" asks for the city, "the most rain" for the number.
        if matches!(self.function, Some("maximum" | "minimum"))
            && self.group.is_none()
            && (self.is_of_rows || self.is_of_whom || !self.shown.is_empty() || self.first.is_some())
        {
            self.function = None;
            self.shown.retain(|_| !self.is_of_whom);
            let column = self.number.take().or_else(|| table.only_numeric())?;
            // "the two highest salaries" asks for the numbers themselves.
            if self.shown.is_empty() && !self.is_of_rows && !self.is_of_whom {
                self.shown.push(column);
            }
            self.sort = Some(column);
            self.first.get_or_insert_with(|| "1".to_owned());
        }
        Some(())
    }

    /// Corrects the function where its word is also a heading ("total per city"), or where the number asked for is in a
    /// column ("how many units").
    fn settle_function(&mut self, table: &Table) {
        let [column] = self.shown.as_slice() else { return };
        let heading = table.heads.get(column - 1).map(|head| head.to_lowercase()).unwrap_or_default();
        let is_sum = match self.function {
            None => self.group.is_some() && ["total", "sum"].contains(&heading.as_str()),
            Some(function) => function == "count" && heading.ends_with('s'),
        };
        if is_sum && table.is_numeric(*column) {
            self.function = Some("sum");
            self.number = self.shown.pop();
        }
    }
}

/// Sets an option that may be said only once; `None` if it is set already.
fn set<T>(slot: &mut Option<T>, value: T) -> Option<()> {
    slot.is_none().then(|| *slot = Some(value))
}

/// Whether every cell of a column is true or false.
fn is_truth(table: &Table, column: usize) -> bool {
    table.rows.iter().all(|(_, row)| ["true", "false"].contains(&table.cell(row, column)))
}
