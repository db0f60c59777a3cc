//! Facts of the machine and processes as command lines; only such as have a second source for their check.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not named is refused, whatever else there comes to be")]

use super::pipeline::{Argv, Pipeline};
use super::{Programs, Unsupported};
use crate::algebra::{Fact, Key, NameTest, Order, Pred, Query, SortKey};

/// Variables that programs started by artoo get as the person's own session has them.
const PASSED_ON: [&str; 7] = ["HOME", "USER", "LOGNAME", "TZ", "TMPDIR", "SHELL", "LANG"];

/// The call that tells a fact.
pub(super) fn fact(fact: &Fact, programs: Programs) -> Result<Pipeline, Unsupported> {
    let one = |fixed: &'static str| Ok(Pipeline::of(Argv::new(fixed)));
    match fact {
        Fact::Date => return one("date +%Y-%m-%d"),
        Fact::Time => return one("date +%H:%M"),
        Fact::DateTime => return Ok(Pipeline::of(Argv::new("date").value("+%Y-%m-%d %H:%M"))),
        Fact::CurrentFolder => return one("pwd"),
        Fact::Home => return one("printenv HOME"),
        Fact::Variable { name } => return variable(name),
        // Everything below has its second source in the kernel's own files.
        _ => programs.gnu_only("this fact of the machine")?,
    }
    match fact {
        Fact::DayOfWeek { date } => Ok(Pipeline::of(Argv::bytewise("date -d").value(date.as_str()).and("+%A"))),
        Fact::DiskFree { path } => Ok(room("df -B1 --output=avail", path)),
        Fact::DiskUsed { path } => Ok(room("df -B1 --output=used", path)),
        Fact::DiskTotal { path } => Ok(room("df -B1 --output=size", path)),
        Fact::DiskShare { path } => Ok(room("df -B1 --output=pcent", path).pipe(Argv::new("tr -d").value(" "))),
        Fact::DiskUsage { path } => {
            Ok(Pipeline::of(Argv::new("du -s -B1").operands([path])).pipe(Argv::new("cut -f 1")))
        }
        Fact::Disks => one("df -B1 --output=size,used,avail,target"),
        Fact::MemoryTotal => Ok(memory("2")),
        Fact::MemoryUsed => Ok(memory("3")),
        Fact::MemoryFree => Ok(memory("7")),
        Fact::Processors => one("nproc"),
        Fact::ProcessorModel => {
            let line = Argv::bytewise("lscpu");
            let line = Pipeline::of(line).pipe(Argv::new("grep -m 1 -E -e").value("^Model name:"));
            Ok(line.pipe(Argv::new("tr -s").value(" ")).pipe(fields("3-")))
        }
        Fact::Load => {
            Ok(Pipeline::of(Argv::bytewise("uptime")).pipe(Argv::new("grep -o -E -e").value("load average: .*")))
        }
        Fact::Uptime => Ok(Pipeline::of(Argv::bytewise("uptime -p"))),
        Fact::User => one("id -un"),
        Fact::Groups => Ok(Pipeline::of(Argv::new("id -Gn")).pipe(Argv::new("tr").value(" ").value("\\n"))),
        Fact::Shell => one("printenv SHELL"),
        Fact::Host => one("uname -n"),
        Fact::Kernel => one("uname -r"),
        Fact::Architecture => one("uname -m"),
        Fact::System => {
            let line = Argv::new("grep -m 1 -E -e").value("^PRETTY_NAME=").operands(["/etc/os-release"]);
            Ok(Pipeline::of(line).pipe(Argv::new("cut -d").value("\"").and("-f 2")))
        }
        Fact::Addresses | Fact::Ports | Fact::Gateway | Fact::Routes => {
            Err(Unsupported::Sandboxed { what: "what the network looks like" })
        }
        Fact::Program { name } if is_plain_name(name) => Ok(Pipeline::of(Argv::new("which").value(name.as_str()))),
        _ => more(fact),
    }
}

