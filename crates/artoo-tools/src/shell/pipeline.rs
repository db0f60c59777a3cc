//! A pipeline of programs with their arguments, of which no word is read as syntax.

use std::ffi::OsString;
use std::path::PathBuf;

use artoo_proto::pipeline::{PROGRAMS_MAX, WORDS_MAX, command};

use super::COMMAND_MAX_CHARS;
use crate::config::ToolConfig;
use crate::input::{self, InputProblem};
use crate::process::{self, Invocation};

/// A valid pipeline as a shell command, for display and as the target.
///
/// # Errors
/// `TooMany`, `TooLong` or `Unfit`: the pipeline is empty or too long, or a program or word is not valid.
pub(super) fn text(pipeline: &[Vec<String>]) -> Result<String, InputProblem> {
    input::check_count("pipeline", pipeline.len(), PROGRAMS_MAX)?;
    if pipeline.is_empty() {
        return Err(input::unfit("the pipeline is empty"));
    }
    for words in pipeline {
        input::check_count("pipeline", words.len(), WORDS_MAX)?;
        if words.first().is_none_or(|name| name.is_empty() || name.starts_with('-')) {
            return Err(input::unfit("a program of the pipeline has no name, or one that begins with a dash"));
        }
        if words.iter().any(|word| word.contains('\0')) {
            return Err(input::unfit("a word of the pipeline contains a NUL character"));
        }
    }
    let text = command(pipeline);
    input::check_length("pipeline", &text, COMMAND_MAX_CHARS)?;
    Ok(text)
}

/// The program to start: that of a pipeline of one, else a shell that joins the programs by pipes; `None` without one.
pub(super) fn invocation(pipeline: &[Vec<String>], config: &ToolConfig) -> Option<Invocation> {
    if let [words] = pipeline
        && let Some((name, arguments)) = words.split_first()
        && let Some(program) = program(name, config)
    {
        let arguments = arguments.iter().map(OsString::from).collect();
        return Some(Invocation { program, name: name.into(), arguments, environment: Vec::new() });
    }
    // A shell gets the words as positional parameters and reads none of them; `exec` starts no builtin.
    let mut numbers = 1..;
    let stage = |words: &Vec<String>| {
        let parameters = words.iter().zip(&mut numbers).map(|(_, number)| format!(" \"${{{number}}}\""));
        format!("exec{}", parameters.collect::<String>())
    };
    let script = pipeline.iter().map(stage).collect::<Vec<_>>().join(" | ");
    let (mut shell, name) = (shell(config)?, pipeline.first()?.first()?);
    shell.arguments.extend(["-c".into(), script.into(), shell.name.clone()]);
    shell.arguments.extend(pipeline.iter().flatten().map(OsString::from));
    Some(shell)
}
