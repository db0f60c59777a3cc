//! Facts about users and groups, from the account files and `/proc/self/status`.

use std::collections::BTreeSet;
use std::path::Path;

use super::{entry_of, lines, variable};
use crate::algebra::Fact;
use crate::eval::{Answer, EvalError, FileSystem, process, text};

/// Path of the file of user accounts.
const USERS: &str = "/etc/passwd";

/// Path of the file of user groups.
const GROUPS: &str = "/etc/group";

/// The value of a fact about users and groups.
pub(super) fn value(fact: &Fact, fs: &dyn FileSystem) -> Result<Answer, EvalError> {
    let text = |text: String| Ok(Answer::Text(text));
    let names = |names: BTreeSet<String>| Ok(lines(names.into_iter()));
    match fact {
        Fact::User => text(own_field(0, fs)?),
        Fact::Shell => text(variable("SHELL", fs).or_else(|_| own_field(6, fs))?),
        Fact::Groups => names(own_groups(fs)?),
        Fact::GroupName => text(group_name(&own_id("Gid", fs)?.to_string(), fs)?),
        Fact::GroupsOf { user } => names(groups_of(user, fs)?),
        Fact::UserIdOf { user } => Ok(Answer::Number(ids_of(user, fs)?.0)),
        Fact::LoggedIn => names(logged_in(fs)),
        _ => Err(EvalError::NoSecondSource("this fact")),
    }
}

/// The effective id of this process's user (`Uid`) or group (`Gid`).
pub(super) fn own_id(name: &str, fs: &dyn FileSystem) -> Result<u64, EvalError> {
    let none = EvalError::NoSecondSource("the user's number");
    let ids = entry_of("/proc/self/status", name, ':', fs)?;
    ids.split_whitespace().nth(1).and_then(|id| id.parse().ok()).ok_or(none)
}

/// The fields of the first line of an account file whose field at this index has this value; `None` without one.
fn account(file: &str, field: usize, value: &str, fs: &dyn FileSystem) -> Result<Option<Vec<String>>, EvalError> {
    Ok(process::accounts(file, fs)?.into_iter().find(|fields| fields.get(field).is_some_and(|found| found == value)))
}

/// The field at an index (from 0) of the current user's line in `/etc/passwd`.
fn own_field(field: usize, fs: &dyn FileSystem) -> Result<String, EvalError> {
    let account = account(USERS, 2, &own_id("Uid", fs)?.to_string(), fs)?;
    let found = account.and_then(|fields| fields.into_iter().nth(field));
    found.ok_or(EvalError::NoSecondSource("the user's name"))
}

/// The name of the group with this id.
fn group_name(id: &str, fs: &dyn FileSystem) -> Result<String, EvalError> {
    let name = account(GROUPS, 2, id, fs)?.and_then(|fields| fields.into_iter().next());
    name.ok_or(EvalError::NoSecondSource("the name of a group"))
}

/// The names of all groups that this process has.
fn own_groups(fs: &dyn FileSystem) -> Result<BTreeSet<String>, EvalError> {
    let supplementary = entry_of("/proc/self/status", "Groups", ':', fs)?;
    let own = entry_of("/proc/self/status", "Gid", ':', fs)?;
    // The first two of the four ids are the real and the effective group.
    let ids = supplementary.split_whitespace().chain(own.split_whitespace().take(2));
    ids.map(|id| group_name(id, fs)).collect()
}

/// The user id and the primary group id of a user.
fn ids_of(user: &str, fs: &dyn FileSystem) -> Result<(u64, u64), EvalError> {
    let account = account(USERS, 0, user, fs)?;
    let id = |field: usize| account.as_ref()?.get(field)?.parse().ok();
    id(2).zip(id(3)).ok_or(EvalError::NoSecondSource("a user of that name"))
}

/// The names of the groups that a user belongs to.
fn groups_of(user: &str, fs: &dyn FileSystem) -> Result<BTreeSet<String>, EvalError> {
    let (_, own) = ids_of(user, fs)?;
    let is_member = |fields: &Vec<String>| fields.get(3).is_some_and(|all| all.split(',').any(|member| member == user));
    let groups = process::accounts(GROUPS, fs)?.into_iter().filter(is_member);
    let names = groups.filter_map(|fields| fields.into_iter().next());
    Ok(names.chain([group_name(&own.to_string(), fs)?]).collect())
}

/// The names of the users logged in according to utmp; empty if there is no such file.
fn logged_in(fs: &dyn FileSystem) -> BTreeSet<String> {
    /// Length of a utmp entry, range of the user name in it, and the type of a user's session.
    const ENTRY: usize = 384;
    const USER: std::ops::Range<usize> = 44..76;
    const USER_PROCESS: u8 = 7;
    let record = text::content(Path::new("/var/run/utmp"), fs).unwrap_or_default();
    let user = |entry: &[u8]| {
        let name = entry.get(USER)?.split(|byte| *byte == 0).next()?;
        (entry.first() == Some(&USER_PROCESS)).then(|| String::from_utf8_lossy(name).into_owned())
    };
    record.chunks_exact(ENTRY).filter_map(user).filter(|name| !name.is_empty()).collect()
}
