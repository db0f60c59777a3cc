//! Costs of a run's models by task, role and model, stored for later estimates.

use std::path::PathBuf;
use std::sync::Arc;

use artoo_llm::ledger::{Account, DollarsShown, Ledger, Price, Spender};
use artoo_llm::spending::{SpendingBook, Taken};
use artoo_llm::{RemoteConfig, Tiers};
use artoo_proto::{Ending, FinalResult, Role, TaskId, escape, units};
use serde_json::{Value, json};

use crate::abilities;
use crate::call_monitor::CallMonitor;
use crate::display::{Line, json, result};

/// Name of the file in the data folder that stores the calls and tokens of earlier tasks, for estimates.
const FILE: &str = "spending.json";

/// The currency of all prices.
pub(crate) const CURRENCY: &str = "USD";

/// A model that a task uses unless a fallback replaces it, with its price.
#[derive(Debug, Clone)]
pub(crate) struct ModelInUse {
    /// Text that distinguishes the model from others: protocol, URL and name, or the file. Holds no secret.
    pub(crate) identity: String,
    /// The model's name, as configured.
    pub(crate) name: String,
    pub(crate) price: Option<Price>,
    pub(crate) context_tokens: Option<u64>,
    /// The group of roles that the model serves.
    pub(crate) tier: Tier,
}

impl ModelInUse {
    /// Describes a model at an HTTP endpoint.
    pub(crate) fn of_remote(config: &RemoteConfig) -> Self {
        let address = artoo_llm::call_address(config).unwrap_or_default();
        Self {
            identity: format!("{} {address} {}", config.protocol.name(), config.model),
            name: config.model.clone(),
            price: config.price,
            context_tokens: config.context_tokens,
            tier: Tier::All,
        }
    }

    /// Describes a model file on this machine, which costs no money.
    pub(crate) fn of_file(given: &str) -> Self {
        Self {
            identity: format!("file {given}"),
            name: given.to_owned(),
            price: Some(Price { prompt: 0.0, cached: 0.0, written: 0.0, completion: 0.0 }),
            context_tokens: None,
            tier: Tier::All,
        }
    }

    /// The key under which the spending file stores what tasks with this model took.
    fn key(&self) -> String {
        format!("{} {}", self.tier.name(), self.identity)
    }
}

/// The group of roles that a model serves: all, those that plan and judge tasks (`Brain`), or those that carry out and
/// check subtasks (`Worker`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tier {
    All,
    /// The roles that understand the request, plan, and judge the whole result.
    Brain,
    /// The roles that carry out and check single steps.
    Worker,
}

impl Tier {
    /// The tier's name in the spending file; the worker's is still "hands", as in earlier versions.
    fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Brain => "brain",
            Self::Worker => "hands",
        }
    }

    /// Whether the model of this tier answers the calls of a role: the worker's are the executor (R3) and the
    /// agent-validator (R4a).
    fn serves(self, role: Role) -> bool {
        match self {
            Self::All => true,
            Self::Brain => !Tiers::is_for_hands(role),
            Self::Worker => Tiers::is_for_hands(role),
        }
    }
}

/// The costs of a run so far, with the models whose costs are recorded and estimated.
pub(crate) struct Spending {
    /// Tokens and cost of each call so far.
    pub(crate) ledger: Arc<Ledger>,
    /// Waits and fallbacks of the model calls.
    pub(crate) monitor: Arc<CallMonitor>,
    /// Models that a task uses, without fallbacks; empty if no language model is used.
    pub(crate) models: Vec<ModelInUse>,
    pub(crate) data_dir: PathBuf,
}

impl Spending {
    /// The model that serves a role unless a fallback answers; `None` if no language model is used.
    fn serving(&self, role: Role) -> Option<&ModelInUse> {
        self.models.iter().find(|model| model.tier.serves(role))
    }

    /// The price of the model that serves a role; `None` if unknown.
    pub(crate) fn price(&self, role: Role) -> Option<Price> {
        self.serving(role)?.price
    }

    /// Names of the run's models whose price is not known.
    pub(crate) fn unpriced(&self) -> Vec<String> {
        self.models.iter().filter(|model| model.price.is_none()).map(|model| model.name.clone()).collect()
    }

    /// For each model, the number of earlier tasks and the median of their calls and tokens; `None` if there are too
    /// few tasks.
    pub(crate) fn learned(&self) -> Vec<Option<(usize, Taken)>> {
        let book = SpendingBook::open(self.data_dir.join(FILE));
        self.models.iter().map(|model| book.median(&model.key())).collect()
    }

