//! The page that `artoo report` writes about a task: one HTML file without scripts, external files or links.

#[cfg(test)]
mod tests;

use std::fmt::Display;
use std::fs;

use artoo_audit::redact;
use artoo_proto::escape::is_hostile;
use artoo_proto::{
    CallStatus, CoverageState, CriterionMark, Ending, FinalResult, Loss, Role, Timestamp, ToolCall, Usage, units,
};
use artoo_roles::record::Record;
use artoo_tools::EvidenceStore;

use super::facts::{Facts, status};
use super::state;
use crate::audit::logs;
use crate::display::user_format::UserFormat;
use crate::settings::Settings;
use crate::undo;

/// Maximum number of bytes of a call's output on the page; the evidence store has the rest.
const OUTPUT_MAX_BYTES: usize = 16 * 1024;
/// Maximum size of the record inside the page, in bytes.
const RECORD_MAX_BYTES: usize = 8 * 1024 * 1024;

const STYLE: &str = "\
:root{color-scheme:light dark;--fg:#1a1c20;--bg:#fff;--dim:#5b6270;--line:#d9dde3;--card:#f6f7f9;--good:#136f3a;--warn:#8a5a00;--bad:#b3261e;--mark:#2356b8}\
@media (prefers-color-scheme:dark){:root{--fg:#e6e8ec;--bg:#14161a;--dim:#9aa2af;--line:#31363f;--card:#1c1f25;--good:#62c98c;--warn:#e3b34f;--bad:#f08a80;--mark:#8ab0ff}}\
*{box-sizing:border-box}body{margin:0 auto;max-width:62rem;padding:2rem 1.25rem 4rem;font:16px/1.55 system-ui,sans-serif;color:var(--fg);background:var(--bg)}\
h1{font-size:1.5rem;line-height:1.3;margin:.25rem 0 .5rem}h2{font-size:1.05rem;margin:2.25rem 0 .6rem;padding-bottom:.25rem;border-bottom:1px solid var(--line)}\
p{margin:.4rem 0}small,.dim{color:var(--dim)}code,pre{font:13px/1.5 ui-monospace,monospace}pre{white-space:pre-wrap;overflow-wrap:anywhere;background:var(--card);border:1px solid var(--line);border-radius:6px;padding:.7rem .85rem;margin:.5rem 0;max-height:26rem;overflow:auto}\
table{border-collapse:collapse;width:100%}table+table{margin-top:1.4rem}td:nth-child(2){min-width:9rem}th,td{text-align:left;vertical-align:top;padding:.4rem .8rem .4rem 0;border-bottom:1px solid var(--line);overflow-wrap:anywhere}th{font-weight:600;color:var(--dim);font-size:.85rem}\
.verdict{border-left:4px solid var(--line);padding:.5rem .9rem;background:var(--card);border-radius:0 6px 6px 0;margin:.75rem 0}.good{border-color:var(--good)}.warn{border-color:var(--warn)}.bad{border-color:var(--bad)}\
.t-good{color:var(--good)}.t-warn{color:var(--warn)}.t-bad{color:var(--bad)}details{margin:.3rem 0}summary{cursor:pointer}svg{width:100%;height:auto;max-width:44rem}\
@media print{body{max-width:none;padding:0}pre{max-height:none;overflow:visible}details>*{display:block}}";

/// Escapes a text for HTML and makes control characters visible.
fn text(from: impl Display) -> String {
    let mut to = String::new();
    for c in from.to_string().chars() {
        match c {
            '&' => to.push_str("&amp;"),
            '<' => to.push_str("&lt;"),
            '>' => to.push_str("&gt;"),
            '"' => to.push_str("&quot;"),
            '\'' => to.push_str("&#39;"),
            '\n' | '\t' => to.push(c),
            c if is_hostile(c) => to.push_str(&format!("\u{fffd}U+{:04X}", u32::from(c))),
            c => to.push(c),
        }
    }
    to
}

/// The HTML page about a task. `record_json` is the task's record as JSON lines, which the page contains too.
pub(super) fn page(record: &Record, facts: &Facts, settings: &Settings, record_json: &str) -> String {
    let user_format = UserFormat::of(&settings.environment, settings.exact);
    let mut page = String::new();
    let title = text(&record.request().raw_input);
    page.push_str("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n");
    page.push_str(
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         img-src data:; base-uri 'none'; form-action 'none'\">\n",
    );
    page.push_str("<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n");
    page.push_str(&format!("<title>{title}</title><style>{STYLE}</style></head><body>\n"));
    page.push_str(&headline(record, facts, settings, &user_format, &title));
    page.push_str(&coverage(record.result()));
    page.push_str(&changes(record, facts, settings));
    page.push_str(&rounds(record.result(), facts));
    page.push_str(&steps(facts));
    page.push_str(&cost(facts));
    page.push_str(&provenance(record, facts, settings));
    page.push_str(&raw(record_json));
    page.push_str("</body></html>\n");
    page
}