/// Facts of the calendar, of users, of the kernel and of the network.
fn more(fact: &Fact) -> Result<Pipeline, Unsupported> {
    let one = |fixed: &'static str| Ok(Pipeline::of(Argv::new(fixed)));
    let names = |database: &'static str| Ok(Pipeline::of(Argv::new(database)).pipe(Argv::new("cut -d : -f 1")));
    match fact {
        Fact::DateInDays { days } => {
            Ok(Pipeline::of(Argv::bytewise("date -d").value(format!("{days} days")).and("+%Y-%m-%d")))
        }
        Fact::Year => one("date +%Y"),
        Fact::Month => Ok(Pipeline::of(Argv::bytewise("date +%B"))),
        Fact::Week => one("date +%V"),
        Fact::UnixTime => one("date +%s"),
        Fact::TimeZone => one("date +%z"),
        Fact::BootTime => one("uptime -s"),
        Fact::SwapTotal => Ok(account("Swap:", "2")),
        Fact::SwapUsed => Ok(account("Swap:", "3")),
        Fact::SwapFree => Ok(account("Swap:", "4")),
        Fact::ProcessorDetails => Ok(Pipeline::of(Argv::bytewise("lscpu"))),
        Fact::WordSize => one("getconf LONG_BIT"),
        Fact::KernelName => one("uname -s"),
        Fact::SystemDetails => one("uname -a"),
        Fact::KernelParameter { name } if is_plain_name(name) => {
            Ok(Pipeline::of(Argv::new("sysctl -n").value(name.as_str())))
        }
        Fact::KernelModules => {
            let list = Pipeline::of(Argv::new("lsmod")).pipe(Argv::new("tail -n +2"));
            Ok(list.pipe(fields("1")))
        }
        Fact::UserId => one("id -u"),
        Fact::GroupId => one("id -g"),
        Fact::GroupName => one("id -gn"),
        Fact::GroupsOf { user } if is_plain_name(user) => {
            let names = Pipeline::of(Argv::new("id -Gn").value(user.as_str()));
            Ok(names.pipe(Argv::new("tr").value(" ").value("\\n")))
        }
        Fact::UserIdOf { user } if is_plain_name(user) => Ok(Pipeline::of(Argv::new("id -u").value(user.as_str()))),
        Fact::AllUsers => names("getent passwd"),
        Fact::AllGroups => names("getent group"),
        Fact::LoggedIn => Ok(Pipeline::of(Argv::bytewise("who")).pipe(fields("1")).pipe(Argv::bytewise("sort -u"))),
        Fact::Shells => {
            let lines = Argv::new("grep -E -e").value("^/").operands(["/etc/shells"]);
            Ok(Pipeline::of(lines))
        }
        Fact::NameServers => {
            let lines = Argv::new("grep -E -e").value("^nameserver ").operands(["/etc/resolv.conf"]);
            Ok(Pipeline::of(lines).pipe(Argv::new("tr -s").value(" ")).pipe(fields("2")))
        }
        Fact::Interfaces => one("ls -1 /sys/class/net"),
        Fact::Locale => one("printenv LANG"),
        Fact::ProcessLimit => one("ulimit -u"),
        Fact::OpenFilesLimit => one("ulimit -n"),
        Fact::Umask => one("umask"),
        _ => Err(Unsupported::Arrangement { what: "this fact of the machine" }),
    }
}

fn is_plain_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+'))
}

/// Other variables of the session are hidden from programs that artoo starts: they may hold secrets.
fn variable(name: &str) -> Result<Pipeline, Unsupported> {
    if PASSED_ON.contains(&name) {
        return Ok(Pipeline::of(Argv::new("printenv").value(name)));
    }
    Err(Unsupported::Arrangement { what: "a variable that programs started here don't get" })
}

/// A number under a heading.
fn room(program: &'static str, path: &str) -> Pipeline {
    Pipeline::of(Argv::new(program).operands([path])).pipe(Argv::new("tail -n 1"))
}

