//! `artoo model pull`: says what it takes, asks, fetches with everything checked, and says what came.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use artoo_llm::files::{Gguf, Model, ModelFolder, Offer, Offered, Puller, Vouched, Wanted, Ways};
use artoo_proto::Timestamp;
use serde_json::json;

use super::list::NO_ENGINE;
use super::progress::Shown;
use super::{SCHEMA, in_words, sized, vouched};
use crate::args::PullOptions;
use crate::display::Line;
use crate::display::writer::Screen;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::model::file::HAS_ENGINE;
use crate::settings::{Settings, Variables};
use crate::signals::Signals;
use crate::terminal;
use crate::terminal::person::Person;

/// Has the model, after a yes where something is to be fetched.
pub(crate) async fn run(
    asked: &PullOptions,
    settings: &Settings,
    variables: &Variables,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let here = PathBuf::from(&settings.environment.cwd);
    let wanted = Wanted::read(&asked.wanted, asked.name.clone(), asked.sha256.clone(), &here)?;
    let puller = puller(asked.index.clone(), settings, variables)?;
    if matches!(wanted, Wanted::File { .. }) {
        let model = take(&puller, wanted, screen).await?;
        told(&model, settings, screen);
        return Ok(Exit::Accepted);
    }
    let offer = match puller.offer(wanted).await? {
        Offered::Here(model) => {
            screen.tell(&[Line::plain("It is here already.")]);
            told(&model, settings, screen);
            return Ok(Exit::Accepted);
        }
        Offered::Fetch(offer) => *offer,
    };
    let lines = before(&offer, &puller_folder(settings));
    match (settings.json, asked.yes) {
        (true, _) => {}
        (false, true) => screen.tell(&lines),
        (false, false) => screen.insist(&lines),
    }
    if !asked.yes && !agrees(settings, screen) {
        return Ok(Exit::ConsentNeeded);
    }
    let mut signals = Signals::listen()?;
    let progress = Arc::new(Shown::new(screen));
    let fetched = tokio::select! {
        fetched = puller.fetch(offer, now(), progress) => fetched,
        () = signals.stop() => {
            screen.status("");
            screen.insist(&[Line::warning("Stopped. What has come is kept; the same command goes on with it.")]);
            return Ok(Exit::Cancelled);
        }
    };
    screen.status("");
    told(&fetched?, settings, screen);
    Ok(Exit::Accepted)
}

/// With the certificates and the index that this user has.
pub(super) fn puller(index: Option<String>, settings: &Settings, variables: &Variables) -> Result<Puller, Failure> {
    let index = match index {
        Some(index) => Some(index),
        None => variables.text("PIP_INDEX_URL")?,
    };
    let ca_file = variables.text("SSL_CERT_FILE")?.map(PathBuf::from);
    Ok(Puller::new(ModelFolder::new(&settings.data_dir), Ways { ca_file, index, ..Ways::default() }))
}

/// Records a file where it lies.
pub(super) async fn take(puller: &Puller, wanted: Wanted, screen: &Screen) -> Result<Model, Failure> {
    let taken = puller.take(wanted, now(), Arc::new(Shown::new(screen))).await;
    screen.status("");
    Ok(taken?)
}

fn puller_folder(settings: &Settings) -> PathBuf {
    ModelFolder::new(&settings.data_dir).path().to_path_buf()
}

/// What the yes would be to.
fn before(offer: &Offer, folder: &Path) -> Vec<Line> {
    let (name, title) = match &offer.wanted {
        Wanted::Entry(entry) => (&entry.name, Some(entry)),
        Wanted::Address { name, .. } | Wanted::File { name, .. } => (name, None),
    };
    let mut lines = vec![Line::strong(format!("{name} would be fetched:"))];
    if let Some(entry) = title {
        lines.push(Line::plain(format!(
            "  {}, licence {}, wants {} GB of memory",
            entry.title, entry.licence, entry.memory_gb
        )));
        lines.push(Line::plain(format!("  for {}", entry.good_for)));
    }
    lines.push(Line::plain(format!("  from {}", offer.from)));
    let size = offer.bytes.map_or_else(|| "how much is not said".to_owned(), sized);
    let begun =
        if offer.begun > 0 { format!(", {} of it are here already", sized(offer.begun)) } else { String::new() };
    let room = sized(offer.room);
    lines.push(Line::plain(format!("  size {size}{begun}; {room} may be used on the disk of {}", folder.display())));
    lines.push(match (offer.vouched, &offer.expected, &offer.announced) {
        (Vouched::Catalog, Some(sum), _) => Line::plain(format!("  it must have the catalog's sha256 {sum}")),
        (Vouched::User, Some(sum), _) => Line::plain(format!("  it must have the sha256 {sum}")),
        (Vouched::Nobody, Some(sum), _) => Line::plain(format!("  it must have the sha256 of the first time, {sum}")),
        (_, None, Some(sum)) => Line::warning(format!(
            "  nothing vouches for it: the host itself says sha256 {sum}; compare it with one from elsewhere"
        )),
        (_, None, None) => Line::warning(
            "  nothing vouches for it: whatever comes is taken, and its sha256 shown and kept (or give one: --sha256)",
        ),
    });
    if !HAS_ENGINE {
        lines.push(Line::warning(format!("  {NO_ENGINE}")));
    }
    lines
}

/// A yes of the person at the terminal; nobody there is a no.
fn agrees(settings: &Settings, screen: &Screen) -> bool {
    if settings.json || !terminal::is_there() {
        screen.insist(&[Line::warning(
            "nothing was fetched: there is nobody to ask; artoo model pull --yes fetches unasked",
        )]);
        return false;
    }
    let is_yes = Person { screen }.agrees("Fetch it?", false);
    if !is_yes {
        screen.insist(&[Line::plain("Nothing was fetched.")]);
    }
    is_yes
}

/// What is here now, and what can be done with it.
fn told(model: &Model, settings: &Settings, screen: &Screen) {
    let Model { name, path, record } = model;
    if settings.json {
        screen.json(&json!({
            "schema": SCHEMA, "stable": false, "name": name, "path": path, "bytes": record.bytes,
            "sha256": record.sha256, "vouched": record.vouched, "from": record.from, "licence": record.licence
        }));
        return;
    }
    let mut lines = vec![Line::strong(format!("{name} is here: {}", path.display()))];
    lines.extend(Gguf::read(path).ok().map(|facts| Line::plain(format!("  {}", in_words(&facts)))));
    lines.push(Line::plain(format!("  {}, sha256 {}", sized(record.bytes), record.sha256)));
    let line = format!("  {}", vouched(record));
    lines.push(if record.vouched == Vouched::Nobody { Line::warning(line) } else { Line::plain(line) });
    let next = if HAS_ENGINE { format!("To have it answer: artoo model use {name}") } else { NO_ENGINE.to_owned() };
    lines.push(Line::plain(next));
    screen.answer(&lines);
}

fn now() -> Timestamp {
    SystemTime::now().into()
}