    /// Stores the calls and tokens of a finished task for later estimates; skips abandoned tasks and those in which a
    /// fallback answered.
    pub(crate) fn learn(&self, result: &FinalResult) {
        let is_whole = match &result.ending {
            Ending::Accept { .. } | Ending::Success { .. } => true,
            Ending::Abandon { .. } => false,
        };
        let spent = self.of_task(&result.task_id);
        let is_own = |spender: &Spender| self.serving(spender.role).is_some_and(|model| model.name == spender.model);
        if !is_whole || spent.is_empty() || !spent.iter().all(|(spender, _)| is_own(spender)) {
            return;
        }
        let mut book = SpendingBook::open(self.data_dir.join(FILE));
        for model in &self.models {
            let mut taken = Taken::default();
            for (_, account) in spent.iter().filter(|(spender, _)| model.tier.serves(spender.role)) {
                taken.calls += u64::from(account.usage.model_calls);
                taken.prompt_tokens += account.usage.prompt_tokens;
                taken.cached_tokens += account.cached_tokens;
                taken.completion_tokens += account.usage.completion_tokens;
            }
            if let Err(error) = book.remember(&model.key(), taken, abilities::now_s()) {
                tracing::warn!(%error, "what the task took is not kept");
            }
        }
    }

    /// Lines about a task's costs by role and model.
    pub(crate) fn lines(&self, task_id: &TaskId) -> Vec<Line> {
        self.of_task(task_id).iter().map(|(spender, account)| self.line(spender, account)).collect()
    }

    /// A task's model calls, tokens and cost in one line, followed by the estimate, `expected`; `None` without a call.
    pub(crate) fn cost(&self, task_id: &TaskId, expected: Option<String>) -> Option<String> {
        in_one_line(&sum(&self.of_task(task_id)), expected)
    }

    /// The model calls, tokens and cost of the run so far; `None` without a call.
    pub(crate) fn total(&self) -> Option<String> {
        in_one_line(&self.ledger.total(), None)
    }

    /// Tokens of a task's model calls so far.
    pub(crate) fn tokens(&self, task_id: &TaskId) -> u64 {
        let usage = sum(&self.of_task(task_id)).usage;
        usage.prompt_tokens.saturating_add(usage.completion_tokens)
    }

    /// The costs of one role and model in one line.
    fn line(&self, spender: &Spender, account: &Account) -> Line {
        let usage = account.usage;
        let calls = if usage.model_calls == 1 { "call" } else { "calls" };
        let cached = match account.cached_tokens {
            0 => String::new(),
            cached => format!(" ({} from the cache)", units::number(cached)),
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
            units::number(usage.prompt_tokens),
            units::number(usage.completion_tokens),
            money(account),
            account.time_ms / 1000,
            account.time_ms % 1000 / 100,
        ))
    }

    /// A task's costs, fallbacks and estimate as JSON; null if no language model is used.
    pub(crate) fn json(&self, task_id: &TaskId, expected: Option<Value>) -> Value {
        if self.models.is_empty() {
            return Value::Null;
        }
        let rows = self.of_task(task_id);
        let names = self.ledger.answered_as();
        let of_row = |(spender, account): &(Spender, Account)| {
            let mut row = of_account(account);
            json::set(&mut row, "role", json!(spender.role));
            json::set(&mut row, "model", json!(spender.model));
            json::set(&mut row, "answered_as", json!(names.get(&spender.model)));
            row
        };
        json!({
            "currency": CURRENCY,
            "total": of_account(&sum(&rows)),
            "roles": rows.iter().map(of_row).collect::<Vec<_>>(),
            "fallbacks": self.monitor.fallbacks(task_id),
            "estimate": expected
        })
    }

    /// The costs of a task, by role and model.
    fn of_task(&self, task_id: &TaskId) -> Vec<(Spender, Account)> {
        let accounts = self.ledger.accounts().into_iter();
        accounts.filter(|(spender, account)| spender.task_id == *task_id && account.usage.model_calls > 0).collect()
    }
}

/// Calls, tokens and cost of an account as one line, followed by the estimate; `None` if no call was made.
fn in_one_line(total: &Account, expected: Option<String>) -> Option<String> {
    let has_price = total.unpriced_calls < u64::from(total.usage.model_calls);
    let expected = expected.filter(|_| has_price).map(|expected| format!(" ({expected})")).unwrap_or_default();
    let money = if has_price { format!(", {}{expected}", money(total)) } else { String::new() };
    (total.usage.model_calls > 0).then(|| format!("{}{money}", result::calls(&total.usage)))
}

/// The sum of the costs of several roles and models.
fn sum(rows: &[(Spender, Account)]) -> Account {
    let mut total = Account::default();
    rows.iter().for_each(|(_, account)| total += *account);
    total
}

/// The cost of an account as text; says how many calls have no known price.
fn money(account: &Account) -> String {
    let calls = u64::from(account.usage.model_calls);
    match account.unpriced_calls {
        0 => format!("${}", DollarsShown(account.cost)),
        unpriced if unpriced >= calls => "price unknown".to_owned(),
        unpriced => format!("${} and {unpriced} calls whose price is unknown", DollarsShown(account.cost)),
    }
}

/// The costs of an account (calls, tokens, money) as JSON.
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

/// Formats millionths of a dollar as dollars with six decimals.
pub(crate) fn exact(micro: u64) -> String {
    format!("{}.{:06}", micro / 1_000_000, micro % 1_000_000)
}
