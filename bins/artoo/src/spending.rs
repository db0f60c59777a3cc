//! What the models of a run cost: by task, role and model, beside what was expected, and kept for the next estimate.

use std::path::PathBuf;
use std::sync::Arc;

use artoo_llm::ledger::{Account, DollarsShown, Ledger, Price, Spender};
use artoo_llm::spending::{SpendingBook, Taken};
use artoo_llm::{RemoteConfig, Tiers};
use artoo_proto::{Ending, FinalResult, Role, TaskId, escape};
use serde_json::{Value, json};

use crate::abilities;
use crate::display::Line;
use crate::watching::Watching;

/// What tasks took, in the data folder.
const FILE: &str = "spending.json";

/// The one currency that prices are given in.
pub(crate) const CURRENCY: &str = "USD";

/// What is known of a model before it is asked.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    /// Tells it from every other; nothing of it is secret.
    pub(crate) identity: String,
    /// Its name, as it is configured.
    pub(crate) model: String,
    pub(crate) price: Option<Price>,
    pub(crate) context_tokens: Option<u64>,
}

impl Known {
    /// Of a model behind HTTP.
    pub(crate) fn of_remote(config: &RemoteConfig) -> Self {
        let address = artoo_llm::call_address(config).unwrap_or_default();
        Self {
            identity: format!("{} {address} {}", config.protocol.name(), config.model),
            model: config.model.clone(),
            price: config.price,
            context_tokens: config.context_tokens,
        }
    }
}

impl Known {
    /// Of a model file of this machine, which costs nothing but time.
    pub(crate) fn of_file(given: &str) -> Self {
        Self {
            identity: format!("file {given}"),
            model: given.to_owned(),
            price: Some(Price { prompt: 0.0, cached: 0.0, written: 0.0, completion: 0.0 }),
            context_tokens: None,
        }
    }
}

/// A model that a task begins with, and what it is used for.
#[derive(Debug, Clone)]
pub(crate) struct InUse {
    pub(crate) known: Known,
    /// What it is asked for.
    pub(crate) tier: Tier,
}

/// Which roles a model serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tier {
    All,
    Brain,
    Hands,
}

impl Tier {
    fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Brain => "brain",
            Self::Hands => "hands",
        }
    }

    fn serves(self, role: Role) -> bool {
        match self {
            Self::All => true,
            Self::Brain => !Tiers::is_for_hands(role),
            Self::Hands => Tiers::is_for_hands(role),
        }
    }
}

impl InUse {
    /// One for all roles, or one for each tier.
    pub(crate) fn line_up(first: &Known, hands: Option<&Known>) -> Vec<Self> {
        let in_use = |known: &Known, tier| Self { known: known.clone(), tier };
        match hands {
            None => vec![in_use(first, Tier::All)],
            Some(hands) => vec![in_use(first, Tier::Brain), in_use(hands, Tier::Hands)],
        }
    }

    /// What it is remembered under.
    fn name(&self) -> String {
        format!("{} {}", self.tier.name(), self.known.identity)
    }
}

/// The book of a run, and everything an estimate rests on.
pub(crate) struct Spending {
    /// What was spent.
    pub(crate) ledger: Arc<Ledger>,
    /// What the models are doing.
    pub(crate) watching: Arc<Watching>,
    /// Those a task begins with; empty where no language model is asked.
    pub(crate) line_up: Vec<InUse>,
    pub(crate) data_dir: PathBuf,
}

impl Spending {
    /// Who serves a role as long as nobody steps in.
    pub(crate) fn serving(&self, role: Role) -> Option<&InUse> {
        self.line_up.iter().find(|in_use| in_use.tier.serves(role))
    }

    /// What tasks took of a model so far, where enough are known.
    pub(crate) fn learnt(&self) -> Vec<Option<(usize, Taken)>> {
        let book = SpendingBook::open(self.data_dir.join(FILE));
        self.line_up.iter().map(|in_use| book.median(&in_use.name())).collect()
    }

    /// Remembers what a task took that came to its end. One that another model helped out in says little about either.
    pub(crate) fn learn(&self, result: &FinalResult) {
        let is_whole = match &result.ending {
            Ending::Accept { .. } | Ending::Success { .. } => true,
            Ending::Abandon { .. } => false,
        };
        let spent = self.of_task(&result.task_id);
        let is_own =
            |spender: &Spender| self.serving(spender.role).is_some_and(|in_use| in_use.known.model == spender.model);
        if !is_whole || spent.is_empty() || !spent.iter().all(|(spender, _)| is_own(spender)) {
            return;
        }
        let mut book = SpendingBook::open(self.data_dir.join(FILE));
        for in_use in &self.line_up {
            let mut taken = Taken::default();
            for (_, account) in spent.iter().filter(|(spender, _)| in_use.tier.serves(spender.role)) {
                taken.calls += u64::from(account.usage.model_calls);
                taken.prompt_tokens += account.usage.prompt_tokens;
                taken.cached_tokens += account.cached_tokens;
                taken.completion_tokens += account.usage.completion_tokens;
            }
            if let Err(error) = book.remember(&in_use.name(), taken, abilities::now_s()) {
                tracing::warn!(%error, "what the task took is not kept");
            }
        }
    }

