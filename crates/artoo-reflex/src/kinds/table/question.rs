//! Reads questions about a table with the words in any order: each word must be a heading, a cell or in `words.txt`.

mod settle;

use std::iter::Peekable;
use std::vec::IntoIter;

use super::cells::{Table, is_number};
use super::roles::{Role, comparison, dated, is_name_of, is_of_dates, is_year, roles, set, truth};
use super::{CONDITIONS, OR, finished};
use crate::algebra::{Function, Query};
use crate::eval::{Answer, FileSystem, evaluate};
use crate::kinds::Known;
use crate::place::file_name;

/// Names of tables whose rows are sums of money.
const MONEY: [&str; 7] = ["expenses", "sales", "costs", "payments", "revenues", "earnings", "expenditures"];

/// Tests of [`super::TESTS`] beside which a column has no other condition, and which compare no numbers.
const ALONE: [&str; 4] = ["is", "not", "among", "within"];

/// Words of [`super::roles`] that ask to compute with a column of numbers, so that its heading alone tells the table.
const COMPUTING: [&str; 5] = ["sum", "average", "maximum", "minimum", "most_of_all"];

/// What a question asks of a table, collected phrase by phrase: columns, a function, a condition, an order.
#[derive(Clone, Default)]
struct Asked {
    function: Option<&'static str>,
    number: Option<usize>,
    shown: Vec<usize>,
    group: Option<usize>,
    /// The number of leading characters of a date by which rows are grouped: 7 for its month, 4 for its year.
    period: Option<usize>,
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
    /// Whether the request asks who or what has the most of something.
    is_most: bool,
    /// Whether the rows are called by a word for sums of money: "expenses per month".
    is_of_money: bool,
    /// Whether the number asked for is called a total: "the total number of items in stock".
    is_total: bool,
    /// Whether "total" is said, which can be a heading and the word for a sum.
    is_in_total: bool,
    /// Whether the request asks who, so that the whole row is the answer.
    is_of_whom: bool,
}

/// The query that words in any order ask of a table; `None` if a word has no meaning there or they don't fit together.
pub(super) fn question(
    words: &[String],
    path: &str,
    table: &Table,
    least: usize,
    fs: &dyn FileSystem,
) -> Option<Query> {
    let stem = file_name(path)?.split('.').next()?.to_lowercase();
    let mut roles = roles(words, &stem, table)?;
    // "orders" are the rows of a table that is named, and may be those of another one otherwise.
    for role in roles.iter_mut().filter(|role| **role == Role::Word("entity")) {
        *role = (least == 0).then_some(Role::Word("row"))?;
    }
    let is_of_table = |role: &&Role| match role {
        Role::Word(word) => ["month", "year"].contains(word),
        role => !matches!(role, Role::Number(_)),
    };
    // "orders over 100".
    let compares = |role: &Role| matches!(role, Role::Word(word) if comparison(word).is_some());
    let by_name =
        if words.iter().any(|word| is_name_of(word, &stem)) { 1 + usize::from(roles.iter().any(compares)) } else { 0 };
    let told = roles.iter().filter(is_of_table).count() + by_name;
    let says = |word: &'static str| roles.contains(&Role::Word(word));
    // "who earns the most", "how many people work in Bonn".
    let computes = COMPUTING.into_iter().any(says) || says("count") && (says("row") || says("named"));
    if told < if computes { least } else { least.min(1) * 2 } {
        return None;
    }
    let is_money = |word: &&str| words.iter().any(|said| said == word) && is_name_of(word, &stem);
    let mut asked = Asked {
        is_in_total: words.iter().any(|word| word == "total") && !says("per"),
        is_of_money: MONEY.iter().any(is_money),
        ..Asked::default()
    };
    let mut roles = roles.into_iter().peekable();
    while let Some(role) = roles.next() {
        let is_row = matches!(role, Role::Word("row" | "named"));
        asked.take(role, &mut roles, table)?;
        asked.is_after_row = is_row;
    }
    asked.query(path, table, fs)
}

