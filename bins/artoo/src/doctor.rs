//! `artoo doctor`: every promise that rests on this machine, probed, with a remedy where it fails.

use std::path::{Path, PathBuf};

use artoo_audit::Damage;
use artoo_roles::runtime::{RuntimeError, System};
use artoo_tools::{Registry, ToolConfig};
use serde::Serialize;
use serde_json::json;

use crate::args::Options;
use crate::audit;
use crate::display::writer::Screen;
use crate::display::{Line, Style};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::model::ModelKind;
use crate::settings::{Settings, Variables};

/// The schema's name; as unstable as that of a task's events.
const SCHEMA: &str = "artoo.doctor/0";

/// What a probe found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    Ok,
    Warn,
    Fail,
}

/// One probe.
#[derive(Debug, Serialize)]
struct Finding {
    name: &'static str,
    status: Status,
    detail: String,
    remedy: Option<String>,
}

impl Finding {
    fn ok(name: &'static str, detail: impl Into<String>) -> Self {
        Self { name, status: Status::Ok, detail: detail.into(), remedy: None }
    }

    fn warn(name: &'static str, detail: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { name, status: Status::Warn, detail: detail.into(), remedy: Some(remedy.into()) }
    }

    fn fail(name: &'static str, detail: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { name, status: Status::Fail, detail: detail.into(), remedy: Some(remedy.into()) }
    }
}

/// Probes everything and shows it. Nothing is asked of a model, and no key is shown.
pub(crate) async fn run(options: Options, variables: &Variables, screen: &Screen) -> Result<Exit, Failure> {
    let is_json = options.json;
    let findings = match Settings::resolve(options, variables) {
        Ok(settings) => probe(&settings, variables).await,
        Err(failure) => {
            let remedy = failure.remedy().unwrap_or("put that right first; everything else rests on it");
            vec![Finding::fail("settings", failure.told(), remedy)]
        }
    };
    let failed = findings.iter().any(|finding| finding.status == Status::Fail);
    if is_json {
        screen.json(&json!({"schema": SCHEMA, "stable": false, "ok": !failed, "findings": findings}));
    } else {
        screen.answer(&findings.iter().flat_map(lines).collect::<Vec<_>>());
    }
    Ok(if failed { Exit::Usage } else { Exit::Accepted })
}

async fn probe(settings: &Settings, variables: &Variables) -> Vec<Finding> {
    let mut findings = vec![home(settings), workspace(Path::new(&settings.environment.workspace))];
    findings.extend(model(settings, variables));
    findings.push(tools(settings));
    findings.extend(audit_log(&settings.data_dir));
    findings.extend(stores(settings).await);
    findings
}

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

fn home(settings: &Settings) -> Finding {
    let home = &settings.environment.home;
    if Path::new(home).is_dir() {
        return Finding::ok("home", home.clone());
    }
    Finding::fail("home", format!("{home} is no folder"), "set HOME to your home folder")
}

/// Whether a file can be made there, by making one.
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

fn tempfile_in(folder: &Path) -> std::io::Result<()> {
    let probe = folder.join(format!(".artoo-doctor-{}", std::process::id()));
    std::fs::File::create_new(&probe)?;
    std::fs::remove_file(&probe)
}

fn model(settings: &Settings, variables: &Variables) -> Vec<Finding> {
    let choice = &settings.model;
    let chosen = format!("{} ({})", choice.spelled(), choice.why);
    let built = choice.build(variables, &settings.environment);
    let problem = built.err().map(|failure| (failure.told(), failure.remedy().unwrap_or("see artoo --help")));
    let mut findings = vec![match (&problem, &choice.kind) {
        (Some((problem, remedy)), _) => Finding::fail("model", format!("{chosen}: {problem}"), *remedy),
        (None, ModelKind::Reflex) => Finding::warn(
            "model",
            format!("{chosen}: everyday questions about files, no more"),
            "for anything else set OPENAI_BASE_URL (and OPENAI_API_KEY where it needs one) and OPENAI_MODEL",
        ),
        (None, ModelKind::OpenAi { .. }) => {
            let name = choice.openai(variables).map(|config| config.model).unwrap_or_default();
            Finding::ok("model", format!("{chosen}: {name}; the endpoint was not contacted"))
        }
        (None, ModelKind::Cassette { .. }) => Finding::ok("model", chosen),
    }];
    if matches!(choice.kind, ModelKind::OpenAi { .. }) {
        let is_set = variables.raw("OPENAI_API_KEY").is_some();
        let detail = if is_set { "OPENAI_API_KEY is set" } else { "OPENAI_API_KEY is not set" };
        findings.push(Finding::ok("key", detail));
    }
    findings
}

fn tools(settings: &Settings) -> Finding {
    let specs = Registry::detect(ToolConfig::new(settings.environment.clone())).specs();
    let names: Vec<String> = specs.into_iter().map(|spec| spec.name).collect();
    if names.is_empty() {
        return Finding::fail("tools", "none", "this machine lacks even a file system to search; report this");
    }
    Finding::ok("tools", names.join(", "))
}

fn audit_log(data_dir: &Path) -> Vec<Finding> {
    let logs = audit::logs(data_dir);
    if logs.is_empty() {
        return vec![Finding::ok("audit log", "none yet")];
    }
    logs.iter().map(PathBuf::as_path).map(of_log).collect()
}

fn of_log(log: &Path) -> Finding {
    let shown = log.display();
    match artoo_audit::verify(log) {
        Ok(verified) => Finding::ok("audit log", format!("{shown}: {} lines, the chain holds", verified.lines)),
        Err(error) if matches!(error.what, Damage::Torn) => Finding::warn(
            "audit log",
            format!("{shown}: {error}"),
            "another artoo is writing it, or a write was cut off; the next run sets a cut line aside",
        ),
        Err(error) => Finding::fail(
            "audit log",
            format!("{shown}: {error}"),
            "what follows that line is not what artoo wrote; keep a copy, then move the file away",
        ),
    }
}

/// Starts the runtime over the real data folder and takes it down again: the one way to know that it would start.
async fn stores(settings: &Settings) -> Vec<Finding> {
    let builder = System::builder().environment(settings.environment.clone()).data_dir(settings.data_dir.clone());
    let shown = settings.data_dir.display();
    let system = match builder.start() {
        Ok(system) => system,
        Err(error) => {
            let name = match &error {
                RuntimeError::Memory(_) => "memory",
                RuntimeError::Audit(_) => "audit log",
                RuntimeError::Environment(_) | RuntimeError::DataDir { .. } | RuntimeError::Stopped => "data folder",
            };
            let told = Failure::Runtime { source: error }.told();
            return vec![Finding::fail(
                name,
                format!("{shown}: {told}"),
                "see above, or choose another with --data-dir",
            )];
        }
    };
    let mut findings = vec![Finding::ok("data folder", shown.to_string())];
    findings.extend(system.notes().iter().map(|note| {
        Finding::warn("memory", note.clone(), "nothing to do while another artoo runs; else look at the data folder")
    }));
    if system.notes().is_empty() {
        findings.push(Finding::ok("memory", "its journal opens"));
    }
    let remedy = "the disk may be full or failing";
    findings
        .extend(system.close().await.problems.into_iter().map(|problem| Finding::fail("data folder", problem, remedy)));
    findings
}
