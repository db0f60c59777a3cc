//! `artoo setup`: finds what can answer here, tries it with one call, and writes the configuration after a yes.

mod find;
pub(crate) mod person;
pub(crate) mod write;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use artoo_llm::{Model, Protocol, Remote, RemoteConfig, Secret};
use artoo_proto::{ModelFailure, ReplyBody, escape};
use serde_json::json;

use crate::abilities;
use crate::config::Setting;
use crate::display::Line;
use crate::display::writer::Screen;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::settings::Variables;
use crate::terminal;
use find::Found;
use person::Person;

/// Models of one endpoint shown to choose from; more are chosen by typing the name.
const MODELS_SHOWN: usize = 20;

/// One try; a small machine's model may have to be read from disk first.
const TRIAL_TIMEOUT: Duration = Duration::from_secs(120);

/// Who is to answer.
enum Choice {
    /// No language model.
    Reflex,
    Endpoint {
        base_url: String,
        models: Vec<String>,
        key: Option<KeyPlace>,
    },
}

/// Where the endpoint's key is.
enum KeyPlace {
    Variable(String),
    /// Has no `Debug`, and lives as long as setup does.
    Typed(String),
}

/// Asks, tries, writes. Nothing is written before the last yes.
pub(crate) async fn run(variables: &Variables, screen: &Screen) -> Result<Exit, Failure> {
    if !terminal::is_there() {
        return Err(Failure::SetupUnattended);
    }
    let person = Person { screen };
    screen.insist(&[Line::strong("Looking for models: keys in your environment, servers on this machine …")]);
    let found = find::look(variables).await;
    let Some(choice) = choose(&person, &found) else { return Ok(given_up(screen)) };
    let settings = match choice {
        Choice::Reflex => BTreeMap::from([(Setting::Model, "reflex".to_owned())]),
        Choice::Endpoint { base_url, models, key } => {
            let Some(name) = choose_model(&person, &models) else { return Ok(given_up(screen)) };
            let mut config = RemoteConfig::new(Protocol::Chat, base_url.clone(), name.clone());
            config.total_deadline = TRIAL_TIMEOUT;
            config.api_key = key.as_ref().and_then(|key| key.secret(variables));
            if !tried(&person, config).await && !person.agrees("Write the configuration all the same?", false) {
                return Ok(given_up(screen));
            }
            let mut settings = BTreeMap::from([
                (Setting::Model, "openai".to_owned()),
                (Setting::BaseUrl, base_url),
                (Setting::ModelName, name),
            ]);
            match key {
                Some(KeyPlace::Variable(name)) => drop(settings.insert(Setting::SecretVariable, name)),
                Some(KeyPlace::Typed(key)) => {
                    let path = write::key_file(&variables.place().folder, &key)?;
                    screen.insist(&[Line::plain(format!("The key is in {} (only you can read it).", path.display()))]);
                    settings.insert(Setting::SecretFile, path.display().to_string());
                }
                None => {}
            }
            settings
        }
    };
    save(&person, variables, settings)
}

fn given_up(screen: &Screen) -> Exit {
    screen.insist(&[Line::plain("Nothing was written.")]);
    Exit::Cancelled
}

impl KeyPlace {
    fn secret(&self, variables: &Variables) -> Option<Secret> {
        match self {
            Self::Variable(name) => {
                variables.raw(name).and_then(|value| value.to_str()).map(|key| Secret::new(key.trim()))
            }
            Self::Typed(key) => Some(Secret::new(key.as_str())),
        }
    }
}

fn choose(person: &Person<'_>, found: &[Found]) -> Option<Choice> {
    let mut lines: Vec<String> = found.iter().map(Found::told).collect();
    lines.push("another endpoint: I type its address".to_owned());
    lines.push("no language model: artoo reads everyday requests about files and this machine by itself".to_owned());
    let picked = person.picks("Who is to answer?", &lines)?;
    if let Some(found) = found.get(picked) {
        let key = found.key_variable.clone().map(KeyPlace::Variable);
        return Some(Choice::Endpoint { base_url: found.base_url.clone(), models: found.models.clone(), key });
    }
    if picked > found.len() {
        return Some(Choice::Reflex);
    }
    let base_url = person.types("Its address, such as http://localhost:8080/v1: ")?;
    let key = person.types_secret("Its key (empty: it needs none; nothing is shown while you type): ")?;
    let key = (!key.is_empty()).then_some(KeyPlace::Typed(key));
    Some(Choice::Endpoint { base_url, models: Vec::new(), key })
}

fn choose_model(person: &Person<'_>, models: &[String]) -> Option<String> {
    match models {
        [] => person.types("The endpoint's name for the model: ").filter(|name| !name.is_empty()),
        [one] => Some(one.clone()),
        many => {
            let mut lines: Vec<String> = many.iter().take(MODELS_SHOWN).cloned().collect();
            lines.push(format!("another of its {} models: I type the name", many.len()));
            let picked = person.picks("Which model?", &lines)?;
            match many.get(picked).filter(|_| picked < MODELS_SHOWN) {
                Some(name) => Some(name.clone()),
                None => person.types("The model's name: ").filter(|name| !name.is_empty()),
            }
        }
    }
}

/// One real call; says how it went.
async fn tried(person: &Person<'_>, config: RemoteConfig) -> bool {
    let shown = format!("{} at {}", escape::one_line(&config.model), artoo_llm::shown_url(&config.base_url));
    person.says(&format!("Asking {shown} one question …"));
    let model = match Remote::new(config) {
        Ok(model) => model,
        Err(problem) => {
            person.warns(&problem.to_string());
            return false;
        }
    };
    let began = Instant::now();
    let words = "What is 2 + 3?";
    let Some(question) = abilities::question(words, "Reply with one JSON object: {\"sum\": <number>}") else {
        return false;
    };
    match model.ask(&question).await {
        Ok(reply) => {
            let is_right = matches!(&reply.body, ReplyBody::Json { value } if value == &json!({"sum": 5}));
            let ms = began.elapsed().as_millis();
            let tokens = reply.usage.prompt_tokens + reply.usage.completion_tokens;
            let verdict = if is_right { "the right answer" } else { "an answer of the right form, but wrong" };
            person.says(&format!("It gave {verdict} after {ms} ms ({tokens} tokens)."));
            true
        }
        Err(failure) => {
            person.warns(&format!("It did not work: {failure}"));
            if matches!(failure, ModelFailure::Unauthorized { .. }) {
                person.says("The key is missing or not accepted.");
            }
            false
        }
    }
}

fn save(person: &Person<'_>, variables: &Variables, settings: BTreeMap<Setting, String>) -> Result<Exit, Failure> {
    let path = variables.place().file();
    let old = write::kept(&path, &variables.home(), &write::OF_SETUP);
    let text = write::text(&old, &settings);
    person.says(&format!("\n{} will hold:", path.display()));
    for line in text.lines() {
        person.says(&format!("  {line}"));
    }
    if let Some(backup) = write::backup_of(&path) {
        person.says(&format!("(what is there now is kept as {})", backup.display()));
    }
    if !person.agrees("Write it?", true) {
        return Ok(given_up(person.screen));
    }
    write::config(&path, &text)?;
    person.says(&format!("Written. Try: artoo \"{}\"", example(&settings)));
    Ok(Exit::Accepted)
}

fn example(settings: &BTreeMap<Setting, String>) -> &'static str {
    match settings.get(&Setting::Model).map(String::as_str) {
        Some("reflex") => "the five largest files in ~/Downloads",
        _ => "write a summary of notes.md into my workspace",
    }
}
