//! Questions about programs, packages, ports and accounts of the machine: whether they are there, and which.

use std::collections::BTreeSet;
use std::path::Path;

use super::{Known, Row};
use crate::algebra::{Fact, Function, NameTest, Pred, Query};
use crate::eval::{Answer, EvalError, FileSystem, evaluate, text};
use crate::lower::{Argv, Pipeline, Unsupported};
use crate::parse::Form;

/// The kind of question about programs, packages, ports and accounts of the machine.
pub(super) const ROW: Row = Row { name: "program", forms: include_str!("program.txt"), read, english, lower, eval };

/// Folders of programs that packages of the system install.
const SYSTEM_FOLDERS: [&str; 4] = ["/usr/bin/", "/bin/", "/usr/sbin/", "/sbin/"];

/// The query whether a query has any element.
fn any(of: Query) -> Option<Query> {
    Some(Query::Aggregate { of: Box::new(of), function: Function::Any })
}

/// The query for a form about programs, packages, ports or accounts; `None` if its values don't fit together.
fn read(form: &Form<'_>, wording: &str) -> Option<Query> {
    let known = |what: &str, name: &str| {
        Known::of("program", [("what", Some(what.to_owned())), ("name", Some(name.to_owned()))])
    };
    if wording == "port" {
        let port: u16 = form.text("port")?.parse().ok()?;
        return any(known("port", &port.to_string()));
    }
    let fact = |fact: Fact| Some(Query::System { fact });
    match wording {
        "System" => return fact(Fact::System),
        "Architecture" => return fact(Fact::Architecture),
        "OpenFilesLimit" => return fact(Fact::OpenFilesLimit),
        "ProcessLimit" => return fact(Fact::ProcessLimit),
        "packages" | "devices" => return Some(known(wording, "")),
        "package_count" => {
            return Some(Query::Aggregate { of: Box::new(known("packages", "")), function: Function::Count });
        }
        _ => {}
    }
    let name = form.text("name").filter(|name| is_plain(name))?;
    let is = || NameTest::Is(name.to_owned());
    let program = || Query::System { fact: Fact::Program { name: name.to_owned() } };
    let of_account = |query: Query| {
        evaluate(&query, form.fs())
            .is_ok_and(|found| matches!(found, Answer::Lines(lines) if !lines.is_empty()))
            .then_some(query)
    };
    match wording {
        "running" => any(Query::Filter { of: Box::new(Query::Processes), keep: Pred::Name(is()) }),
        "located" => Some(program()),
        "available" => any(known("path", name)),
        // A word that is no program's name may mean something else.
        "available_known" | "located_known" => {
            let is_there = matches!(evaluate(&program(), form.fs()), Ok(Answer::Text(path)) if !path.is_empty());
            let asked = if wording == "located_known" { Some(program()) } else { any(known("path", name)) };
            asked.filter(|_| is_there)
        }
        "package" => any(known("version", name)),
        "version" => {
            // The package of that name says the version of the system's own program alone.
            let path = match evaluate(&program(), form.fs()) {
                Ok(Answer::Text(path)) => path,
                _ => String::new(),
            };
            let is_of_package = path.is_empty() || SYSTEM_FOLDERS.iter().any(|folder| path.starts_with(folder));
            of_account(known("version", name)).filter(|_| is_of_package)
        }
        "account" => {
            any(Query::Filter { of: Box::new(Query::System { fact: Fact::AllUsers }), keep: Pred::Line(is()) })
        }
        "home" | "shell" => of_account(known(wording, name)),
        _ => None,
    }
}

/// Whether a name is a word that no program reads as a pattern or an option.
fn is_plain(name: &str) -> bool {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+');
    name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_') && name.chars().all(is_safe)
}

/// The question about the machine as a noun phrase in English.
fn english(known: &Known) -> String {
    let name = crate::english::quoted(known.value("name"));
    match known.value("what") {
        "port" => format!("programs that listen on the TCP port {}", known.value("name")),
        "version" => format!("version of the installed package {name}"),
        "packages" => "installed packages".to_owned(),
        "devices" => "block devices".to_owned(),
        "path" => format!("files of the program {name} on the search path"),
        what => format!("{what} of the user {name}"),
    }
}

