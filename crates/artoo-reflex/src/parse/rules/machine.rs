//! Grammar rules for facts with an argument, for owners and for permissions.

use super::super::draft::{Ask, Draft, only};
use super::super::item::{Context, Item, Partial, Rule, Text, TextKind};
use crate::algebra::{Fact, Function, Pred};
use crate::concept::{Concept, TimeUnit, Verb};

/// The grammar rules for facts of the machine, owners and permissions, in the order tried.
pub(super) const RULES: &[Rule] = &[facts, rights];

/// Grammar rule for two neighbouring items, as in "environment variable HOME", "groups of the user ada", "date in 3
/// days".
fn facts(context: &Context<'_>, left: &Item, right: &Item) -> Option<Item> {
    let fact = |fact| Some(Item::draft(Draft { fact: Some(fact), ..Draft::default() }));
    let is_only = |draft: &Draft, test: fn(&Fact) -> bool| draft.fact.as_ref().is_some_and(test) && only!(draft, fact);
    let is_program = |fact: &Fact| matches!(fact, Fact::Program { .. });
    let is_variable = |fact: &Fact| matches!(fact, Fact::Variable { .. });
    let is_groups = |fact: &Fact| matches!(fact, Fact::GroupsOf { .. });
    match (left, right) {
        (Item::Mark(Concept::Variable), Item::Text(text)) | (Item::Text(text), Item::Mark(Concept::Variable)) => {
            let name = &text.text;
            let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !name.is_empty();
            // An unquoted word is a variable name only in capitals.
            let is_meant = text.kind == TextKind::Quoted || name.chars().all(|c| !c.is_ascii_lowercase());
            if is_name && is_meant { fact(Fact::Variable { name: name.clone() }) } else { None }
        }
        (Item::Mark(Concept::Variable), Item::Draft(draft)) if is_only(draft, is_variable) => Some(right.clone()),
        (Item::Draft(draft), Item::Mark(Concept::Variable)) if is_only(draft, is_variable) => Some(left.clone()),
        (Item::Draft(draft), Item::Mark(Concept::IsMember)) if is_only(draft, is_groups) => Some(left.clone()),
        (Item::Draft(draft), Item::Mark(Concept::Installed)) if draft.fact.as_ref().is_some_and(is_program) => {
            Some(left.clone())
        }
        // "the path of the bash executable" asks where the program is.
        (Item::Draft(verb), Item::Draft(draft))
            if verb.only_verb() == Some(Verb::Find) && is_only(draft, is_program) =>
        {
            Some(right.clone())
        }
        // "is docker installed"
        (Item::Mark(Concept::Copula), Item::Draft(draft)) if is_only(draft, is_program) => {
            Some(Item::draft(Draft { ask: Some(Ask::Number(Function::Any)), ..(**draft).clone() }))
        }
        // "is a.txt executable" asks for its permissions.
        (Item::Text(Text { kind: TextKind::FileName, .. }), Item::Mark(Concept::Installed)) => None,
        (Item::Mark(Concept::Program), Item::Text(text)) | (Item::Text(text), Item::Mark(Concept::Installed)) => {
            program(text).and_then(fact)
        }
        (Item::Mark(Concept::KernelParameter), Item::Text(Text { text, .. })) => {
            let is_name = text.contains('.') && !text.contains('/');
            if is_name { fact(Fact::KernelParameter { name: text.clone() }) } else { None }
        }
        (Item::Mark(Concept::GroupsOf), item) => fact(Fact::GroupsOf { user: user(item)? }),
        (Item::Mark(Concept::UserIdOf), item) => fact(Fact::UserIdOf { user: user(item)? }),
        (Item::Mark(Concept::DateWord), Item::Partial(Partial::Days(days))) => fact(Fact::DateInDays { days: *days }),
        (Item::Age { amount, unit }, Item::Mark(Concept::AfterToday)) => days(*amount, *unit, 1),
        (Item::Age { amount, unit }, Item::Mark(Concept::BeforeToday | Concept::Ago)) => days(*amount, *unit, -1),
        // "the date in 30 days".
        (Item::Mark(Concept::Inside), Item::Age { amount, unit }) => days(*amount, *unit, 1),
        (Item::Mark(Concept::DayOfWeek), item) => {
            let stretch = item.stretch(context.clock)?;
            fact(Fact::DayOfWeek { date: context.clock.one_day(stretch)?.to_string() })
        }
        _ => None,
    }
}

