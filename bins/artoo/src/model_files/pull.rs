//! `artoo model pull`: asks, downloads and verifies, or records a local file.

use artoo_proto::units;
use std::path::PathBuf;
use std::sync::Arc;

use artoo_llm::files::{DownloadLimits, Gguf, Location, Model, ModelFolder, Offer, Offered, Puller, Wanted};
use serde_json::json;

use super::list::NO_ENGINE;
use super::progress::ProgressLine;
use super::{SCHEMA, describe};
use crate::args::PullOptions;
use crate::model::file::HAS_ENGINE;
use crate::settings::{Settings, Variables};
use crate::signals::Signals;
use crate::terminal::person::approves;
use crate::{Exit, Failure, Line, Screen, clock};

/// Reason shown if nothing was downloaded because no user could be asked.
const UNATTENDED: &str = "there is no terminal to ask on; artoo model pull --yes fetches without asking";

/// Runs `artoo model pull`: installs a model file; asks before a download unless `--yes` is given.
pub(crate) async fn run(
    options: &PullOptions,
    settings: &Settings,
    variables: &Variables,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let cwd = PathBuf::from(&settings.environment.cwd);
    let wanted = Wanted::parse(&options.wanted, options.name.clone(), options.sha256.clone(), &cwd)?;
    let verification = verification(&wanted);
    let puller = puller(settings, variables)?;
    if matches!(wanted.location, Location::File(_)) {
        let model = register(&puller, wanted, screen).await?;
        show(&model, verification, settings, screen);
        return Ok(Exit::Accepted);
    }
    let offer = match puller.offer(wanted).await? {
        Offered::Installed(model) => {
            screen.tell(&[Line::plain("It is here already.")]);
            show(&model, verification, settings, screen);
            return Ok(Exit::Accepted);
        }
        Offered::Download(offer) => *offer,
    };
    let lines = question(&offer, verification, settings);
    match (settings.json, options.yes) {
        (true, _) => {}
        (false, true) => screen.tell(&lines),
        (false, false) => screen.insist(&lines),
    }
    if !options.yes && !approves("Fetch it?", UNATTENDED, settings.json, screen) {
        screen.tell(&[Line::plain("Nothing was fetched.")]);
        return Ok(Exit::ConsentNeeded);
    }
    let mut signals = Signals::listen()?;
    let installed = tokio::select! {
        installed = puller.install(offer, clock::now(), Arc::new(ProgressLine::new(screen))) => installed,
        () = signals.stop() => {
            screen.status("");
            screen.insist(&[Line::warning("Stopped. What has come is kept; the same command goes on with it.")]);
            return Ok(Exit::Cancelled);
        }
    };
    screen.status("");
    show(&installed?, verification, settings, screen);
    Ok(Exit::Accepted)
}

/// Creates the downloader of model files for the data folder, with the certificates of `SSL_CERT_FILE`.
pub(super) fn puller(settings: &Settings, variables: &Variables) -> Result<Puller, Failure> {
    let ca_file = variables.text("SSL_CERT_FILE")?.map(PathBuf::from);
    Ok(Puller::new(ModelFolder::new(&settings.data_dir), ca_file, DownloadLimits::default()))
}

/// Records a local model file under a name; the file is used where it is, not copied.
pub(super) async fn register(puller: &Puller, wanted: Wanted, screen: &Screen) -> Result<Model, Failure> {
    let registered = puller.register(wanted, clock::now(), Arc::new(ProgressLine::new(screen))).await;
    screen.status("");
    Ok(registered?)
}

/// Text that says what the file's checksum is verified against, with the line style: a warning if no checksum is known.
fn verification(wanted: &Wanted) -> (&'static str, fn(String) -> Line) {
    match (wanted.entry, &wanted.sha256) {
        (Some(_), _) => ("its sha256 is verified against the catalog's", Line::plain),
        (None, Some(_)) => ("its sha256 is verified against the one you gave", Line::plain),
        (None, None) => {
            ("no checksum is known for it, so nothing verifies its content (give one: --sha256)", Line::warning)
        }
    }
}

/// The lines of the question whether to download a model file: size, free space, and how it is verified.
fn question(offer: &Offer, (verification, style): (&str, fn(String) -> Line), settings: &Settings) -> Vec<Line> {
    let Offer { wanted, bytes, received, free } = offer;
    let mut lines = vec![Line::strong(format!("{} would be fetched:", wanted.name))];
    if let Some(entry) = wanted.entry {
        let about = format!("  {}, licence {}, wants {} GB of memory", entry.title, entry.licence, entry.memory_gb);
        lines.extend([Line::plain(about), Line::plain(format!("  for {}", entry.good_for))]);
    }
    let size = bytes.map_or_else(|| "unknown".to_owned(), units::bytes);
    let received =
        if *received > 0 { format!(", {} of it are here already", units::bytes(*received)) } else { String::new() };
    let folder = settings.data_dir.display();
    lines.extend([
        Line::plain(format!("  from {}", wanted.shown())),
        Line::plain(format!("  size {size}{received}; {} may be used on the disk of {folder}", units::bytes(*free))),
        style(format!("  {verification}")),
    ]);
    lines.extend((!HAS_ENGINE).then(|| Line::warning(format!("  {NO_ENGINE}"))));
    lines
}

/// Shows a model file after its installation, as text or JSON.
fn show(model: &Model, verification: (&str, fn(String) -> Line), settings: &Settings, screen: &Screen) {
    let Model { name, path, record } = model;
    let value = json!({
        "name": name, "path": path, "bytes": record.bytes, "sha256": record.sha256, "from": record.from,
        "licence": record.licence
    });
    let (verification, style) = verification;
    let mut lines = vec![Line::strong(format!("{name} is here: {}", path.display()))];
    lines.extend(Gguf::read(path).ok().map(|gguf| Line::plain(format!("  {}", describe(&gguf)))));
    lines.push(Line::plain(format!("  {}, sha256 {}", units::bytes(record.bytes), record.sha256)));
    lines.push(style(format!("  {verification}")));
    let next = if HAS_ENGINE { format!("To have it answer: artoo model use {name}") } else { NO_ENGINE.to_owned() };
    lines.push(Line::plain(next));
    screen.report(settings.json, SCHEMA, value, &lines);
}
