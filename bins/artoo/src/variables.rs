//! Environment variables, and the configuration file's values for those that are not set.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Display;
use std::path::PathBuf;
use std::str::FromStr;

use crate::failure::Failure;

/// The variables of the user's own shell, read once, and what the configuration file says for those that are not set.
/// An empty one counts as not set.
#[derive(Debug, Clone, Default)]
pub(crate) struct Variables {
    all: BTreeMap<OsString, OsString>,
    /// For those from the file: which key of it, and the line.
    from_file: BTreeMap<&'static str, String>,
}

impl Variables {
    /// Those of this process.
    pub(crate) fn of_process() -> Self {
        Self { all: std::env::vars_os().collect(), from_file: BTreeMap::new() }
    }

    /// Sets a variable to the configuration file's value; `origin` is the key and the line.
    pub(crate) fn set_from_file(&mut self, name: &'static str, value: String, origin: String) {
        self.all.insert(name.into(), value.into());
        self.from_file.insert(name, origin);
    }

    /// The home folder, as far as the environment says it.
    pub(crate) fn home(&self) -> PathBuf {
        self.path("HOME").or_else(std::env::home_dir).unwrap_or_default()
    }

    /// Who set a variable, if anybody did.
    pub(crate) fn origin(&self, name: &'static str) -> Option<String> {
        self.raw(name).map(|_| self.from_file.get(name).cloned().unwrap_or_else(|| format!("variable {name}")))
    }

    /// What the configuration file says for a variable that is not set.
    pub(crate) fn of_file(&self, name: &'static str) -> Option<String> {
        self.from_file.get(name)?;
        self.raw(name)?.to_str().map(|value| value.trim().to_owned())
    }

    /// The error for an invalid value; names the line of the file that set it, or the variable.
    pub(crate) fn invalid(&self, name: &'static str, problem: impl Display) -> Failure {
        Failure::variable(self.from_file.get(name).map_or(name, String::as_str), problem)
    }

    #[cfg(test)]
    pub(crate) fn of(pairs: &[(&str, &str)]) -> Self {
        let all = pairs.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))).collect();
        Self { all, from_file: BTreeMap::new() }
    }

    /// A variable as it is.
    pub(crate) fn raw(&self, name: &str) -> Option<&OsString> {
        self.all.get(&OsString::from(name)).filter(|value| !value.is_empty())
    }

    /// A variable as text without space around it.
    pub(crate) fn text(&self, name: &'static str) -> Result<Option<String>, Failure> {
        let Some(value) = self.raw(name) else { return Ok(None) };
        let text = value.to_str().ok_or_else(|| self.invalid(name, "it is not valid UTF-8"))?;
        Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty()))
    }

    /// A variable read as something.
    pub(crate) fn parsed<T: FromStr<Err: Display>>(&self, name: &'static str) -> Result<Option<T>, Failure> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        text.parse().map(Some).map_err(|error| self.invalid(name, error))
    }

    /// A variable as a path.
    pub(crate) fn path(&self, name: &str) -> Option<PathBuf> {
        self.raw(name).map(PathBuf::from)
    }
}
