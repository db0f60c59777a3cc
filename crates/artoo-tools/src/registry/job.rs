//! A request read as a tool's own typed job, with what it touches and what must be asked about it.

use std::path::PathBuf;

use artoo_proto::{ConsentHash, ConsentOffers, EffectClass, ToolClass, ToolOutcome, ToolRequest, ToolSpec, escape};
use serde_json::Value;

use crate::blocked::{self, Touched};
use crate::config::ToolConfig;
use crate::consent;
use crate::consent::{Deed, Footprint, Reach, Verb};
use crate::files::{self, Act, Plan};
use crate::glob::{self, Search};
use crate::guard::{CommandClass, Proof};
use crate::mdfind::{self, Query};
use crate::paths;
use crate::protect::Protected;
use crate::read_file::{self, Reading};
use crate::record::Record;
use crate::registry::Instead;
use crate::shell::{self, Command, CommandProblem};
use crate::write_file::{self, NewFile};

/// A call that makes sense.
pub(super) enum Job {
    Glob(Box<Search>),
    Find(Query),
    Read(Reading),
    Write(NewFile),
    Files(Box<Plan>),
    Shell(Command),
}

/// A request after reading: a job, or the record that ends it.
pub(super) struct Prepared {
    target: String,
    job: Result<Job, Box<Record>>,
    looks: String,
}

/// What a person is asked.
pub(super) struct Question {
    pub(super) hash: ConsentHash,
    /// The bytes the consent is for.
    pub(super) text: String,
    pub(super) files: Vec<PathBuf>,
    shown: String,
    pub(super) effects: Vec<String>,
    pub(super) reason: String,
    pub(super) offers: ConsentOffers,
}

impl Prepared {
    /// Reads a request; the tool's name has been checked.
    pub(super) fn new(config: &ToolConfig, protected: &Protected, request: &ToolRequest) -> Self {
        let (environment, input) = (&config.environment, &request.input);
        let job = match request.tool.as_str() {
            "glob" => Search::parse(environment, input)
                .map(|search| Job::Glob(Box::new(search)))
                .map_err(|problem| unusable(&problem)),
            "mdfind" => Query::parse(environment, input).map(Job::Find).map_err(|problem| unusable(&problem)),
            "read_file" => Reading::parse(environment, input).map(Job::Read).map_err(|problem| unusable(&problem)),
            "write_file" => NewFile::parse(environment, input).map(Job::Write).map_err(|problem| {
                let record =
                    if problem.is_refusal() { Record::denied(&problem.to_string()) } else { unusable(&problem) };
                record.class(EffectClass::Creating)
            }),
            "files" => Act::parse(environment, input)
                .map_err(|problem| unusable(&problem).class(EffectClass::Unproven))
                .and_then(|act| files::plan(environment, protected, act).map_err(|obstacle| files::hindered(&obstacle)))
                .map(|plan| Job::Files(Box::new(plan))),
            _ => Command::parse(config, protected, input).map(Job::Shell).map_err(|problem| {
                let record = match &problem {
                    CommandProblem::Hostile => Record::denied(&problem.to_string()),
                    CommandProblem::Input(_) | CommandProblem::Empty => unusable(&problem),
                };
                record.class(EffectClass::Unproven)
            }),
        };
        let target = job.as_ref().map_or_else(|_| spelled(input), Job::target);
        Self { target, job: job.map_err(Box::new), looks: String::new() }
    }

    pub(super) fn target(&self) -> &str {
        &self.target
    }

    pub(super) fn into_job(self) -> Result<Job, Instead> {
        self.job.map_err(|record| Instead::Record(*record))
    }

    /// What the job would act on, if there is one.
    pub(super) fn touched(&self) -> Option<Touched> {
        let paths = match self.job.as_ref().ok()? {
            Job::Glob(search) => vec![search.root.clone()],
            Job::Find(query) => vec![query.root.clone()],
            Job::Read(reading) => vec![reading.path.clone()],
            Job::Write(new) => vec![new.path.clone()],
            Job::Files(plan) => plan.touched.clone(),
            Job::Shell(command) => command.paths.iter().chain(&command.named.places).cloned().collect(),
        };
        let commands = match self.job.as_ref().ok()? {
            Job::Shell(command) => command.named.commands.clone(),
            Job::Glob(_) | Job::Find(_) | Job::Read(_) | Job::Write(_) | Job::Files(_) => Vec::new(),
        };
        Some(Touched { target: self.target.clone(), paths, commands })
    }