/// An HTML table with these headings; empty if there are no rows. The cells are HTML already.
fn table(headings: &[&str], rows: &[Vec<String>]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let row = |cells: &[String], tag: &str| {
        let cells: String = cells.iter().map(|cell| format!("<{tag}>{cell}</{tag}>")).collect();
        format!("<tr>{cells}</tr>\n")
    };
    let head: Vec<String> = headings.iter().map(text).collect();
    let body: String = rows.iter().map(|cells| row(cells, "td")).collect();
    let head = if headings.iter().all(|heading| heading.is_empty()) { String::new() } else { row(&head, "th") };
    format!("<table>{head}{body}</table>\n")
}

/// An HTML section with a title; empty if its content is empty.
fn section(title: &str, content: &str) -> String {
    if content.is_empty() { String::new() } else { format!("<h2>{title}</h2>\n{content}") }
}

/// HTML of the page's top: the request, the verdict and the answer.
fn headline(record: &Record, facts: &Facts, settings: &Settings, user_format: &UserFormat, title: &str) -> String {
    let mut out = format!("<small>{}</small>\n<h1>{title}</h1>\n", text(record.begun.at));
    let Some(result) = record.result() else {
        out.push_str(&format!("<div class=\"verdict warn\">No result yet: {}.</div>\n", text(state(record, &[]))));
        return out;
    };
    let entry = undo::store(settings).find(record.task_id().as_str()).ok();
    let shown = facts.shown(result, entry.as_ref(), user_format);
    let kind = match result.ending {
        Ending::Accept { basis: artoo_proto::Basis::Checked } => "good",
        Ending::Accept { .. } | Ending::Success { .. } => "warn",
        Ending::Abandon { .. } => "bad",
    };
    let lines: Vec<String> = shown.support().iter().map(|line| format!("<p>{}</p>", text(&line.text))).collect();
    out.push_str(&format!("<div class=\"verdict {kind}\">{}</div>\n", lines.concat()));
    for answer in shown.answer_lines() {
        out.push_str(&format!("<pre>{}</pre>\n", text(&answer.text)));
    }
    out
}

/// HTML with the parts of the request and the criteria, and what supports each.
fn coverage(result: Option<&FinalResult>) -> String {
    let Some(result) = result else { return String::new() };
    let rows: Vec<Vec<String>> = result
        .coverage
        .iter()
        .flat_map(|coverage| &coverage.rows)
        .map(|row| {
            let (class, state) = match row.state {
                CoverageState::Shown => ("t-good", "shown by recorded facts"),
                CoverageState::Refuted => ("t-bad", "not done as asked"),
                CoverageState::NotShown => ("t-bad", "not shown"),
                CoverageState::Words | CoverageState::Judged => ("t-warn", "only a model or a person can judge it"),
                CoverageState::Vague => ("t-warn", "has no bound that code could test"),
                CoverageState::NotRead => ("t-warn", "not read by code"),
                CoverageState::Described | CoverageState::Courtesy => ("dim", "asks for nothing that could be shown"),
            };
            let by: Vec<&str> = row.by.iter().map(|id| id.0.as_str()).collect();
            let by = if by.is_empty() { String::new() } else { format!("<br><small>{}</small>", text(by.join(", "))) };
            vec![text(&row.words), format!("<span class=\"{class}\">{state}</span>"), format!("{}{by}", text(&row.why))]
        })
        .collect();
    let mut out = table(&["Part of the request", "", "Why"], &rows);
    let rows: Vec<Vec<String>> = result
        .criteria
        .iter()
        .map(|criterion| {
            let (class, mark) = match criterion.mark {
                CriterionMark::Checked => ("t-good", "checked in code"),
                CriterionMark::Unmet => ("t-bad", "not met"),
                CriterionMark::Judged => ("t-warn", "judged by a model"),
            };
            let mark = format!("<span class=\"{class}\">{mark}</span>");
            vec![text(&criterion.claim), mark, text(&criterion.evidence)]
        })
        .collect();
    out.push_str(&table(&["Criterion", "", "Evidence"], &rows));
    section("What was asked, and what shows that it was done", &out)
}

