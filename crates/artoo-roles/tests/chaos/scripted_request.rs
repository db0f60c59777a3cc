//! The requests of a run, and for each whether its model lies.

use artoo_proto::{TaskId, UserRequest};
use uuid::Uuid;

use super::fault_rates::{FaultProfile, FaultRates};
use super::rng::Rng;
use artoo_roles::limits::HARD_LIMIT_MS;

/// Requests that ask for a change of files or folders.
const ACTS: [&str; 6] = [
    "Create a file notes.txt in my workspace that says hello",
    "please write a report to ~/artoo_workspace/report.md",
    "Erstelle eine Datei hallo.txt im Ordner workspace",
    "crea un archivo llamado hola.txt",
    "创建一个文件 hello.txt",
    "count the files, then delete the largest file",
];
/// Requests for information about this machine.
const QUESTIONS: [&str; 7] = [
    "how many reports are in /home/u/docs",
    "list the newest files in /home/u/d1",
    "how many files are in my folders",
    "count the files of my folders, all of them",
    "count the lines of /home/u/f1.txt",
    "which file in my folders speaks of taxes?",
    "how big is the folder downloads",
];
/// Requests that ask only for a text, which needs no tool.
const WORDS: [&str; 3] = ["write a haiku about rain", "what is the capital of France", "tell me a joke"];

/// How a lying model claims success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lie {
    /// Makes no call and claims success.
    Words,
    /// Makes a read-only call and passes its output off as the answer.
    Look,
    /// Makes a read-only call, then describes the wanted state without claiming to have made the change.
    Describe,
    /// Makes a call that measures nothing, then claims success.
    Echo,
    /// Makes a call that fails, then a read-only call.
    FailedAct,
    /// A call that may create, reports success and changes nothing.
    Nothing,
}

const LIES: [Lie; 6] = [Lie::Words, Lie::Look, Lie::Describe, Lie::Echo, Lie::FailedAct, Lie::Nothing];

/// A request of a run, and how its model lies about it.
#[derive(Debug, Clone)]
pub(super) struct ScriptedRequest {
    pub(super) request: UserRequest,
    /// Set where the model lies at every role and the tools change nothing.
    pub(super) lie: Option<Lie>,
}

impl ScriptedRequest {
    /// Whether the request asks for a change of files or folders.
    pub(super) fn is_act(&self) -> bool {
        ACTS.contains(&self.request.raw_input.as_str())
    }

    /// Draws a request with its limits, and a lie if the fault profile has lying models.
    pub(super) fn draw(rng: &mut Rng, fault_rates: &FaultRates, seed: u64, number: usize) -> Self {
        let lies = fault_rates.profile == FaultProfile::Lying
            || (fault_rates.profile == FaultProfile::Storm && rng.chance(150));
        let kind = if lies { 0 } else { rng.below(8) };
        let text = match kind {
            0..=2 => (*rng.pick(&ACTS)).to_owned(),
            7 => (*rng.pick(&WORDS)).to_owned(),
            _ => (*rng.pick(&QUESTIONS)).to_owned(),
        };
        let odd = !lies && matches!(fault_rates.profile, FaultProfile::Hostile | FaultProfile::Storm);
        let text = if odd && rng.chance(20) { "  ".to_owned() } else { text };
        let limits = [HARD_LIMIT_MS, HARD_LIMIT_MS, 120_000, 1_000_000];
        Self {
            request: UserRequest {
                task_id: TaskId::new(&text, Uuid::from_u128(u128::from(seed) << 64 | number as u128)),
                raw_input: text,
                session: Vec::new(),
                material: None,
                interactive: rng.chance(500),
                hard_limit_ms: limits[rng.below(limits.len())],
                required: Vec::new(),
                by_required: false,
            },
            lie: lies.then(|| *rng.pick(&LIES)),
        }
    }
}
