//! Command-line options that set which artoo is run, and how.

use std::path::PathBuf;

use clap::Args;

use crate::Fault;
use crate::drive::Artoo;
use crate::results::Results;

/// Prefixes of the environment variables that are passed on to artoo, unless its model is `reflex`.
pub(crate) const PASSED: [&str; 5] = ["OPENAI_", "ANTHROPIC_", "OLLAMA_", "ARTOO_", "SSL_CERT_FILE"];

/// Environment variables that are never passed on, since they name folders and files of the user.
const NEVER_PASSED: [&str; 3] = ["ARTOO_DATA_DIR", "ARTOO_WORKSPACE", "ARTOO_EXCHANGES"];

/// The options: program, model, variables and result file.
#[derive(Debug, Args)]
pub(crate) struct Settings {
    /// The program
    #[arg(long, value_name = "PATH", default_value = "target/debug/artoo")]
    artoo: PathBuf,
    /// The model, as artoo's option; with any but reflex, variables that begin with OPENAI_, ANTHROPIC_, OLLAMA_ or
    /// ARTOO_ are passed on
    #[arg(long, default_value = "reflex")]
    model: String,
    /// Sets OPENAI_BASE_URL for artoo
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// The endpoint's name for the model: --model openai --model-name NAME is --model openai:NAME
    #[arg(long, value_name = "NAME")]
    model_name: Option<String>,
    /// The result file, to which one JSON line per finished run is appended
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Artoo's time limit for a run, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    deadline: u64,
}

impl Settings {
    /// Makes the program to evaluate from the options, and opens the result file.
    ///
    /// # Errors
    ///
    /// If there is no such program, or the file can't be read or written.
    pub(crate) fn open(&self) -> Result<(Artoo, Results), Fault> {
        let program = self.artoo.canonicalize();
        let program =
            program.map_err(|error| format!("{}: {error}; `cargo build -p artoo` makes it", self.artoo.display()))?;
        let is_passed =
            |name: &str| PASSED.iter().any(|prefix| name.starts_with(prefix)) && !NEVER_PASSED.contains(&name);
        let mut variables: Vec<(String, String)> = if self.model == "reflex" {
            Vec::new()
        } else {
            // A model is measured alone, unless the caller wants the default behaviour for users.
            let alone = ("ARTOO_REFLEX_FIRST".to_owned(), "false".to_owned());
            std::iter::once(alone).chain(std::env::vars().filter(|(name, _)| is_passed(name))).collect()
        };
        variables.extend(self.base_url.iter().map(|url| ("OPENAI_BASE_URL".to_owned(), url.clone())));
        // The name is a part of the model, so that results of two models of an endpoint differ.
        let model = self.model_name.iter().fold(self.model.clone(), |model, name| format!("{model}:{name}"));
        let artoo = Artoo { program, model, variables, deadline_s: self.deadline };
        Ok((artoo, Results::open(&self.out)?))
    }
}