/// HTML with the changed paths, the denied actions, and how to undo the changes.
fn changes(record: &Record, facts: &Facts, settings: &Settings) -> String {
    let short = |state: &Option<String>| {
        state.as_deref().map_or("–".to_owned(), |state| text(state.get(..12).unwrap_or(state)))
    };
    let changed = facts.calls.iter().flat_map(|(_, call)| &call.changed);
    let rows: Vec<Vec<String>> = changed
        .map(|change| vec![format!("<code>{}</code>", text(&change.path)), short(&change.before), short(&change.after)])
        .collect();
    let mut out = table(&["Path", "Before", "After"], &rows);
    if let Ok(entry) = undo::store(settings).find(record.task_id().as_str()) {
        let how = match (entry.undone, entry.not_undoable.is_empty()) {
            (true, _) => "This was undone.".to_owned(),
            (false, true) => format!("To undo it: <code>artoo undo {}</code>", text(&entry.id)),
            (false, false) => format!("A part can be undone: <code>artoo undo {}</code>", text(&entry.id)),
        };
        out.push_str(&format!("<p>{how}</p>\n"));
    }
    let denied = record.result().into_iter().flat_map(|result| &result.denied);
    let rows: Vec<Vec<String>> = denied.map(|denied| vec![text(&denied.action), text(&denied.reason)]).collect();
    out.push_str(&table(&["Not allowed, so not done", "Why"], &rows));
    section("What was changed", &out)
}

/// A curve of the picture of the loss: its name, its colour, and the function that gives its value in a round.
type Series = (&'static str, &'static str, fn(&Loss) -> f64);

/// HTML with a picture of the loss by round and the directive after each; empty if there was only one round.
fn rounds(result: Option<&FinalResult>, facts: &Facts) -> String {
    let Some(result) = result.filter(|_| !facts.directives.is_empty()) else { return String::new() };
    let mut losses: Vec<Loss> = facts.directives.iter().map(|directive| directive.loss).collect();
    losses.push(result.loss);
    let (width, height, left) = (640.0, 180.0, 40.0);
    #[expect(clippy::cast_precision_loss, reason = "a task has few rounds")]
    let x = |at: usize| left + (width - left - 60.0) * at as f64 / (losses.len() - 1).max(1) as f64;
    let y = |value: f64| 20.0 + (height - 60.0) * (1.0 - value.clamp(0.0, 1.0));
    let mut svg = format!("<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"Loss by round\">");
    for value in [0.0, 0.5, 1.0] {
        svg.push_str(&format!("<line x1=\"{left}\" x2=\"{width}\" y1=\"{0:.1}\" y2=\"{0:.1}\" stroke=\"var(--line)\"/><text x=\"4\" y=\"{1:.1}\" font-size=\"11\" fill=\"var(--dim)\">{value:.1}</text>",
            y(value),
            y(value) + 4.0));
    }
    let series: [Series; 4] = [
        ("D", "var(--bad)", |loss| loss.d),
        ("P", "var(--warn)", |loss| loss.p),
        ("Ω", "var(--dim)", |loss| loss.omega),
        ("L", "var(--mark)", |loss| loss.l),
    ];
    for (at, (name, colour, of)) in series.iter().enumerate() {
        let points: Vec<String> =
            losses.iter().enumerate().map(|(at, loss)| format!("{:.1},{:.1}", x(at), y(of(loss)))).collect();
        let width = if *name == "L" { "2.5" } else { "1.5" };
        svg.push_str(&format!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\"/>",
            points.join(" ")
        ));
        #[expect(clippy::cast_precision_loss, reason = "there are four")]
        let label = 24.0 + at as f64 * 16.0;
        svg.push_str(&format!("<text x=\"600\" y=\"{label}\" font-size=\"12\" fill=\"{colour}\">{name}</text>"));
    }
    for (at, directive) in facts.directives.iter().enumerate() {
        let name = text(format!("{:?}", directive.directive));
        svg.push_str(&format!(
            "<text x=\"{:.1}\" y=\"{}\" font-size=\"11\" fill=\"var(--fg)\">{name}</text>",
            x(at),
            height - 8.0
        ));
    }
    svg.push_str("</svg>\n<p><small>D: distance from what was asked. P: how implausible the way was. Ω: share of the budget used. L: their weighted sum. Below: what the Solver asked for after each round.</small></p>\n");
    let rows: Vec<Vec<String>> = facts
        .directives
        .iter()
        .map(|directive| vec![directive.round.to_string(), text(&directive.rationale)])
        .collect();
    svg.push_str(&table(&["Replan", "Why"], &rows));
    section("Rounds", &svg)
}

/// HTML with the tool calls, each with its output and evidence.
fn steps(facts: &Facts) -> String {
    let longest = facts.calls.iter().map(|(_, call)| call.elapsed_ms).max().unwrap_or(0).max(1);
    let mut out = String::new();
    for (at, call) in &facts.calls {
        out.push_str(&step(*at, call, longest));
    }
    if facts.open > 0 {
        out.push_str(&format!(
            "<p class=\"t-warn\">{} began, and how it ended is not recorded.</p>\n",
            units::count(facts.open, "call", "calls")
        ));
    }
    if facts.corrections > 0 {
        out.push_str(&format!(
            "<p>{} of a step.</p>\n",
            units::count(facts.corrections as u64, "correction", "corrections")
        ));
    }
    section("Calls", &out)
}

