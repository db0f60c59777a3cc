//! Questions about git repositories: branches, tags, commits, and which files are tracked, changed or new.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use artoo_proto::Timestamp;

use super::{Known, Row};
use crate::algebra::{Depth, Function, GroupKey, Kind, NameTest, Part, Pred, Query};
use crate::eval::files::walk;
use crate::eval::{Answer, EntryKind, EvalError, FileSystem, evaluate};
use crate::lower::{Argv, Pipeline, Unsupported};
use crate::parse::Form;
use crate::place::file_name;
use crate::repository::{bytes, content, data, field, head, object, read as text_of, value};

/// The kind of question about a git repository, such as "which branches are there".
pub(super) const ROW: Row = Row { name: "git", forms: include_str!("git.txt"), read, english, lower, eval };

/// Maximum number of commits that are read to answer a question.
const MAX_COMMITS: usize = 20_000;

/// The error if a git object can't be read without git, such as a packed one.
const UNREAD: EvalError = EvalError::NoSecondSource("this of the repository");

/// The query for a git form; `None` if its values don't fit together.
fn read(form: &Form<'_>, wording: &str) -> Option<Query> {
    let folder = form.folder();
    let known = |shape: &str| Known::of("git", [("path", Some(folder.clone())), ("shape", Some(shape.to_owned()))]);
    let of = |shape: &str| Box::new(known(shape));
    let count = |of| Query::Aggregate { of, function: Function::Count };
    let query = match wording {
        "count" => count(of("log")),
        "tracked_count" => count(of("tracked")),
        "branch_count" => count(of("branches")),
        "tag_count" => count(of("tags")),
        "has_tag" | "has_branch" => {
            let of = of(if wording == "has_tag" { "tags" } else { "branches" });
            let keep = Pred::Line(NameTest::Is(form.text("name")?.to_owned()));
            let of = Box::new(Query::Filter { of, keep });
            Query::Aggregate { of, function: Function::Any }
        }
        "is" => {
            let of = Box::new(Query::Paths { paths: vec![format!("{folder}/.git")], kind: Kind::Any });
            return Some(Query::Aggregate { of, function: Function::Any });
        }
        "by" => {
            let keep = Pred::Line(NameTest::Is(form.text("author")?.to_owned()));
            let by = Query::Filter { of: of("authors"), keep };
            let is_known = !matches!(evaluate(&by, form.fs()).ok()?, Answer::Lines(lines) if lines.is_empty());
            is_known.then(|| count(Box::new(by)))?
        }
        "log_by" => {
            let author = form.text("author")?.trim_end_matches("'s").to_owned();
            let given = [("path", folder.clone()), ("shape", "log_by".to_owned()), ("author", author)];
            let query = Known::of("git", given.map(|(name, value)| (name, Some(value))));
            // A name that made no commit may be another person's.
            matches!(evaluate(&query, form.fs()), Ok(Answer::Lines(lines)) if !lines.is_empty()).then_some(query)?
        }
        "most" => {
            let groups = Query::Group { of: of("authors"), by: GroupKey::Text, function: Function::Count };
            let Answer::Groups(found) = evaluate(&groups, form.fs()).ok()? else { return None };
            // Of several with the most commits none is asked for.
            let is_only = found.get(1).is_none_or(|(_, second)| found.first().is_some_and(|(_, first)| first > second));
            is_only.then(|| Query::Limit { of: Box::new(groups), skip: 0, count: 1 })?
        }
        "edited" => {
            let is_there = |path: &Path| form.fs().metadata(path).is_ok();
            let inside = format!("{folder}/{}", file_name(&form.path("file")?)?);
            let path = if is_there(Path::new(&inside)) { inside } else { form.path_there("file")? };
            let is_root = |above: &&Path| is_there(&above.join(".git"));
            let root = Path::new(&path).ancestors().skip(1).find(is_root)?;
            let below = Path::new(&path).strip_prefix(root).ok()?.to_str()?;
            let given = [("path", root.to_str()?), ("shape", "edited"), ("file", below)];
            Known::of("git", given.map(|(name, value)| (name, Some(value.to_owned()))))
        }
        "last" => Query::Part { of: of("log"), part: Part::First(1) },
        "log" | "subjects" => match form.number("first") {
            Some(first) => Query::Part { of: of(wording), part: Part::First(first) },
            None => known(wording),
        },
        "contributors" => Query::Group { of: of("authors"), by: GroupKey::Text, function: Function::Count },
        "any" => Query::Aggregate { of: of("status"), function: Function::Any },
        shape => known(shape),
    };
    // A packed repository is not read a second time, so nothing is said of it.
    evaluate(&query, form.fs()).is_ok().then_some(query)
}

