//! What a run has spent, by role and task, and the bounds that are held before a call is made.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use artoo_proto::{ModelRequest, Role, TaskId, Usage};

/// Micro-dollars to a dollar; sums of money are whole numbers of them.
const MICRO: f64 = 1_000_000.0;

/// What a million tokens cost, in US dollars.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    /// Sent.
    pub prompt: f64,
    /// Sent, and found in the endpoint's cache.
    pub cached: f64,
    /// Received.
    pub completion: f64,
}

impl Price {
    /// Money for so many tokens, in micro-dollars, rounded up: a bound is never missed by rounding.
    #[must_use]
    pub fn of(&self, usage: Usage, cached: u64) -> u64 {
        let cached = cached.min(usage.prompt_tokens);
        #[expect(clippy::cast_precision_loss, reason = "2^53 tokens are more than any run has")]
        let dollars_per_million = (usage.prompt_tokens - cached) as f64 * self.prompt
            + cached as f64 * self.cached
            + usage.completion_tokens as f64 * self.completion;
        // Dollars a million tokens are micro-dollars a token.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates; never negative")]
        let money = dollars_per_million.ceil() as u64;
        money
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
    /// Time the calls took, in milliseconds, waits for retries included.
    pub time_ms: u64,
}

/// Why a call is not made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OverBudget {
    /// Too many tokens.
    #[error("{spent} of {allowed} tokens are spent or under way, and this call may take {wanted} more")]
    Tokens {
        /// Spent and under way.
        spent: u64,
        /// The bound.
        allowed: u64,
        /// What the call may take at most.
        wanted: u64,
    },
    /// Too much money.
    #[error("${spent} of ${allowed} are spent or under way, and this call may cost ${wanted} more")]
    Money {
        /// Spent and under way, in dollars.
        spent: DollarsShown,
        /// The bound.
        allowed: DollarsShown,
        /// What the call may cost at most.
        wanted: DollarsShown,
    },
    /// A bound on money, and a model without a price.
    #[error("there is a bound on money, and no price is known for {model}")]
    NoPrice {
        /// The model.
        model: String,
    },
}

/// Money in micro-dollars, shown in dollars.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DollarsShown(pub u64);

impl std::fmt::Display for DollarsShown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        #[expect(clippy::cast_precision_loss, reason = "for people, four digits behind the point")]
        let dollars = self.0 as f64 / MICRO;
        write!(f, "{dollars:.4}")
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
    accounts: BTreeMap<(TaskId, Role), Account>,
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

    /// By task and role.
    #[must_use]
    pub fn accounts(&self) -> BTreeMap<(TaskId, Role), Account> {
        self.with(|book| book.accounts.clone())
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
            Some(price) => price.of(most, 0),
            None if self.budget.max_cost.is_some() => return Err(OverBudget::NoPrice { model: model.to_owned() }),
            None => 0,
        };
        self.with(|book| {
            let spent = book.total.usage.prompt_tokens + book.total.usage.completion_tokens + book.reserved_tokens;
            if let Some(allowed) = self.budget.max_tokens.filter(|allowed| spent.saturating_add(tokens) > *allowed) {
                return Err(OverBudget::Tokens { spent, allowed, wanted: tokens });
            }
            let paid = book.total.cost + book.reserved_cost;
            if let Some(allowed) = self.budget.max_cost.filter(|allowed| paid.saturating_add(cost) > *allowed) {
                let shown = |money| DollarsShown(money);
                return Err(OverBudget::Money { spent: shown(paid), allowed: shown(allowed), wanted: shown(cost) });
            }
            book.reserved_tokens += tokens;
            book.reserved_cost += cost;
            Ok(())
        })?;
        let whose = (request.task_id.clone(), request.role);
        Ok(Reservation { ledger: Arc::clone(self), whose, price, tokens, cost, prompt_tokens, settled: false })
    }

    /// Adds time that a call took.
    pub fn took(&self, request: &ModelRequest, time_ms: u64) {
        self.with(|book| {
            book.total.time_ms += time_ms;
            book.accounts.entry((request.task_id.clone(), request.role)).or_default().time_ms += time_ms;
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
    whose: (TaskId, Role),
    price: Option<Price>,
    tokens: u64,
    cost: u64,
    prompt_tokens: u64,
    settled: bool,
}

impl Reservation {
    /// Replaces what was set aside by what was spent.
    pub fn settle(mut self, usage: Usage, cached: u64) {
        self.close(usage, cached);
    }

    fn close(&mut self, usage: Usage, cached: u64) {
        self.settled = true;
        let cost = self.price.map_or(0, |price| price.of(usage, cached));
        let (tokens, set_aside) = (self.tokens, self.cost);
        self.ledger.with(|book| {
            book.reserved_tokens = book.reserved_tokens.saturating_sub(tokens);
            book.reserved_cost = book.reserved_cost.saturating_sub(set_aside);
            for account in [&mut book.total, book.accounts.entry(self.whose.clone()).or_default()] {
                account.usage += usage;
                account.cached_tokens += cached;
                account.cost += cost;
            }
        });
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if !self.settled {
            let sent = Usage { model_calls: 1, prompt_tokens: self.prompt_tokens, completion_tokens: 0 };
            self.close(sent, 0);
        }
    }
}
