//! What users ask for in a run, and what is known of each request beforehand.

use artoo_proto::{TaskId, UserRequest};
use uuid::Uuid;

use super::rng::Rng;
use super::weather::{Climate, Weather};
use artoo_roles::limits::HARD_LIMIT_MS;

const ACTS: [&str; 6] = [
    "Create a file notes.txt in my workspace that says hello",
    "please write a report to ~/artoo_workspace/report.md",
    "Erstelle eine Datei hallo.txt im Ordner workspace",
    "crea un archivo llamado hola.txt",
    "创建一个文件 hello.txt",
    "count the files, then delete the largest file",
];
const QUESTIONS: [&str; 7] = [
    "how many reports are in /home/u/docs",
    "list the newest files in /home/u/d1",
    "how many files are in my folders",
    "count the files of my folders, all of them",
    "count the lines of /home/u/f1.txt",
    "which file in my folders speaks of taxes?",
    "how big is the folder downloads",
];
const WORDS: [&str; 3] = ["write a haiku about rain", "what is the capital of France", "tell me a joke"];

/// How a lying model goes about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lie {
    /// Calls nothing and says it is done.
    Words,
    /// Makes a read-only call and passes its output off as the answer.
    Look,
    /// Makes a read-only call, then says what is there without saying that it did it.
    Describe,
    /// Calls something that measures nothing, then claims.
    Echo,
    /// A failed act, then a look.
    FailedAct,
    /// A call that may create, reports success and changes nothing.
    Nothing,
}

const LIES: [Lie; 6] = [Lie::Words, Lie::Look, Lie::Describe, Lie::Echo, Lie::FailedAct, Lie::Nothing];

/// One request with what the run knows of it.
#[derive(Debug, Clone)]
pub(super) struct Errand {
    pub(super) request: UserRequest,
    /// Set where the model lies at every role and the tools change nothing.
    pub(super) lie: Option<Lie>,
}

impl Errand {
    /// Whether the request asks for a change.
    pub(super) fn is_act(&self) -> bool {
        ACTS.contains(&self.request.raw_input.as_str())
    }

    pub(super) fn draw(rng: &mut Rng, weather: &Weather, seed: u64, number: usize) -> Self {
        let lies = weather.climate == Climate::Lying || (weather.climate == Climate::Storm && rng.chance(150));
        let kind = if lies { 0 } else { rng.below(8) };
        let text = match kind {
            0..=2 => (*rng.pick(&ACTS)).to_owned(),
            7 => (*rng.pick(&WORDS)).to_owned(),
            _ => (*rng.pick(&QUESTIONS)).to_owned(),
        };
        let odd = !lies && matches!(weather.climate, Climate::Hostile | Climate::Storm);
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
