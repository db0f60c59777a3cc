//! The ledger of a run: what was spent by task, role and model, and the budget that each call is checked against.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use artoo_proto::{ModelRequest, Role, TaskId, Usage};

/// Number of micro-dollars (millionths) in a dollar.
const MICRO: u64 = 1_000_000;

/// Amounts below this many micro-dollars (one cent) are shown with six decimals instead of four.
const SMALL: u64 = 10_000;

/// Number of micro-dollars in the fourth decimal of a dollar, to which larger amounts are rounded.
const FOURTH_DIGIT: u64 = 100;

/// Maximum number of names recorded under which one model answered: a router may have several models behind one name.
const NAMES_MAX: usize = 8;

/// Prices of a million tokens, in US dollars.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    /// Price of a million prompt tokens that are neither read from nor written into the endpoint's cache.
    pub prompt: f64,
    /// Price of a million prompt tokens read from the endpoint's cache.
    pub cached: f64,
    /// Price of a million prompt tokens written into the endpoint's cache.
    pub written: f64,
    /// Price of a million completion tokens.
    pub completion: f64,
}

/// Prompt tokens of one call that were read from or written into the endpoint's cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cache {
    pub read: u64,
    pub written: u64,
}

impl Price {
    /// The price of these tokens in micro-dollars (millionths of a dollar), rounded up.
    #[must_use]
    pub fn of(&self, usage: Usage, cache: Cache) -> u64 {
        let read = cache.read.min(usage.prompt_tokens);
        let written = cache.written.min(usage.prompt_tokens - read);
        #[expect(clippy::cast_precision_loss, reason = "2^53 tokens are more than any run has")]
        let dollars_per_million = (usage.prompt_tokens - read - written) as f64 * self.prompt
            + read as f64 * self.cached
            + written as f64 * self.written
            + usage.completion_tokens as f64 * self.completion;
        // Dollars a million tokens are micro-dollars a token.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates; never negative")]
        let money = dollars_per_million.ceil() as u64;
        money
    }

    /// The price of these tokens in micro-dollars without the cache, or with all prompt tokens written into it,
    /// whichever is higher.
    #[must_use]
    pub fn most(&self, usage: Usage) -> u64 {
        let written = Cache { read: 0, written: usage.prompt_tokens };
        self.of(usage, Cache::default()).max(self.of(usage, written))
    }

    /// The price of these tokens in micro-dollars without the cache, or with all prompt tokens read from it, whichever
    /// is lower.
    #[must_use]
    pub fn least(&self, usage: Usage) -> u64 {
        let read = Cache { read: usage.prompt_tokens, written: 0 };
        self.of(usage, Cache::default()).min(self.of(usage, read))
    }
}

/// Limits of a run's tokens and cost; `None` is unlimited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Budget {
    /// Maximum number of prompt and completion tokens together.
    pub max_tokens: Option<u64>,
    /// Maximum cost in micro-dollars; calls of models without a known price are refused.
    pub max_cost: Option<u64>,
}

/// Calls, tokens, money and time spent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Account {
    /// Number of calls, prompt tokens and completion tokens.
    pub usage: Usage,
    /// Prompt tokens read from the endpoint's cache.
    pub cached_tokens: u64,
    /// Cost in micro-dollars of the calls with a known price.
    pub cost: u64,
    /// Number of calls of models without a known price; `cost` doesn't include them.
    pub unpriced_calls: u64,
    /// Duration of the calls in milliseconds, retries and waits included.
    pub time_ms: u64,
}

/// The error for a call that may exceed the budget, with the reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct OverBudget(pub String);

/// An amount of micro-dollars, displayed as dollars.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DollarsShown(pub u64);

impl std::fmt::Display for DollarsShown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (dollars, micro) = (self.0 / MICRO, self.0 % MICRO);
        if self.0 >= SMALL || micro.is_multiple_of(FOURTH_DIGIT) {
            // Rounded up, as the prices are.
            let tenths = micro.div_ceil(FOURTH_DIGIT);
            let per_dollar = MICRO / FOURTH_DIGIT;
            return write!(f, "{}.{:04}", dollars + tenths / per_dollar, tenths % per_dollar);
        }
        write!(f, "{dollars}.{micro:06}")
    }
}

/// The key of an account in the ledger: task, role and model.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spender {
    pub task_id: TaskId,
    pub role: Role,
    /// Name of the model in the configuration.
    pub model: String,
}

impl Spender {
    /// The key of the account to which a request with this model is charged.
    fn of(request: &ModelRequest, model: &str) -> Self {
        Self { task_id: request.task_id.clone(), role: request.role, model: model.to_owned() }
    }
}

impl std::ops::AddAssign for Account {
    fn add_assign(&mut self, other: Self) {
        self.usage += other.usage;
        self.cached_tokens += other.cached_tokens;
        self.cost += other.cost;
        self.unpriced_calls += other.unpriced_calls;
        self.time_ms += other.time_ms;
    }
}

/// The budget of a run and what was spent of it, shared by all of the run's model clients.
#[derive(Debug, Default)]
pub struct Ledger {
    budget: Budget,
    // Locked for sums only, never across an await.
    book: Mutex<Book>,
}

