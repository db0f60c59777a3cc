//! Builds the acts of forms from the values of their slots.

use std::io::Read as _;
use std::path::Path;

use super::{Antecedent, Matcher, Value, Values};
use crate::algebra::{Act, GitAction, ModeChange, Part, ProcessName, Query, Rewrite, Step, Ty};
use crate::eval::EntryKind;
use crate::lex::{Class, Token};
use crate::place::{PathKind, Place, file_name, is_archive};

/// Maximum length in bytes of a project's file that is read for its tasks or a value.
const MAX_FILE: u64 = 1_000_000;

/// The values of one form.
struct Form<'a> {
    matcher: &'a Matcher<'a>,
    values: &'a Values,
}

/// The steps of the act of this name; `None` if the values don't fit together.
pub(super) fn steps(matcher: &Matcher<'_>, act: &str, values: &Values) -> Option<Vec<Step>> {
    let form = Form { matcher, values };
    let one = |act: Act| Some(vec![Step::Do(act)]);
    match act {
        "append" | "prepend" => {
            let path = form.path("file")?;
            one(Act::Insert { text: form.lines(&path)?, path, at_start: act == "prepend" })
        }
        "create" => {
            let path = form.path("file").filter(|path| !form.is_there(path))?;
            one(Act::CreateFile { text: form.lines(&path)?, path })
        }
        "touch" => {
            let paths =
                form.paths("files").filter(|paths| paths.len() > 1 && !paths.iter().any(|path| form.is_there(path)))?;
            Some(paths.into_iter().map(|path| Step::Do(Act::CreateFile { path, text: String::new() })).collect())
        }
        "folders" => one(Act::CreateFolder { paths: form.paths("folders")? }),
        "replace" | "unique" | "behead" | "upper" | "lower" | "inplace" => form.edits(act),
        "save" | "excerpt" | "number" => form.saved(act).and_then(one),
        "set" => form.value_set().and_then(one),
        "executable" => one(form.mode(ModeChange::Executable)?),
        "not_executable" => one(form.mode(ModeChange::NotExecutable)?),
        "read_only" => one(form.mode(ModeChange::ReadOnly)?),
        "mode" => one(form.mode(ModeChange::Bits(u32::from_str_radix(form.text("octal")?, 8).ok()?))?),
        "link" => form.link().and_then(one),
        "run" | "script" | "tests" | "make" => form.run(act).and_then(one),
        "download" | "fetch" => form.fetch(act).and_then(one),
        "stop" => one(Act::Stop { process: form.process()? }),
        "install" => one(Act::Install {
            program: form.text("program")?.to_owned(),
            version: form.text("version").map(str::to_owned),
        }),
        "keep" => one(Act::Keep { paths: form.paths("paths").unwrap_or_default() }),
        git => {
            let (folder, action) = (form.folder(), form.git(git)?);
            // "commit the changes in src" names no repository.
            let is_repository =
                act == "init" || !values.contains_key("folder") || form.is_there(&format!("{folder}/.git"));
            is_repository.then(|| vec![Step::Do(Act::Git { folder, action })])
        }
    }
}