/// The command that answers a question about programs, packages, ports or accounts.
fn lower(known: &Known) -> Result<Pipeline, Unsupported> {
    let name = known.value("name");
    Ok(match known.value("what") {
        "port" => {
            let port: u16 = name.parse().map_err(|_| Unsupported::Arrangement("this port"))?;
            let pattern = format!("[0-9A-F]+:{port:04X} [0-9A-F]+:0000 0A");
            let files = ["/proc/net/tcp", "/proc/net/tcp6"];
            Pipeline::of(Argv::bytewise("grep -s -h -o -E -e").value(pattern).operands(files))
                .pipe(Argv::bytewise("sort"))
        }
        "version" => {
            let query = Argv::new("dpkg-query -W -f").value("${db:Status-Status} ${Version}\\n").operands([name]);
            let installed = Argv::bytewise("grep -E -e").value("^installed ");
            let upstream = Argv::bytewise("sed -E -e").value("s/^installed //; s/^[0-9]+://; s/-[^-]*$//");
            Pipeline::of(query).pipe(installed).pipe(upstream)
        }
        "packages" => {
            let query = Argv::new("dpkg-query -W -f").value("${db:Status-Status} ${Package}\\n");
            let installed = Argv::bytewise("grep -E -e").value("^installed ");
            let names = Pipeline::of(query).pipe(installed).pipe(Argv::new("cut -d").value(" ").and("-f 2"));
            names.pipe(Argv::bytewise("sort -u"))
        }
        "devices" => Pipeline::of(Argv::bytewise("ls -1 /sys/block")),
        "path" => Pipeline::of(Argv::new("which").value(name)),
        what => {
            let field = if what == "home" { "cut -d : -f 6" } else { "cut -d : -f 7" };
            Pipeline::of(Argv::new("getent passwd").value(name)).pipe(Argv::new(field))
        }
    })
}

/// The answer to a question about programs, packages, ports or accounts, read from the system's files.
fn eval(known: &Known, fs: &dyn FileSystem) -> Result<Vec<String>, EvalError> {
    let name = known.value("name");
    match known.value("what") {
        "port" => {
            let port: u16 = name.parse().map_err(|_| EvalError::Meaningless)?;
            let wanted = format!(":{port:04X}");
            let listens = |line: &str| {
                let fields: Vec<&str> = line.split_whitespace().collect();
                let (local, remote, state) = (*fields.get(1)?, *fields.get(2)?, *fields.get(3)?);
                (local.ends_with(&wanted) && state == "0A").then(|| format!("{local} {remote} {state}"))
            };
            let tables =
                [text::system_file("/proc/net/tcp", fs)?, text::system_file("/proc/net/tcp6", fs).unwrap_or_default()];
            let mut found: Vec<String> = tables.iter().flat_map(|table| table.lines().filter_map(listens)).collect();
            found.sort();
            Ok(found)
        }
        "version" => {
            let upstream = |version: &str| {
                let bare = version.split_once(':').map_or(version, |(_, rest)| rest);
                bare.rsplit_once('-').map_or(bare, |(upstream, _)| upstream).to_owned()
            };
            let packages = packages(fs)?.into_iter().filter(|(package, _)| package == name);
            Ok(packages.map(|(_, version)| upstream(&version)).collect())
        }
        "packages" => {
            let names: BTreeSet<String> = packages(fs)?.into_iter().map(|(name, _)| name).collect();
            Ok(names.into_iter().collect())
        }
        "devices" => {
            let found = fs.list(Path::new("/sys/block")).map_err(|_| EvalError::NoSecondSource("block devices"))?;
            let mut names: Vec<String> =
                found.iter().map(|entry| String::from_utf8_lossy(entry.name_bytes()).into_owned()).collect();
            names.sort();
            Ok(names)
        }
        "path" => match evaluate(&Query::System { fact: Fact::Program { name: name.to_owned() } }, fs) {
            Ok(Answer::Text(path)) if !path.is_empty() => Ok(vec![path]),
            _ => Ok(Vec::new()),
        },
        what => {
            let list = text::system_file("/etc/passwd", fs)?;
            let field = if what == "home" { 5 } else { 6 };
            let of = |line: &str| {
                let fields: Vec<&str> = line.split(':').collect();
                (fields.first() == Some(&name)).then(|| fields.get(field).copied().unwrap_or_default().to_owned())
            };
            Ok(list.lines().filter_map(of).take(1).collect())
        }
    }
}

/// The installed packages with their versions, from the package manager's own list.
fn packages(fs: &dyn FileSystem) -> Result<Vec<(String, String)>, EvalError> {
    let status = text::system_file("/var/lib/dpkg/status", fs).map_err(|_| EvalError::NoSecondSource("packages"))?;
    let field = |entry: &str, key: &str| entry.lines().find_map(|line| line.strip_prefix(key)).map(str::to_owned);
    let is_installed = |entry: &&str| field(entry, "Status: ").is_some_and(|status| status.ends_with(" installed"));
    let package = |entry: &str| Some((field(entry, "Package: ")?, field(entry, "Version: ")?));
    Ok(status.split("\n\n").filter(is_installed).filter_map(package).collect())
}