/// The item for a number of days from today (`sign` -1: before today); `None` for units other than days, weeks and
/// fortnights.
fn days(amount: u64, unit: TimeUnit, sign: i32) -> Option<Item> {
    let length = match unit {
        TimeUnit::Day => 1,
        TimeUnit::Week => 7,
        TimeUnit::Fortnight => 14,
        TimeUnit::Second | TimeUnit::Minute | TimeUnit::Hour | TimeUnit::Month | TimeUnit::Year => return None,
    };
    let days = i32::try_from(amount.checked_mul(length)?).ok().filter(|days| (1..=MAX_DAYS).contains(days))?;
    Some(Item::Partial(Partial::Days(sign * days)))
}

/// Maximum number of days between today and a computed date: a thousand years.
const MAX_DAYS: i32 = 365_000;

/// The user name that a text item means; `None` if the text can't be one.
fn user(item: &Item) -> Option<String> {
    let Item::Text(Text { text, kind }) = item else { return None };
    let usable =
        matches!(kind, TextKind::Quoted | TextKind::Bare | TextKind::BarePlural | TextKind::Known | TextKind::KindWord);
    let plain = text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
    ((usable || text == "root") && plain && !text.is_empty()).then(|| text.clone())
}

/// The fact "location of the program" for a text; `None` if the text can't be a program's name.
fn program(text: &Text) -> Option<Fact> {
    let usable = matches!(text.kind, TextKind::Quoted | TextKind::Bare | TextKind::KindWord);
    let plain = text.text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+'));
    (usable && plain && !text.text.is_empty()).then(|| Fact::Program { name: text.text.clone() })
}

/// Grammar rule for two neighbouring items, as in "owned by root", "with permissions 644", "with 777 permissions".
fn rights(_: &Context<'_>, left: &Item, right: &Item) -> Option<Item> {
    let pred = |pred| Some(Item::draft(Draft::pred(pred)));
    match (left, right) {
        (Item::Mark(Concept::OwnedBy), Item::Text(text)) => pred(Pred::Owner(account(text, ["root", "nobody"])?)),
        (Item::Mark(Concept::OfGroup), Item::Text(text)) => pred(Pred::Group(account(text, ["root", "users"])?)),
        (Item::Mark(Concept::AllPermissions), Item::Text(Text { text, kind: TextKind::Digits })) => {
            pred(Pred::ModeAll(octal(text)?))
        }
        (Item::Mark(Concept::Permissions), Item::Text(Text { text, kind: TextKind::Digits })) => {
            pred(Pred::Mode(octal(text)?))
        }
        (Item::Mark(Concept::Permissions), Item::Text(Text { text, .. })) => pred(Pred::Mode(symbolic(text)?)),
        (Item::Partial(Partial::WithText { text, .. }), Item::Mark(Concept::RightsBehind)) => {
            pred(Pred::Mode(octal(text).or_else(|| symbolic(text))?))
        }
        _ => None,
    }
}

/// The user or group name that a text means; `None` if it can't be one, `everywhere` having known words that are names
/// on every machine.
fn account(text: &Text, everywhere: [&str; 2]) -> Option<String> {
    let usable = matches!(text.kind, TextKind::Quoted | TextKind::Bare | TextKind::Known | TextKind::KindWord);
    (usable || everywhere.contains(&text.text.as_str())).then(|| text.text.clone())
}

/// Permission bits from three or four octal digits.
fn octal(text: &str) -> Option<u32> {
    u32::from_str_radix(text, 8).ok().filter(|bits| *bits <= 0o7777 && text.len() >= 3)
}

/// Permission bits from nine signs such as `rw-r--r--`.
fn symbolic(text: &str) -> Option<u32> {
    const SIGNS: &str = "rwxrwxrwx";
    let bits = text.chars().zip(SIGNS.chars()).try_fold(0, |bits: u32, (said, sign)| match said {
        '-' => Some(bits << 1),
        said if said == sign => Some((bits << 1) | 1),
        _ => None,
    })?;
    (text.len() == SIGNS.len()).then_some(bits)
}
