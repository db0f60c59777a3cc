//! `artoo doctor`: checks what artoo needs on this machine, with a remedy for each failure.

mod abilities;
mod model_file;

use std::path::Path;
use std::time::Duration;

use artoo_proto::ModelFailure;
use artoo_proto::units::count;
use artoo_roles::runtime::{System, tools_in};
use artoo_tools::Registry;
use serde::Serialize;
use serde_json::json;

use crate::args::Options;
use crate::audit::AuditLogs;
use crate::config::{self, Place as ConfigPlace, ignored_in};
use crate::display::{Line, Style};
use crate::model::Models;
use crate::model_choice::{ModelKind, Place, remote};
use crate::{Exit, Failure, Screen, Settings, Variables};

/// Name of the schema of `artoo doctor`'s JSON output, which is not stable yet.
const SCHEMA: &str = "artoo.doctor/0";

/// Free disk space in bytes below which doctor warns: room for a file of the audit log and the memory's journal.
#[doc(alias = "limit")]
const FREE_MIN_BYTES: u64 = 64 * 1024 * 1024;

/// Time limit of doctor's request that lists an endpoint's models.
const ENDPOINT_TIMEOUT: Duration = Duration::from_secs(5);

/// Text beside the model in doctor's output if the embedded parser answers before the model is asked.
const FIRST: &str = "not asked what the embedded parser explains in full";
const NOT_FIRST: &str = "asked everything, as reflex_first is false";

/// Result of one of doctor's checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    Ok,
    Warn,
    Fail,
}

/// One of doctor's checks with its result, and a remedy if it did not pass.
#[derive(Debug, Serialize)]
struct Finding {
    name: &'static str,
    status: Status,
    detail: String,
    remedy: Option<String>,
}

impl Finding {
    /// A finding that a check passed.
    fn ok(name: &'static str, detail: impl Into<String>) -> Self {
        Self { name, status: Status::Ok, detail: detail.into(), remedy: None }
    }

    /// A finding that warns: artoo works, but with less than it could.
    fn warn(name: &'static str, detail: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { name, status: Status::Warn, detail: detail.into(), remedy: Some(remedy.into()) }
    }

    /// A finding that a check failed: something that artoo needs is missing or broken.
    fn fail(name: &'static str, detail: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { name, status: Status::Fail, detail: detail.into(), remedy: Some(remedy.into()) }
    }
}

/// Runs `artoo doctor`: makes all checks and shows their findings. Models are called only with `--probe`. No key is
/// shown.
pub(crate) async fn run(
    options: &Options,
    with_probe: bool,
    variables: &Variables,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let findings = match config::with_file(variables.clone()) {
        Err(failure) => vec![unusable("config", &failure)],
        Ok(variables) => match Settings::resolve(options, &variables) {
            Ok(settings) => probe(&settings, with_probe, &variables).await,
            Err(failure) => vec![unusable("settings", &failure)],
        },
    };
    let failed = findings.iter().any(|finding| finding.status == Status::Fail);
    let lines: Vec<Line> = findings.iter().flat_map(lines).collect();
    screen.report(options.json, SCHEMA, json!({"ok": !failed, "findings": findings}), &lines);
    Ok(if failed { Exit::Usage } else { Exit::Accepted })
}

/// The only finding of doctor if the configuration or the settings are invalid.
fn unusable(name: &'static str, failure: &Failure) -> Finding {
    let remedy = failure.remedy().unwrap_or("put that right first; everything else rests on it");
    Finding::fail(name, failure.message(), remedy)
}

/// Runs all of doctor's checks with valid settings; with `with_probe`, the model's endpoint is probed too.
async fn probe(settings: &Settings, with_probe: bool, variables: &Variables) -> Vec<Finding> {
    let mut findings = configuration(settings, variables);
    findings.extend([home(settings), workspace(Path::new(&settings.environment.workspace))]);
    findings.extend(space(settings));
    findings.extend(model(settings, variables));
    findings.extend(endpoint(settings, variables).await);
    findings.extend(abilities::finding(settings, with_probe, variables).await);
    // A data folder that can't be made has a finding of its own.
    let kept = tools_in(&settings.data_dir, settings.tools.clone());
    let registry = Registry::detect(kept.unwrap_or_else(|_| settings.tools.clone()));
    findings.extend(tools(&registry));
    findings.extend(fence(&registry, settings.tools.views));
    let profile = settings.profile_in_words();
    findings.push(Finding::ok("profile", format!("{profile} (how hard artoo tries before it gives up)")));
    findings.push(audit_log(&settings.data_dir));
    findings.extend(stores(settings).await);
    findings
}

/// The text of one of doctor's findings: its mark (ok, warn or FAIL), detail and remedy.
fn lines(finding: &Finding) -> Vec<Line> {
    let (mark, style) = match finding.status {
        Status::Ok => ("ok  ", Style::Plain),
        Status::Warn => ("warn", Style::Warning),
        Status::Fail => ("FAIL", Style::Warning),
    };
    let mut lines = vec![Line { style, text: format!("{mark} {}: {}", finding.name, finding.detail) }];
    lines.extend(finding.remedy.iter().map(|remedy| Line::plain(format!("       {remedy}"))));
    lines
}