/// The question about a repository as a noun phrase in English.
fn english(known: &Known) -> String {
    let of = match known.value("shape") {
        "edited" => {
            let file = crate::english::quoted_path(known.value("file"));
            &format!("lines that {file} has now and not in the last commit (+) and the reverse (-),")
        }
        "branch" => "current branch",
        "remote" => "address of the remote",
        "message" => "message of the last commit",
        "first_message" => "message of the first commit",
        "author" => "author of the last commit",
        "date" => "date of the last commit",
        "authors" => "authors of the commits",
        "log" => "commits, newest first,",
        "subjects" => "first lines of the messages of the commits, newest first,",
        "hash" => "hash of the last commit",
        "short_hash" => "abbreviated hash of the last commit",
        "tracked" => "tracked files",
        "changed" => "tracked files changed since the last commit",
        "untracked" => "untracked files",
        "status" => "changed or untracked files",
        "last_files" => "files changed in the last commit",
        "log_by" => &format!("commits by {}, newest first,", crate::english::quoted(known.value("author"))),
        other => other,
    };
    format!("{of} of the repository {}", crate::english::quoted_path(known.value("path")))
}

/// The git command that answers a question.
fn lower(known: &Known) -> Result<Pipeline, Unsupported> {
    let git = Argv::new("git --no-optional-locks -c core.quotePath=off -c log.showSignature=false -C")
        .value(known.value("path"));
    let arguments = match known.value("shape") {
        "edited" => "show",
        "branch" => "symbolic-ref --short HEAD",
        "branches" => "for-each-ref --format=%(refname:lstrip=2) refs/heads",
        "tags" => "for-each-ref --format=%(refname:lstrip=2) refs/tags",
        "remote" => "config --get-regexp ^remote[.].*[.]url$",
        "message" => "log -1 --format=%B HEAD",
        "first_message" => "log --max-parents=0 --format=%B HEAD",
        "author" => "log -1 --format=%an HEAD",
        "date" => "log -1 --date=short --format=%ad HEAD",
        "authors" => "log --format=%an HEAD",
        "subjects" => "log --format=%s HEAD",
        "hash" => "rev-parse HEAD",
        "short_hash" => "rev-parse --short=7 HEAD",
        "log" => "log --date=short --format=%ad%x20%an:%x20%s HEAD",
        "log_by" => "log --date=short --format=%an%x09%ad%x20%an:%x20%s HEAD",
        "tracked" => "ls-files",
        "changed" => "diff --no-renames --no-ext-diff --name-only HEAD",
        "untracked" => "ls-files --others --exclude-standard",
        "status" => "status --porcelain --untracked-files=all --no-renames",
        "last_files" => "diff-tree --no-commit-id --no-renames --name-only -r --root HEAD",
        _ => return Err(Unsupported::Arrangement("this of a repository")),
    };
    let mut git = git.and(arguments);
    if let Some(file) = known.get("file") {
        git = git.value(format!("HEAD:{file}"));
    }
    let printed = Pipeline::of(git);
    Ok(match known.value("shape") {
        "edited" => {
            const OTHERS: &str = "NR==FNR{o[$0];l[++n]=$0;next} {c[$0];if(!($0 in o))print \"+ \" $0} END{for(i=1;i<=n;i++)if(!(l[i] in c))print \"- \" l[i]}";
            let file = format!("{}/{}", known.value("path"), known.value("file"));
            printed.pipe(Argv::bytewise("awk").value(OTHERS).and("-").value(file))
        }
        // Two letters and a space stand before each name.
        "status" => printed.pipe(Argv::bytewise("cut -c 4-")),
        "remote" => printed.pipe(Argv::bytewise("cut -d").value(" ").and("-f 2")),
        "log_by" => {
            let author = format!("V={}", known.value("author"));
            let of_author = "index($0,ENVIRON[\"V\"] \"\\t\")==1{print substr($0,length(ENVIRON[\"V\"])+2)}";
            printed.pipe(Argv::new("env LC_ALL=C").value(author).and("awk").value(of_author))
        }
        _ => printed,
    })
}