fn memory(column: &str) -> Pipeline {
    account("Mem:", column)
}

/// A column of the account of memory or of swap space.
fn account(of: &'static str, column: &str) -> Pipeline {
    let line = Pipeline::of(Argv::bytewise("free -b")).pipe(Argv::new("grep -F -e").value(of));
    line.pipe(Argv::new("tr -s").value(" ")).pipe(fields(column))
}

fn fields(which: &str) -> Argv {
    Argv::new("cut -d").value(" ").and("-f").value(which)
}

/// Processes as `id user kilobytes percent name`, one a line.
pub(super) fn processes(query: &Query, programs: Programs) -> Result<Pipeline, Unsupported> {
    programs.gnu_only("the list of processes")?;
    let (stretch, unlimited) = match query {
        Query::Limit { of, skip, count } => (Some((*skip, *count)), of.as_ref()),
        other => (None, other),
    };
    let (keys, unsorted) = match unlimited {
        Query::Sort { of, keys } => (keys.as_slice(), of.as_ref()),
        other => (&[][..], other),
    };
    let ps = Pipeline::of(Argv::bytewise("ps -e -o pid= -o user:32= -o rss= -o pcpu= -o comm="));
    let mut lines = match unsorted {
        Query::Processes => ps,
        Query::Filter { of, keep } if **of == Query::Processes => filter(ps, keep)?,
        _ => return Err(Unsupported::Arrangement { what: "this list of processes" }),
    };
    if !keys.is_empty() {
        lines = lines.pipe(sort(keys)?);
    }
    if let Some((skip, count)) = stretch {
        if count == 0 {
            return Err(Unsupported::Arrangement { what: "none of them" });
        }
        let to = skip.saturating_add(count);
        lines = lines.pipe(Argv::bytewise("sed -n -e").value(format!("{},{to}p", skip.saturating_add(1))));
    }
    Ok(lines)
}

fn sort(keys: &[SortKey]) -> Result<Argv, Unsupported> {
    let mut argv = Argv::bytewise("sort -s");
    for key in keys {
        let r = if key.order == Order::Descending { "r" } else { "" };
        argv = argv.and("-k").value(match key.by {
            Key::Memory => format!("3,3n{r}"),
            Key::Cpu => format!("4,4n{r}"),
            Key::Name => format!("5b{r}"),
            _ => return Err(Unsupported::Arrangement { what: "this order of processes" }),
        });
    }
    Ok(argv)
}

fn filter(of: Pipeline, keep: &Pred) -> Result<Pipeline, Unsupported> {
    /// What stands before the user's name, and between it and the command's.
    const ID: &str = "^ *[0-9]+ +";
    const NUMBERS: &str = " +[0-9]+ +[0-9.]+ ";
    match keep {
        Pred::All(parts) => parts.iter().try_fold(of, filter),
        Pred::Not(inner) => Ok(of.pipe(Argv::bytewise("grep -a -v -E -e").value(expression(inner, ID, NUMBERS)?))),
        one => Ok(of.pipe(Argv::bytewise("grep -a -E -e").value(expression(one, ID, NUMBERS)?))),
    }
}

fn expression(pred: &Pred, id: &str, numbers: &str) -> Result<String, Unsupported> {
    let name = |text: String| Ok(format!("{id}[^ ]+{numbers}{text}$"));
    let text = super::grep::literal;
    match pred {
        Pred::Name(NameTest::Is(is)) => name(format!("{}( <defunct>)?", text(is))),
        Pred::Name(NameTest::Starts(start)) => name(format!("{}.*", text(start))),
        Pred::Name(NameTest::Ends(end)) => name(format!(".*{}( <defunct>)?", text(end))),
        Pred::Name(NameTest::Has(part)) => name(format!(".*{}.*", text(part))),
        Pred::Owner(user) => Ok(format!("{id}{}{numbers}", text(user))),
        _ => Err(Unsupported::Predicate { what: "this condition on processes" }),
    }
}
