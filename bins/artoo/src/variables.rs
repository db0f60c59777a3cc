//! Environment variables, and the configuration file's values for those that are not set.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Display;
use std::path::PathBuf;
use std::str::FromStr;

use crate::failure::Failure;

/// Pairs of an earlier variable name that is still read and the current name.
const EARLIER_NAMES: [(&str, &str); 2] = [("ARTOO_HANDS", "ARTOO_WORKER"), ("ARTOO_HANDS_KEY", "ARTOO_WORKER_KEY")];

/// Environment variables, read once, and the configuration file's values for those not set. Empty counts as not set.
#[derive(Debug, Clone, Default)]
pub(crate) struct Variables {
    all: BTreeMap<OsString, OsString>,
    /// The earlier name of each variable that was set under its earlier name, by its current name.
    earlier: BTreeMap<&'static str, &'static str>,
    /// For each variable set by the configuration file, text that names the setting and its line.
    from_file: BTreeMap<&'static str, String>,
}

impl Variables {
    /// Reads the environment variables of this process.
    pub(crate) fn of_process() -> Self {
        Self::new(std::env::vars_os().collect())
    }

    /// Wraps environment variables; a value under an earlier name counts as the current name's if that is not set.
    fn new(all: BTreeMap<OsString, OsString>) -> Self {
        let mut variables = Self { all, ..Self::default() };
        for (earlier, name) in EARLIER_NAMES {
            if variables.raw(name).is_none()
                && let Some(value) = variables.raw(earlier).cloned()
            {
                variables.all.insert(name.into(), value);
                variables.earlier.insert(name, earlier);
            }
        }
        variables
    }

    /// Sets a variable to the configuration file's value; `origin` names the setting and the line in the file.
    pub(crate) fn set_from_file(&mut self, name: &'static str, value: String, origin: String) {
        self.all.insert(name.into(), value.into());
        self.from_file.insert(name, origin);
    }

    /// The user's home folder, from `HOME` or the system; empty if unknown.
    pub(crate) fn home(&self) -> PathBuf {
        self.path("HOME").or_else(std::env::home_dir).unwrap_or_default()
    }

    /// Names what set a variable: a line of the configuration file, or the environment; `None` if it is not set.
    pub(crate) fn origin(&self, name: &'static str) -> Option<String> {
        self.raw(name)
            .map(|_| self.from_file.get(name).cloned().unwrap_or_else(|| format!("variable {}", self.label(name))))
    }

    /// The trimmed value of a variable if the configuration file set it; `None` if the environment did or nothing.
    pub(crate) fn of_file(&self, name: &'static str) -> Option<String> {
        self.from_file.get(name)?;
        self.raw(name)?.to_str().map(|value| value.trim().to_owned())
    }

    /// The error for an invalid value of a variable; names the line of the file that set the value, or the variable.
    pub(crate) fn invalid(&self, name: &'static str, problem: impl Display) -> Failure {
        Failure::Variable { name: self.label(name).to_owned(), problem: problem.to_string() }
    }

    /// What a variable is called in messages: the line of the configuration file that set it, or the name it was set
    /// under.
    fn label(&self, name: &'static str) -> &str {
        let name = self.earlier.get(name).copied().unwrap_or(name);
        self.from_file.get(name).map_or(name, String::as_str)
    }

    /// For tests: environment variables with these names and values.
    #[cfg(test)]
    pub(crate) fn of(pairs: &[(&str, &str)]) -> Self {
        let all = pairs.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))).collect();
        Self::new(all)
    }

    /// The value of a variable, unchanged; `None` if the variable is not set or empty.
    pub(crate) fn raw(&self, name: &str) -> Option<&OsString> {
        self.all.get(&OsString::from(name)).filter(|value| !value.is_empty())
    }

    /// The value of a variable as trimmed text; `None` if not set or blank, an error if not UTF-8.
    pub(crate) fn text(&self, name: &'static str) -> Result<Option<String>, Failure> {
        let Some(value) = self.raw(name) else { return Ok(None) };
        let text = value.to_str().ok_or_else(|| self.invalid(name, "it is not valid UTF-8"))?;
        Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty()))
    }

    /// The value of a variable, parsed as `T`; `None` if not set, an error that names the variable if invalid.
    pub(crate) fn parsed<T: FromStr<Err: Display>>(&self, name: &'static str) -> Result<Option<T>, Failure> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        text.parse().map(Some).map_err(|error| self.invalid(name, error))
    }

    /// The value that a variable's word stands for, by a table of allowed words; `None` if the variable is not set, an
    /// error for other words.
    pub(crate) fn one_of<T: Copy>(
        &self,
        name: &'static str,
        words: &[(&str, T)],
        problem: &str,
    ) -> Result<Option<T>, Failure> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        let found = words.iter().find(|(word, _)| *word == text);
        found.map(|(_, meaning)| Some(*meaning)).ok_or_else(|| self.invalid(name, problem))
    }

    /// The value of a variable as a path; `None` if the variable is not set or empty.
    pub(crate) fn path(&self, name: &str) -> Option<PathBuf> {
        self.raw(name).map(PathBuf::from)
    }
}