    /// The same request, with what the places it names look like now.
    pub(super) fn looked_at(self, looks: String) -> Self {
        Self { looks, ..self }
    }

    /// What it changes, as far as is known, and what its places look like before it.
    pub(super) fn known(&self) -> (Option<Footprint>, String) {
        (self.job.as_ref().ok().and_then(Job::footprint), self.looks.clone())
    }

    /// The same request, refused.
    pub(super) fn refused(self, reason: &str) -> Self {
        let class = self.job.as_ref().map_or(EffectClass::Unproven, Job::class);
        Self { job: Err(Box::new(Record::denied(reason).class(class))), ..self }
    }
}

fn unusable(problem: &dyn std::error::Error) -> Record {
    let source = problem.source().map(|source| format!(": {source}")).unwrap_or_default();
    let text = problem.to_string();
    Record::unusable(if text.ends_with(&source) { text } else { format!("{text}{source}") })
}

/// The target of an input that could not be read: what it names, as it is spelled.
fn spelled(input: &Value) -> String {
    let named = ["path", "root", "command", "query", "to"].iter().find_map(|field| input.get(field)?.as_str());
    escape::one_line(&escape::shorten(named.unwrap_or_default(), 200))
}

impl Job {
    fn target(&self) -> String {
        match self {
            Self::Glob(search) => search.target(),
            Self::Find(query) => query.target(),
            Self::Read(reading) => paths::line(&reading.path),
            Self::Write(new) => paths::line(&new.path),
            Self::Files(plan) => plan.headline.clone(),
            Self::Shell(command) => command.text.trim().to_owned(),
        }
    }

    pub(super) fn class(&self) -> EffectClass {
        match self {
            Self::Glob(_) | Self::Find(_) | Self::Read(_) => EffectClass::ReadOnly,
            Self::Write(_) => EffectClass::Creating,
            Self::Files(plan) => plan.class,
            Self::Shell(command) => command.class(),
        }
    }

    /// The program that would run, where it is one.
    pub(super) fn program(&self, config: &ToolConfig) -> Option<PathBuf> {
        match self {
            Self::Shell(command) => command.invocation(config).map(|invocation| invocation.program),
            Self::Glob(_) | Self::Find(_) | Self::Read(_) | Self::Write(_) | Self::Files(_) => None,
        }
    }

    /// What it changes, as far as that is known; `None` for a call that changes nothing.
    pub(super) fn footprint(&self) -> Option<Footprint> {
        match self {
            Self::Glob(_) | Self::Find(_) | Self::Read(_) => None,
            Self::Write(new) => {
                let made = Deed { verb: Verb::Make, path: consent::place(&new.path), whole: false };
                Reach::of([made]).map(Footprint::Known)
            }
            Self::Files(plan) => {
                let unknown = || Footprint::Named { named: blocked::Named::default(), is_destructive: true };
                Some(plan.reach().map_or_else(unknown, Footprint::Known))
            }
            Self::Shell(command) => {
                let is_destructive = match &command.proof {
                    Proof::Proven(proven) if proven.class == EffectClass::ReadOnly => return None,
                    Proof::Proven(_) => false,
                    Proof::Unproven { class, .. } => *class == CommandClass::Irreversible,
                };
                Some(Footprint::Named { named: command.named.clone(), is_destructive })
            }
        }
    }

