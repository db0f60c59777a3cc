//! Judging one simple command: its name, assignments before it, the program's own rules.

use super::builtins;
use super::danger;
use super::judge::{Judge, State, may_be_set};
use super::objection::Objection;
use super::options::{self, Order, Parsed};
use super::programs::{self, Operands, Program};
use super::scene::{New, Use};
use super::syntax::Simple;
use super::value::{Arg, Stream, Value};

/// Wrappers and subcommands nested in one another.
const NESTED_MAX: usize = 8;

impl Judge<'_> {
    pub(crate) fn simple(&mut self, state: &mut State, simple: &Simple) -> Result<Stream, Objection> {
        self.counted()?;
        let Some((name, words)) = simple.words.split_first() else {
            for (name, value) in &simple.assignments {
                may_be_set(name)?;
                let mut values = self.expanded(state, value)?;
                let value = match (values.pop(), values.is_empty()) {
                    // A pattern is no pattern in an assignment, but may be one where the value is used.
                    (Some(Arg { value: Value::Matches { .. }, .. }), _) | (_, false) => Arg::unknown(true),
                    (Some(Arg { value: Value::Below(_) | Value::Unknown { .. }, .. }), true) => Arg::unknown(false),
                    (Some(value), true) => value,
                    (None, true) => Arg::literal(""),
                };
                state.variables.insert(name.clone(), value);
            }
            return Ok(Stream::Text);
        };
        let Some(name) = name.plain() else {
            return Err(Objection::opaque("the program's name is quoted, expanded or not plain"));
        };
        for (variable, value) in &simple.assignments {
            let value =
                value.literal().ok_or_else(|| Objection::opaque(format!("{variable} is set to an unknown value")))?;
            builtins::may_be_passed(name, variable, &value)?;
        }
        let arguments = self.arguments(state, words)?;
        if let Some(written) = builtins::run(self, state, name, &arguments) {
            return written;
        }
        self.command(state, name, &arguments, 0)
    }

    /// A command inside another one's words: `timeout 5 ls`, `find -exec grep …`.
    pub(crate) fn inner(&mut self, state: &State, words: &[Arg], depth: usize) -> Result<Stream, Objection> {
        self.counted()?;
        let (name, arguments) =
            words.split_first().ok_or_else(|| Objection::opaque("it runs a command that is not given"))?;
        let name = name.text().ok_or_else(|| Objection::opaque("it runs a program whose name is not known"))?;
        if depth >= NESTED_MAX {
            return Err(Objection::opaque("commands run commands too deeply"));
        }
        self.command(state, name, arguments, depth + 1)
    }

    fn command(&mut self, state: &State, name: &str, arguments: &[Arg], depth: usize) -> Result<Stream, Objection> {
        let program = self.known_program(name).ok_or_else(|| danger::objection(name, arguments))?;
        self.program(state, program, arguments, depth).map_err(|found| danger::classed(name, arguments, found))
    }

    /// The program of that name; a path counts only if it is where the program is looked for.
    fn known_program(&self, name: &str) -> Option<&'static Program> {
        let base = name.rsplit('/').next().unwrap_or(name);
        let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.+/[".contains(c));
        let is_known_place = || self.config.program_path.iter().any(|folder| folder.join(base).as_os_str() == name);
        if !is_plain || base.contains(' ') || (name.contains('/') && !is_known_place()) {
            return None;
        }
        programs::find(base)
    }

    /// Judges a known program's arguments.
    pub(crate) fn program(
        &mut self,
        state: &State,
        program: &'static Program,
        arguments: &[Arg],
        depth: usize,
    ) -> Result<Stream, Objection> {
        for word in arguments.iter().filter_map(Arg::text) {
            if !matches!(program.operands, Operands::Anything) {
                self.must_not_be_protected(state, word)?;
            }
        }
        if program.name.starts_with("git ") {
            self.git_must_show_no_secret(state, program.name, arguments)?;
        }
        self.effects.measures |= program.measures;
        self.effects.exit_one = Some(program.exit_one);
        match program.operands {
            Operands::Anything => return Ok(Stream::Text),
            Operands::By(analyser) => {
                self.depth = depth;
                return analyser(self, state, arguments);
            }
            Operands::Subcommand => return self.subcommand(state, program, arguments, depth),
            Operands::Runs { behind } => {
                let parsed = options::parse(program, arguments, Order::OptionsFirst)?;
                let command: Vec<Arg> = parsed.operands.into_iter().skip(behind).cloned().collect();
                return self.inner(state, &command, depth);
            }
            Operands::OneOf(known) => {
                if arguments.is_empty() && known.contains(&"") {
                    return Ok(Stream::Text);
                }
                let is_known = |word: &&Arg| word.text().is_some_and(|text| known.contains(&text));
                return match arguments.iter().find(|word| !is_known(word)) {
                    None if !arguments.is_empty() => Ok(Stream::Text),
                    None => Err(Objection::opaque(format!("{} alone is not known to be harmless", program.name))),
                    Some(word) => Err(Objection::opaque(format!(
                        "{} of {} is not known to be harmless",
                        word.shown(),
                        program.name
                    ))),
                };
            }
            Operands::None
            | Operands::Text
            | Operands::OneText
            | Operands::Facts
            | Operands::Content
            | Operands::OneContent
            | Operands::PatternThenContent
            | Operands::Format
            | Operands::Names
            | Operands::NewFolders
            | Operands::NewFiles
            | Operands::CopyToNew => {}
        }
        // What follows the format is data, dashes and all.
        let order = if program.name == "printf" { Order::OptionsFirst } else { Order::Any };
        let parsed = options::parse(program, arguments, order)?;
        self.parsed(state, program, &parsed)
    }

    fn subcommand(
        &mut self,
        state: &State,
        program: &'static Program,
        arguments: &[Arg],
        depth: usize,
    ) -> Result<Stream, Objection> {
        let parsed = options::parse(program, arguments, Order::OptionsFirst)?;
        let name = match parsed.operands.first() {
            Some(word) => format!("{} {}", program.name, word.text().unwrap_or(" ")),
            None => format!("{} -", program.name),
        };
        let inner = programs::find(&name).ok_or_else(|| danger::objection(program.name, arguments))?;
        let skipped = arguments.len() - parsed.operands.len() + usize::from(!parsed.operands.is_empty());
        self.program(state, inner, arguments.get(skipped..).unwrap_or_default(), depth)
    }

    /// Judges options and operands that have been told apart.
    pub(crate) fn parsed(
        &mut self,
        state: &State,
        program: &Program,
        parsed: &Parsed<'_>,
    ) -> Result<Stream, Objection> {
        if !program.required.is_empty() && !parsed.has_any(program.required) {
            return Err(Objection::changes(format!(
                "{} without -{} acts",
                program.name,
                program.required.join(" or -")
            )));
        }
        for file in parsed.values(program.creates) {
            self.makes(state, &Arg::literal(file), New::File)?;
        }
        let recursive = parsed.has_any(program.recursive);
        self.operands(state, program, parsed, recursive)?;
        Ok(if program.selects && !parsed.has_any(&["c", "count", "n", "b", "o", "H"]) && parsed.operands.len() < 2 {
            if parsed.operands.is_empty() || matches!(program.operands, Operands::PatternThenContent) {
                state.stdin.clone()
            } else {
                Stream::Text
            }
        } else {
            Stream::Text
        })
    }

    /// What a copy into a folder that is there becomes: a file of the same name in it.
    fn inside_folder(&self, state: &State, from: &Arg, to: &Arg) -> Result<Option<Arg>, Objection> {
        let (Some(from), Some(to)) = (from.text(), to.text()) else { return Ok(None) };
        if !self.places(state, to)?.iter().all(|place| place.is_dir()) {
            return Ok(None);
        }
        let name = from.trim_end_matches('/').rsplit('/').next().filter(|name| !matches!(*name, "" | "." | ".."));
        Ok(name.map(|name| Arg::literal(format!("{to}/{name}"))))
    }

    fn operands(
        &mut self,
        state: &State,
        program: &Program,
        parsed: &Parsed<'_>,
        recursive: bool,
    ) -> Result<(), Objection> {
        let operands = parsed.operands.as_slice();
        let content = if recursive { Use::Everything } else { Use::Content };
        let acts = || Objection::changes(format!("{} with this operand may change something", program.name));
        match program.operands {
            Operands::None if operands.is_empty() => Ok(()),
            Operands::Format if operands.iter().all(|word| word.text().is_some_and(|text| text.starts_with('+'))) => {
                Ok(())
            }
            Operands::OneText if operands.len() <= 1 && operands.iter().all(|word| is_single(word)) => Ok(()),
            Operands::None | Operands::Format | Operands::OneText => Err(acts()),
            Operands::OneContent if operands.len() > 1 || operands.iter().any(|word| !is_single(word)) => {
                Err(Objection::changes(format!("{} writes to a second file", program.name)))
            }
            Operands::Text => Ok(()),
            Operands::Names => match operands.iter().find(|word| !is_plain_name(word)) {
                None => Ok(()),
                Some(word) => Err(Objection::opaque(format!("{} is not a plain name", word.shown()))),
            },
            Operands::Facts => operands.iter().try_for_each(|word| self.reads(state, word, Use::Facts)),
            Operands::Content | Operands::OneContent => {
                operands.iter().try_for_each(|word| self.reads(state, word, content))
            }
            Operands::PatternThenContent => {
                let given = parsed.has_any(&["e", "regexp", "f", "file"]);
                let files = operands.get(usize::from(!given)..).unwrap_or_default();
                if recursive && files.is_empty() {
                    return self.reads(state, &Arg::literal("."), content);
                }
                files.iter().try_for_each(|word| self.reads(state, word, content))
            }
            Operands::NewFolders => operands.iter().try_for_each(|word| self.makes(state, word, New::Folder)),
            Operands::NewFiles => operands.iter().try_for_each(|word| self.makes(state, word, New::File)),
            Operands::CopyToNew => match operands {
                [from, to] => {
                    let whole = parsed.has_any(&["r", "R", "a", "recursive", "archive"]);
                    let (how, what) = if whole { (Use::Everything, New::Links) } else { (Use::Content, New::File) };
                    self.reads(state, from, how)?;
                    let inside = self.inside_folder(state, from, to)?;
                    self.makes(state, inside.as_ref().unwrap_or(to), what)
                }
                _ => Err(Objection::changes("only one file is copied to one new name without asking")),
            },
            // These were decided before their options were read.
            Operands::Anything
            | Operands::OneOf(_)
            | Operands::By(_)
            | Operands::Runs { .. }
            | Operands::Subcommand => Ok(()),
        }
    }
}

/// Exactly one word.
fn is_single(word: &Arg) -> bool {
    match &word.value {
        Value::Literal(_) | Value::Number => true,
        Value::Matches { found, .. } => found.len() <= 1,
        Value::Unknown { many } => !many,
        Value::Below(_) => false,
    }
}

/// A name that is no path, no address and no option.
fn is_plain_name(word: &Arg) -> bool {
    word.text().is_some_and(|text| {
        text.chars().all(|c| c.is_alphanumeric() || "-_.+:@*?~".contains(c)) && !text.starts_with('-')
    })
}
