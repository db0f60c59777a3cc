//! `artoo config`: shows the settings, their origins, and the available keys; changes are made by `config_edit`.

use crate::args::{ConfigCommand, Options};
use crate::config::{Kind, Place, Setting, ignored_in};
use crate::display::{Line, Style};
use crate::model_choice::ModelKind;
use crate::{Exit, Failure, Screen, Settings, Variables, config_edit};

/// Runs a subcommand of `artoo config`.
pub(crate) fn run(
    command: ConfigCommand,
    options: &Options,
    variables: &Variables,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let lines = match command {
        ConfigCommand::Path => vec![Line::plain(Place::of(variables).file().display().to_string())],
        ConfigCommand::Keys => Setting::ALL
            .into_iter()
            .map(|key| Line::plain(format!("{:<19} {} (variable {})", key.name(), key.meaning(), key.variable())))
            .collect(),
        ConfigCommand::Show { origin } => shown(options, variables, origin)?,
        ConfigCommand::Set { key, value } => config_edit::set(&key, &value, options, variables)?,
        ConfigCommand::Unset { key } => config_edit::unset(&key, variables)?,
        ConfigCommand::Edit => config_edit::edit(options, variables)?,
    };
    let (warnings, lines): (Vec<Line>, Vec<Line>) = lines.into_iter().partition(|line| line.style == Style::Warning);
    screen.answer(&lines);
    let here = std::env::current_dir().unwrap_or_default();
    let mut notes: Vec<Line> = Place::of(variables).ignored.iter().map(Line::warning).chain(warnings).collect();
    notes.extend(
        ignored_in(&here)
            .iter()
            .map(|path| Line::plain(format!("{} is not read: a project does not configure artoo", path.display()))),
    );
    screen.tell(&notes);
    Ok(Exit::Accepted)
}

/// Lines with every setting and its value in effect, in the configuration file's syntax. A key is never shown.
fn shown(options: &Options, variables: &Variables, with_origin: bool) -> Result<Vec<Line>, Failure> {
    let by_option: Vec<Setting> = [
        (Setting::Model, options.model.is_some()),
        (Setting::DataDir, options.data_dir.is_some()),
        (Setting::Workspace, options.workspace.is_some()),
        (Setting::Deadline, options.deadline.is_some()),
        (Setting::Memory, options.memory.is_some()),
        (Setting::ReflexFirst, options.reflex_first.is_some()),
        (Setting::Profile, options.profile.is_some()),
        (Setting::TimeBudget, options.time_budget.is_some()),
        (Setting::MaxTokens, options.max_tokens.is_some()),
        (Setting::MaxCost, options.max_cost.is_some()),
    ]
    .into_iter()
    .filter_map(|(setting, is_given)| is_given.then_some(setting))
    .collect();
    let settings = Settings::resolve(options, variables)?;
    let is_shown = |setting: &Setting| !matches!(setting.kind(), Kind::KeyVariable | Kind::KeyCommand);
    let line = |setting: Setting| {
        let line = match (setting.kind(), value(setting, &settings, variables)) {
            (Kind::KeyFile, _) => of_key(setting, &settings, variables),
            (Kind::Flag, Some(value)) => format!("{} = {value}", setting.name()),
            (_, Some(value)) => format!("{} = {}", setting.name(), toml::Value::String(value)),
            (_, None) => format!("# {} is not set", setting.name()),
        };
        if !with_origin {
            return Line::plain(line);
        }
        let origin = if by_option.contains(&setting) {
            format!("option --{}", setting.name().replace('_', "-"))
        } else {
            variables.origin(setting.variable()).unwrap_or_else(|| "default".to_owned())
        };
        Line::plain(format!("{line}  # {origin}"))
    };
    Ok(Setting::ALL.into_iter().filter(is_shown).map(line).collect())
}

/// A line about a setting that names a key's file: whether a key is set. The key itself is not shown.
fn of_key(setting: Setting, settings: &Settings, variables: &Variables) -> String {
    let whose = match setting.name().strip_suffix("key_file").map(|owner| owner.trim_end_matches('_')) {
        None | Some("") => String::new(),
        Some(owner) => format!(" for {owner}"),
    };
    if variables.raw(setting.variable()).is_some() {
        format!("# the key{whose} is set; it is not shown")
    } else if setting == Setting::SecretFile && matches!(settings.model.kind, ModelKind::File { .. }) {
        "# no key is set, and none is needed: the model is a file on this machine".to_owned()
    } else {
        format!("# no key is set{whose}")
    }
}

/// The value of a setting in effect, `None` if not set; URLs are shown without credentials.
#[expect(clippy::wildcard_enum_match_arm, reason = "all other settings are shown as they were written")]
fn value(setting: Setting, settings: &Settings, variables: &Variables) -> Option<String> {
    let text = || variables.text(setting.variable()).ok().flatten();
    match setting {
        Setting::Model => Some(settings.model.kind.to_string()),
        Setting::BaseUrl | Setting::SearxngUrl => text().map(|url| artoo_llm::shown_url(&url)),
        Setting::Worker => settings.model.worker.as_ref().map(ToString::to_string),
        Setting::Fallback => {
            let kinds: Vec<String> = settings.model.fallback.iter().map(ToString::to_string).collect();
            Some(kinds.join(", ")).filter(|kinds| !kinds.is_empty())
        }
        Setting::Views => Some(settings.tools.views.to_string()),
        Setting::Memory => Some(settings.memory.to_string()),
        Setting::ReflexFirst => Some(settings.reflex_first.to_string()),
        Setting::Profile => {
            text().filter(|text| text.contains('/')).or_else(|| Some(settings.profile.name().to_owned()))
        }
        Setting::TimeBudget => Some(format!("{}s", settings.profile.parameters().time_budget_ms / 1000)),
        Setting::DataDir => Some(settings.data_dir.display().to_string()),
        Setting::Workspace => Some(settings.environment.workspace.clone()),
        Setting::Deadline => Some(settings.limit_ms.map_or_else(|| "30m".to_owned(), |ms| format!("{}s", ms / 1000))),
        Setting::MaxTokens => settings.max_tokens.map(|most| most.to_string()),
        Setting::MaxCost => settings.max_cost.map(|most| artoo_llm::ledger::DollarsShown(most.micro).to_string()),
        _ => text(),
    }
}
