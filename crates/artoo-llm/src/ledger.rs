//! What a run has spent, by role and task, and the bounds that are held before a call is made.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use artoo_proto::{ModelRequest, Role, TaskId, Usage};

/// Micro-dollars to a dollar; sums of money are whole numbers of them.
const MICRO: u64 = 1_000_000;

/// Below this many micro-dollars, a cent, four digits behind the point would hide most of a sum.
const SMALL: u64 = 10_000;

/// Micro-dollars in the fourth digit behind the point.
const FOURTH_DIGIT: u64 = 100;

/// Names under which one model answered that are kept: a router may have a handful behind one name.
const NAMES_MAX: usize = 8;

/// What a million tokens cost, in US dollars.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    /// Sent.
    pub prompt: f64,
    /// Sent, and found in the endpoint's cache.
    pub cached: f64,
    /// Sent, and put into the endpoint's cache, where it counts these apart.
    pub written: f64,
    /// Received.
    pub completion: f64,
}

/// What a cache of the endpoint did for one call; both are among the tokens sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cache {
    /// Tokens that were found there.
    pub read: u64,
    /// Tokens that were put there.
    pub written: u64,
}

impl Price {
    /// Money for so many tokens, in micro-dollars, rounded up: a bound is never missed by rounding.
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

    /// The most that so many tokens can cost, whatever a cache does with them.
    #[must_use]
    pub fn most(&self, usage: Usage) -> u64 {
        let written = Cache { read: 0, written: usage.prompt_tokens };
        self.of(usage, Cache::default()).max(self.of(usage, written))
    }

    /// The least that so many tokens can cost.
    #[must_use]
    pub fn least(&self, usage: Usage) -> u64 {
        let read = Cache { read: usage.prompt_tokens, written: 0 };
        self.of(usage, Cache::default()).min(self.of(usage, read))
    }
}

/// What may be spent. Absent bounds don't bind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Budget {
    /// Tokens, sent and received together.
    pub max_tokens: Option<u64>,
    /// Money in micro-dollars; binds only models whose price is known.
    pub max_cost: Option<u64>,
}

/// What was spent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Account {
    /// Calls and tokens.
    pub usage: Usage,
    /// Tokens from the endpoint's cache.
    pub cached_tokens: u64,
    /// Money in micro-dollars, as far as prices are known.
    pub cost: u64,
    /// Calls of models whose price is not known: what they cost is not in the sum.
    pub unpriced_calls: u64,
    /// Time the calls took, in milliseconds, waits for retries included.
    pub time_ms: u64,
}

/// A call that may exceed a bound, with the reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct OverBudget(pub String);

/// Money in micro-dollars, shown in dollars.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DollarsShown(pub u64);

impl std::fmt::Display for DollarsShown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (dollars, micro) = (self.0 / MICRO, self.0 % MICRO);
        if self.0 >= SMALL || micro.is_multiple_of(FOURTH_DIGIT) {
            // Rounded up, as sums are.
            let tenths = micro.div_ceil(FOURTH_DIGIT);
            let per_dollar = MICRO / FOURTH_DIGIT;
            return write!(f, "{}.{:04}", dollars + tenths / per_dollar, tenths % per_dollar);
        }
        write!(f, "{dollars}.{micro:06}")
    }
}

/// Whose calls an account is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spender {
    /// The task.
    pub task_id: TaskId,
    /// The role in it.
    pub role: Role,
    /// The model it asked, as it is configured.
    pub model: String,
}

impl Spender {
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

/// The one book of a run, shared by all its clients.
#[derive(Debug, Default)]
pub struct Ledger {
    budget: Budget,
    // Held for sums only, never across a wait.
    book: Mutex<Book>,
}

#[derive(Debug, Default)]
struct Book {
    accounts: BTreeMap<Spender, Account>,
    /// Under which names a configured model answered.
    answered_as: BTreeMap<String, BTreeSet<String>>,
    total: Account,
    reserved_tokens: u64,
    reserved_cost: u64,
}

impl Ledger {
    /// An empty book with these bounds.
    #[must_use]
    pub fn new(budget: Budget) -> Self {
        Self { budget, book: Mutex::default() }
    }

    /// Everything together.
    #[must_use]
    pub fn total(&self) -> Account {
        self.with(|book| book.total)
    }

    /// By task, role and model.
    #[must_use]
    pub fn accounts(&self) -> BTreeMap<Spender, Account> {
        self.with(|book| book.accounts.clone())
    }

    /// The names under which each configured model answered, in the endpoints' own words.
    #[must_use]
    pub fn answered_as(&self) -> BTreeMap<String, BTreeSet<String>> {
        self.with(|book| book.answered_as.clone())
    }

    /// The bounds.
    #[must_use]
    pub fn budget(&self) -> Budget {
        self.budget
    }

    /// Sets aside what a call may cost at most.
    ///
    /// # Errors
    /// When that and what is spent or under way is more than the budget has; then the call must not be made.
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
        Ok(Reservation { ledger: Arc::clone(self), whose, price, tokens, cost, prompt_tokens, settled: false })
    }

    /// Adds time that a call took.
    pub fn took(&self, request: &ModelRequest, model: &str, time_ms: u64) {
        self.with(|book| {
            book.total.time_ms += time_ms;
            book.accounts.entry(Spender::of(request, model)).or_default().time_ms += time_ms;
        });
    }

    /// A model answered under this name.
    pub(crate) fn answered(&self, model: &str, name: &str) {
        self.with(|book| {
            let names = book.answered_as.entry(model.to_owned()).or_default();
            if names.len() < NAMES_MAX {
                names.insert(name.to_owned());
            }
        });
    }

    fn with<T>(&self, act: impl FnOnce(&mut Book) -> T) -> T {
        act(&mut self.book.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What is set aside for one call. Dropped without being settled it counts the prompt as spent: it was sent, and an
/// endpoint charges for what it has read.
#[derive(Debug)]
pub struct Reservation {
    ledger: Arc<Ledger>,
    whose: Spender,
    price: Option<Price>,
    tokens: u64,
    cost: u64,
    prompt_tokens: u64,
    settled: bool,
}

impl Reservation {
    /// Replaces what was set aside by what was spent.
    pub fn settle(mut self, usage: Usage, cache: Cache) {
        self.close(usage, cache);
    }

    fn close(&mut self, usage: Usage, cache: Cache) {
        self.settled = true;
        let spent = Account {
            usage,
            cached_tokens: cache.read.min(usage.prompt_tokens),
            cost: self.price.map_or(0, |price| price.of(usage, cache)),
            unpriced_calls: if self.price.is_some() { 0 } else { u64::from(usage.model_calls) },
            time_ms: 0,
        };
        let (tokens, set_aside) = (self.tokens, self.cost);
        self.ledger.with(|book| {
            book.reserved_tokens = book.reserved_tokens.saturating_sub(tokens);
            book.reserved_cost = book.reserved_cost.saturating_sub(set_aside);
            for account in [&mut book.total, book.accounts.entry(self.whose.clone()).or_default()] {
                *account += spent;
            }
        });
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if !self.settled {
            let sent = Usage { model_calls: 1, prompt_tokens: self.prompt_tokens, completion_tokens: 0 };
            self.close(sent, Cache::default());
        }
    }
}
