//! `artoo config`: what is set, by whom, and what can be.

use crate::args::{ConfigCommand, Options};
use crate::config::{Place, Setting, ignored_in};
use crate::display::Line;
use crate::display::writer::Screen;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::model_choice::ModelKind;
use crate::settings::Settings;
use crate::variables::Variables;

/// Shows what it is asked for.
pub(crate) fn run(
    command: ConfigCommand,
    options: Options,
    variables: &Variables,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let lines = match command {
        ConfigCommand::Path => vec![Line::plain(Place::of(variables).file().display().to_string())],
        ConfigCommand::Keys => Setting::ALL
            .into_iter()
            .map(|key| Line::plain(format!("{:<13} {} (variable {})", key.name(), key.meaning(), key.variable())))
            .collect(),
        ConfigCommand::Show { origin } => shown(options, variables, origin)?,
    };
    screen.answer(&lines);
    let here = std::env::current_dir().unwrap_or_default();
    let mut notes: Vec<Line> = Place::of(variables).ignored.iter().map(Line::warning).collect();
    notes.extend(
        ignored_in(&here)
            .iter()
            .map(|path| Line::plain(format!("{} is not read: a project does not configure artoo", path.display()))),
    );
    screen.tell(&notes);
    Ok(Exit::Accepted)
}

/// Choices as they could stand in the file, addresses without what may be secret in them.
fn several(kinds: &[ModelKind]) -> String {
    kinds.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Every setting with its value in effect, as it could stand in the file. A key is never shown.
fn shown(options: Options, variables: &Variables, with_origin: bool) -> Result<Vec<Line>, Failure> {
    let given = |flag: Option<&str>| flag.map(|flag| format!("option {flag}"));
    let by_option = [
        (Setting::Model, given(options.model.as_ref().map(|_| "--model"))),
        (Setting::DataDir, given(options.data_dir.as_ref().map(|_| "--data-dir"))),
        (Setting::Workspace, given(options.workspace.as_ref().map(|_| "--workspace"))),
        (Setting::Deadline, given(options.deadline.as_ref().map(|_| "--deadline"))),
        (Setting::MaxTokens, given(options.max_tokens.map(|_| "--max-tokens"))),
        (Setting::MaxCost, given(options.max_cost.map(|_| "--max-cost"))),
    ];
    let settings = Settings::resolve(options, variables)?;
    let text = |name: &'static str| variables.text(name).ok().flatten();
    let values = [
        (Setting::Model, Some(settings.model.kind.to_string())),
        (Setting::BaseUrl, text("OPENAI_BASE_URL").map(|url| artoo_llm::shown_url(&url))),
        (Setting::ModelName, text("OPENAI_MODEL")),
        (Setting::SecretFile, None),
        (Setting::DataDir, Some(settings.data_dir.display().to_string())),
        (Setting::Workspace, Some(settings.environment.workspace.clone())),
        (Setting::Deadline, Some(settings.limit_ms.map_or_else(|| "30m".to_owned(), |ms| format!("{}s", ms / 1000)))),
        (Setting::Search, text("ARTOO_SEARCH")),
        (Setting::SearxngUrl, text("ARTOO_SEARXNG_URL").map(|url| artoo_llm::shown_url(&url))),
        (Setting::BraveFile, None),
        (Setting::GoogleFile, None),
        (Setting::GoogleEngine, text("ARTOO_GOOGLE_ENGINE")),
    ];
    let rest = [
        (Setting::Hands, settings.model.hands.as_ref().map(ToString::to_string)),
        (Setting::HandsSecretFile, None),
        (Setting::Fallback, Some(several(&settings.model.fallback)).filter(|text| !text.is_empty())),
        (Setting::Prices, text("ARTOO_PRICES")),
        (Setting::MaxTokens, settings.max_tokens.map(|most| most.to_string())),
        (Setting::MaxCost, settings.max_cost.map(|most| artoo_llm::ledger::DollarsShown(most.micro).to_string())),
        (Setting::ContextTokens, text("ARTOO_CONTEXT_TOKENS")),
        (Setting::Parallel, text("ARTOO_PARALLEL")),
        (Setting::Threads, text("ARTOO_THREADS")),
        (Setting::TrustLocal, text("ARTOO_TRUST_LOCAL")),
    ];
    let needs_no_key = matches!(settings.model.kind, ModelKind::File { .. });
    let mut lines = Vec::new();
    for (key, value) in values.into_iter().chain(rest) {
        let option = by_option.iter().find(|(known, _)| *known == key).and_then(|(_, origin)| origin.clone());
        let origin = option.or_else(|| variables.origin(key.variable())).unwrap_or_else(|| "default".to_owned());
        let line = match (key, value) {
            (Setting::SecretFile | Setting::HandsSecretFile, _) if variables.raw(key.variable()).is_some() => {
                "# the key is set; it is not shown".to_owned()
            }
            (Setting::SecretFile, _) if needs_no_key => {
                "# no key is set, and none is needed: the model is a file on this machine".to_owned()
            }
            (Setting::SecretFile, _) => "# no key is set".to_owned(),
            (Setting::BraveFile | Setting::GoogleFile, _) if variables.raw(key.variable()).is_some() => {
                format!("# {} is set; it is not shown", key.name())
            }
            (Setting::HandsSecretFile, _) => "# no key is set for hands".to_owned(),
            (_, Some(value)) => format!("{} = {}", key.name(), toml::Value::String(value)),
            (_, None) => format!("# {} is not set", key.name()),
        };
        lines.push(Line::plain(if with_origin { format!("{line}  # {origin}") } else { line }));
    }
    Ok(lines)
}