impl Form<'_> {
    /// The text of a slot.
    fn text(&self, name: &str) -> Option<&str> {
        if let Value::Text(text) = self.values.get(name)? { Some(text) } else { None }
    }

    /// The places of a slot.
    fn places(&self, name: &str) -> Option<&[Place]> {
        if let Value::Places(places) = self.values.get(name)? { Some(places) } else { None }
    }

    /// The query of a slot.
    fn query(&self, name: &str) -> Option<Query> {
        if let Value::Of(query) = self.values.get(name)? { Some((**query).clone()) } else { None }
    }

    /// The paths of a slot, bare names within the folder that is named.
    fn paths(&self, name: &str) -> Option<Vec<String>> {
        let folder = self.places("folder").unwrap_or_default();
        super::super::build::files::paths_in(folder, self.places(name)?)
    }

    /// The only path of a slot.
    fn path(&self, name: &str) -> Option<String> {
        self.paths(name)?.into_iter().next()
    }

    /// The folder that is named, else the current one.
    fn folder(&self) -> String {
        let named = self.places("folder").and_then(|places| places.first());
        named.map_or_else(|| self.matcher.context.environment.cwd.clone(), |place| place.path.clone())
    }

    /// Whether there is something at a path.
    fn is_there(&self, path: &str) -> bool {
        self.matcher.context.fs.metadata(Path::new(path)).is_ok()
    }

    /// The content of a small file; `None` if it can't be read as text.
    fn content(&self, path: &str) -> Option<String> {
        let mut text = String::new();
        self.matcher.context.fs.open(Path::new(path)).ok()?.take(MAX_FILE).read_to_string(&mut text).ok()?;
        Some(text)
    }

    /// The text to write, with a newline at its end. Words without quotes are a text only in a file of plain text: "add
    /// tests to lib.rs" means other things.
    fn lines(&self, path: &str) -> Option<String> {
        const PLAIN: [&str; 4] = [".txt", ".csv", ".log", ".tsv"];
        let text = self.text("text")?;
        let is_plain = PLAIN.iter().any(|ending| path.to_lowercase().ends_with(ending));
        let has_words = text.contains(char::is_alphabetic) && !text.contains(['=', '/']);
        let quoted = |token: &Token| token.class == Class::Quoted;
        if has_words && !is_plain && !self.matcher.chart.tokens.iter().any(quoted) {
            return None;
        }
        Some(if text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") })
    }

    /// Edits of files in place.
    fn edits(&self, act: &str) -> Option<Vec<Step>> {
        if act == "inplace" {
            let of = self.query("query").filter(|of| of.ty() == Ok(Ty::Lines))?;
            let Query::TextFile { path } = of.source().clone() else { return None };
            let changes = of != Query::TextFile { path: path.clone() };
            return changes.then(|| vec![Step::Do(Act::Save { of, to: path })]);
        }
        let paths = self.paths("files").or_else(|| self.paths("file"))?;
        paths.into_iter().map(|path| self.edited(act, path)).collect()
    }

    /// The edit of one file in place.
    fn edited(&self, act: &str, path: String) -> Option<Step> {
        let of = Box::new(Query::TextFile { path: path.clone() });
        let of = match act {
            "unique" => Query::Unique { of },
            "upper" => Query::Rewritten { of, how: Rewrite::UpperCase },
            "lower" => Query::Rewritten { of, how: Rewrite::LowerCase },
            "behead" => {
                let count: u64 = self.text("count").map_or(Ok(1), str::parse).ok().filter(|count| *count > 0)?;
                Query::Part { of, part: Part::From(count.checked_add(1)?) }
            }
            _ => Query::Replace { of, find: self.text("find")?.to_owned(), with: self.text("with")?.to_owned() },
        };
        Some(Step::Do(Act::Save { of, to: path }))
    }

    /// A result that is written into a file.
    fn saved(&self, act: &str) -> Option<Act> {
        let of = match act {
            "number" => self.matcher.before.and_then(Antecedent::number)?,
            _ => self.query("query")?,
        };
        let to = self.path("to").filter(|to| !is_archive(to))?;
        let is_file = self.places("to")?.iter().all(|place| place.kind == PathKind::File);
        let is_whole_file = matches!(of, Query::TextFile { .. } | Query::Paths { .. });
        let fits = match of.ty().ok()? {
            Ty::Lines => true,
            Ty::Number => act != "excerpt",
            Ty::Files => act == "save",
            _ => false,
        };
        (fits && is_file && !is_whole_file).then_some(Act::Save { of, to })
    }

    /// A value set in a settings file, if the old value that is named stands beside the key.
    fn value_set(&self) -> Option<Act> {
        let path = self.path("file")?;
        let (key, value) = match self.text("pair").and_then(|pair| pair.split_once('=')) {
            Some(pair) => pair,
            None => (self.text("key")?, self.text("to")?),
        };
        if let Some(from) = self.text("from") {
            let content = self.content(&path)?;
            content.lines().any(|line| line.contains(key) && line.contains(from)).then_some(())?;
        }
        let section = self.text("section").map(str::to_owned);
        let is_said = !key.is_empty() && !value.is_empty();
        is_said.then(|| Act::SetValue { path, section, key: key.to_owned(), value: value.to_owned() })
    }

    /// A change of permission bits.
    fn mode(&self, mode: ModeChange) -> Option<Act> {
        Some(Act::SetMode { of: self.query("selection")?, mode })
    }

    /// A new link; of two names without words that tell them apart, the one that is not there yet.
    fn link(&self) -> Option<Act> {
        let (path, target) = match (self.path("new"), self.path("target")) {
            (Some(path), Some(target)) => (path, target),
            _ => {
                let (a, b) = (self.path("a")?, self.path("b")?);
                if self.is_there(&b) { (a, b) } else { (b, a) }
            }
        };
        (self.is_there(&target) && !self.is_there(&path)).then_some(Act::Link { target, path })
    }

    /// A command that is run as the user or the project wrote it.
    fn run(&self, act: &str) -> Option<Act> {
        let folder = self.folder();
        let command = match act {
            "run" => self.text("command")?.to_owned(),
            "script" => self.script(&folder)?,
            "tests" => self.tests(&folder)?,
            _ => self.make(&folder, self.text("target"))?,
        };
        let to = self.places("to").and_then(|places| places.first());
        let is_file = to.is_none_or(|place| place.kind == PathKind::File);
        is_file.then(|| Act::Run { command, folder, to: to.map(|place| place.path.clone()) })
    }

    /// The command that runs a script: itself if it is executable, else the program for its ending.
    fn script(&self, folder: &str) -> Option<String> {
        let path = self.path("file")?;
        let entry = self.matcher.context.fs.metadata(Path::new(&path)).ok()?;
        let name = path.strip_prefix(&format!("{folder}/")).unwrap_or(&path);
        if name.contains(|c: char| c.is_whitespace() || "'\"\\$`;&|<>*?()".contains(c)) || entry.kind != EntryKind::File
        {
            return None;
        }
        if entry.mode & 0o111 != 0 {
            return Some(if name.starts_with('/') { name.to_owned() } else { format!("./{name}") });
        }
        let program = match name.rsplit_once('.')?.1 {
            "sh" => "sh",
            "bash" => "bash",
            "py" => "python3",
            "js" => "node",
            _ => return None,
        };
        Some(format!("{program} {name}"))
    }

    /// The command for the tests that the project declares; `None` unless exactly one is declared.
    fn tests(&self, folder: &str) -> Option<String> {
        let in_folder = |name: &str| format!("{folder}/{name}");
        let npm = || {
            let package: serde_json::Value = serde_json::from_str(&self.content(&in_folder("package.json"))?).ok()?;
            package.get("scripts")?.get("test").map(|_| "npm test".to_owned())
        };
        let pytest = ["pytest.ini", "pyproject.toml", "conftest.py"].iter().any(|name| self.is_there(&in_folder(name)));
        let declared = [
            self.is_there(&in_folder("Cargo.toml")).then(|| "cargo test".to_owned()),
            self.is_there(&in_folder("go.mod")).then(|| "go test ./...".to_owned()),
            npm(),
            pytest.then(|| "pytest".to_owned()),
            self.make(folder, Some("test")),
        ];
        let mut declared = declared.into_iter().flatten();
        declared.next().filter(|_| declared.next().is_none())
    }

    /// "make" with a target that the folder's Makefile has.
    fn make(&self, folder: &str, target: Option<&str>) -> Option<String> {
        let rules = ["Makefile", "makefile"].iter().find_map(|name| self.content(&format!("{folder}/{name}")))?;
        let Some(target) = target else { return Some("make".to_owned()) };
        let is_rule =
            |line: &str| line.split_once(':').is_some_and(|(names, _)| names.split(' ').any(|name| name == target));
        rules.lines().any(is_rule).then(|| format!("make {target}"))
    }

    /// What an address holds; a download without a file gets the address's last part as its name.
    fn fetch(&self, act: &str) -> Option<Act> {
        let url = self.text("url")?.to_owned();
        let folder = match self.places("to").and_then(|places| places.first()) {
            Some(Place { kind: PathKind::Unknown, .. }) => return None,
            Some(Place { kind: PathKind::File, path, .. }) => return Some(Act::Fetch { url, to: Some(path.clone()) }),
            Some(Place { kind: PathKind::Folder, path, .. }) => path,
            None if act == "fetch" => return Some(Act::Fetch { url, to: None }),
            None => &self.matcher.context.environment.cwd,
        };
        let (_, rest) = url.split_once("://")?;
        let name = file_name(rest.split(['?', '#']).next()?).filter(|name| rest.contains('/') && name.contains('.'))?;
        let to = Some(format!("{}/{name}", folder.trim_end_matches('/')));
        Some(Act::Fetch { url, to })
    }

    /// Which process is ended.
    fn process(&self) -> Option<ProcessName> {
        match (self.text("pid"), self.text("port")) {
            (Some(pid), None) => pid.parse().ok().filter(|pid| *pid > 0).map(ProcessName::Pid),
            (None, Some(port)) => port.parse().ok().filter(|port| *port > 0).map(ProcessName::Port),
            _ => None,
        }
    }

    /// What is done to a repository.
    fn git(&self, act: &str) -> Option<GitAction> {
        let name = || {
            let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '+');
            self.text("name").filter(|name| name.chars().all(is_plain)).map(str::to_owned)
        };
        Some(match act {
            "init" => GitAction::Init,
            "commit" => GitAction::Commit { message: self.text("message")?.to_owned() },
            "branch" => GitAction::Branch { name: name()?, switch: false },
            "branch_switch" => GitAction::Branch { name: name()?, switch: true },
            "switch" => GitAction::Switch { name: name()? },
            "tag" => GitAction::Tag { name: name()? },
            _ => return None,
        })
    }
}
