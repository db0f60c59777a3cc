//! `artoo rules`: lists and revokes standing approvals, which hold until a date.

use artoo_proto::escape;
use artoo_tools::{Rule, RuleBook};
use serde_json::{Value, json};

use crate::args::RulesCommand;
use crate::{Exit, Failure, Line, Screen, Settings, clock};

/// Name of the schema of `artoo rules`'s JSON output, which is not stable yet.
const SCHEMA: &str = "artoo.rules/0";

/// Runs `artoo rules`: lists the rules (standing approvals) in force, or revokes one.
pub(crate) fn run(command: &RulesCommand, settings: &Settings, screen: &Screen) -> Result<Exit, Failure> {
    let book = RuleBook::new(&settings.data_dir);
    let failed = |source| Failure::Rules { source };
    let now = clock::now();
    match command {
        RulesCommand::List => {
            let rules = book.list(now).map_err(failed)?;
            let mut lines: Vec<Line> = rules.iter().flat_map(lines).collect();
            lines.extend(rules.is_empty().then(|| Line::plain("no rules: artoo asks each time")));
            let rules: Vec<Value> = rules.iter().map(value).collect();
            screen.report(settings.json, SCHEMA, json!({"path": book.path(), "rules": rules}), &lines);
        }
        RulesCommand::Revoke { id } => {
            let revoked = book.revoke(id, now).map_err(failed)?;
            let revoked = revoked.ok_or_else(|| Failure::NoSuchRule { id: id.clone() })?;
            let head = Line::strong(format!("revoked {}: artoo asks again", escape::one_line(&revoked.id)));
            let lines = [vec![head], covers(&revoked)].concat();
            screen.report(settings.json, SCHEMA, json!({"revoked": value(&revoked)}), &lines);
        }
    }
    Ok(Exit::Accepted)
}

/// The lines that `artoo rules` shows about one standing approval: its id, tool, effects, dates and last use.
fn lines(rule: &Rule) -> Vec<Line> {
    let (id, tool) = (escape::one_line(&rule.id), escape::one_line(&rule.tool));
    let used = rule.last_used.map_or_else(|| "never used".to_owned(), |at| format!("last used {at}"));
    let head = Line::strong(format!("{id}: {tool}, since {}, until {}, {used}", rule.since, rule.until));
    [vec![head], covers(rule)].concat()
}

/// One line for each effect that a standing approval covers.
fn covers(rule: &Rule) -> Vec<Line> {
    rule.in_words().iter().map(|cover| Line::plain(format!("  {cover}"))).collect()
}

/// A standing approval as JSON.
fn value(rule: &Rule) -> Value {
    json!({
        "id": rule.id, "tool": rule.tool, "covers": rule.in_words(), "since": rule.since, "until": rule.until,
        "last_used": rule.last_used
    })
}
