//! Environment variables, and the configuration file's values for those that are not set.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Display;
use std::path::PathBuf;
use std::str::FromStr;

use crate::failure::Failure;

/// Earlier names of variables that are still read, and their current names.
const EARLIER_NAMES: [(&str, &str); 2] = [("ARTOO_HANDS", "ARTOO_WORKER"), ("ARTOO_HANDS_KEY", "ARTOO_WORKER_KEY")];

/// Environment variables, read once, and the configuration file's values for those not set. Empty counts as not set.
#[derive(Debug, Clone, Default)]
pub(crate) struct Variables {
    all: BTreeMap<OsString, OsString>,
    /// The earlier name of each variable that was set by it.
    earlier: BTreeMap<&'static str, &'static str>,
    /// The setting and line of each variable set by the configuration file.
    from_file: BTreeMap<&'static str, String>,
}

impl Variables {
    /// The variables of this process.
    pub(crate) fn of_process() -> Self {
        Self::new(std::env::vars_os().collect())
    }

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

    /// Sets a variable to the configuration file's value; `origin` is the key and the line.
    pub(crate) fn set_from_file(&mut self, name: &'static str, value: String, origin: String) {
        self.all.insert(name.into(), value.into());
        self.from_file.insert(name, origin);
    }

    /// The user's home folder.
    pub(crate) fn home(&self) -> PathBuf {
        self.path("HOME").or_else(std::env::home_dir).unwrap_or_default()
    }

    /// What set a variable: a line of the file, or the variable itself.
    pub(crate) fn origin(&self, name: &'static str) -> Option<String> {
        self.raw(name)
            .map(|_| self.from_file.get(name).cloned().unwrap_or_else(|| format!("variable {}", self.label(name))))
    }

    /// A variable's value if the configuration file set it.
    pub(crate) fn of_file(&self, name: &'static str) -> Option<String> {
        self.from_file.get(name)?;
        self.raw(name)?.to_str().map(|value| value.trim().to_owned())
    }

    /// The error for an invalid value; names the line of the file that set it, or the variable.
    pub(crate) fn invalid(&self, name: &'static str, problem: impl Display) -> Failure {
        Failure::variable(self.label(name), problem)
    }

    /// Names what set a variable: the line of the file, its earlier name, or its name.
    fn label(&self, name: &'static str) -> &str {
        let name = self.earlier.get(name).copied().unwrap_or(name);
        self.from_file.get(name).map_or(name, String::as_str)
    }

    #[cfg(test)]
    pub(crate) fn of(pairs: &[(&str, &str)]) -> Self {
        let all = pairs.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))).collect();
        Self::new(all)
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
