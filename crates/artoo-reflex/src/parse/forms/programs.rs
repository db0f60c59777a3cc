//! Acts that run programs: commands, downloads, processes and repositories.

use std::path::Path;

use super::Matcher;
use super::acts::Form;
use crate::algebra::{Act, Fact, GitAction, ProcessName, Query, Step};
use crate::eval::{Answer, EntryKind, evaluate};
use crate::place::{PathKind, Place, file_name};

impl Form<'_> {
    /// The act that runs a command as the user or the project wrote it.
    pub(super) fn run(&self, act: &str) -> Option<Act> {
        let folder = self.folder();
        let command = match act {
            "run" => self.text("command")?.to_owned(),
            "script" => self.script(&folder)?,
            "tests" => self.tests(&folder)?,
            _ => self.make(&folder, self.text("target"))?,
        };
        let to = self.places("to").and_then(|places| places.first());
        let is_file = !self.shares_folder() && to.is_none_or(|place| place.kind == PathKind::File);
        is_file.then(|| Act::Run { command, folder, to: to.map(|place| place.path.clone()) })
    }

    /// The shell command for a script: `./name` if the file is executable, else an interpreter chosen by its extension.
    fn script(&self, folder: &str) -> Option<String> {
        let path = self.path("file")?;
        let entry = self.matcher.context.fs.metadata(Path::new(&path)).ok()?;
        let name = path.strip_prefix(&format!("{folder}/")).unwrap_or(&path);
        if name.contains(|c: char| c.is_whitespace() || "'\"\\$`;&|<>*?()".contains(c)) || entry.kind != EntryKind::File
        {
            return None;
        }
        if let Some(program) = self.text("interpreter") {
            return Some(format!("{program} {name}"));
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

    /// The command for the tests that a project declares; `None` unless exactly one is declared.
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

    /// The command `make` with a target, if the folder's Makefile has the target.
    fn make(&self, folder: &str, target: Option<&str>) -> Option<String> {
        let rules = ["Makefile", "makefile"].iter().find_map(|name| self.content(&format!("{folder}/{name}")))?;
        let Some(target) = target else { return Some("make".to_owned()) };
        let is_rule =
            |line: &str| line.split_once(':').is_some_and(|(names, _)| names.split(' ').any(|name| name == target));
        rules.lines().any(is_rule).then(|| format!("make {target}"))
    }

    /// The act that downloads a URL; without a file name, the file gets the last part of the URL's path.
    pub(super) fn fetch(&self, act: &str) -> Option<Act> {
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
        let to = format!("{}/{name}", folder.trim_end_matches('/'));
        // A name that is not said may not be that of a file that is there.
        (!name.contains('*') && self.is_free(&to)).then_some(Act::Fetch { url, to: Some(to) })
    }

    /// The process to end, by its id, which may be the content of a file, or by the port it listens on.
    pub(super) fn process(&self) -> Option<ProcessName> {
        let written = self.path("file").and_then(|path| self.content(&path)).map(|text| text.trim().to_owned());
        match (self.text("pid").or(written.as_deref()), self.text("port")) {
            (Some(pid), None) => pid.parse().ok().filter(|pid| *pid > 0).map(ProcessName::Pid),
            (None, Some(port)) => port.parse().ok().filter(|port| *port > 0).map(ProcessName::Port),
            _ => None,
        }
    }

    /// The git action that the form's act name means, with the values of its slots.
    pub(super) fn git(&self, act: &str) -> Option<GitAction> {
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
            "tag" | "tag_it" => GitAction::Tag { name: name()? },
            _ => return None,
        })
    }

    /// The folder of the repository: the one that is named, else the one of the step before.
    pub(super) fn repository(&self, act: &str) -> Option<String> {
        match self.before() {
            Some(Step::Do(Act::Git { folder, .. })) if !self.values.contains_key("folder") => Some(folder.clone()),
            _ if act == "tag_it" => None,
            _ => Some(self.folder()),
        }
    }
}

impl Matcher<'_> {
    /// Whether a program of this name is in the folders of the search path.
    pub(super) fn is_on_path(&self, name: &str) -> bool {
        let program = Query::System { fact: Fact::Program { name: name.to_owned() } };
        matches!(evaluate(&program, self.context.fs), Ok(Answer::Text(path)) if !path.is_empty())
    }
}