/// The accounts and reservations of a ledger, which change with every call.
#[derive(Debug, Default)]
struct Book {
    accounts: BTreeMap<Spender, Account>,
    /// The names under which each configured model answered.
    answered_as: BTreeMap<String, BTreeSet<String>>,
    total: Account,
    /// Tokens set aside for calls in progress.
    reserved_tokens: u64,
    /// Micro-dollars set aside for calls in progress.
    reserved_cost: u64,
}

impl Ledger {
    /// Creates an empty ledger with this budget.
    #[must_use]
    pub fn new(budget: Budget) -> Self {
        Self { budget, book: Mutex::default() }
    }

    /// The spending of the whole run, over all tasks, without reservations.
    #[must_use]
    pub fn total(&self) -> Account {
        self.with(|book| book.total)
    }

    /// The spending by task, role and model.
    #[must_use]
    pub fn accounts(&self) -> BTreeMap<Spender, Account> {
        self.with(|book| book.accounts.clone())
    }

    /// The names under which each configured model answered, as the endpoints report them; at most eight for each.
    #[must_use]
    pub fn answered_as(&self) -> BTreeMap<String, BTreeSet<String>> {
        self.with(|book| book.answered_as.clone())
    }

    /// The limits of the run.
    #[must_use]
    pub fn budget(&self) -> Budget {
        self.budget
    }

    /// Reserves the most that a call can cost, in tokens and money, before it is made; an error if that exceeds the
    /// budget.
    ///
    /// # Errors
    /// If the reservation, added to what is spent or reserved already, exceeds the budget; then the call must not be
    /// made.
    pub fn reserve(
        self: &Arc<Self>,
        request: &ModelRequest,
        prompt_tokens: u64,
        model: &str,
        price: Option<Price>,
    ) -> Result<Reservation, OverBudget> {
        let most = Usage { model_calls: 1, prompt_tokens, completion_tokens: u64::from(request.max_tokens) };
        let tokens = prompt_tokens.saturating_add(most.completion_tokens);
        let cost = match price {
            Some(price) => price.most(most),
            None if self.budget.max_cost.is_some() => {
                return Err(OverBudget(format!("there is a bound on money, and no price is known for {model}")));
            }
            None => 0,
        };
        self.with(|book| {
            let spent = book.total.usage.prompt_tokens + book.total.usage.completion_tokens + book.reserved_tokens;
            if let Some(allowed) = self.budget.max_tokens.filter(|allowed| spent.saturating_add(tokens) > *allowed) {
                return Err(OverBudget(format!(
                    "{spent} of {allowed} tokens are spent or under way, and this call may take {tokens} more"
                )));
            }
            let paid = book.total.cost + book.reserved_cost;
            if let Some(allowed) = self.budget.max_cost.filter(|allowed| paid.saturating_add(cost) > *allowed) {
                let [paid, allowed, cost] = [paid, allowed, cost].map(DollarsShown);
                return Err(OverBudget(format!(
                    "${paid} of ${allowed} are spent or under way, and this call may cost ${cost} more"
                )));
            }
            book.reserved_tokens += tokens;
            book.reserved_cost += cost;
            Ok(())
        })?;
        let whose = Spender::of(request, model);
        let spent = (Usage { completion_tokens: 0, ..most }, Cache::default());
        Ok(Reservation { ledger: Arc::clone(self), whose, price, tokens, cost, spent })
    }

    /// Adds the duration of a call to the account of its task, role and model.
    pub fn took(&self, request: &ModelRequest, model: &str, time_ms: u64) {
        self.with(|book| {
            book.total.time_ms += time_ms;
            book.accounts.entry(Spender::of(request, model)).or_default().time_ms += time_ms;
        });
    }

    /// Records the name under which the endpoint says that a model answered.
    pub(crate) fn answered(&self, model: &str, name: &str) {
        self.with(|book| {
            let names = book.answered_as.entry(model.to_owned()).or_default();
            if names.len() < NAMES_MAX {
                names.insert(name.to_owned());
            }
        });
    }

    /// Runs `act` with the ledger's accounts locked.
    fn with<T>(&self, act: impl FnOnce(&mut Book) -> T) -> T {
        act(&mut self.book.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Budget reserved for one call. If a reservation is dropped without [`Self::settle`], the prompt counts as spent:
/// endpoints charge for what they have read.
#[derive(Debug)]
pub struct Reservation {
    ledger: Arc<Ledger>,
    whose: Spender,
    price: Option<Price>,
    tokens: u64,
    cost: u64,
    /// What counts as spent when the reservation is dropped.
    spent: (Usage, Cache),
}

impl Reservation {
    /// Replaces the reserved amount by what the call actually used.
    pub fn settle(mut self, usage: Usage, cache: Cache) {
        self.spent = (usage, cache);
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let (usage, cache) = self.spent;
        let spent = Account {
            usage,
            cached_tokens: cache.read.min(usage.prompt_tokens),
            cost: self.price.map_or(0, |price| price.of(usage, cache)),
            unpriced_calls: if self.price.is_some() { 0 } else { u64::from(usage.model_calls) },
            time_ms: 0,
        };
        self.ledger.with(|book| {
            book.reserved_tokens = book.reserved_tokens.saturating_sub(self.tokens);
            book.reserved_cost = book.reserved_cost.saturating_sub(self.cost);
            for account in [&mut book.total, book.accounts.entry(self.whose.clone()).or_default()] {
                *account += spent;
            }
        });
    }
}