/// Findings about the configuration file, and about files in the project that look like one.
fn configuration(settings: &Settings, variables: &Variables) -> Vec<Finding> {
    let place = ConfigPlace::of(variables);
    let file = place.file();
    let shown = file.display();
    let mut findings = vec![if file.exists() {
        Finding::ok("config", format!("{shown} is read; artoo config show --origin tells what comes from it"))
    } else {
        Finding::ok("config", format!("{shown} is not there; artoo setup can write it"))
    }];
    findings
        .extend(place.ignored.map(|why| Finding::warn("config", why, "set it to a folder of your own, or not at all")));
    let here = ignored_in(Path::new(&settings.environment.cwd));
    findings.extend(here.iter().map(|path| {
        Finding::ok("config", format!("{} is not read: a project does not configure artoo", path.display()))
    }));
    findings
}

/// Warnings if little space is free on the disk of the data folder or of the workspace; empty otherwise.
fn space(settings: &Settings) -> Vec<Finding> {
    let places =
        [("data folder", settings.data_dir.as_path()), ("workspace", Path::new(&settings.environment.workspace))];
    places.into_iter().filter_map(|(name, place)| room(name, place)).collect()
}

/// A warning if less than `FREE_MIN_BYTES` are free on the disk of a folder; `None` otherwise.
fn room(name: &'static str, place: &Path) -> Option<Finding> {
    let there = place.ancestors().find(|folder| folder.exists())?;
    let found = rustix::fs::statvfs(there).ok()?;
    let free = found.f_bavail.saturating_mul(found.f_frsize);
    (free < FREE_MIN_BYTES).then(|| {
        let detail = format!("{free} bytes are free on the disk of {}", place.display());
        Finding::warn(name, detail, "make room: a full disk stops the audit log, and with it every task")
    })
}

/// Checks that the first model's endpoint answers and lists the model; `None` if that model is not remote or its
/// configuration is invalid. The model is not called.
async fn endpoint(settings: &Settings, variables: &Variables) -> Option<Finding> {
    let mut config = remote(&settings.model.kind, Place::First, variables).ok()?;
    config.total_deadline = ENDPOINT_TIMEOUT;
    let (url, wanted) = (artoo_llm::shown_url(&config.base_url), config.model.clone());
    Some(match artoo_llm::Remote::new(config).ok()?.models().await {
        Ok(models) if models.iter().any(|model| model.name == wanted) => {
            Finding::ok("endpoint", format!("{url} answers and lists {wanted}"))
        }
        Ok(models) => Finding::warn(
            "endpoint",
            format!("{url} answers and does not list {wanted} among its {} models", models.len()),
            "check the name: artoo setup shows what it lists",
        ),
        // Not every endpoint can list its models.
        Err(ModelFailure::Rejected { status, .. }) if status != 429 => {
            Finding::ok("endpoint", format!("{url} answers (it gives no list of models, status {status})"))
        }
        Err(failure) => Finding::fail("endpoint", format!("{url}: {failure}"), "start it, or run artoo setup"),
    })
}

/// Finding about the user's home folder: it fails if the folder does not exist.
fn home(settings: &Settings) -> Finding {
    let home = &settings.environment.home;
    if Path::new(home).is_dir() {
        return Finding::ok("home", home.clone());
    }
    Finding::fail("home", format!("{home} is no folder"), "set HOME to your home folder")
}

/// Finding about the workspace: tests that it, or its nearest existing parent, is writable, by creating and removing a
/// file.
fn workspace(path: &Path) -> Finding {
    let shown = path.display();
    let nearest = path.ancestors().find(|folder| folder.exists()).unwrap_or(path);
    let remedy = "make it a folder you can write to, or choose another with --workspace";
    match tempfile_in(nearest) {
        Err(error) => Finding::fail("workspace", format!("{shown} can't be written to: {error}"), remedy),
        Ok(()) if nearest != path => {
            Finding::ok("workspace", format!("{shown} is not there yet; the first new file makes it"))
        }
        Ok(()) => match path.canonicalize() {
            Ok(real) if real != path => Finding::warn(
                "workspace",
                format!("{shown} leads to {}", real.display()),
                "new files go there; give --workspace where that is not meant",
            ),
            Ok(_) | Err(_) => Finding::ok("workspace", shown.to_string()),
        },
    }
}

/// Creates and removes a file in a folder, to test that the folder is writable.
fn tempfile_in(folder: &Path) -> std::io::Result<()> {
    let probe = folder.join(format!(".artoo-doctor-{}", std::process::id()));
    std::fs::File::create_new(&probe)?;
    std::fs::remove_file(&probe)
}

