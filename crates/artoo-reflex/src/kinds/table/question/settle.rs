//! Decides what a question about a table asks for where its words alone leave it open.

use std::iter::Peekable;
use std::vec::IntoIter;

use super::Asked;
use crate::kinds::table::cells::Table;
use crate::kinds::table::roles::{Role, set};

impl Asked {
    /// What is shown: rows, values of columns, or a function of them; and whether the different values are counted. `None`
    /// if a function has no column of numbers.
    pub(super) fn shape(&mut self, table: &Table) -> Option<(&'static str, bool)> {
        // "how many different towns".
        let is_counted = self.is_distinct && self.function == Some("count") && self.shown.len() == 1;
        if is_counted {
            self.function = None;
        }
        // "which products are out of stock" asks for no stock.
        let is_same = |column: &usize| self.conditions.iter().any(|(of, how, _)| of == column && *how == "is");
        if self.is_of_rows && self.shown.iter().all(is_same) {
            self.shown.clear();
        }
        let shape = match self.function {
            Some("count") => "count",
            Some(function) => {
                let money = || table.only_money().filter(|_| self.is_of_money);
                self.number = self.number.or_else(|| table.only_numeric()).or_else(money);
                self.number?;
                function
            }
            None if self.is_distinct => "distinct",
            None if self.shown.is_empty() => "rows",
            None => "select",
        };
        Some((shape, is_counted))
    }

    /// Decides whether a superlative picks rows or asks for the number itself; `None` if it has no column.
    pub(super) fn settle_rank(&mut self, table: &Table) -> Option<()> {
        // "the five highest sales by amount" are rows.
        if let (Some("maximum" | "minimum"), Some(_), Some(column), None) =
            (self.function, &self.first, self.group, self.number)
            && table.is_numeric(column)
        {
            (self.group, self.number, self.is_of_rows) = (None, Some(column), true);
        }
        // "which city has the most rain" asks for the city, "the most rain" for the number.
        if matches!(self.function, Some("maximum" | "minimum"))
            && self.group.is_none()
            && (self.is_of_rows || self.is_of_whom || !self.shown.is_empty() || self.first.is_some())
        {
            self.function = None;
            self.shown.retain(|_| !self.is_of_whom);
            let column = self.number.take().or_else(|| table.only_numeric())?;
            if let (true, [group]) =
                (self.is_most && self.first.is_none() && is_additive(table, column), self.shown.as_slice())
                && !table.is_numeric(*group)
            {
                (self.group, self.number, self.function) = (self.shown.pop(), Some(column), Some("sum"));
                self.first = Some("1".to_owned());
                return Some(());
            }
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
    pub(super) fn settle_function(&mut self, table: &Table) {
        let [column] = self.shown.as_slice() else { return };
        let heading = table.heads.get(column - 1).map(|head| head.to_lowercase()).unwrap_or_default();
        // "how many courses" counts rows, each of which is another course.
        let is_of_rows = self.function.is_none() && self.group.is_some() || self.function == Some("count");
        if is_of_rows && !self.is_distinct && !table.is_numeric(*column) && table.is_of_different(*column) {
            self.shown.clear();
            self.function = Some("count");
            return;
        }
        let is_sum = match self.function {
            None => self.group.is_some() && ["total", "sum"].contains(&heading.as_str()),
            Some(function) => function == "count" && heading != "status" && (heading.ends_with('s') || self.is_total),
        };
        if is_sum && table.is_numeric(*column) {
            self.function = Some("sum");
            self.number = self.shown.pop();
        }
    }

    /// Decides what groups are computed from if the request names no function: "units per product" adds them up, "requests
    /// per page" counts rows.
    pub(super) fn settle_group(&mut self, table: &Table) {
        // "units per product".
        if let (Some(_), None, [column]) = (self.group, self.function, self.shown.as_slice())
            && is_additive(table, *column)
            && table.is_numeric(*column)
        {
            (self.function, self.number) = (Some("sum"), self.shown.pop());
        }
        // "expenses per category" are added up, "orders per city" counted.
        if let (Some(_), None, true, Some(column)) =
            (self.group, self.function, self.is_of_money && self.shown.is_empty(), table.only_money())
        {
            (self.function, self.number) = (Some("sum"), Some(column));
        }
        // "requests per page".
        if self.group.is_some() && self.function.is_none() && self.is_of_rows && self.shown.is_empty() {
            self.function = Some("count");
        }
    }

    /// Adds a condition that compares a column of dates with the start of a date, such as a year or month.
    pub(super) fn limit_date(&mut self, column: usize, how: &'static str, start: &str, table: &Table) -> Option<()> {
        let length = table.dates(column)?;
        let ends = if matches!(how, "above" | "most") { ["-12", "-31"] } else { ["-01", "-01"] };
        let missing = ends.into_iter().skip(start.matches('-').count()).collect::<String>();
        let bound: String = format!("{start}{missing}").chars().take(length).collect();
        self.limit(column, how, bound)
    }

    /// Asks for the value of the column named before or next that most rows have, or with `is_most` false the fewest.
    pub(super) fn most_frequent(&mut self, rest: &mut Peekable<IntoIter<Role>>, is_most: bool) -> Option<()> {
        let next = rest.next_if(|next| self.shown.is_empty() && matches!(next, Role::Head(_)));
        let column = match next {
            Some(Role::Head(column)) => column,
            _ => self.shown.pop()?,
        };
        set(&mut self.group, column)?;
        set(&mut self.function, "count")?;
        set(&mut self.is_descending, is_most)?;
        self.first.get_or_insert_with(|| "1".to_owned());
        Some(())
    }
}

/// Whether the numbers of a column are added up where several rows belong together.
fn is_additive(table: &Table, column: usize) -> bool {
    const HEADINGS: [&str; 17] = [
        "units", "amount", "total", "quantity", "sum", "cost", "costs", "revenue", "fee", "fees", "hours", "minutes",
        "distance", "visitors", "votes", "credits", "points",
    ];
    table.heads.get(column - 1).is_some_and(|head| HEADINGS.contains(&head.to_lowercase().as_str()))
}
