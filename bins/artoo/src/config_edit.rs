//! `artoo config set`, `unset` and `edit`: changes to the configuration file that keep comments and are validated.

use std::fs::{self, Permissions};
use std::io;
use std::num::NonZeroU32;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use artoo_llm::{Protocol, RemoteConfig};
use artoo_proto::redact::{redact, redact_keys};

use crate::args::Options;
use crate::config::{self, Kind, Place, Setting, write};
use crate::money::Prices;
use crate::{Failure, Line, Settings, Variables};

/// First line of a new configuration file: a comment that names the command that lists the settings.
const HEAD: &str = "# artoo's configuration; artoo config keys lists what it may hold.\n";

/// Runs `artoo config set`: validates the name and value of a setting and writes the value into the configuration file.
pub(crate) fn set(key: &str, value: &str, options: &Options, variables: &Variables) -> Result<Vec<Line>, Failure> {
    let setting = config::key_of(key).map_err(|problem| Failure::Setting { problem })?;
    refuse_secret(setting, value)?;
    if !value.trim().is_empty() {
        check_value(setting, value, options)?;
    }
    change(setting, Some(value), variables)?;
    let mut lines =
        vec![Line::plain(format!("{} is set in {}", setting.name(), Place::of(variables).file().display()))];
    let by_variable = variables.raw(setting.variable()).filter(|_| !is_of_key(setting));
    lines
        .extend(by_variable.map(|_| Line::warning(format!("the variable {} is set, and it wins", setting.variable()))));
    Ok(lines)
}

/// Runs `artoo config unset`: removes a setting from the configuration file.
pub(crate) fn unset(key: &str, variables: &Variables) -> Result<Vec<Line>, Failure> {
    let setting = config::key_of(key).map_err(|problem| Failure::Setting { problem })?;
    let was_set = change(setting, None, variables)?;
    let what = if was_set { "is no longer set in" } else { "was not set in" };
    Ok(vec![Line::plain(format!("{} {what} {}", setting.name(), Place::of(variables).file().display()))])
}

/// Opens the configuration file in the user's editor and validates it afterwards; the earlier file is kept beside it.
pub(crate) fn edit(options: &Options, variables: &Variables) -> Result<Vec<Line>, Failure> {
    let (path, home) = (Place::of(variables).file(), variables.home());
    let text = fs::read_to_string(&path).unwrap_or_else(|_| HEAD.to_owned());
    write::config(&path, &text)?;
    let named = ["VISUAL", "EDITOR"].into_iter().find_map(|name| variables.raw(name));
    let command = named.map_or_else(|| "vi".to_owned(), |command| command.to_string_lossy().into_owned());
    let failed = |source| Failure::Editor { command: command.clone(), source };
    // A shell splits the command, which may have arguments, such as code --wait.
    let script = format!("{command} \"$1\"");
    let status = Command::new("sh").args(["-c", &script, "artoo"]).arg(&path).status().map_err(failed)?;
    if !status.success() {
        return Err(failed(io::Error::other(status.to_string())));
    }
    fs::set_permissions(&path, Permissions::from_mode(0o600))
        .map_err(|source| Failure::NotWritten { path: path.clone(), source })?;
    let file = config::load(&path, &home).map_err(|source| Failure::Config { source })?;
    for (setting, value) in Setting::ALL.into_iter().filter_map(|key| Some((key, file.as_ref()?.get(key)?))) {
        check_value(setting, value, options)?;
    }
    Ok(vec![Line::plain(format!("{} is valid; the earlier one is kept as {}.old", path.display(), path.display()))])
}

/// Writes the configuration file with a setting changed, or removed if `value` is `None`. Returns whether the file had
/// the setting before; with nothing to remove it writes nothing.
fn change(setting: Setting, value: Option<&str>, variables: &Variables) -> Result<bool, Failure> {
    let (path, home) = (Place::of(variables).file(), variables.home());
    let refused = |source| Failure::Config { source };
    let text = config::text_of(&path).map_err(refused)?.unwrap_or_else(|| HEAD.to_owned());
    let file = config::parse(&path, &home, &text).map_err(refused)?;
    let was_set = file.get(setting).is_some();
    if value.is_none() && !was_set {
        return Ok(false);
    }
    let edited = file.edited(&text, setting, value);
    config::parse(&path, &home, &edited).map_err(|problem| Failure::Setting { problem: problem.to_string() })?;
    write::config(&path, &edited)?;
    Ok(was_set)
}

/// Whether a setting says where an endpoint's key is: in a variable, in a file, or printed by a command.
fn is_of_key(setting: Setting) -> bool {
    matches!(setting.kind(), Kind::KeyVariable | Kind::KeyFile | Kind::KeyCommand)
}

/// Refuses a value that looks like a key or a password, and a name of a variable that is not spelled like one.
fn refuse_secret(setting: Setting, value: &str) -> Result<(), Failure> {
    let is_of_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let is_secret = match setting.kind() {
        Kind::KeyVariable => !value.chars().all(is_of_name) || value.starts_with(|c: char| c.is_ascii_digit()),
        Kind::KeyFile => !value.starts_with(['/', '~']) || redact(value) != value,
        // A command may name a password store or its entry.
        Kind::KeyCommand => redact_keys(value) != value,
        Kind::Text | Kind::Flag | Kind::Path => redact(value) != value,
    };
    if is_secret { Err(Failure::KeyAsValue { setting: setting.name() }) } else { Ok(()) }
}

/// Checks the value of a setting as a run would, without the other settings. Keys are not read.
fn check_value(setting: Setting, value: &str, options: &Options) -> Result<(), Failure> {
    if is_of_key(setting) {
        return Ok(());
    }
    let mut alone = Variables::default();
    alone.set_from_file(setting.variable(), value.to_owned(), setting.name().to_owned());
    if setting == Setting::BaseUrl {
        artoo_llm::call_address(&RemoteConfig::new(Protocol::Chat, value, "any"))?;
    }
    alone.parsed::<Prices>("ARTOO_PRICES")?;
    alone.parsed::<u64>("ARTOO_CONTEXT_TOKENS")?;
    alone.parsed::<usize>("ARTOO_PARALLEL")?;
    alone.parsed::<NonZeroU32>("ARTOO_THREADS")?;
    Settings::resolve(options, &alone)?;
    Ok(())
}
