//! What a task will take before a call is made: at least, likely, at most, and the bounds that can't be kept.

use artoo_llm::ledger::{Cache, DollarsShown, Price};
use artoo_llm::usage::{estimated_tokens, least_tokens, prompt_tokens, sent_chars};
use artoo_proto::{SessionTurn, ToolSpec, Usage};
use artoo_roles::rehearsal::{Course, Line as Rehearsed, Scene, calls_max, rehearse};
use artoo_tools::Registry;
use serde_json::{Value, json};

use crate::display::writer::Screen;
use crate::display::{Line, json as events};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::settings::Settings;
use crate::spending::{CURRENCY, Spending, exact, grouped};

/// Calls, tokens and money.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Amount {
    calls: u64,
    sent: u64,
    received: u64,
    /// `None` where a price is not known.
    cost: Option<u64>,
}

/// What the likely amount rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Basis {
    /// The simplest task: one step, no correction, no replan.
    Assumed,
    /// The median of so many tasks with these models.
    Learnt(usize),
}

/// What no task passes; `None` where nothing bounds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Most {
    calls: u64,
    tokens: Option<u64>,
    cost: Option<u64>,
}

/// What must be free for a task to get to its end: what is spent before a call, and what is set aside for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Needed {
    tokens: u64,
    cost: Option<u64>,
}

/// What a task will take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Estimate {
    least: Amount,
    likely: Amount,
    basis: Basis,
    most: Most,
    needed: Needed,
    /// Models without a price.
    unpriced: Vec<String>,
}

/// Shows the estimate of a task, and asks no model.
pub(crate) fn run(settings: &Settings, spending: &Spending, words: &str, screen: &Screen) -> Result<Exit, Failure> {
    let tools = Registry::detect(settings.tools.clone()).specs();
    let estimate = Estimate::of(settings, spending, &tools, words, &[]);
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
    /// The estimate of a task; `None` where no language model is asked.
    pub(crate) fn of(
        settings: &Settings,
        spending: &Spending,
        tools: &[ToolSpec],
        words: &str,
        session: &[SessionTurn],
    ) -> Option<Self> {
        if spending.line_up.is_empty() {
            return None;
        }
        let scene = Scene { environment: &settings.environment, tools, words, session };
        let shortest = [rehearse(&scene, Course::Checked), rehearse(&scene, Course::Words)];
        let least = shortest.iter().map(|lines| amount(lines, spending, least_of)).reduce(Amount::lesser)?;
        let needed = shortest.iter().map(|lines| needed(lines, spending)).reduce(Needed::lesser)?;
        let assumed = amount(&rehearse(&scene, Course::Judged), spending, usual_of);
        let (likely, basis) = learnt(spending).map_or((assumed, Basis::Assumed), |(known, tasks)| {
            // A longer request than those before takes what it takes.
            (known.greater(least), Basis::Learnt(tasks))
        });
        let unpriced = spending.line_up.iter().filter(|in_use| in_use.known.price.is_none());
        let unpriced = unpriced.map(|in_use| in_use.known.model.clone()).collect();
        Some(Self { least, likely, basis, most: most(spending), needed, unpriced })
    }

    /// Refuses a task that what is left of the bounds can't carry to its end.
    pub(crate) fn check(&self, spending: &Spending) -> Result<(), Failure> {
        let (budget, spent) = (spending.ledger.budget(), spending.ledger.total());
        if let Some(allowed) = budget.max_tokens {
            let left = allowed.saturating_sub(spent.usage.prompt_tokens + spent.usage.completion_tokens);
            if left < self.needed.tokens {
                let tokens = |count| format!("{} tokens", grouped(count));
                let (left, needed) = (tokens(left), tokens(self.needed.tokens));
                return Err(too_low("--max-tokens", &left, &needed));
            }
        }
        if let Some(allowed) = budget.max_cost {
            let no_price = || {
                let model = self.unpriced.first().map_or("", String::as_str);
                Failure::usage(format!("there is a limit on money, and no price is known for {model}"))
                    .with_remedy("set its price with ARTOO_PRICES, or limit the tokens with --max-tokens")
            };
            let needed = self.needed.cost.ok_or_else(no_price)?;
            let left = allowed.saturating_sub(spent.cost);
            if left < needed {
                let money = |micro| format!("${}", DollarsShown(micro));
                let (left, needed) = (money(left), money(needed));
                return Err(too_low("--max-cost", &left, &needed));
            }
        }
        Ok(())
    }

    /// Whether money can be told.
    pub(crate) fn has_price(&self) -> bool {
        self.unpriced.is_empty()
    }

    /// One line before the task.
    pub(crate) fn line(&self) -> String {
        let most = match self.most.cost {
            Some(cost) => format!("at most ${}", DollarsShown(cost)),
            None => "no bound set (--max-cost)".to_owned(),
        };
        format!("estimate: likely {}, at least {}, {most}", self.likely.short(), self.least.short())
    }

    /// Beside what was spent.
    pub(crate) fn beside(&self) -> String {
        format!("estimated: likely {}, at least {}", self.likely.short(), self.least.short())
    }

    /// For people who asked.
    fn page(&self) -> Vec<Line> {
        let basis = match self.basis {
            Basis::Assumed => {
                "assumed: one step; a correction adds 2 calls, a replan 4; after three tasks it is learnt".to_owned()
            }
            Basis::Learnt(tasks) => format!("the median of the last {tasks} tasks with this choice of models"),
        };
        let mut lines = vec![
            Line::plain(format!("at least: {}", self.least.told())),
            Line::plain(format!("likely:   {} ({basis})", self.likely.told())),
        ];
        let bound = |what: Option<String>, option: &str| what.unwrap_or_else(|| format!("no bound set ({option})"));
        lines.push(Line::plain(format!(
            "at most:  {} calls by artoo's own limits; tokens: {}; money: {}",
            grouped(self.most.calls),
            bound(self.most.tokens.map(grouped), "--max-tokens"),
            bound(self.most.cost.map(|cost| format!("${}", DollarsShown(cost))), "--max-cost"),
        )));
        lines.extend(self.unpriced.iter().map(|model| {
            let model = artoo_proto::escape::one_line(model);
            Line::plain(format!("the price of {model} is unknown: ARTOO_PRICES says it"))
        }));
        lines
    }

    /// For programs.
    pub(crate) fn json(&self) -> Value {
        let (basis, tasks) = match self.basis {
            Basis::Assumed => ("assumed", 0),
            Basis::Learnt(tasks) => ("learnt", tasks),
        };
        json!({
            "currency": CURRENCY,
            "least": self.least.json(),
            "likely": self.likely.json(),
            "basis": basis,
            "tasks_learnt_from": tasks,
            "most": {"calls": self.most.calls, "tokens": self.most.tokens, "cost": self.most.cost.map(exact)},
            "unpriced_models": self.unpriced
        })
    }
}