impl Asked {
    /// Adds a phrase's role, and those after it that belong to it, to what is asked; `None` if it doesn't fit what was
    /// added before.
    fn take(&mut self, role: Role, rest: &mut Peekable<IntoIter<Role>>, table: &Table) -> Option<()> {
        match role {
            Role::Head(column) => return self.head(column, rest, table),
            Role::Cell(column, value) => {
                let mut values = vec![value];
                loop {
                    let is_or = rest.next_if_eq(&Role::Word("or")).is_some();
                    match rest.next_if(|next| matches!(next, Role::Cell(of, _) if *of == column)) {
                        Some(Role::Cell(_, value)) => values.push(value),
                        _ if is_or => return None,
                        _ => break,
                    }
                }
                rest.next_if_eq(&Role::Head(column));
                values.iter().all(|value| !value.contains(OR)).then_some(())?;
                let how = if values.len() > 1 { "among" } else { "is" };
                self.limit(column, how, values.join(&OR.to_string()))?;
            }
            Role::Date(date) => self.limit(table.only_dates()?, "within", date)?,
            Role::Number(count) => match rest.peek() {
                Some(Role::Word("maximum" | "minimum" | "most_of_all") | Role::Of("most" | "least", _)) => {
                    set(&mut self.first, count)?
                }
                _ => {
                    let is_cell = self.is_after_row || table.log.is_some();
                    let found = table.value(&count, None).filter(|_| is_cell);
                    match found {
                        Some((column, value)) => self.limit(column, "is", value)?,
                        // A year.
                        None => {
                            let column = table.only_dates().filter(|_| is_year(&count))?;
                            self.limit(column, "within", format!("{count}-"))?;
                        }
                    }
                }
            },
            Role::Of(how @ ("above" | "below"), column) => {
                let Role::Number(bound) = rest.next()? else { return None };
                self.limit(column, how, bound)?;
            }
            Role::Of("none", column) => self.limit(column, "is", "0".to_owned())?,
            Role::Of("sum", column) => {
                // "how much did I pay for" says it twice.
                (*self.function.get_or_insert("sum") == "sum").then_some(())?;
                set(&mut self.number, column)?;
            }
            Role::Of("not", column) => self.limit(column, "is", truth(table, column)?[1].to_owned())?,
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
        // "the region with the most units" may add them up.
        self.is_most |= word == "most_of_all";
        let word = if word == "most_of_all" { "maximum" } else { word };
        match word {
            // "the highest row" names no number.
            "row" if self.number.is_none() && matches!(self.function, Some("maximum" | "minimum")) => return None,
            "row" | "named" => self.is_of_rows |= self.function.is_none(),
            "who" => self.is_of_whom = true,
            // "the region with the highest total amount".
            "sum" | "overall" if self.is_descending.is_some() && self.group.is_none() && self.shown.len() == 1 => {
                self.group = self.shown.pop();
                self.first = Some("1".to_owned());
                self.function = Some("sum");
            }
            "maximum" | "minimum"
                if rest.peek() == Some(&Role::Word("row"))
                    && self.shown.last().is_some_and(|column| !table.is_numeric(*column)) =>
            {
                // "which town has the most people".
                rest.next();
                return self.most_frequent(rest, word == "maximum");
            }
            "frequent" => return self.most_frequent(rest, true),
            "sum" | "average" if self.function.is_none() && self.number.is_none() && self.shown.len() == 1 => {
                // "what do the amounts add up to".
                self.function = Some(word);
                self.number = self.shown.pop().filter(|column| table.is_numeric(*column));
                self.number?;
            }
            "sum" | "average" | "count" => set(&mut self.function, word)?,
            "total_count" => {
                set(&mut self.function, "count")?;
                self.is_total = true;
            }
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
            "between" | "upwards" | "downwards" => return self.bound(word, rest, table),
            word if comparison(word).is_some() => return self.bound(word, rest, table),
            // "the role of each person".
            "per" if rest.next_if(|next| matches!(next, Role::Word("row" | "named"))).is_some() => {}
            "per" | "by" | "sort_by" => return self.arranged(word, rest, table),
            "descending" | "ascending" => set(&mut self.is_descending, word == "descending")?,
            "overall" => {}
            "different" => self.is_distinct = true,
            "not" => match rest.next()? {
                Role::Head(column) if let Some([_, no]) = truth(table, column) => {
                    self.limit(column, "is", no.to_owned())?;
                }
                Role::Cell(column, value) => {
                    // "not in Bonn or Ulm" excepts both.
                    let is_one =
                        |next: &Role| !matches!(next, Role::Cell(of, _) if *of == column) && *next != Role::Word("or");
                    rest.peek().is_none_or(is_one).then_some(())?;
                    self.limit(column, "not", value)?;
                }
                _ => return None,
            },
            _ => return None,
        }
        Some(())
    }

    /// Groups or sorts by the column that is named next; `None` if two are named.
    fn arranged(&mut self, word: &'static str, rest: &mut Peekable<IntoIter<Role>>, table: &Table) -> Option<()> {
        if word == "sort_by" {
            rest.next_if_eq(&Role::Word("by"));
        }
        // "fees by venue" adds them up, "fees sorted by venue" lists them.
        let has_number = self.shown.len() == 1 && self.shown.iter().all(|column| table.is_numeric(*column));
        let column = match rest.next()? {
            Role::Head(column) => column,
            Role::Word(period @ ("month" | "year")) => {
                let column = table.only_dates().filter(|column| table.dates(*column) == Some(10))?;
                self.period = Some(if period == "month" { 7 } else { 4 });
                column
            }
            _ => return None,
        };
        let is_group = word == "per" || word == "by" && has_number || self.function.is_some() || self.period.is_some();
        // "by town and pay" sorts by two columns.
        if !is_group && matches!(rest.peek(), Some(Role::Head(_))) {
            return None;
        }
        set(if is_group { &mut self.group } else { &mut self.sort }, column)
    }

    /// Adds a condition for a number or a date, such as "above 5", or turns the last one into "5 or more"; `None` if it
    /// doesn't fit.
    fn bound(&mut self, word: &'static str, rest: &mut Peekable<IntoIter<Role>>, table: &Table) -> Option<()> {
        match word {
            "between" => {
                let (Role::Number(from) | Role::Date(from)) = dated(rest.next()?, table) else { return None };
                let (Role::Number(to) | Role::Date(to)) = dated(rest.next()?, table) else { return None };
                if let Some(column) =
                    table.only_dates().filter(|_| from.contains('-') || is_year(&from) && is_year(&to))
                {
                    self.limit_date(column, "least", &from, table)?;
                    return self.limit_date(column, "most", &to, table);
                }
                let column = self.bounded(rest, table)?;
                self.limit(column, "least", from)?;
                self.limit(column, "most", to)?;
            }
            word if comparison(word).is_some() => {
                let how = comparison(word)?;
                match dated(rest.next()?, table) {
                    // "over 2000" may be a sum of money.
                    Role::Number(bound)
                        if is_year(&bound)
                            && !self.has_bound()
                            && table.only_dates().is_some()
                            && (is_of_dates(word) || table.only_money().is_none()) =>
                    {
                        self.limit_date(table.only_dates()?, how, &bound, table)?;
                    }
                    Role::Number(bound) if !is_of_dates(word) => {
                        let column = self.bounded(rest, table)?;
                        self.limit(column, how, bound)?;
                    }
                    Role::Date(date) => self.limit_date(table.only_dates()?, how, &date, table)?,
                    _ => return None,
                }
            }
            // "2015 or earlier", "3000 or more".
            "upwards" | "downwards" => {
                let (column, how, value) = self.conditions.pop()?;
                let new = if word == "upwards" { "least" } else { "most" };
                match how {
                    "is" if is_number(&value) => self.limit(column, new, value)?,
                    "within" | "is" => self.limit_date(column, new, value.trim_end_matches('-'), table)?,
                    _ => return None,
                }
            }
            _ => return None,
        }
        Some(())
    }

    /// Adds a heading to what is asked: as the column of a condition, of the numbers to compute with, or to show.
    fn head(&mut self, column: usize, rest: &mut Peekable<IntoIter<Role>>, table: &Table) -> Option<()> {
        // "who joined since": the column twice.
        while rest.next_if_eq(&Role::Head(column)).is_some() {}
        let belongs = |next: &Role| match next {
            Role::Number(number) => {
                table.is_numeric(column) || table.dates(column).is_some() || table.value(number, Some(column)).is_some()
            }
            Role::Word(word) => {
                let is_numeric = table.is_numeric(column) && !is_of_dates(word);
                comparison(word).is_some() && (is_numeric || table.dates(column).is_some())
            }
            Role::Cell(of, _) => *of == column,
            Role::Date(_) => table.dates(column).is_some(),
            _ => false,
        };
        match rest.next_if(belongs) {
            Some(Role::Word(how)) => {
                let (Role::Number(bound) | Role::Date(bound)) = dated(rest.next()?, table) else { return None };
                match table.dates(column) {
                    Some(_) => self.limit_date(column, comparison(how)?, &bound, table),
                    None => self.limit(column, comparison(how)?, bound),
                }
            }
            // "joined since 2023" with a column called "since".
            Some(Role::Date(date))
                if table.heads.get(column - 1).is_some_and(|head| head.to_lowercase() == "since") =>
            {
                self.limit_date(column, "least", &date, table)
            }
            Some(Role::Date(date)) => self.limit(column, "within", date),
            Some(Role::Number(year)) if table.dates(column).is_some() => {
                is_year(&year).then_some(())?;
                self.limit(column, "within", format!("{year}-"))
            }
            Some(Role::Number(bound))
                if matches!(rest.peek(), Some(Role::Word("upwards" | "downwards"))) && table.is_numeric(column) =>
            {
                let is_least = rest.next() == Some(Role::Word("upwards"));
                self.limit(column, if is_least { "least" } else { "most" }, bound)
            }
            Some(Role::Number(value) | Role::Cell(_, value)) => {
                let (column, value) = table.value(&value, Some(column))?;
                self.limit(column, "is", value)
            }
            _ if let Some([yes, _]) = truth(table, column) => self.limit(column, "is", yes.to_owned()),
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
        let is_alone = |how: &str| ALONE.contains(&how);
        let excludes = |(of, known, _): &(usize, &str, String)| {
            *of == column && (*known == how || is_alone(known) || is_alone(how))
        };
        // "still owe, paid is false" says it twice.
        if self.conditions.contains(&(column, how, value.clone())) {
            return Some(());
        }
        if self.conditions.len() == CONDITIONS.len() || self.conditions.iter().any(excludes) {
            return None;
        }
        self.conditions.push((column, how, value));
        Some(())
    }

    /// Whether a condition for numbers was added.
    fn has_bound(&self) -> bool {
        self.conditions.iter().any(|(_, how, value)| !ALONE.contains(how) && is_number(value))
    }

    /// The column of numbers that a bound without a heading is for: that of the heading behind it, of the bound before
    /// it, the only one, or the only one of prices and amounts.
    fn bounded(&self, rest: &mut Peekable<IntoIter<Role>>, table: &Table) -> Option<usize> {
        // "orders above 100 and below 200".
        let is_bound = |(_, how, _): &&(usize, &str, String)| !ALONE.contains(how);
        let before = self.conditions.last().filter(is_bound).map(|(column, ..)| *column);
        match rest.next_if(|next| matches!(next, Role::Head(_))) {
            Some(Role::Head(column)) => Some(column),
            _ => before.or_else(|| table.only_numeric()).or_else(|| table.only_money()),
        }
    }

    /// The query for all that was added; `None` if its parts don't fit together, or nothing of the table is asked. The
    /// "total" of several rows is their sum, that of one row its number.
    fn query(self, path: &str, table: &Table, fs: &dyn FileSystem) -> Option<Query> {
        let is_headed = |column: &usize| table.heads.get(*column - 1).is_some_and(|head| head == "total");
        let added_up = (self.is_in_total && self.function.is_none() && self.shown.iter().all(is_headed)).then(|| {
            let mut sum = self.clone();
            (sum.function, sum.number) = (Some("sum"), sum.shown.pop());
            sum
        });
        let query = self.asked(path, table, fs)?;
        let is_of_several = || matches!(evaluate(&query, fs), Ok(Answer::Lines(lines)) if lines.len() > 1);
        match added_up.filter(|sum| sum.number.is_some() && is_of_several()) {
            Some(sum) => sum.asked(path, table, fs),
            None => Some(query),
        }
    }

    /// The query for the columns, conditions and function that were collected; `None` if they don't fit together.
    fn asked(mut self, path: &str, table: &Table, fs: &dyn FileSystem) -> Option<Query> {
        self.settle_rank(table)?;
        self.settle_function(table);
        self.settle_group(table);
        let (shape, is_counted) = self.shape(table)?;
        let bounded = self.conditions.iter().filter(|(_, how, value)| !ALONE.contains(how) && is_number(value));
        let bounded = bounded.map(|(column, ..)| *column);
        let are_numbers = self.number.into_iter().chain(bounded).all(|column| table.is_numeric(column));
        // Dates and words are sorted as text.
        let by_text = self.sort.filter(|column| !table.is_numeric(*column));
        let is_clear = by_text.is_none_or(|at| table.dates(at).is_some() || table.is_in_order_by_letter(at));
        let is_computed = self.function.is_some();
        let fits = match shape {
            "rows" => !self.conditions.is_empty() || self.sort.is_some() || self.first.is_some(),
            "select" => self.shown.len() <= 2,
            "distinct" => self.shown.len() == 1,
            "count" if self.is_distinct => false,
            _ => self.shown.is_empty(),
        };
        let is_order_said = self.is_descending.is_none() || self.sort.is_some() || self.group.is_some() || is_computed;
        if !are_numbers
            || !is_clear
            || !fits
            || !is_order_said
            || (is_computed || self.is_distinct) && self.sort.is_some()
        {
            return None;
        }
        // Of groups only those with the largest or smallest number are asked for alone.
        let is_top = self.is_descending.is_some();
        if self.first.is_some() && (self.is_distinct || self.group.is_some() && !is_top)
            || self.group.is_some() && !is_computed
        {
            return None;
        }
        let named = self.conditions.iter().zip(CONDITIONS).flat_map(|((column, how, value), end)| {
            [(format!("where{end}"), table.label(Some(*column))), (format!("{how}{end}"), Some(value.clone()))]
        });
        let named: Vec<(String, Option<String>)> = named.collect();
        let conditions = named.iter().map(|(name, value)| (name.as_str(), value.clone()));
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
                ("log", table.log.map(str::to_owned)),
                ("by", by_text.map(|_| "text".to_owned())),
                ("shape", Some(shape.to_owned())),
                ("number", table.label(self.number)),
                ("one", table.label(self.shown.first().copied())),
                ("two", table.label(self.shown.get(1).copied())),
                ("group", table.label(self.group)),
                ("period", self.period.map(|length| length.to_string())),
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
}
