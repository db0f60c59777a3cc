//! Kinds of question beyond the query algebra, such as about git or tables: each is one file and one row of [`KINDS`].
//!
//! A kind says how it is worded (lines as in `parse/forms.txt`), what programs answer it, and how the answer is computed
//! a second time. Its answer is always a list of lines, so that it can be counted, limited and saved like any other.

mod git;
mod json;
mod lines;
mod piped;
mod program;
mod string;
mod table;

pub(crate) use self::piped::{asked_of, last_change, which_ones};
pub(crate) use self::table::{is_whole_column, question as table_question, with_heading};
pub(crate) use crate::algebra::Known;
use crate::algebra::{Act, Fact, Query, Step};
use crate::eval::{Answer, EvalError, FileSystem, evaluate};
use crate::lower::{Pipeline, Unsupported};
use crate::parse::Form;

/// All kinds of question that have a module of their own, such as `git` and `table`.
pub(crate) const KINDS: &[Row] = &[git::ROW, json::ROW, lines::ROW, piped::ROW, program::ROW, string::ROW, table::ROW];

/// How one kind of question is worded, read, told in English and answered.
pub(crate) struct Row {
    /// The name of the kind, which its forms begin with.
    pub(crate) name: &'static str,
    /// The forms of its requests.
    pub(crate) forms: &'static str,
    /// The query of a request by the name of its form; `None` if the values don't fit together.
    pub(crate) read: fn(&Form<'_>, &str) -> Option<Query>,
    /// The noun phrase of the answer.
    pub(crate) english: fn(&Known) -> String,
    /// The programs that print the answer.
    pub(crate) lower: fn(&Known) -> Result<Pipeline, Unsupported>,
    /// The answer, computed without these programs.
    pub(crate) eval: fn(&Known, &dyn FileSystem) -> Result<Vec<String>, EvalError>,
}

impl Known {
    /// The query for a question of this kind with these named values; values that are `None` are left out.
    pub(crate) fn of<'a>(kind: &str, given: impl IntoIterator<Item = (&'a str, Option<String>)>) -> Query {
        let given = given.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect();
        Query::Known { known: Self { kind: kind.to_owned(), given } }
    }

    /// The same question with the value of this name replaced.
    pub(crate) fn with(mut self, name: &str, value: String) -> Self {
        self.given.insert(name.to_owned(), value);
        self
    }

    /// The fact that a question asks for in a unit of size, and the unit in bytes; `None` for any other question.
    pub(crate) fn room(&self) -> Option<(Fact, u64)> {
        piped::room(self)
    }

    /// The queries whose files and folders must exist so that this question can be answered; empty for a question that is
    /// not computed from the answer to another query.
    pub(crate) fn needed(&self) -> Vec<Query> {
        piped::needed(self)
    }

    /// The value of this name in a question; `None` if it has none.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.given.get(name).map(String::as_str)
    }

    /// The value of this name in a question; empty if it has none.
    pub(crate) fn value(&self, name: &str) -> &str {
        self.get(name).unwrap_or_default()
    }

    /// Whether the question is about a text that stands in the request itself.
    pub(crate) fn is_of_text(&self) -> bool {
        self.kind == string::ROW.name
    }

    /// The row of [`KINDS`] for the kind of a question; `None` for an unknown kind.
    pub(crate) fn row(&self) -> Option<&'static Row> {
        KINDS.iter().find(|row| row.name == self.kind)
    }
}

/// Whether a program is on the search path.
fn has_program(fs: &dyn FileSystem, name: &str) -> bool {
    let fact = Fact::Program { name: name.to_owned() };
    matches!(evaluate(&Query::System { fact }, fs), Ok(Answer::Text(path)) if !path.is_empty())
}

/// The steps for a form of one of [`KINDS`]; the outer `None` if the form belongs to none. A name that ends in `!`
/// saves the answer: to the path in the slot `save` or `to`, else to the file that the lines come from.
pub(crate) fn steps(form: &Form<'_>, name: &str) -> Option<Option<Vec<Step>>> {
    let (kind, wording) = name.split_once('.')?;
    let row = KINDS.iter().find(|row| row.name == kind)?;
    let saves = wording.strip_suffix('!');
    let query = (row.read)(form, saves.unwrap_or(wording));
    Some(query.and_then(|query| match (&query, saves) {
        (_, None) => Some(vec![Step::Ask(query)]),
        (Query::Known { known }, Some(_)) => {
            let to = form.path("save").or_else(|| form.path("to")).or_else(|| known.get("path").map(str::to_owned))?;
            Some(vec![Step::Do(Act::Save { of: query, to })])
        }
        _ => None,
    }))
}