fn too_low(option: &str, left: &str, needed: &str) -> Failure {
    Failure::usage(format!(
        "{option} leaves {left}, and to get to its end this task needs {needed} free: no call is made whose longest \
         reply could not be paid for"
    ))
    .with_remedy("allow more, or leave the limit out; artoo --estimate \"<what you want done>\" says what it takes")
}

impl Amount {
    fn add(&mut self, usage: Usage, cost: Option<u64>) {
        self.calls += u64::from(usage.model_calls);
        self.sent += usage.prompt_tokens;
        self.received += usage.completion_tokens;
        self.cost = self.cost.zip(cost).map(|(sum, cost)| sum + cost);
    }

    fn each(self, other: Self, choose: fn(u64, u64) -> u64) -> Self {
        Self {
            calls: choose(self.calls, other.calls),
            sent: choose(self.sent, other.sent),
            received: choose(self.received, other.received),
            cost: self.cost.zip(other.cost).map(|(one, other)| choose(one, other)),
        }
    }

    fn lesser(self, other: Self) -> Self {
        self.each(other, u64::min)
    }

    fn greater(self, other: Self) -> Self {
        self.each(other, u64::max)
    }

    fn short(self) -> String {
        match self.cost {
            Some(cost) => format!("${} for {} calls", DollarsShown(cost), grouped(self.calls)),
            None => format!("{} tokens in {} calls", grouped(self.sent + self.received), grouped(self.calls)),
        }
    }

    fn told(self) -> String {
        let money = self.cost.map(|cost| format!(", ${}", DollarsShown(cost))).unwrap_or_default();
        let (sent, received) = (grouped(self.sent), grouped(self.received));
        format!("{} calls, {sent} tokens sent and {received} received{money}", grouped(self.calls))
    }

    fn json(self) -> Value {
        json!({
            "calls": self.calls, "tokens_in": self.sent, "tokens_out": self.received, "cost": self.cost.map(exact)
        })
    }
}

impl Needed {
    fn lesser(self, other: Self) -> Self {
        let cost = self.cost.zip(other.cost).map(|(one, other)| one.min(other));
        Self { tokens: self.tokens.min(other.tokens), cost }
    }
}

