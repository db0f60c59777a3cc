//! Estimates what a task will take (at least, likely, at most) before a model is called, and refuses limits that are
//! too low.

use artoo_llm::ledger::{Cache, DollarsShown, Price};
use artoo_llm::usage::{least_tokens, tokens_of};
use artoo_proto::{Now, SessionTurn, ToolSpec, Usage, units};
use artoo_roles::estimate::{CallSize, Course, TaskInput, calls, calls_max};
use artoo_roles::runtime::{is_answered_in_full, open_memory};
use artoo_tools::Registry;
use serde_json::{Value, json};

use crate::display::{Line, json as events};
use crate::spending::{CURRENCY, Spending, exact};
use crate::{Exit, Failure, Screen, Settings, clock, skill_use};

/// Calls, tokens and cost of a task, or of some of its model calls, added up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Totals {
    calls: u64,
    sent: u64,
    received: u64,
    /// Cost in millionths of a dollar; `None` if a price is not known.
    cost: Option<u64>,
}

/// Estimate of the calls, tokens and cost that a task will take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Estimate {
    least: Totals,
    likely: Totals,
    /// Number of earlier tasks of which `likely` is the median; `None` if a task of one step was assumed.
    learned_from: Option<usize>,
    max_calls: u64,
    /// The most tokens that the task can take, by the settings or the models' contexts; `None` if unlimited.
    max_tokens: Option<u64>,
    /// The most that the task can cost in millionths of a dollar, by the settings or `max_tokens`; `None` if unlimited.
    max_cost: Option<u64>,
    /// Tokens that must be left of the limit for the task to finish.
    needed_tokens: u64,
    /// Millionths of a dollar that must be left of the limit for the task to finish; `None` if a price is not known.
    needed_cost: Option<u64>,
    /// Names of the models whose price is not known.
    unpriced: Vec<String>,
}

/// What the estimate of a request takes into account besides its words: earlier turns, piped input, and an approved
/// skill.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RequestContext<'a> {
    pub(crate) session: &'a [SessionTurn],
    /// Whether text on standard input came with the request.
    pub(crate) with_material: bool,
    /// Whether a skill answers the request.
    pub(crate) by_skill: bool,
}

/// Runs `artoo --estimate`: shows the estimate of a task. No model is called.
pub(crate) fn run(settings: &Settings, spending: &Spending, words: &str, screen: &Screen) -> Result<Exit, Failure> {
    let tools = Registry::detect(settings.tools.clone()).specs();
    let memory = open_memory(&settings.data_dir, false).ok().filter(|_| settings.memory);
    let by_skill = memory.is_some_and(|memory| skill_use::is_used(&memory.engine(), words, &settings.environment.cwd));
    let estimate =
        Estimate::of(settings, spending, &tools, words, RequestContext { by_skill, ..RequestContext::default() });
    if settings.json {
        screen.json(&events::estimate(&estimate.as_ref().map_or(Value::Null, Estimate::json)));
    } else {
        let none = || vec![Line::plain("no language model is asked: no tokens, no money")];
        screen.answer(&estimate.as_ref().map_or_else(none, Estimate::page));
    }
    estimate.map_or(Ok(()), |estimate| estimate.check(spending))?;
    Ok(Exit::Accepted)
}

impl Estimate {
    /// Estimates a task; `None` if no language model is used, or if one is called only after a skill or a recipe of the
    /// embedded parser fails.
    pub(crate) fn of(
        settings: &Settings,
        spending: &Spending,
        tools: &[ToolSpec],
        request: &str,
        RequestContext { session, with_material, by_skill }: RequestContext<'_>,
    ) -> Option<Self> {
        let now = Now { wall: clock::now(), uptime_ms: 0 };
        let is_free = || by_skill || is_answered_in_full(request, session, &settings.environment, now);
        if spending.models.is_empty() || (settings.asks_reflex_first() && !with_material && is_free()) {
            return None;
        }
        let task = TaskInput { environment: &settings.environment, tools, request, session };
        let shortest = [Course::Checked, Course::Words].map(|course| calls(&task, course));
        let least = shortest.iter().map(|calls| totals(calls, spending, least_usage, Price::least));
        let least = least.reduce(|one, other| one.combine(other, u64::min))?;
        let needed = shortest.iter().map(|calls| needed(calls, spending));
        let (needed_tokens, needed_cost) =
            needed.reduce(|one, other| (one.0.min(other.0), both(one.1, other.1, u64::min)))?;
        let learned = learned(spending);
        let uncached = |price: &Price, usage| price.of(usage, Cache::default());
        let assumed = || totals(&calls(&task, Course::Judged), spending, usual_usage, uncached);
        // A request longer than earlier ones takes at least its own minimum.
        let likely = learned.map_or_else(assumed, |(known, _)| known.combine(least, u64::max));
        let (max_tokens, max_cost) = limits(spending);
        Some(Self {
            least,
            likely,
            learned_from: learned.map(|(_, tasks)| tasks),
            max_calls: calls_max(),
            max_tokens,
            max_cost,
            needed_tokens,
            needed_cost,
            unpriced: spending.unpriced(),
        })
    }

