//! Builds the steps for matched forms (patterns of clauses) from the values of their slots.

use std::io::Read as _;
use std::path::Path;

use super::super::located::{elsewhere, settled};
use super::{Matcher, Value, Values, holds_settings, is_word};
use crate::algebra::{
    Act, Function, Key, Kind, NameChange, NameTest, Order, Part, Pred, Query, Rewrite, SortKey, Step, Target, Ty,
};
use crate::english::is_measured;
use crate::kinds;
use crate::lex::{Class, Token};
use crate::place::{PathKind, Place, file_name, is_archive, is_gzip, parent};

/// Maximum number of bytes read of a project's file to find its tasks or a value.
const MAX_FILE: u64 = 1_000_000;

/// Verbs such as "put" that may mean to append to a file that exists, not to overwrite it.
const APPENDS: [&str; 8] = ["put", "list", "log", "note", "record", "print", "extract", "copy"];

/// A form (pattern of a clause) that matched a request, with the values of its slots.
pub(crate) struct Form<'a> {
    pub(super) matcher: &'a Matcher<'a>,
    pub(super) values: &'a Values,
}

/// The query with its lines in alphabetical order.
pub(crate) fn sorted(of: Query) -> Query {
    Query::Sort { of: Box::new(of), keys: vec![SortKey { by: Key::Text, order: Order::Ascending }] }
}

/// The steps for a matched form, by the name of its act; `None` if the values don't fit together.
pub(super) fn steps(matcher: &Matcher<'_>, act: &str, values: &Values) -> Option<Vec<Step>> {
    let form = Form { matcher, values };
    if let Some(steps) = kinds::steps(&form, act) {
        return steps;
    }
    if let Some(steps) = form.arranged(act).or_else(|| form.modes(act)) {
        return steps;
    }
    let one = |act: Act| Some(vec![Step::Do(act)]);
    match act {
        "append" | "prepend" => {
            let path = form.path("file")?;
            let text = form.lines_of("text", &path).filter(|text| form.takes_lines(text, &path))?;
            one(Act::Insert { text, path, at_start: act == "prepend" })
        }
        "create" => {
            let path = form.path("file").filter(|path| form.is_free(path))?;
            let mut steps = vec![Step::Do(Act::CreateFile { text: form.lines_of("text", &path)?, path })];
            if values.contains_key("file2") {
                let path = form.path("file2").filter(|path| form.is_free(path))?;
                steps.push(Step::Do(Act::CreateFile { text: form.lines_of("text2", &path)?, path }));
            }
            Some(steps)
        }
        "touch" => {
            let paths = form.paths("files").filter(|paths| form.are_new(paths))?;
            Some(paths.into_iter().map(|path| Step::Do(Act::CreateFile { path, text: String::new() })).collect())
        }
        "folders" => one(Act::CreateFolder { paths: form.folders().filter(|paths| form.are_new(paths))? }),
        "replace" | "erase" | "unique" | "sort_unique" | "drop_lines" | "behead" | "betail" | "upper" | "lower"
        | "emptied" | "inplace" => form.edits(act),
        "save" | "save_names" | "save_number" | "excerpt" | "number" | "save_that" | "save_list"
        | "save_names_sorted" => form.saved(act).and_then(one),
        "delete" | "delete_set" | "delete_out" | "delete_source" | "delete_folder" | "delete_archive"
        | "delete_whole" => form.deleted(act).and_then(one),
        "copy" | "move" | "copy_as" | "back_up" => form.transferred(act).and_then(one),
        "archive" | "zip" | "gz" | "extract" => form.transferred(act).and_then(one),
        "rename" | "rename_text" | "rename_without" => form.renamed(act).and_then(one),
        "rename_lower" | "rename_upper" | "prefix" | "suffix" => form.renamed(act).and_then(one),
        "show_it" => Some(vec![Step::Ask(Query::TextFile { path: form.matcher.before?.file()? })]),
        "names_sorted" | "exists" | "ask_lines" | "ask_rows" | "ask_having" | "ask_archive" => {
            Some(vec![Step::Ask(form.asked(act)?)])
        }
        "set" => form.value_set(),
        "link" => form.link().and_then(one),
        "run" | "script" | "tests" | "make" => form.run(act).and_then(one),
        "download" | "fetch" => form.fetch(act).and_then(one),
        "stop" => one(Act::Stop { process: form.process()? }),
        "install" => one(Act::Install {
            program: form.text("program")?.to_owned(),
            version: form.text("version").map(str::to_owned),
        }),
        "keep" => {
            let paths = form.paths("paths").unwrap_or_default();
            // A bare name may belong to the folder of the clause before, so the path must exist.
            one(Act::Keep { paths }).filter(|_| form.paths("paths").iter().flatten().all(|path| form.is_there(path)))
        }
        git => {
            let (folder, action) = (form.repository(git)?, form.git(git)?);
            // "commit the changes in src" names no repository.
            let is_repository =
                act == "init" || !values.contains_key("folder") || form.is_there(&format!("{folder}/.git"));
            is_repository.then(|| vec![Step::Do(Act::Git { folder, action })])
        }
    }
}

