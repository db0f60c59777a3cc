//! Law 1, first layer: what a command may do, proven before it runs, or not proven.
//!
//! Nothing is guessed. A command is read-only or creating when it is one known program with plain words, known options
//! and operands that fit; everything else is unproven and asks. What is proven runs without a shell.

mod find;
mod lex;
mod options;
mod programs;
mod table;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use artoo_proto::EffectClass;

use crate::config::ToolConfig;
use crate::process::{self, Invocation};
use crate::protect::Protected;
use crate::{open, paths};

pub(crate) use lex::path_like;
use options::Parsed;
use programs::Program;
pub(crate) use programs::{ExitOne, Operands};

/// A command that needs nobody's consent.
#[derive(Debug)]
pub(crate) struct Proven {
    pub(crate) class: EffectClass,
    pub(crate) invocation: Invocation,
    pub(crate) measures: bool,
    pub(crate) exit_one: ExitOne,
    /// Files and folders it names, absolute.
    pub(crate) operands: Vec<PathBuf>,
}

/// What the guard says of a command.
#[derive(Debug)]
pub(crate) enum Proof {
    /// It may run as it is.
    Proven(Box<Proven>),
    /// It is not known what it does.
    Unproven {
        /// Why not.
        reason: String,
    },
}

/// Decides about a command; nothing is run.
pub(crate) fn classify(config: &ToolConfig, protected: &Protected, command: &str) -> Proof {
    match prove(config, protected, command) {
        Ok(proven) => Proof::Proven(Box::new(proven)),
        Err(reason) => Proof::Unproven { reason },
    }
}

fn prove(config: &ToolConfig, protected: &Protected, command: &str) -> Result<Proven, String> {
    let words = lex::words(command, &config.environment.home).map_err(|doubt| doubt.to_string())?;
    let mut words = words.into_iter().map(|word| word.text);
    let name = words.next().unwrap_or_default();
    let arguments: Vec<String> = words.collect();
    let (path, program) = known_program(config, &name)?;
    let scene = Scene { config, protected };
    for word in &arguments {
        scene.must_not_be_protected(word)?;
    }
    let operands = scene.prove_arguments(program, &arguments)?;
    let class = match program.operands {
        Operands::NewFolders | Operands::NewFiles | Operands::CopyToNew => EffectClass::Creating,
        Operands::None
        | Operands::Text
        | Operands::Facts
        | Operands::Content
        | Operands::OneContent
        | Operands::PatternThenContent
        | Operands::Format
        | Operands::Anything
        | Operands::OneOf(_)
        | Operands::Find => EffectClass::ReadOnly,
    };
    let arguments = arguments.into_iter().map(OsString::from).collect();
    Ok(Proven {
        class,
        invocation: Invocation { program: path, name: program.name.into(), arguments },
        measures: program.measures,
        exit_one: program.exit_one,
        operands,
    })
}

/// The program of that name in the fixed folders; a path is taken only if it is that same file.
fn known_program(config: &ToolConfig, name: &str) -> Result<(PathBuf, &'static Program), String> {
    let base = name.rsplit('/').next().unwrap_or(name);
    let program = programs::find(base).ok_or_else(|| format!("{base} is not a program known to be harmless"))?;
    let missing = || format!("{base} is not installed where it is looked for");
    if name.contains('/') {
        let given = Path::new(name);
        let is_known_place = config.program_path.iter().any(|folder| folder.join(base) == given) && given.is_file();
        return if is_known_place { Ok((given.to_path_buf(), program)) } else { Err(missing()) };
    }
    Ok((process::find_program(config, base).ok_or_else(missing)?, program))
}

/// What words are judged against.
struct Scene<'a> {
    config: &'a ToolConfig,
    protected: &'a Protected,
}