    /// Compares the estimate with what is left of the run's token and cost limits; an error if the task can't finish
    /// within them.
    pub(crate) fn check(&self, spending: &Spending) -> Result<(), Failure> {
        let (left_tokens, left_cost) = left(spending);
        if let Some(left) = left_tokens.filter(|left| *left < self.needed_tokens) {
            let tokens = |count| format!("{} tokens", units::number(count));
            let needed = tokens(self.needed_tokens);
            return Err(Failure::LimitTooLow { option: "--max-tokens", left: tokens(left), needed });
        }
        let Some(left) = left_cost else { return Ok(()) };
        let no_price = || Failure::NoPrice { model: self.unpriced.first().cloned().unwrap_or_default() };
        let needed = self.needed_cost.ok_or_else(no_price)?;
        if left < needed {
            return Err(Failure::LimitTooLow { option: "--max-cost", left: dollars(left), needed: dollars(needed) });
        }
        Ok(())
    }

    /// Whether the price of every model of the task is known.
    pub(crate) fn has_price(&self) -> bool {
        self.unpriced.is_empty()
    }

    /// The estimate in one line, shown before the task runs.
    pub(crate) fn line(&self) -> String {
        let most = self
            .max_cost
            .map_or_else(|| "no bound set (--max-cost)".to_owned(), |cost| format!("at most {}", dollars(cost)));
        format!("estimate: likely {}, at least {}, {most}", self.likely.short(), self.least.short())
    }

    /// The estimate in a few words, to show it after a task beside the actual cost.
    pub(crate) fn beside(&self) -> String {
        format!("estimated: likely {}, at least {}", self.likely.short(), self.least.short())
    }

    /// The estimate as lines of text for `artoo --estimate`.
    fn page(&self) -> Vec<Line> {
        let basis = self.learned_from.map_or_else(
            || "assumed: one step; a correction adds 2 calls, a replan 4; after three tasks it is learnt".to_owned(),
            |tasks| format!("the median of the last {tasks} tasks with this choice of models"),
        );
        let bound = |what: Option<String>, option: &str| what.unwrap_or_else(|| format!("no bound set ({option})"));
        let mut lines = vec![
            Line::plain(format!("at least: {}", self.least.long())),
            Line::plain(format!("likely:   {} ({basis})", self.likely.long())),
            Line::plain(format!(
                "at most:  {} calls by artoo's own limits; tokens: {}; money: {}",
                units::number(self.max_calls),
                bound(self.max_tokens.map(units::number), "--max-tokens"),
                bound(self.max_cost.map(dollars), "--max-cost"),
            )),
        ];
        lines.extend(self.unpriced.iter().map(|model| {
            let model = artoo_proto::escape::one_line(model);
            Line::plain(format!("the price of {model} is unknown: ARTOO_PRICES says it"))
        }));
        lines
    }

    /// The estimate as JSON.
    pub(crate) fn json(&self) -> Value {
        json!({
            "currency": CURRENCY,
            "least": self.least.json(),
            "likely": self.likely.json(),
            "basis": if self.learned_from.is_some() { "learnt" } else { "assumed" },
            "tasks_learnt_from": self.learned_from.unwrap_or(0),
            "most": {"calls": self.max_calls, "tokens": self.max_tokens, "cost": self.max_cost.map(exact)},
            "unpriced_models": self.unpriced
        })
    }
}

/// An amount in millionths of a dollar as text, such as `$0.0012`.
fn dollars(micro: u64) -> String {
    format!("${}", DollarsShown(micro))
}

/// Combines two costs by a function; `None` if either cost is not known.
fn both(one: Option<u64>, other: Option<u64>, combine: fn(u64, u64) -> u64) -> Option<u64> {
    one.zip(other).map(|(one, other)| combine(one, other))
}

impl Totals {
    const NONE: Self = Self { calls: 0, sent: 0, received: 0, cost: Some(0) };

    /// The totals of some token usage with its cost.
    fn of(usage: Usage, cost: Option<u64>) -> Self {
        let (sent, received) = (usage.prompt_tokens, usage.completion_tokens);
        Self { calls: u64::from(usage.model_calls), sent, received, cost }
    }

    /// Combines two totals, number by number, by a function such as the sum or the maximum.
    fn combine(self, other: Self, combine: fn(u64, u64) -> u64) -> Self {
        Self {
            calls: combine(self.calls, other.calls),
            sent: combine(self.sent, other.sent),
            received: combine(self.received, other.received),
            cost: both(self.cost, other.cost, combine),
        }
    }

    /// The totals as a short text: cost and calls, or tokens and calls if there is no price.
    fn short(self) -> String {
        match self.cost {
            Some(cost) => format!("{} for {} calls", dollars(cost), units::number(self.calls)),
            None => {
                format!("{} tokens in {} calls", units::number(self.sent + self.received), units::number(self.calls))
            }
        }
    }

    /// The totals in one line with sent and received tokens.
    fn long(self) -> String {
        let money = self.cost.map(|cost| format!(", {}", dollars(cost))).unwrap_or_default();
        let (sent, received) = (units::number(self.sent), units::number(self.received));
        format!("{} calls, {sent} tokens sent and {received} received{money}", units::number(self.calls))
    }