impl Form<'_> {
    /// The text that fills a slot; `None` if the slot is empty or holds no text.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        if let Value::Text(text) | Value::Words(text) | Value::Named(text) = self.values.get(name)? {
            Some(text)
        } else {
            None
        }
    }

    /// The files and folders that fill a slot; `None` if the slot is empty or holds something else.
    pub(super) fn places(&self, name: &str) -> Option<&[Place]> {
        if let Value::Places(places) = self.values.get(name)? { Some(places) } else { None }
    }

    /// The query that fills a slot; `None` if the slot is empty or holds something else.
    pub(crate) fn query(&self, name: &str) -> Option<Query> {
        if let Value::Of(query) = self.values.get(name)? { Some((**query).clone()) } else { None }
    }

    /// The paths that fill a slot, bare names being within the folder that the request names.
    pub(crate) fn paths(&self, name: &str) -> Option<Vec<String>> {
        let folder = self.places("folder").unwrap_or_default();
        super::super::build::files::paths_in(folder, self.places(name)?)
    }

    /// The first path that fills a slot.
    pub(crate) fn path(&self, name: &str) -> Option<String> {
        self.paths(name)?.into_iter().next()
    }

    /// The first path that fills a slot, or where the only file of its name is, if nothing is at the path.
    pub(crate) fn path_there(&self, name: &str) -> Option<String> {
        let path = self.path(name)?;
        if self.is_there(&path) { Some(path) } else { elsewhere(self.matcher.context, &path) }
    }

    /// The query with files that are not in the current folder replaced by the only ones of their names below it.
    pub(crate) fn located(&self, mut query: Query) -> Query {
        settled(self.matcher.context, &mut query);
        query
    }

    /// Whether the named folder may belong to the new file alone: "… and save it to x.txt in docs".
    pub(super) fn shares_folder(&self) -> bool {
        let is_bare = |to: &[Place]| to.iter().any(|place| place.bare);
        self.values.contains_key("folder") && self.places("to").is_some_and(is_bare)
    }

    /// The path of the folder that the request names, else of the current one.
    pub(crate) fn folder(&self) -> String {
        let named = self.places("folder").and_then(|places| places.first());
        named.map_or_else(|| self.matcher.context.environment.cwd.clone(), |place| place.path.clone())
    }

    /// Whether something exists at a path.
    pub(super) fn is_there(&self, path: &str) -> bool {
        self.matcher.context.fs.metadata(Path::new(path)).is_ok()
    }

    /// Whether a new file or folder can be made at each of these paths.
    pub(super) fn are_new(&self, paths: &[String]) -> bool {
        paths.iter().all(|path| self.is_free(path))
    }

    /// The first megabyte of a file as text; `None` if it can't be read as text.
    pub(crate) fn content(&self, path: &str) -> Option<String> {
        let mut text = String::new();
        self.matcher.context.fs.open(Path::new(path)).ok()?.take(MAX_FILE).read_to_string(&mut text).ok()?;
        Some(text)
    }

    /// The text in a slot that is to be written to a file, with a newline at its end. Words without quotes are a text
    /// only in a file of plain text: "add tests to lib.rs" means other things.
    fn lines_of(&self, slot: &str, path: &str) -> Option<String> {
        const PLAIN: [&str; 5] = [".txt", ".csv", ".log", ".tsv", ".gitignore"];
        let text = self.text(slot)?;
        let is_plain = PLAIN.iter().any(|ending| path.to_lowercase().ends_with(ending));
        let has_words = text.contains(char::is_alphabetic) && !text.contains(['=', '/']);
        let has = |class: Class| self.matcher.chart.tokens.iter().any(|token| token.class == class);
        // A file's name is no text to write, and "save a.txt to b.txt" no text either; nor is the name of a file that is
        // there in quotes, unless the request calls it a text or the file is a list of names.
        let is_called =
            self.has_word(&["line", "lines", "text", "string", "word", "words"]) || path.ends_with("ignore");
        let names_file = |token: &Token| match token.class {
            Class::FileName | Class::Path => true,
            Class::Quoted => !is_called && self.matcher.is_on_disk(token),
            _ => false,
        };
        let is_name = |token: &Token| token.raw == text && names_file(token);
        // "put https://x.org/a in a.txt" may mean what is at the address.
        let is_address = text.contains("://") && !self.is_quoted(text) && !self.is_there(path);
        if is_address && self.has_word(&["put", "save", "store", "write"]) {
            return None;
        }
        if (has_words && !is_plain && !has(Class::Quoted)) || self.matcher.chart.tokens.iter().any(is_name) {
            return None;
        }
        Some(if text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") })
    }

    /// The steps that edit files in place, by the name of the act.
    fn edits(&self, act: &str) -> Option<Vec<Step>> {
        if act == "inplace" {
            let of = self.query("query").filter(|of| of.ty() == Ok(Ty::Lines))?;
            let Query::TextFile { path } = of.source().clone() else { return None };
            let changes = of != Query::TextFile { path: path.clone() } && !self.is_table_sorted(&of);
            return changes.then(|| vec![Step::Do(Act::Save { of, to: path })]);
        }
        let named = self.paths("files").or_else(|| self.paths("file")).filter(|_| !self.shares_folder());
        let paths = named.or_else(|| self.holding(self.text("find")?))?;
        paths.into_iter().map(|path| self.edited(act, path)).collect()
    }

    /// The step that edits one file in place, by the name of the act.
    fn edited(&self, act: &str, path: String) -> Option<Step> {
        let of = Box::new(Query::TextFile { path: path.clone() });
        let of = match act {
            "unique" => Query::Unique { of },
            // "empty file x.txt" may be looked for.
            "emptied" if self.says(["empty", "file"]) => return None,
            "emptied" => Query::Part { of, part: Part::First(0) },
            "sort_unique" => {
                let keys = vec![SortKey { by: Key::Text, order: Order::Ascending }];
                Query::Unique { of: Box::new(Query::Sort { of, keys }) }
            }
            "drop_lines" => Query::Filter { of, keep: Pred::Not(Box::new(self.line()?)) },
            "upper" => Query::Rewritten { of, how: Rewrite::UpperCase },
            "lower" => Query::Rewritten { of, how: Rewrite::LowerCase },
            // "cut the first line and save it to x.txt" may mean that line.
            "behead" | "betail" if self.text("count").is_none() && self.has_word(&["it", "this", "that"]) => {
                return None;
            }
            "behead" | "betail" => {
                let count: u64 = self.text("count").map_or(Ok(1), str::parse).ok().filter(|count| *count > 0)?;
                let mirrored = |of| if act == "betail" { Query::Rewritten { of, how: Rewrite::Reversed } } else { *of };
                let part = Part::From(count.checked_add(1)?);
                mirrored(Box::new(Query::Part { of: Box::new(mirrored(of)), part }))
            }
            _ => {
                let with = self.text("with").or_else(|| (act == "erase").then_some(""))?.to_owned();
                let find = self.text("find")?.to_owned();
                // "replace port with 8080" means the value of the key.
                let is_key = find.split(' ').any(|word| self.has_key(&path, word));
                if holds_settings(&path) && is_key && !self.is_quoted(&find) {
                    return None;
                }
                // How many spaces a tab becomes is not said.
                (find != "\t" || with != " ").then_some(Query::Replace { of, find, with })?
            }
        };
        Some(Step::Do(Act::Save { of, to: self.path("to").unwrap_or(path) }))
    }

    /// The act that writes the result of a query into a file.
    fn saved(&self, act: &str) -> Option<Act> {
        let of = match act {
            "save_that" | "save_list" | "number" => match self.before()? {
                Step::Ask(of) => of.clone(),
                Step::Do(_) => return None,
            },
            "save_names_sorted" => sorted(self.names()?),
            // After "the sizes of the files", "them" is not the files alone.
            _ => {
                self.query("query").filter(|of| !self.matcher.before.is_some_and(|before| before.has_figures_of(of)))?
            }
        };
        // The output of a command is no list of files.
        if self.says(["output", "of"]) {
            return None;
        }
        let to = self.path("to").filter(|to| !is_archive(to))?;
        let is_file = self.places("to")?.iter().all(|place| place.kind == PathKind::File);
        let is_whole_file = matches!(of, Query::TextFile { .. } | Query::Paths { .. });
        // "put the first line into b.txt" doesn't say that the lines of b.txt go.
        let keeps = act == "excerpt" || (self.has_word(&APPENDS) && !self.has_word(&["overwrite", "save", "write"]));
        if keeps && self.is_there(&to) && !matches!(of.source(), Query::TextFile { path } if *path == to) {
            return None;
        }
        let fits = match of.ty().ok()? {
            Ty::Lines => !matches!(act, "save_number" | "number"),
            Ty::Number => !matches!(act, "excerpt" | "save_names" | "save_list"),
            Ty::Files => matches!(act, "save" | "save_names" | "save_that" | "save_list"),
            // "save the largest files" doesn't say whether to save their sizes.
            Ty::Rows if matches!(&of, Query::Details { of } if is_measured(of)) => false,
            Ty::Rows | Ty::Groups => {
                matches!(act, "save" | "save_that") || (act == "save_list" && !self.has_word(&["names", "paths"]))
            }
            Ty::Processes | Ty::Text | Ty::Truth => false,
        };
        (fits && is_file && !is_whole_file && !self.is_table_sorted(&of)).then_some(Act::Save { of, to })
    }

    /// Whether a query sorts a CSV file or a file of numbers as text, which would misplace the heading or the numbers.
    fn is_table_sorted(&self, of: &Query) -> bool {
        let Query::TextFile { path } = of.source() else { return false };
        let is_number = |line: &str| line.trim().parse::<f64>().is_ok();
        let is_of_numbers = |text: String| !text.is_empty() && text.lines().all(is_number);
        let is_table = || path.ends_with(".csv") || path.ends_with(".tsv");
        let is_sorted = matches!(of, Query::Sort { keys, .. } if keys.iter().any(|key| key.by == Key::Text));
        is_sorted && (is_table() || self.content(path).is_some_and(is_of_numbers))
    }

    /// The act that creates a symbolic link; of two names that may be either end, the one that doesn't exist yet is the
    /// link.
    fn link(&self) -> Option<Act> {
        let chosen = match self.query("selection") {
            Some(Query::Paths { mut paths, .. }) if paths.len() == 1 => paths.pop(),
            _ => self.path("target"),
        };
        // A link in a folder has the name of what it points to.
        let inside = |target: &String| Some(format!("{}/{}", self.path("inside")?, file_name(target)?));
        let new = self.path("new").or_else(|| chosen.as_ref().and_then(inside));
        let (path, target) = match (new, chosen) {
            (Some(path), Some(target)) => (path, target),
            _ => {
                let (a, b) = (self.path("a")?, self.path("b")?);
                if self.is_there(&b) { (a, b) } else { (b, a) }
            }
        };
        (self.is_there(&target) && self.is_free(&path)).then_some(Act::Link { target, path })
    }

    /// The number that fills a slot; `None` if the slot is empty or holds no number.
    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        self.text(name)?.parse().ok()
    }

    /// The file system that the request is about.
    pub(crate) fn fs(&self) -> &dyn crate::eval::FileSystem {
        self.matcher.context.fs
    }

    /// Whether the request has these two words side by side.
    fn says(&self, [first, second]: [&str; 2]) -> bool {
        let is_said = |pair: &[Token]| is_word(pair.first(), first) && is_word(pair.last(), second);
        self.matcher.chart.tokens.windows(2).any(is_said)
    }

    /// The step that "it" may refer to.
    pub(super) fn before(&self) -> Option<&Step> {
        self.matcher.before.map(|before| &before.last)
    }

    /// The paths of folders to create, which may lie in a new folder themselves.
    fn folders(&self) -> Option<Vec<String>> {
        let Some(top) = self.path("top") else {
            let is_all =
                |paths: &Vec<String>| self.text("number").is_none_or(|number| number == paths.len().to_string());
            return self.paths("folders").filter(is_all);
        };
        let names = self.places("folders")?.iter().map(|place| file_name(&place.path));
        let below = names.map(|name| Some(format!("{top}/{}", name?)));
        [Some(top.clone())].into_iter().chain(below).collect()
    }

    /// The condition on lines that the slots express, such as "containing x"; `None` if they express none.
    fn line(&self) -> Option<Pred> {
        let text = |name| self.text(name).map(str::to_owned);
        None.or_else(|| text("has").map(|text| Pred::Contains { text, ignore_case: false }))
            .or_else(|| text("starts").map(|text| Pred::Line(NameTest::Starts(text))))
            .or_else(|| text("ends").map(|text| Pred::Line(NameTest::Ends(text))))
            .or_else(|| text("blank").map(|_| Pred::Blank))
            .or_else(|| {
                let wanted = text("exact")?;
                let content = self.content(&self.path("file")?)?;
                let mut found = content.lines().filter(|line| line.eq_ignore_ascii_case(&wanted));
                let only = found.next().filter(|_| found.next().is_none())?;
                Some(Pred::Line(NameTest::Is(only.to_owned())))
            })
    }

    /// The delete act for a set of files, one file, or the originals that the previous step copied or packed.
    fn deleted(&self, act: &str) -> Option<Act> {
        let of = match act {
            "delete" | "delete_whole" => self.query("selection")?,
            "delete_out" if !self.says(["out", "of"]) => return None,
            "delete_set" | "delete_out" => {
                self.query("selection").filter(|of| !matches!(of.source(), Query::Paths { .. }))?
            }
            _ => match (act, self.before()?) {
                ("delete_source" | "delete_folder", Step::Do(Act::Archive { of, .. }))
                | ("delete_source", Step::Do(Act::Copy { of, .. }))
                | ("delete_archive", Step::Do(Act::Extract { of, .. })) => of.clone(),
                _ => return None,
            },
        };
        let is_folder = matches!(&of, Query::Paths { paths, kind: Kind::Folder } if paths.len() == 1);
        (!matches!(act, "delete_folder" | "delete_whole") || is_folder).then_some(Act::Delete { of })
    }

    /// The act that copies, moves, packs or unpacks files.
    fn transferred(&self, act: &str) -> Option<Act> {
        if act == "extract" {
            let path = self.path("file").filter(|path| is_archive(path) || is_gzip(path))?;
            let to = self.target().or_else(|| Some(parent(&path).to_owned()).filter(|_| is_gzip(&path)))?;
            return Some(Act::Extract { of: Query::Paths { paths: vec![path], kind: Kind::File }, to });
        }
        let named = || {
            let mut paths = self.paths("paths")?;
            paths.sort();
            let is_file = |path: &String| self.matcher.context.on_disk(path) == Some(PathKind::File);
            let is_folder = |path: &String| self.matcher.context.on_disk(path) == Some(PathKind::Folder);
            let kind = match (paths.iter().all(is_file), paths.iter().all(is_folder)) {
                (true, _) => Kind::File,
                (_, true) => Kind::Folder,
                _ => Kind::Any,
            };
            Some(Query::Paths { paths, kind })
        };
        let of = self.query("selection").or_else(named)?;
        if matches!(act, "zip" | "gz" | "back_up") {
            let Query::Paths { paths, kind } = &of else { return None };
            let [path] = paths.as_slice() else { return None };
            let packs = act != "back_up";
            let to = format!("{path}.{}", if packs { act } else { "bak" });
            let fits = self.is_free(&to) && (act == "zip" || *kind == Kind::File);
            let act = if packs { Act::Archive { of, to } } else { Act::Copy { of, to: Target::As(to) } };
            return fits.then_some(act);
        }
        let to = self.path("to").or_else(|| self.path("new"))?;
        match act {
            // "put a.txt into x.zip" adds it to an archive that is there.
            "archive" if self.has_word(&["put"]) && !self.is_free(&to) => None,
            "archive" => is_archive(&to).then_some(Act::Archive { of, to }),
            "copy" => Some(Act::Copy { of, to: Target::Into(self.target()?) }),
            "move" => Some(Act::Move { of, to: Target::Into(self.target()?) }),
            _ => {
                // "copy docs/a.txt to b.txt" may mean ./b.txt or docs/b.txt, which are the same only for ./a.txt; a copy
                // that is only called something else stays beside it.
                let is_bare = self.places("new")?.first()?.bare;
                let Query::Paths { paths, .. } = &of else { return None };
                let [path] = paths.as_slice() else { return None };
                let beside = format!("{}/{}", parent(path), file_name(&to)?);
                let is_called = self.has_word(&["call", "called", "name", "named", "calling"]);
                // "a copy of a.txt in docs called b.txt" may be in docs or be of the file there.
                let is_called = is_called && !self.has_word(&["in", "into", "inside"]);
                let to = if is_bare && is_called { beside.clone() } else { to };
                (!is_bare || to == beside).then_some(Act::Copy { of, to: Target::As(to) })
            }
        }
    }

    /// The folder that fills the slot `to`; `None` if its name looks like that of a file.
    fn target(&self) -> Option<String> {
        let is_file = |place: &Place| file_name(&place.path).is_some_and(|name| name.contains('.'));
        self.places("to")?.first().filter(|place| !is_file(place)).map(|place| place.path.clone())
    }

    /// The act that renames the selected files.
    fn renamed(&self, act: &str) -> Option<Act> {
        let of = self.query("selection").or_else(|| self.query("names"));
        let of = of.or_else(|| self.names_holding(self.text("find")?))?;
        let is_one = matches!(&of, Query::Paths { paths, .. } if paths.len() == 1);
        let change = match act {
            "rename" => {
                let new = self.places("new")?.first().filter(|_| is_one)?;
                let stays = |path: &String| new.bare || parent(path) == parent(&new.path);
                let Query::Paths { paths, .. } = &of else { return None };
                NameChange::To(file_name(&new.path).filter(|_| paths.iter().all(stays))?.to_owned())
            }
            "rename_text" => {
                NameChange::Replace { find: self.text("find")?.to_owned(), with: self.text("with")?.to_owned() }
            }
            "rename_without" => NameChange::Replace { find: self.text("find")?.to_owned(), with: String::new() },
            "rename_lower" => NameChange::LowerCase,
            "rename_upper" => NameChange::UpperCase,
            "suffix" => NameChange::Suffix(self.text("text")?.to_owned()),
            _ => NameChange::Prefix(self.text("text")?.to_owned()),
        };
        Some(Act::Rename { of, change })
    }

    /// The query for a question about the lines of a file, whether it exists, or the names of files.
    fn asked(&self, act: &str) -> Option<Query> {
        if act == "names_sorted" {
            return self.names().map(sorted);
        }
        let path = self.path("file")?;
        let text = Box::new(Query::TextFile { path: path.clone() });
        let (of, function) = match act {
            "exists" => (Box::new(Query::Paths { paths: vec![path], kind: Kind::Any }), Function::Any),
            "ask_lines" => (text, Function::Count),
            "ask_rows" => {
                let of = Box::new(Query::Part { of: text, part: Part::From(2) });
                (Box::new(Query::Filter { of, keep: Pred::Not(Box::new(Pred::Blank)) }), Function::Count)
            }
            "ask_having" => (Box::new(Query::Filter { of: text, keep: self.line()? }), Function::Count),
            // The name of a folder in an archive ends with a slash.
            "ask_archive" => {
                let of = Box::new(Query::ArchiveEntries { path: Some(path).filter(|path| is_archive(path))? });
                let keep = Pred::Not(Box::new(Pred::Line(NameTest::Ends("/".to_owned()))));
                (Box::new(Query::Filter { of, keep }), Function::Count)
            }
            _ => return None,
        };
        Some(Query::Aggregate { of, function })
    }
}