impl Scene<'_> {
    fn path(&self, word: &str) -> Result<PathBuf, String> {
        // A tilde was expanded when the words were read; here it is a letter.
        let word = if word.starts_with('~') { format!("./{word}") } else { word.to_owned() };
        paths::absolute(&self.config.environment, &word).map_err(|problem| problem.to_string())
    }

    /// Options too are looked at: a value behind one may be a file. Reading a key is not harmless, whoever reads it.
    fn must_not_be_protected(&self, word: &str) -> Result<(), String> {
        let value = word.split_once('=').map_or("", |(_, value)| value);
        let glued = if word.starts_with('-') && !word.starts_with("--") { word.get(2..).unwrap_or("") } else { "" };
        for part in [word, value, glued].into_iter().filter(|part| !part.is_empty()) {
            if let Some(reason) = self.protected.refusal(&self.path(part)?) {
                return Err(reason);
            }
        }
        Ok(())
    }

    fn prove_arguments(&self, program: &Program, arguments: &[String]) -> Result<Vec<PathBuf>, String> {
        match program.operands {
            Operands::Anything => return Ok(Vec::new()),
            Operands::OneOf(known) => {
                return match arguments.iter().find(|word| !known.contains(&word.as_str())) {
                    None => Ok(Vec::new()),
                    Some(word) => Err(format!("{word} of {} is not known to be harmless", program.name)),
                };
            }
            Operands::Find => {
                let folders = find::folders(arguments).map_err(|part| format!("{part} is not known to be harmless"))?;
                return folders.iter().map(|folder| self.path(folder)).collect();
            }
            Operands::None
            | Operands::Text
            | Operands::Facts
            | Operands::Content
            | Operands::OneContent
            | Operands::PatternThenContent
            | Operands::Format
            | Operands::NewFolders
            | Operands::NewFiles
            | Operands::CopyToNew => {}
        }
        let parsed = options::parse(program, arguments)?;
        if !program.required.is_empty() && !program.required.iter().any(|name| parsed.has(name)) {
            return Err(format!("{} without -{} may overwrite", program.name, program.required.concat()));
        }
        let recursive = program.recursive.iter().any(|name| parsed.has(name));
        self.prove_operands(program, &parsed, recursive)
    }

    fn prove_operands(&self, program: &Program, parsed: &Parsed, recursive: bool) -> Result<Vec<PathBuf>, String> {
        let operands = parsed.operands.as_slice();
        match program.operands {
            Operands::None if operands.is_empty() => Ok(Vec::new()),
            Operands::Format if operands.iter().all(|word| word.starts_with('+')) => Ok(Vec::new()),
            Operands::None | Operands::Format => {
                Err(format!("{} with this operand may change something", program.name))
            }
            Operands::OneContent if operands.len() > 1 => Err(format!("{} writes to a second file", program.name)),
            Operands::Text => Ok(Vec::new()),
            Operands::Facts => operands.iter().map(|word| self.path(word)).collect(),
            Operands::Content | Operands::OneContent => self.contents(operands, recursive),
            Operands::PatternThenContent => {
                let given = parsed.has("e") || parsed.has("regexp");
                let files = operands.get(usize::from(!given)..).unwrap_or_default();
                if recursive && files.is_empty() {
                    self.contents(&["."], true)
                } else {
                    self.contents(files, recursive)
                }
            }
            Operands::NewFolders => operands.iter().map(|word| self.in_workspace(word)).collect(),
            Operands::NewFiles => operands.iter().map(|word| self.absent_in_workspace(word)).collect(),
            Operands::CopyToNew => match operands {
                [from, to] => {
                    let mut paths = self.contents(&[from], false)?;
                    if paths.iter().any(|path| !path.is_file()) {
                        return Err(format!("{from} is no file that could be copied"));
                    }
                    paths.push(self.absent_in_workspace(to)?);
                    Ok(paths)
                }
                _ => Err("only one file is copied to one new name without asking".to_owned()),
            },
            // These were decided before their options were read.
            Operands::Anything | Operands::OneOf(_) | Operands::Find => Ok(Vec::new()),
        }
    }

    /// Files that will be opened: no devices, no pipes, and nothing protected below a folder that is gone through.
    fn contents(&self, operands: &[&str], recursive: bool) -> Result<Vec<PathBuf>, String> {
        let mut paths = Vec::new();
        for word in operands.iter().filter(|word| **word != "-") {
            let path = self.path(word)?;
            if let Ok(found) = fs::metadata(&path)
                && !(found.is_file() || found.is_dir() || path == Path::new("/dev/null"))
            {
                return Err(format!("{} is {}", paths::line(&path), open::kind_name(found.file_type())));
            }
            if !recursive && path.is_dir() {
                return Err(format!("{} is a folder", paths::line(&path)));
            }
            if recursive && self.protected.lies_below(&path) {
                return Err(format!("{} holds protected files", paths::line(&path)));
            }
            paths.push(path);
        }
        Ok(paths)
    }

    /// A path that really lies in the workspace.
    fn in_workspace(&self, word: &str) -> Result<PathBuf, String> {
        let path = self.path(word)?;
        let workspace = paths::real(Path::new(&self.config.environment.workspace));
        let real = paths::real(&path);
        if real.starts_with(&workspace) {
            return Ok(path);
        }
        Err(format!("{} is not inside the workspace", paths::line(&path)))
    }

    fn absent_in_workspace(&self, word: &str) -> Result<PathBuf, String> {
        let path = self.in_workspace(word)?;
        if paths::real(&path) == paths::real(Path::new(&self.config.environment.workspace)) {
            return Err("the workspace itself is a folder".to_owned());
        }
        match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(path),
            Err(error) => Err(format!("{}: {error}", paths::line(&path))),
            Ok(_) => Err(format!("{} is there already", paths::line(&path))),
        }
    }
}

#[cfg(test)]
mod tests;