    /// What a task took and by whom, beside what was expected.
    pub(crate) fn lines(&self, task_id: &TaskId, expected: Option<String>) -> Vec<Line> {
        let rows = self.of_task(task_id);
        let mut lines: Vec<Line> = rows.iter().map(|(spender, account)| self.line(spender, account)).collect();
        let total = sum(&rows);
        if total.usage.model_calls > 0 {
            let expected = expected.map(|expected| format!(" ({expected})")).unwrap_or_default();
            lines.push(Line::plain(format!("cost: {}{expected}", money(&total))));
        }
        lines
    }

    fn line(&self, spender: &Spender, account: &Account) -> Line {
        let usage = account.usage;
        let calls = if usage.model_calls == 1 { "call" } else { "calls" };
        let cached = match account.cached_tokens {
            0 => String::new(),
            cached => format!(" ({} from the cache)", grouped(cached)),
        };
        let names = self.ledger.answered_as();
        let as_named = names.get(&spender.model).into_iter().flatten().filter(|name| **name != spender.model);
        let as_named: Vec<&str> = as_named.map(String::as_str).collect();
        let as_named = if as_named.is_empty() { String::new() } else { format!(" as {}", as_named.join(", ")) };
        Line::faint(format!(
            "  {} {}{}: {} {calls}, {} tokens sent{cached}, {} received, {}, {}.{} s",
            spender.role.code(),
            escape::one_line(&spender.model),
            escape::one_line(&as_named),
            usage.model_calls,
            grouped(usage.prompt_tokens),
            grouped(usage.completion_tokens),
            money(account),
            account.time_ms / 1000,
            account.time_ms % 1000 / 100,
        ))
    }

    /// What the run has cost so far.
    pub(crate) fn total(&self) -> Vec<Line> {
        let total = self.ledger.total();
        let told = || Line::plain(format!("cost: {}", money(&total)));
        (total.usage.model_calls > 0).then(told).into_iter().collect()
    }

    /// The same as [`Self::lines`] for programs, with whoever stepped in and why.
    pub(crate) fn json(&self, task_id: &TaskId, expected: Option<Value>) -> Value {
        if self.line_up.is_empty() {
            return Value::Null;
        }
        let rows = self.of_task(task_id);
        let names = self.ledger.answered_as();
        let of_row = |(spender, account): &(Spender, Account)| {
            let mut row = of_account(account);
            if let Some(fields) = row.as_object_mut() {
                fields.insert("role".to_owned(), json!(spender.role));
                fields.insert("model".to_owned(), json!(spender.model));
                fields.insert("answered_as".to_owned(), json!(names.get(&spender.model)));
            }
            row
        };
        let fallbacks = self.watching.fallbacks(task_id);
        let fallbacks = fallbacks
            .iter()
            .map(|fell_back| json!({"role": fell_back.role, "from": fell_back.from, "to": fell_back.to, "why": fell_back.why}));
        json!({
            "currency": CURRENCY,
            "total": of_account(&sum(&rows)),
            "roles": rows.iter().map(of_row).collect::<Vec<_>>(),
            "fallbacks": fallbacks.collect::<Vec<_>>(),
            "estimate": expected
        })
    }

    fn of_task(&self, task_id: &TaskId) -> Vec<(Spender, Account)> {
        let accounts = self.ledger.accounts().into_iter();
        accounts.filter(|(spender, account)| spender.task_id == *task_id && account.usage.model_calls > 0).collect()
    }

    /// The prices of those a task begins with; `None` where one of them has none.
    pub(crate) fn prices(&self) -> Option<Vec<Price>> {
        self.line_up.iter().map(|in_use| in_use.known.price).collect()
    }
}

fn sum(rows: &[(Spender, Account)]) -> Account {
    let mut total = Account::default();
    rows.iter().for_each(|(_, account)| total += *account);
    total
}

/// Money where it is known, and that it is not where it is not: a sum is never made up.
fn money(account: &Account) -> String {
    let calls = u64::from(account.usage.model_calls);
    match account.unpriced_calls {
        0 => format!("${}", DollarsShown(account.cost)),
        unpriced if unpriced >= calls => "price unknown".to_owned(),
        unpriced => format!("${} and {unpriced} calls whose price is unknown", DollarsShown(account.cost)),
    }
}

fn of_account(account: &Account) -> Value {
    json!({
        "calls": account.usage.model_calls,
        "tokens_in": account.usage.prompt_tokens,
        "tokens_cached": account.cached_tokens,
        "tokens_out": account.usage.completion_tokens,
        "cost": (account.unpriced_calls == 0).then(|| exact(account.cost)),
        "unpriced_calls": account.unpriced_calls,
        "time_ms": account.time_ms
    })
}

/// Micro-dollars as dollars, every digit of them, as a text: no reader's floating point gets at a sum of money.
pub(crate) fn exact(micro: u64) -> String {
    format!("{}.{:06}", micro / 1_000_000, micro % 1_000_000)
}

/// A number with its thousands apart.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
