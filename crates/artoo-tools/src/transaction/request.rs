//! Requests that run a program as a transaction: of the shell, of the user's own tools, and of MCP servers.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use artoo_proto::EffectClass;

use super::{MakeRecord, Names, Program, Work};
use crate::effects::{CallEffects, NetworkUse, UndoMethod};
use crate::fence::Reach;
use crate::record::Record;
use crate::tool::{Job, Machine, Question, Request};
use crate::{paths, texts};

impl Program {
    /// The job that runs this program. The workspace is created before: for good if `may_need_workspace`, else only if
    /// the call names it, and removed again if it stays empty.
    pub(crate) fn job(self, may_need_workspace: bool, record: MakeRecord) -> Job {
        Box::new(move |call| {
            let workspace = Path::new(&call.machine.config.environment.workspace);
            let name = workspace.file_name().and_then(|name| name.to_str());
            let created = if may_need_workspace {
                // If this fails, the program reports it.
                let _ = fs::create_dir_all(workspace);
                None
            } else {
                name.filter(|name| self.shown.contains(name)).and_then(|_| NewFolder::create(workspace))
            };
            Box::pin(call.run(Self { workspace: created.map(Arc::new), ..self }, record))
        })
    }
}

/// A folder created for one call, such as the workspace; removed with the last reference to it if it is still empty.
#[derive(Debug)]
pub(crate) struct NewFolder(PathBuf);

impl NewFolder {
    /// Creates the folder; `None` if it exists already or can't be created.
    fn create(path: &Path) -> Option<Self> {
        (!path.exists() && fs::create_dir_all(path).is_ok()).then(|| Self(path.to_path_buf()))
    }

    /// The path of the folder that was created.
    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for NewFolder {
    fn drop(&mut self) {
        // A folder that is no longer empty stays.
        let _ = fs::remove_dir(&self.0);
    }
}

/// A call of a program that the user configured: a tool of the user's own manifests, or a tool of an MCP server.
pub(crate) struct ConfiguredCall {
    pub(crate) target: String,
    /// The call as a question shows it.
    pub(crate) shown: String,
    /// What the call does, in one line.
    pub(crate) line: String,
    /// The class that its manifest claims.
    pub(crate) class: EffectClass,
    pub(crate) network: bool,
    /// Whether the user approved its changes beforehand.
    pub(crate) is_granted: bool,
    /// Why the call needs approval before it runs, if it does.
    pub(crate) reason: Option<String>,
    pub(crate) executable: PathBuf,
    /// Paths in its input.
    pub(crate) paths: Vec<PathBuf>,
    pub(crate) work: Arc<dyn Work>,
    pub(crate) time: Duration,
}

impl ConfiguredCall {
    /// The request of the configured call with its question; `Err` with the denied record if it names a protected path.
    pub(crate) fn request(self, machine: &Machine, record: MakeRecord) -> Result<Request, Box<Record>> {
        let Self { shown, class, network, paths, .. } = self;
        let Machine { config, protected, .. } = machine;
        if let Some(reason) = paths.iter().find_map(|path| protected.refusal(path)) {
            return Err(Box::new(Record::denied(&reason).class(class)));
        }
        let secret = paths.iter().find_map(|path| protected.secret(path));
        let found = protected.secrets(&config.environment, &paths, &[]);
        let not_searched = found.misses_named.then(|| texts::NOT_SEARCHED.to_owned());
        let mut left_out = found.files;
        left_out.retain(|file| !paths.iter().any(|path| paths::real(path) == *file));
        let effects = CallEffects {
            undo: UndoMethod::Commit,
            lines: vec![self.line],
            ..CallEffects::new(class, paths.clone(), NetworkUse::of_sandbox(network))
        };
        let question = secret.or(self.reason).or(not_searched).map(|reason| Question {
            text: format!("{shown} {}", self.executable.display()),
            files: [self.executable].into_iter().chain(paths.clone()).collect(),
            shown: shown.clone(),
            reason,
            details: Vec::new(),
        });
        let is_reading = class == EffectClass::ReadOnly;
        let program = Program {
            work: self.work,
            shown,
            names: Names { paths, ..Names::default() },
            folders: Vec::new(),
            left_out,
            reach: Reach::of_network(network),
            is_granted: self.is_granted && class == EffectClass::Unproven,
            caution: is_reading.then(|| texts::CLAIMS_READING.to_owned()),
            time: self.time,
            workspace: None,
        };
        Ok(Request { target: self.target, effects, question, job: program.job(!is_reading, record) })
    }
}