/// Findings about the configured models: whether they can be built, their files, and where the key comes from.
fn model(settings: &Settings, variables: &Variables) -> Vec<Finding> {
    let choice = &settings.model;
    let chosen = format!("{} ({})", choice.kind, choice.why);
    let first = if settings.asks_reflex_first() { FIRST } else { NOT_FIRST };
    let built = Models::build(settings, variables);
    let problem = built.err().map(|failure| (failure.message(), failure.remedy().unwrap_or("see artoo --help")));
    let mut findings = vec![match (&problem, &choice.kind) {
        (Some((problem, remedy)), _) => Finding::fail("model", format!("{chosen}: {problem}"), *remedy),
        (None, ModelKind::Reflex) => Finding::warn(
            "model",
            format!("{chosen}: everyday questions about files, no more"),
            "for anything else a language model is needed: artoo setup",
        ),
        (None, ModelKind::Remote { .. }) => {
            let name = remote(&choice.kind, Place::First, variables).map(|config| config.model).unwrap_or_default();
            Finding::ok("model", format!("{chosen}: {name}; {first}"))
        }
        (None, ModelKind::File { .. }) => Finding::ok("model", format!("{chosen}; {first}")),
        (None, ModelKind::Cassette { .. }) => Finding::ok("model", chosen),
    }];
    findings.extend(model_file::findings(settings));
    if let ModelKind::Remote { protocol, .. } = &choice.kind {
        let name = artoo_llm::remote::Variables::of(*protocol).key;
        let in_file = variables.of_file("OPENAI_API_KEY").and_then(|_| variables.origin("OPENAI_API_KEY"));
        let detail = match variables.origin(name).or(in_file) {
            Some(origin) => format!("set by {origin}; it is not shown"),
            None => format!("{name} is not set"),
        };
        findings.push(Finding::ok("key", detail));
    }
    findings
}

/// Findings about the tools that artoo can use on this machine; it fails if there are none.
fn tools(registry: &Registry) -> Vec<Finding> {
    let names: Vec<String> = registry.specs().into_iter().map(|spec| spec.name).collect();
    let mut findings = vec![if names.is_empty() {
        Finding::fail("tools", "none", "this machine lacks even a file system to search; report this")
    } else {
        Finding::ok("tools", names.join(", "))
    }];
    findings.extend(registry.problems().iter().map(|problem| {
        Finding::warn("your tool", problem.to_string(), "it is not offered; put its manifest right or take it away")
    }));
    findings
}

/// Two findings: whether commands can be sandboxed on this machine, and whether they can run in views; warnings if not.
fn fence(registry: &Registry, wants_views: bool) -> [Finding; 2] {
    let mut report = registry.fence_report();
    // The last sentence is about views; it says how to get them where there are none.
    let views = report.words.pop().unwrap_or_default();
    let has_views = views.contains(" in a view first") || !wants_views;
    let finding = |is_ok, name, detail, remedy: &str| {
        if is_ok { Finding::ok(name, detail) } else { Finding::warn(name, detail, remedy) }
    };
    let asks = "until then artoo asks before each command runs";
    [
        finding(report.holds, "sandbox", report.words.join("; "), asks),
        finding(has_views, "views", views, "until then artoo asks before such a command runs"),
    ]
}

/// Finding about the audit log: it fails if a log is damaged or has missing lines that the user did not accept.
fn audit_log(data_dir: &Path) -> Finding {
    let AuditLogs { logs, gaps } = AuditLogs::of(data_dir);
    let damaged =
        logs.iter().find_map(|(log, verified)| Some(format!("{}: {}", log.display(), verified.as_ref().err()?)));
    match damaged.or_else(|| gaps.into_iter().next().map(|gap| gap.problem)) {
        Some(problem) => Finding::fail("audit log", problem, "artoo audit tells all of it, and what to do"),
        None if logs.is_empty() => Finding::ok("audit log", "none yet"),
        None => Finding::ok(
            "audit log",
            format!("{} in {}, complete and unaltered", count(logs.len() as u64, "file", "files"), data_dir.display()),
        ),
    }
}

/// Findings about the memory and the audit log, made by starting the runtime on the real data folder and stopping it.
async fn stores(settings: &Settings) -> Vec<Finding> {
    let builder = System::builder().environment(settings.environment.clone()).data_dir(settings.data_dir.clone());
    let builder = builder.without_memory(!settings.memory);
    let shown = settings.data_dir.display();
    let system = match builder.start() {
        Ok(system) => system,
        Err(error) => {
            let detail = format!("{shown}: {}", Failure::from(error).message());
            return vec![Finding::fail("data folder", detail, "see above, or choose another with --data-dir")];
        }
    };
    let mut findings = vec![Finding::ok("data folder", shown.to_string())];
    findings.extend(system.notes().iter().map(|note| {
        Finding::warn("memory", note.clone(), "nothing to do while another artoo runs; else look at the data folder")
    }));
    if system.notes().is_empty() {
        let state = if settings.memory { "it can be read and written" } else { "off; artoo memory on turns it on" };
        findings.push(Finding::ok("memory", state));
    }
    let remedy = "the disk may be full or failing";
    findings
        .extend(system.close().await.problems.into_iter().map(|problem| Finding::fail("data folder", problem, remedy)));
    findings
}