/// The answer to a question about a repository, read from its files without git.
fn eval(known: &Known, fs: &dyn FileSystem) -> Result<Vec<String>, EvalError> {
    let folder = known.value("path");
    let data = data(folder, fs);
    let (branch, commit) = head(&data, fs);
    let repository = Repository { folder: Path::new(folder), data: &data, commit, fs };
    let last = || repository.commits(1)?.pop().ok_or(UNREAD);
    Ok(match known.value("shape") {
        "branch" => vec![branch.and_then(|name| Some(name.strip_prefix("refs/heads/")?.to_owned())).ok_or(UNREAD)?],
        "branches" => repository.names("refs/heads"),
        "tags" => repository.names("refs/tags"),
        "remote" => repository.remotes()?,
        "message" => last()?.message.trim_end().lines().map(str::to_owned).collect(),
        "first_message" => {
            let all = repository.commits(MAX_COMMITS)?;
            let roots = all.iter().filter(|commit| commit.parents.is_empty());
            roots.flat_map(|commit| commit.message.trim_end().lines().map(str::to_owned)).collect()
        }
        "author" => vec![last()?.author],
        "date" => vec![last()?.date],
        "authors" => repository.commits(MAX_COMMITS)?.into_iter().map(|commit| commit.author).collect(),
        "subjects" => repository.commits(MAX_COMMITS)?.iter().map(Commit::subject).collect(),
        "hash" => vec![repository.commit.clone().ok_or(UNREAD)?],
        "short_hash" => vec![repository.commit.as_deref().and_then(|hash| hash.get(..7)).ok_or(UNREAD)?.to_owned()],
        "log" | "log_by" => {
            let is_by = |commit: &Commit| known.get("author").is_none_or(|author| commit.author == author);
            let line = |commit: Commit| format!("{} {}: {}", commit.date, commit.author, commit.subject());
            repository.commits(MAX_COMMITS)?.into_iter().filter(is_by).map(line).collect()
        }
        "edited" => repository.edited(known.value("file"))?,
        "tracked" => repository.index()?.into_iter().collect(),
        "changed" => repository.changed()?,
        "untracked" => repository.untracked()?,
        "status" => [repository.changed()?, repository.untracked()?].concat(),
        "last_files" => repository.last_files()?,
        _ => return Err(EvalError::Meaningless),
    })
}

/// A git commit, parsed from its object.
struct Commit {
    parents: Vec<String>,
    tree: String,
    author: String,
    /// The local date of the author, as `2024-05-15`.
    date: String,
    /// Seconds since 1970 of the commit itself.
    at: i64,
    message: String,
}

impl Commit {
    /// The first paragraph of the commit message, on one line.
    fn subject(&self) -> String {
        let first = self.message.lines().take_while(|line| !line.trim().is_empty());
        first.collect::<Vec<_>>().join(" ")
    }
}

/// A git repository that is read from its files, without git.
struct Repository<'a> {
    folder: &'a Path,
    data: &'a Path,
    commit: Option<String>,
    fs: &'a dyn FileSystem,
}

