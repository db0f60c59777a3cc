//! `artoo setup`: finds models, tries an endpoint with one call, and writes the configuration after approval.

mod endpoint;
mod files;
mod find;
mod trial;

use std::collections::BTreeMap;
use std::time::Duration;

use artoo_llm::RemoteConfig;

use crate::config::{Place, Setting, write};
use crate::model_choice::ModelKind;
use crate::terminal::person::Person;
use crate::{Exit, Failure, Line, Screen, Settings, Variables, terminal};
use endpoint::{Endpoint, KeyPlace};
use files::ModelFile;
use find::FoundEndpoint;

/// Time limit of the trial call; a model may have to be loaded from disk first.
#[doc(alias = "limit")]
const TRIAL_TIMEOUT: Duration = Duration::from_secs(120);

/// Text for a machine on which setup finds no model: how to get one.
const HOW_TO_GET_ONE: [&str; 2] = [
    "No model was found. On this machine: install Ollama, run ollama pull qwen3:4b (or llama.cpp: llama-server -m FILE.gguf), then artoo setup again.",
    "From a service with a key: choose another endpoint below, and give its address, such as https://api.openai.com/v1.",
];

/// An entry of setup's list of models: an endpoint that was found, a model file, an endpoint to type in, or reflex.
enum Offer<'a> {
    Found(&'a FoundEndpoint),
    File(&'a ModelFile),
    Another,
    Reflex,
}

impl Offer<'_> {
    /// Description of the entry for the list of choices.
    fn description(&self) -> String {
        match self {
            Self::Found(found) => found.description(),
            Self::File(file) => file.description(),
            Self::Another => "another endpoint: I type its address".to_owned(),
            Self::Reflex => {
                "no language model: artoo reads everyday requests about files and this machine by itself".to_owned()
            }
        }
    }
}

/// Runs `artoo setup`. The configuration file is written only after the last approval.
pub(crate) async fn run(
    resolve: impl Fn() -> Result<Settings, Failure>,
    variables: &Variables,
    screen: &Screen,
) -> Result<Exit, Failure> {
    if !terminal::is_there() {
        return Err(Failure::NoTerminal {});
    }
    let person = Person { screen };
    screen.insist(&[Line::strong("Looking for models: keys in your environment, servers on this machine …")]);
    let found = find::look(variables, find::LOOK_TIMEOUT).await;
    // Setup also helps to correct invalid settings; while they are invalid, no model file is offered.
    let so_far = resolve().ok();
    match choose(&person, so_far.as_ref(), variables, &found).await? {
        Some(settings) => save(&person, variables, settings),
        None => Ok(given_up(screen)),
    }
}

/// Asks which of the endpoint's models to use, calls it once as a trial, and returns the settings; `None` if the user
/// leaves. A typed key is written to its own file.
async fn of_endpoint(
    person: &Person<'_>,
    variables: &Variables,
    endpoint: Endpoint,
) -> Result<Option<BTreeMap<Setting, String>>, Failure> {
    let Endpoint { protocol, base_url, models, key } = endpoint;
    let Some(name) = endpoint::choose_model(person, &models) else { return Ok(None) };
    let mut config = RemoteConfig::new(protocol, base_url.clone(), name.clone());
    config.total_deadline = TRIAL_TIMEOUT;
    config.api_key = key.as_ref().and_then(|key| key.secret(variables).ok());
    if !trial::tried(person, config).await && !person.approves("Write the configuration all the same?", false) {
        return Ok(None);
    }
    let mut settings = BTreeMap::from([
        (Setting::Model, protocol.name().to_owned()),
        (Setting::BaseUrl, base_url),
        (Setting::ModelName, name),
    ]);
    settings.extend(key.as_ref().and_then(KeyPlace::setting));
    if let Some(KeyPlace::Typed(key)) = key {
        let path = write::key_file(&Place::of(variables).folder, &key)?;
        person.says(&format!("The key is in {} (only you can read it).", path.display()));
        settings.insert(Setting::SecretFile, path.display().to_string());
    }
    Ok(Some(settings))
}

/// Tells the user that the configuration was not changed; returns the exit code of a cancelled run.
fn given_up(screen: &Screen) -> Exit {
    screen.insist(&[Line::plain("The configuration was not changed.")]);
    Exit::Cancelled
}

/// Asks the user which model to use and returns the settings for it; `None` if the user leaves.
async fn choose(
    person: &Person<'_>,
    settings: Option<&Settings>,
    variables: &Variables,
    found: &[FoundEndpoint],
) -> Result<Option<BTreeMap<Setting, String>>, Failure> {
    let files = settings.map(ModelFile::offered).unwrap_or_default();
    let known = found.iter().map(Offer::Found).chain(files.iter().map(Offer::File));
    let offers: Vec<Offer<'_>> = known.chain([Offer::Another, Offer::Reflex]).collect();
    if found.is_empty() && files.is_empty() {
        HOW_TO_GET_ONE.iter().for_each(|line| person.says(line));
    }
    let lines: Vec<String> = offers.iter().map(Offer::description).collect();
    let picked = person.picks("Who is to answer?", &lines).and_then(|picked| offers.get(picked));
    let of_model = |kind: ModelKind| BTreeMap::from([(Setting::Model, kind.to_string())]);
    let endpoint = match (picked, settings) {
        (None, _) | (Some(Offer::File(_)), None) => return Ok(None),
        (Some(Offer::File(file)), Some(settings)) => {
            let name = file.have(settings, variables, person.screen).await?;
            return Ok(name.map(|name| of_model(ModelKind::File { model: name.to_string() })));
        }
        (Some(Offer::Reflex), _) => return Ok(Some(of_model(ModelKind::Reflex))),
        (Some(Offer::Another), _) => endpoint::described(person, variables).await,
        (Some(Offer::Found(found)), _) => Some(Endpoint {
            protocol: found.protocol,
            base_url: found.base_url.clone(),
            models: found.models.clone(),
            key: found.key_variable.clone().map(KeyPlace::Variable),
        }),
    };
    match endpoint {
        Some(endpoint) => of_endpoint(person, variables, endpoint).await,
        None => Ok(None),
    }
}

/// Shows the new configuration file, asks for approval, and writes the file with a backup of the old one.
fn save(person: &Person<'_>, variables: &Variables, settings: BTreeMap<Setting, String>) -> Result<Exit, Failure> {
    let path = Place::of(variables).file();
    let decided: Vec<Setting> = write::OF_SETUP.into_iter().chain(settings.keys().copied()).collect();
    let old = write::kept(&path, &variables.home(), &decided);
    let text = write::text(&old, &settings);
    person.says(&format!("\n{} will hold:", path.display()));
    for line in text.lines() {
        person.says(&format!("  {line}"));
    }
    if let Some(backup) = write::backup_of(&path) {
        person.says(&format!("(what is there now is kept as {})", backup.display()));
    }
    if !person.approves("Write it?", true) {
        return Ok(given_up(person.screen));
    }
    write::config(&path, &text)?;
    person.says(&format!("Written. Try: artoo \"{}\"", example(&settings)));
    Ok(Exit::Accepted)
}

/// An example request for the end of setup that the configured model can answer.
fn example(settings: &BTreeMap<Setting, String>) -> &'static str {
    match settings.get(&Setting::Model).map(String::as_str) {
        Some("reflex") => "the five largest files in ~/Downloads",
        _ => "write a summary of notes.md into my workspace",
    }
}