    /// The totals as JSON.
    fn json(self) -> Value {
        json!({
            "calls": self.calls, "tokens_in": self.sent, "tokens_out": self.received, "cost": self.cost.map(exact)
        })
    }
}

/// The fewest tokens that a call can take.
fn least_usage(call: &CallSize) -> Usage {
    Usage { model_calls: 1, prompt_tokens: least_tokens(call.sent), completion_tokens: least_tokens(call.received) }
}

/// The tokens that a call usually takes.
fn usual_usage(call: &CallSize) -> Usage {
    Usage { model_calls: 1, prompt_tokens: tokens_of(call.sent), completion_tokens: tokens_of(call.received) }
}

/// Adds up model calls: their tokens, estimated by `usage`, and their cost, by `cost` at the price of the model of each
/// call.
fn totals(
    calls: &[CallSize],
    spending: &Spending,
    usage: fn(&CallSize) -> Usage,
    cost: fn(&Price, Usage) -> u64,
) -> Totals {
    let of_call = |call: &CallSize| {
        let usage = usage(call);
        Totals::of(usage, spending.price(call.role).map(|price| cost(&price, usage)))
    };
    calls.iter().map(of_call).fold(Totals::NONE, |sum, call| sum.combine(call, u64::saturating_add))
}

/// Tokens and money (millionths of a dollar) that must be left of the limits for these calls to be made. A call is made
/// only if its longest reply can be paid for; the calls before it are counted at their minimum.
fn needed(calls: &[CallSize], spending: &Spending) -> (u64, Option<u64>) {
    let (mut tokens, mut cost) = (0, Some(0));
    for (number, call) in calls.iter().enumerate() {
        let before = totals(calls.get(..number).unwrap_or_default(), spending, least_usage, Price::least);
        let most = Usage { completion_tokens: u64::from(call.max_tokens), ..usual_usage(call) };
        tokens = tokens.max(before.sent + before.received + most.prompt_tokens + most.completion_tokens);
        let price = spending.price(call.role).map(|price| price.most(most));
        cost = both(cost, both(before.cost, price, u64::saturating_add), u64::max);
    }
    (tokens, cost)
}

/// Median cost of earlier tasks with these models at current prices, and the number of those tasks; `None` if a model
/// has too few.
fn learned(spending: &Spending) -> Option<(Totals, usize)> {
    let known: Vec<_> = spending.learned().into_iter().collect::<Option<_>>()?;
    let fewest = known.iter().map(|(tasks, _)| *tasks).min()?;
    let of_model = |(model, (_, taken)): (&crate::spending::ModelInUse, &(usize, artoo_llm::spending::Taken))| {
        let usage = Usage {
            model_calls: u32::try_from(taken.calls).unwrap_or(u32::MAX),
            prompt_tokens: taken.prompt_tokens,
            completion_tokens: taken.completion_tokens,
        };
        let cache = Cache { read: taken.cached_tokens, written: 0 };
        Totals::of(usage, model.price.map(|price| price.of(usage, cache)))
    };
    let sum = spending.models.iter().zip(&known).map(of_model);
    Some((sum.fold(Totals::NONE, |sum, model| sum.combine(model, u64::saturating_add)), fewest))
}

/// Tokens and money (millionths of a dollar) that are left of the run's limits; each `None` if not limited.
fn left(spending: &Spending) -> (Option<u64>, Option<u64>) {
    let (budget, spent) = (spending.ledger.budget(), spending.ledger.total());
    let tokens = spent.usage.prompt_tokens + spent.usage.completion_tokens;
    let tokens = budget.max_tokens.map(|allowed| allowed.saturating_sub(tokens));
    (tokens, budget.max_cost.map(|allowed| allowed.saturating_sub(spent.cost)))
}

/// The most tokens and money (millionths of a dollar) that a task can take: what is left of the set limits, or less if
/// the models' contexts and prices allow less; each `None` if unlimited.
fn limits(spending: &Spending) -> (Option<u64>, Option<u64>) {
    let (left_tokens, left_cost) = left(spending);
    let contexts: Option<Vec<u64>> = spending.models.iter().map(|model| model.context_tokens).collect();
    let by_context =
        contexts.and_then(|contexts| contexts.into_iter().max()).map(|most| most.saturating_mul(calls_max()));
    let tokens = by_context.into_iter().chain(left_tokens).min();
    let dearest = |price: &Price, tokens: u64| {
        let of = |prompt_tokens, completion_tokens| Usage { model_calls: 1, prompt_tokens, completion_tokens };
        price.most(of(tokens, 0)).max(price.most(of(0, tokens)))
    };
    let prices: Option<Vec<Price>> = spending.models.iter().map(|model| model.price).collect();
    let by_tokens =
        prices.zip(tokens).and_then(|(prices, tokens)| prices.iter().map(|price| dearest(price, tokens)).max());
    (tokens, by_tokens.into_iter().chain(left_cost).min())
}