impl Repository<'_> {
    /// Reads and parses the commit with this hash.
    fn read(&self, hash: &str) -> Result<Commit, EvalError> {
        let text = object(self.data, hash, self.fs).ok_or(UNREAD)?;
        let (top, message) = text.split_once("\n\n").ok_or(UNREAD)?;
        // Names and messages in another encoding are shown otherwise.
        let parts = |name: &str| {
            let line = field(top, name)?;
            let (author, rest) = line.rsplit_once('>')?;
            let (seconds, zone) = rest.trim().split_once(' ')?;
            Some((author.split_once(" <")?.0.to_owned(), seconds.parse::<i64>().ok()?, zone.to_owned()))
        };
        let (author, seconds, zone) = parts("author ").ok_or(UNREAD)?;
        let (_, at, _) = parts("committer ").ok_or(UNREAD)?;
        let minutes =
            |text: &str| Some(text.get(1..3)?.parse::<i64>().ok()? * 60 + text.get(3..5)?.parse::<i64>().ok()?);
        let ahead = minutes(&zone).ok_or(UNREAD)? * if zone.starts_with('-') { -60 } else { 60 };
        let date = Timestamp::from_millis((seconds + ahead) * 1000).to_string();
        Ok(Commit {
            parents: top.lines().filter_map(|line| line.strip_prefix("parent ")).map(str::to_owned).collect(),
            tree: field(top, "tree ").ok_or(UNREAD)?,
            author,
            date: date.get(..10).ok_or(UNREAD)?.to_owned(),
            at,
            message: message.to_owned(),
        })
    }

    /// The newest `max` commits reachable from HEAD, newest first.
    fn commits(&self, max: usize) -> Result<Vec<Commit>, EvalError> {
        let mut open: Vec<(String, Commit)> = Vec::new();
        let mut seen = BTreeSet::new();
        let mut add = |hash: String, open: &mut Vec<(String, Commit)>| -> Result<(), EvalError> {
            if seen.insert(hash.clone()) {
                let commit = self.read(&hash)?;
                open.push((hash, commit));
            }
            Ok(())
        };
        add(self.commit.clone().ok_or(UNREAD)?, &mut open)?;
        let mut found: Vec<Commit> = Vec::new();
        while !open.is_empty() && found.len() < max {
            let newest = open.iter().map(|(_, commit)| commit.at).max().unwrap_or_default();
            let next = open.iter().position(|(_, commit)| commit.at == newest).unwrap_or(0);
            let (_, commit) = open.remove(next);
            for parent in &commit.parents {
                add(parent.clone(), &mut open)?;
            }
            found.push(commit);
        }
        let is_whole = open.is_empty() || max < MAX_COMMITS;
        is_whole.then_some(found).ok_or(EvalError::TooMany)
    }

    /// The names of the refs below a folder such as `refs/heads`, sorted.
    fn names(&self, below: &str) -> Vec<String> {
        let mut names = BTreeSet::new();
        let packed = text_of(&self.data.join("packed-refs"), self.fs).unwrap_or_default();
        let known = packed.lines().filter_map(|line| line.split_once(' ')).map(|(_, name)| name.to_owned());
        let mut files = Vec::new();
        // A repository without any has no such folder.
        let _ = walk(&self.data.join(below), Depth::Whole, true, self.fs, &mut files);
        let loose = files.iter().filter(|entry| entry.kind == EntryKind::File);
        let loose = loose.filter_map(|entry| Some(entry.path.strip_prefix(self.data).ok()?.to_str()?.to_owned()));
        for name in known.chain(loose) {
            let short = name.strip_prefix(below).and_then(|rest| rest.strip_prefix('/'));
            if let Some(short) = short.filter(|_| value(self.data, &name, self.fs).is_some()) {
                names.insert(short.to_owned());
            }
        }
        names.into_iter().collect()
    }

    /// The URLs of the remotes, in the order of the configuration.
    fn remotes(&self) -> Result<Vec<String>, EvalError> {
        let config = text_of(&self.data.join("config"), self.fs).ok_or(UNREAD)?;
        let mut is_remote = false;
        let mut found = Vec::new();
        for line in config.lines().map(str::trim) {
            if line.starts_with('[') {
                is_remote = line.starts_with("[remote ");
            } else if let Some((key, address)) = line.split_once('=').filter(|_| is_remote) {
                found.extend((key.trim() == "url").then(|| address.trim().to_owned()));
            }
        }
        if found.is_empty() { Err(UNREAD) } else { Ok(found) }
    }

    /// The paths of all tracked files, from the git index.
    fn index(&self) -> Result<BTreeSet<String>, EvalError> {
        /// Length of an entry before its name.
        const FIXED: usize = 62;
        let bytes = content(&self.data.join("index"), self.fs).ok_or(UNREAD)?;
        let number = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        let is_known = bytes.starts_with(b"DIRC") && number(4) == Some(2);
        let count = number(8).filter(|_| is_known).ok_or(UNREAD)?;
        let (mut at, mut found) = (12, BTreeSet::new());
        for _ in 0..count {
            let name = bytes.get(at + FIXED..).and_then(|rest| rest.split(|byte| *byte == 0).next()).ok_or(UNREAD)?;
            let path = std::str::from_utf8(name).map_err(|_| UNREAD)?;
            if path.contains(|c: char| c.is_control() || matches!(c, '"' | '\\')) {
                return Err(UNREAD);
            }
            found.insert(path.to_owned());
            at += (FIXED + name.len() + 8) / 8 * 8;
        }
        Ok(found)
    }

    /// Adds the files of a git tree to `found`: path, object hash and mode of each.
    fn tree(&self, hash: &str, below: &str, found: &mut BTreeMap<String, (String, String)>) -> Result<(), EvalError> {
        let tree = bytes(self.data, hash, self.fs).ok_or(UNREAD)?;
        let mut rest = tree.as_slice();
        while let Some(end) = rest.iter().position(|byte| *byte == 0) {
            let top = rest.get(..end).and_then(|top| std::str::from_utf8(top).ok()).ok_or(UNREAD)?;
            let (mode, name) = top.split_once(' ').ok_or(UNREAD)?;
            let hash: String =
                rest.get(end + 1..end + 21).ok_or(UNREAD)?.iter().map(|byte| format!("{byte:02x}")).collect();
            let path = format!("{below}{name}");
            match mode {
                "40000" => self.tree(&hash, &format!("{path}/"), found)?,
                "100644" | "100755" => drop(found.insert(path, (hash, mode.to_owned()))),
                _ => return Err(UNREAD),
            }
            rest = rest.get(end + 21..).unwrap_or_default();
        }
        Ok(())
    }

    /// The files of a commit: path, object hash and mode of each.
    fn files_of(&self, commit: &Commit) -> Result<BTreeMap<String, (String, String)>, EvalError> {
        let mut found = BTreeMap::new();
        self.tree(&commit.tree, "", &mut found).map(|()| found)
    }

    /// The tracked paths that differ from the last commit.
    fn changed(&self) -> Result<Vec<String>, EvalError> {
        // Attributes may change how content is compared.
        if self.fs.metadata(&self.folder.join(".gitattributes")).is_ok() {
            return Err(UNREAD);
        }
        let commit = self.commits(1)?.pop().ok_or(UNREAD)?;
        let (committed, index) = (self.files_of(&commit)?, self.index()?);
        let mut found: BTreeSet<String> = index.iter().filter(|path| !committed.contains_key(*path)).cloned().collect();
        for (path, (hash, mode)) in &committed {
            let at = self.folder.join(path);
            let is_same = || {
                let executable = self.fs.metadata(&at).ok()?.mode & 0o100 != 0;
                let same_mode = executable == (mode == "100755");
                let same = bytes(self.data, hash, self.fs)? == content(&at, self.fs)?;
                Some(same_mode && same)
            };
            if !index.contains(path) || is_same() != Some(true) {
                found.insert(path.clone());
            }
        }
        Ok(found.into_iter().collect())
    }

    /// The lines that a file has now and not in the last commit, after "+", and those it has lost, after "-".
    fn edited(&self, file: &str) -> Result<Vec<String>, EvalError> {
        let commit = self.commits(1)?.pop().ok_or(UNREAD)?;
        let (hash, _) = self.files_of(&commit)?.remove(file).ok_or(UNREAD)?;
        let text = |bytes: Option<Vec<u8>>| String::from_utf8(bytes.ok_or(UNREAD)?).map_err(|_| UNREAD);
        let (old, new) = (text(bytes(self.data, &hash, self.fs))?, text(content(&self.folder.join(file), self.fs))?);
        let (olds, news): (BTreeSet<&str>, BTreeSet<&str>) = (old.lines().collect(), new.lines().collect());
        let gained = new.lines().filter(|line| !olds.contains(line)).map(|line| format!("+ {line}"));
        let lost = old.lines().filter(|line| !news.contains(line)).map(|line| format!("- {line}"));
        Ok(gained.chain(lost).collect())
    }

    /// The paths that are neither tracked nor ignored by `.gitignore`.
    fn untracked(&self) -> Result<Vec<String>, EvalError> {
        let mut files = Vec::new();
        walk(self.folder, Depth::Whole, true, self.fs, &mut files)?;
        let below = |path: &PathBuf| Some(path.strip_prefix(self.folder).ok()?.to_str()?.to_owned());
        let is_inside = |path: &str| path == ".git" || path.starts_with(".git/") || path.contains("/.git/");
        let index = self.index()?;
        let ignored = self.ignored()?;
        let mut found = BTreeSet::new();
        for entry in files.iter().filter(|entry| entry.kind != EntryKind::Folder) {
            let path = below(&entry.path).ok_or(UNREAD)?;
            if is_inside(&path) || index.contains(&path) {
                continue;
            }
            if path.ends_with("/.gitignore") {
                return Err(UNREAD);
            }
            let parts: Vec<&str> = path.split('/').collect();
            let is_ignored = ignored.iter().any(|(pattern, is_folder)| {
                let parts = parts.get(..parts.len() - usize::from(*is_folder)).unwrap_or_default();
                parts.iter().any(|part| pattern.is_match(part))
            });
            if !is_ignored {
                found.insert(path);
            }
        }
        Ok(found.into_iter().collect())
    }

    /// The patterns of `.gitignore`, and whether each matches folders alone; an error for patterns with other syntax.
    fn ignored(&self) -> Result<Vec<(globset::GlobMatcher, bool)>, EvalError> {
        let home = self.fs.variable("HOME").and_then(|home| String::from_utf8(home).ok()).unwrap_or_default();
        let own = self.folder.join(".gitignore");
        let others = [self.data.join("info/exclude"), Path::new(&home).join(".config/git/ignore")];
        let lines = |path: &Path| -> Vec<String> {
            let text = text_of(path, self.fs).unwrap_or_default();
            text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_owned).collect()
        };
        if others.iter().any(|path| !lines(path).is_empty()) {
            return Err(UNREAD);
        }
        let pattern = |line: &String| {
            let plain = line.strip_suffix('/').unwrap_or(line);
            let is_plain = !plain.contains(['/', '!', '[', '\\', '{', ' ']);
            let glob = globset::Glob::new(plain).ok().filter(|_| is_plain)?;
            Some((glob.compile_matcher(), plain != line.as_str()))
        };
        lines(&own).iter().map(|line| pattern(line).ok_or(UNREAD)).collect()
    }

    /// The paths that the last commit changed.
    fn last_files(&self) -> Result<Vec<String>, EvalError> {
        let commit = self.commits(1)?.pop().ok_or(UNREAD)?;
        let before = match commit.parents.as_slice() {
            [] => BTreeMap::new(),
            [parent] => self.files_of(&self.read(parent)?)?,
            _ => return Err(UNREAD),
        };
        let after = self.files_of(&commit)?;
        let paths: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        Ok(paths.into_iter().filter(|path| before.get(*path) != after.get(*path)).cloned().collect())
    }
}