    /// Whether what it does can be brought back, in words for the person who is asked.
    pub(super) fn undoable(&self) -> &'static str {
        match self {
            Self::Glob(_) | Self::Find(_) | Self::Read(_) => "changes nothing that would have to be undone",
            Self::Write(_) => "can be undone by throwing away what it makes",
            Self::Files(_) => "can be undone: it overwrites nothing, and what it throws away lies in the trash",
            Self::Shell(_) => "can't be undone by artoo",
        }
    }

    /// Whether it reaches other machines, in words for the person who is asked.
    pub(super) fn network(&self) -> String {
        match self {
            Self::Glob(_) | Self::Find(_) | Self::Read(_) | Self::Write(_) | Self::Files(_) => {
                "uses no network".to_owned()
            }
            Self::Shell(command) => match &command.proof {
                Proof::Proven(_) => "uses no network".to_owned(),
                Proof::Unproven { .. } if command.named.hosts.is_empty() => "may use the network".to_owned(),
                Proof::Unproven { .. } => {
                    let hosts: Vec<&str> = command.named.hosts.iter().map(String::as_str).collect();
                    format!("may use the network and names {}", escape::one_line(&hosts.join(", ")))
                }
            },
        }
    }

    /// What a person must be asked before this runs; `None` when nobody must.
    pub(super) fn question(&self, confirm: bool) -> Option<Question> {
        let caution = "caution is advised for this step, and the call is not read-only".to_owned();
        let (hash, offers) = (ConsentHash(String::new()), ConsentOffers::default());
        match self {
            Self::Glob(_) | Self::Find(_) | Self::Read(_) => None,
            Self::Write(new) => confirm.then(|| {
                let path = paths::line(&new.path);
                Question {
                    hash,
                    text: new.text.clone(),
                    files: vec![new.path.clone()],
                    shown: format!("write_file {path}\n{}", escape::visible(&new.text)),
                    effects: vec![format!("creates {path} ({} bytes)", new.text.len())],
                    reason: caution,
                    offers,
                }
            }),
            Self::Files(plan) => {
                let reason = match plan.class {
                    _ if plan.stays_in_workspace && !confirm => return None,
                    _ if plan.stays_in_workspace => caution,
                    EffectClass::Creating => "it makes something outside the workspace".to_owned(),
                    EffectClass::ReadOnly | EffectClass::Unproven => "it takes something from its place".to_owned(),
                };
                let (text, shown) = (plan.contract.clone(), format!("files: {}", plan.headline));
                Some(Question { hash, shown, text, files: Vec::new(), effects: plan.effects.clone(), reason, offers })
            }
            Self::Shell(command) => {
                let reason = match &command.proof {
                    Proof::Unproven { reason, .. } => reason.clone(),
                    Proof::Proven(proven) if proven.class == EffectClass::ReadOnly || !confirm => return None,
                    Proof::Proven(_) => caution,
                };
                let effects = command.effects.clone();
                let (text, files) = (command.text.clone(), command.paths.clone());
                Some(Question { hash, shown: text.clone(), text, files, effects, reason, offers })
            }
        }
    }
}

impl Question {
    /// The question as an outcome. A command is shown whole; only a file's text is shortened, and says so.
    pub(super) fn into_outcome(self, max_chars: usize) -> ToolOutcome {
        let is_command = self.shown == self.text;
        let shown = if is_command { self.shown.clone() } else { escape::shorten(&self.shown, max_chars) };
        let Self { hash, effects, reason, offers, .. } = self;
        ToolOutcome::NeedsConsent { hash, shown, effects, reason, offers }
    }
}

/// The tools in the order they are tried.
pub(super) fn specs(has_index: bool, has_shell: bool) -> Vec<ToolSpec> {
    let spec = |name: &str, class, priority, description: &str, input_schema| ToolSpec {
        name: name.to_owned(),
        description: description.to_owned(),
        class,
        input_schema,
        priority,
    };
    let find = if has_index {
        "find personal files by words, from the Spotlight index"
    } else {
        "find personal files by words in their names, by walking the folder"
    };
    let mut specs = vec![
        spec("mdfind", ToolClass::Files, 1, find, mdfind::schema()),
        spec(
            "glob",
            ToolClass::Files,
            2,
            "find files and folders by pattern, size, time, content; count or sum them",
            glob::schema(),
        ),
        spec(
            "read_file",
            ToolClass::Text,
            3,
            "read a text file, some of its lines, or count them",
            read_file::schema(),
        ),
        spec("write_file", ToolClass::Text, 3, "create a new text file in the workspace", write_file::schema()),
        spec(
            "files",
            ToolClass::Files,
            4,
            "create, copy, move, rename, pack, unpack or throw away files and folders; asks first, overwrites nothing",
            files::schema(),
        ),
    ];
    if has_shell {
        specs.push(spec(
            "shell",
            ToolClass::Shell,
            6,
            "run a command; read-only ones at once, others after a yes",
            shell::schema(),
        ));
    }
    specs
}