/// HTML about one tool call; `longest` is the longest call's duration in ms, for the bar that shows the time.
fn step(at: Timestamp, call: &ToolCall, longest: u64) -> String {
    let class = if call.status == CallStatus::Ok { "t-good" } else { "t-bad" };
    let mut end = OUTPUT_MAX_BYTES.min(call.output.len());
    while !call.output.is_char_boundary(end) {
        end -= 1;
    }
    let left_out = (call.output_bytes as usize).saturating_sub(end);
    let more = if left_out > 0 {
        format!("<p><small>{left_out} more bytes are not shown.</small></p>")
    } else {
        String::new()
    };
    let kept: Vec<String> =
        call.kept.iter().map(|kept| format!("{} {} ({} bytes)", kept.stream, kept.sha256, kept.bytes)).collect();
    format!(
        "<details><summary><span class=\"{class}\">{}</span> <code>{}</code> {} <svg viewBox=\"0 0 100 8\" style=\"width:6rem\"><rect width=\"{}\" height=\"8\" rx=\"2\" fill=\"var(--mark)\"/></svg> <small>{} ms</small></summary>\n<p><small>{} · evidence {} · {}</small></p><pre>{}</pre>{more}</details>\n",
        status(call.status),
        text(&call.tool),
        text(&call.target),
        (call.elapsed_ms * 100 / longest).max(1),
        call.elapsed_ms,
        text(at),
        text(&call.evidence_id.0),
        text(kept.join(", ")),
        text(call.output.get(..end).unwrap_or_default()),
    )
}

/// HTML table of the model calls and tokens by role.
fn cost(facts: &Facts) -> String {
    let row = |(role, usage): (&Role, &Usage)| {
        let numbers = [u64::from(usage.model_calls), usage.prompt_tokens, usage.completion_tokens];
        let mut cells = vec![text(role)];
        cells.extend(numbers.iter().map(|number| units::number(*number)));
        cells
    };
    let rows: Vec<Vec<String>> = facts.usage.iter().map(row).collect();
    section("Cost", &table(&["Role", "Model calls", "Tokens read", "Tokens written"], &rows))
}

/// HTML with the origin of the report: versions, digests, and the task's lines of the audit log.
fn provenance(record: &Record, facts: &Facts, settings: &Settings) -> String {
    let begun = &record.begun;
    let task = redact(record.task_id().as_str()).into_owned();
    let mut rows = vec![
        vec!["Task".to_owned(), text(record.task_id())],
        vec!["artoo".to_owned(), text(&begun.artoo)],
        vec!["Model".to_owned(), text(&begun.model)],
        vec!["Prompts".to_owned(), text(begun.prompts)],
        vec!["Profile".to_owned(), text(begun.config.profile.name())],
        vec!["Folder".to_owned(), text(&begun.config.environment.cwd)],
        vec!["Records in memory".to_owned(), begun.memory_records.to_string()],
    ];
    if let Some((at, _)) = record.ended() {
        rows.push(vec!["Ended".to_owned(), text(at)]);
    }
    let resumed: Vec<String> = facts.resumed.iter().map(text).collect();
    if !resumed.is_empty() {
        rows.push(vec!["Resumed".to_owned(), resumed.join(", ")]);
    }
    for log in logs(&settings.data_dir) {
        let content = fs::read_to_string(&log).unwrap_or_default();
        let numbers = content.lines().enumerate().filter(|(_, line)| line.contains(&task)).map(|(at, _)| at + 1);
        let numbers: Vec<usize> = numbers.collect();
        if let (Some(first), Some(last)) = (numbers.first(), numbers.last()) {
            let chain = artoo_audit::verify(&log)
                .map_or_else(|error| format!("DAMAGED at {error}"), |_| "the chain holds".to_owned());
            rows.push(vec![
                "Audit log".to_owned(),
                text(format!("{}, lines {first} to {last}; {chain}", log.display())),
            ]);
        }
    }
    let evidence = EvidenceStore::new(&settings.data_dir);
    rows.push(vec!["Evidence".to_owned(), text(evidence.folder().display())]);
    section("Provenance", &table(&["", ""], &rows))
}

/// HTML with the task's record as JSON lines, for programs that read the page.
fn raw(record_json: &str) -> String {
    if record_json.len() > RECORD_MAX_BYTES {
        return section("Record", "<p>It is too large for this page; artoo tasks export writes it.</p>\n");
    }
    // Inside a script element only `<` can end it; JSON may spell it as an escape.
    let json = record_json.replace('<', "\\u003c");
    format!("<script type=\"application/json\" id=\"record\">\n{json}</script>\n")
}