/// Tokens and money of one rehearsed call.
type Reckoning = fn(&Rehearsed, Option<Price>) -> (Usage, Option<u64>);

fn least_of(line: &Rehearsed, price: Option<Price>) -> (Usage, Option<u64>) {
    let sent = least_tokens(sent_chars(&line.request));
    let received = least_tokens(line.reply.to_string().chars().count());
    let usage = Usage { model_calls: 1, prompt_tokens: sent, completion_tokens: received };
    (usage, price.map(|price| price.least(usage)))
}

fn usual_of(line: &Rehearsed, price: Option<Price>) -> (Usage, Option<u64>) {
    let (sent, received) = (prompt_tokens(&line.request), estimated_tokens(&line.reply.to_string()));
    let usage = Usage { model_calls: 1, prompt_tokens: sent, completion_tokens: received };
    (usage, price.map(|price| price.of(usage, Cache::default())))
}

fn amount(lines: &[Rehearsed], spending: &Spending, reckon: Reckoning) -> Amount {
    let mut amount = Amount { cost: Some(0), ..Amount::default() };
    for line in lines {
        let (usage, cost) = reckon(line, price_of(line, spending));
        amount.add(usage, cost);
    }
    amount
}

fn price_of(line: &Rehearsed, spending: &Spending) -> Option<Price> {
    spending.serving(line.request.role).and_then(|in_use| in_use.known.price)
}

/// A call is made only if what it may take at most is free; what came before it has taken at least its least.
fn needed(lines: &[Rehearsed], spending: &Spending) -> Needed {
    let mut needed = Needed { tokens: 0, cost: Some(0) };
    let mut spent = Amount { cost: Some(0), ..Amount::default() };
    for line in lines {
        let most = Usage {
            model_calls: 1,
            prompt_tokens: prompt_tokens(&line.request),
            completion_tokens: u64::from(line.request.max_tokens),
        };
        let price = price_of(line, spending);
        let tokens = spent.sent + spent.received + most.prompt_tokens + most.completion_tokens;
        needed.tokens = needed.tokens.max(tokens);
        let set_aside = spent.cost.zip(price).map(|(spent, price)| spent + price.most(most));
        needed.cost = needed.cost.zip(set_aside).map(|(needed, cost)| needed.max(cost));
        let (usage, cost) = least_of(line, price);
        spent.add(usage, cost);
    }
    needed
}

/// What tasks with these models took so far, at today's prices; `None` where one of the models is new.
fn learnt(spending: &Spending) -> Option<(Amount, usize)> {
    let known: Option<Vec<_>> = spending.learnt().into_iter().collect();
    let mut amount = Amount { cost: Some(0), ..Amount::default() };
    let mut fewest = usize::MAX;
    for (in_use, (tasks, taken)) in spending.line_up.iter().zip(known?) {
        let usage = Usage {
            model_calls: u32::try_from(taken.calls).unwrap_or(u32::MAX),
            prompt_tokens: taken.prompt_tokens,
            completion_tokens: taken.completion_tokens,
        };
        let cache = Cache { read: taken.cached_tokens, written: 0 };
        amount.add(usage, in_use.known.price.map(|price| price.of(usage, cache)));
        fewest = fewest.min(tasks);
    }
    Some((amount, fewest))
}

/// The bounds that were set, and those that follow from the models' contexts.
fn most(spending: &Spending) -> Most {
    let (budget, spent) = (spending.ledger.budget(), spending.ledger.total());
    let calls = calls_max();
    let contexts: Option<Vec<u64>> = spending.line_up.iter().map(|in_use| in_use.known.context_tokens).collect();
    let by_context = contexts.and_then(|contexts| contexts.into_iter().max()).map(|most| most.saturating_mul(calls));
    let taken = spent.usage.prompt_tokens + spent.usage.completion_tokens;
    let by_budget = budget.max_tokens.map(|allowed| allowed.saturating_sub(taken));
    let tokens = by_context.into_iter().chain(by_budget).min();
    let dearest = |price: &Price, tokens: u64| {
        let of = |prompt_tokens, completion_tokens| Usage { model_calls: 1, prompt_tokens, completion_tokens };
        price.most(of(tokens, 0)).max(price.most(of(0, tokens)))
    };
    let by_tokens = spending
        .prices()
        .zip(tokens)
        .and_then(|(prices, tokens)| prices.iter().map(|price| dearest(price, tokens)).max());
    let by_budget = budget.max_cost.map(|allowed| allowed.saturating_sub(spent.cost));
    Most { calls, tokens, cost: by_tokens.into_iter().chain(by_budget).min() }
}
