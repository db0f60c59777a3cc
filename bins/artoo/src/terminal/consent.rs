//! Asks for approval of an action in four lines; the answer `?` shows all details, and the default is no.

use std::io;

use artoo_proto::{ConsentOffers, ConsentRequest, ConsentScope, escape};
use rustix::termios::tcgetwinsize;

use super::Conversation;
use crate::display::coverage::readings;
use crate::display::{Line, QUOTE, quoted, wrap};

/// Default lifetime of a rule (an approval for later tasks), in days.
const DAYS: u32 = 1;
/// Maximum lifetime of a rule (an approval for later tasks), in days.
const DAYS_MAX: u32 = 30;

/// Maximum number of further calls of the same kind that a question lists.
const LISTED_MAX: usize = 7;

/// Beginning of the line in a question that says what the action does.
const IT: &str = "  It ";

/// Beginning of the line in a question that says why approval is needed.
const WHY: &str = "  Asking because ";

/// Rows of the terminal left free for the prompt below a page of the details.
const ROWS_BELOW: usize = 3;

/// Minimum number of rows of one page of the details, on a low terminal.
const PAGE_MIN: usize = 4;

/// Maximum width of a line of the short question, in columns, for terminals that are wider or don't tell their width.
const LINE_COLUMNS: usize = 240;

const MORE: &str = "Enter shows more, anything else ends the details: ";
const FOR_HOW_LONG: &str = "For how many days, 1 to 30? [1] ";

/// Whether one question can be about both calls: they are the same, or of one task, with the same reason and effects of
/// the same kinds. A question that confirms a reading of the request is about one call alone.
pub(super) fn is_alike(one: &ConsentRequest, other: &ConsentRequest) -> bool {
    let kind = |request: &ConsentRequest| {
        let verb = |effect: &String| effect.split(' ').next().map(str::to_owned);
        (request.task_id.clone(), request.reason.clone(), request.effects.iter().map(verb).collect::<Vec<_>>())
    };
    let confirms_nothing = one.readings.is_empty() && other.readings.is_empty();
    one.hash == other.hash || (confirms_nothing && kind(one) == kind(other))
}

/// Asks the user to approve calls of one kind and returns the approved scope; `None` if denied.
pub(super) async fn ask(talk: &mut Conversation<'_>, requests: &[&ConsentRequest]) -> Option<ConsentScope> {
    let (columns, rows) = size();
    let [first, others @ ..] = requests else { return None };
    let together;
    let request = if others.is_empty() {
        *first
    } else {
        together = joined(first, others);
        &together
    };
    let choices = choices(&request.offers);
    let mut lines = readings(&request.readings);
    let mut question = short(request, columns.min(LINE_COLUMNS));
    let others = others.iter().take(LISTED_MAX).map(|other| it(other, columns.min(LINE_COLUMNS)));
    question.splice(2..2, others.collect::<Vec<_>>());
    if requests.len() > LISTED_MAX + 1 {
        let more = requests.len() - LISTED_MAX - 1;
        question.insert(2 + LISTED_MAX, Line::warning(format!("  and {more} more, which ? shows")));
    }
    lines.extend(question);
    loop {
        match key(&talk.ask(&lines, choices).await?)? {
            Key::Details => {
                let all = wrapped(&requests.iter().flat_map(|request| in_full(request)).collect::<Vec<_>>(), columns);
                let mut pages = all.chunks(rows.saturating_sub(ROWS_BELOW).max(PAGE_MIN));
                lines = pages.next_back().unwrap_or_default().to_vec();
                for page in pages {
                    if !talk.ask(page, MORE).await?.is_empty() {
                        lines.clear();
                        break;
                    }
                }
            }
            Key::Once => return Some(ConsentScope::Once),
            Key::Task if !request.offers.task.is_empty() => return Some(ConsentScope::Task),
            Key::Path if !request.offers.path.is_empty() => {
                let days = days(&talk.ask(&[], FOR_HOW_LONG).await?)?;
                return Some(ConsentScope::Path { days });
            }
            Key::Task | Key::Path => return None,
        }
    }
}

/// Joins calls of one kind to one request, so that one question asks about all. An approval for the task is offered if
/// every call has it; a rule for later tasks is not.
fn joined(first: &ConsentRequest, others: &[&ConsentRequest]) -> ConsentRequest {
    let mut all = first.clone();
    all.offers.task.extend(others.iter().flat_map(|other| other.offers.task.clone()));
    if [first].iter().chain(others).any(|call| call.offers.task.is_empty()) {
        all.offers.task.clear();
    }
    all.shown = format!("{} calls of one kind", others.len() + 1);
    all.offers.path.clear();
    all
}

/// The last line of the question: the answers that the user can type.
fn choices(offers: &ConsentOffers) -> &'static str {
    match (offers.task.is_empty(), offers.path.is_empty()) {
        (true, true) => "Allow it? [y/N/?] ? details: ",
        (false, true) => "Allow it? [y/N/t/?] t for this task, ? details: ",
        (true, false) => "Allow it? [y/N/p/?] p for some days, ? details: ",
        (false, false) => "Allow it? [y/N/t/p/?] t for this task, p for some days, ? details: ",
    }
}

/// The answer that the user typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    Details,
    Once,
    Task,
    Path,
}

/// Parses the user's answer to a question for approval; `None` (denied) for anything but a clear approval.
fn key(answer: &str) -> Option<Key> {
    match answer.to_ascii_lowercase().as_str() {
        "?" => Some(Key::Details),
        "y" | "yes" => Some(Key::Once),
        "t" => Some(Key::Task),
        "p" => Some(Key::Path),
        _ => None,
    }
}

/// Parses the lifetime of a rule in days from the user's answer; the default if empty, `None` if invalid.
fn days(answer: &str) -> Option<u32> {
    let days = if answer.is_empty() { Some(DAYS) } else { answer.parse().ok() };
    days.filter(|days| (1..=DAYS_MAX).contains(days))
}

/// The line of a question that says what an action changes, shortened to the terminal's width.
fn it(request: &ConsentRequest, columns: usize) -> Line {
    let what = request.effects.first().map_or("changes what is not known", String::as_str);
    Line::plain(wrap::shorten(&format!("{IT}{}", escape::one_line(what)), columns, 3))
}

/// The first three lines of the question: the call, what it changes, and why it is asked. The first two fit into one
/// row each, the third into two.
fn short(request: &ConsentRequest, columns: usize) -> Vec<Line> {
    let line = |head: &str, text: &str| format!("{head}{}", escape::one_line(text));
    let why = line(WHY, &request.reason);
    let undo = match request.effects.as_slice() {
        [_, .., last] => line("; it ", last),
        _ => String::new(),
    };
    // Each of the two gets a row, and what the other leaves free.
    let room = columns.saturating_mul(2);
    let undo = wrap::shorten(&undo, room.saturating_sub(wrap::width(&why)).max(columns), 0);
    let why = wrap::shorten(&why, room.saturating_sub(wrap::width(&undo)), 0);
    vec![
        Line::warning(wrap::shorten(&line(QUOTE, &request.shown), columns, 3)),
        it(request, columns),
        Line::plain(why + &undo),
    ]
}

/// Everything that an approval is about: the whole call, its effects, each change, the reason, and wider approvals.
pub(crate) fn in_full(request: &ConsentRequest) -> Vec<Line> {
    let mut lines = quoted(&escape::visible(&request.shown));
    lines.extend(request.effects.iter().map(|effect| Line::plain(format!("{IT}{}", escape::one_line(effect)))));
    lines.push(Line::plain(format!("{WHY}{}", escape::one_line(&request.reason))));
    let mut list = |head: &str, prefix: &str, texts: &[String]| {
        if !texts.is_empty() {
            lines.push(Line::plain(head));
            // Tabs stay, since a diff may have them; a line break would begin a line that is not in the list.
            let text = |text: &String| escape::visible(&text.replace('\n', "\\n"));
            lines.extend(texts.iter().map(|line| Line::plain(format!("{prefix}{}", text(line)))));
        }
    };
    list("  Each change:", QUOTE, &request.details);
    list("  t also allows, for the rest of this task, by the same tool:", "    ", &request.offers.task);
    list(
        "  p also allows, until a date, in every task, by the same tool (see artoo rules):",
        "    ",
        &request.offers.path,
    );
    lines
}

/// Number of columns and rows of the terminal; `usize::MAX` if unknown.
fn size() -> (usize, usize) {
    let known = |number: u16| if number == 0 { usize::MAX } else { usize::from(number) };
    tcgetwinsize(io::stderr()).map_or((usize::MAX, usize::MAX), |size| (known(size.ws_col), known(size.ws_row)))
}

/// Wraps the lines to the terminal's width; each row becomes a line.
fn wrapped(lines: &[Line], columns: usize) -> Vec<Line> {
    let rows = |line: &Line| wrap::rows(&escape::visible(&line.text), columns);
    lines.iter().flat_map(rows).map(Line::plain).collect()
}

/// Tests of the question for approval.
#[cfg(test)]
mod tests {
    use artoo_proto::{ConsentHash, ConsentOffers, ConsentRequest, SubTaskId, TaskId};

    use super::{Key, choices, days, in_full, key, short, wrapped};
    use crate::display::wrap::width;

    /// A sample request to approve this call, which deletes files.
    fn request(shown: &str) -> ConsentRequest {
        ConsentRequest {
            task_id: TaskId::try_from("a-00000000-0000-4000-8000-000000000001".to_owned()).unwrap(),
            subtask_id: serde_json::from_str::<SubTaskId>("\"00000000-0000-4000-8000-000000000001\"").unwrap(),
            hash: ConsentHash("h".to_owned()),
            shown: shown.to_owned(),
            effects: vec!["deletes a\nb".to_owned(), "uses no network".to_owned(), "can be undone".to_owned()],
            details: vec!["file, 3 bytes: a\nAllow it? y\u{1b}[2K".to_owned(), "-\told".to_owned()],
            reason: "rm removes".to_owned(),
            offers: ConsentOffers { task: vec!["take: /a\n  y".to_owned()], path: Vec::new() },
            readings: Vec::new(),
        }
    }

    /// The texts of the lines, without their styles.
    fn texts(lines: Vec<crate::display::Line>) -> Vec<String> {
        lines.into_iter().map(|line| line.text).collect()
    }

    /// Only an exact "y", "yes", "t" or "p" in any case approves, and "?" shows details; any other answer denies.
    #[doc = "holds: law 1.6; design H3"]
    #[test]
    fn only_plain_yes_approves() {
        for (answer, expected) in [
            ("y", Some(Key::Once)),
            ("Y", Some(Key::Once)),
            ("yes", Some(Key::Once)),
            ("YES", Some(Key::Once)),
            ("t", Some(Key::Task)),
            ("p", Some(Key::Path)),
            ("?", Some(Key::Details)),
            ("", None),
            ("n", None),
            ("no", None),
            ("yes please", None),
            ("ye", None),
            ("tt", None),
            ("??", None),
            ("да", None),
        ] {
            assert_eq!(key(answer), expected, "{answer:?}");
        }
        for (answer, expected) in
            [("", Some(1)), ("7", Some(7)), ("30", Some(30)), ("31", None), ("0", None), ("-1", None), ("n", None)]
        {
            assert_eq!(days(answer), expected, "{answer:?}");
        }
    }

    /// A question for approval has four lines whatever the length of the command, of which the third takes at most two
    /// rows, and lists the answers on offer.
    #[doc = "holds: law 1.6; design H3"]
    #[test]
    fn question_has_four_lines_and_available_answers() {
        let lines = texts(short(&request("rm a"), 80));
        assert_eq!(lines, ["  | rm a", "  It deletes a\\nb", "  Asking because rm removes; it can be undone"]);
        let mut long = request(&format!("rm {} last", "漢 ".repeat(5_000)));
        long.effects = vec!["x ".repeat(5_000), "z ".repeat(5_000)];
        long.reason = "because ".repeat(5_000);
        for columns in [40, 80, 240] {
            let lines = texts(short(&long, columns));
            assert_eq!(lines.len(), 3);
            let rows = |line: &String| if line.starts_with("  Asking") { 2 } else { 1 };
            assert!(lines.iter().all(|line| width(line) <= columns * rows(line)), "{columns}: {lines:?}");
        }
        let lines = texts(short(&long, 80));
        assert!(lines[0].starts_with("  | rm 漢") && lines[0].ends_with(" last"), "{lines:?}");
        assert!(lines[0].contains("more…]") && lines[2].contains(" more…]; it z z"), "{lines:?}");
        let offers = |task, path| {
            let covers = |is_there| if is_there { vec!["x".to_owned()] } else { Vec::new() };
            choices(&ConsentOffers { task: covers(task), path: covers(path) })
        };
        for (task, path) in [(false, false), (true, false), (false, true), (true, true)] {
            let choices = offers(task, path);
            assert_eq!((choices.contains("t for this task"), choices.contains("p for some days")), (task, path));
            assert!(choices.starts_with("Allow it? [y/N/") && choices.ends_with("? details: "), "{choices}");
        }
    }

    /// A command that contains the words of a question is shown only with the quote prefix.
    #[doc = "holds: law 0.12; design H3"]
    #[test]
    fn hostile_command_cannot_imitate_the_question() {
        let shown = format!("rm a\u{1b}[2K\u{202e}\nAllow it? [y/N/?] y\n{}", "x".repeat(10_000));
        let hostile = request(&shown);
        let first = texts(short(&hostile, 80));
        assert!(first[0].starts_with("  | rm a\\u{1b}[2K\\u{202e}\\nAllow it?"), "{first:?}");
        let lines = texts(in_full(&hostile));
        let command: Vec<&String> = lines.iter().filter(|line| line.starts_with("  | ")).take(3).collect();
        assert_eq!(command[0], "  | rm a\\u{1b}[2K\\u{202e}");
        assert_eq!(command[2].len(), 10_004, "nothing is left out");
        for line in [
            "  It deletes a\\nb",
            "  It uses no network",
            "  Asking because rm removes",
            "  | file, 3 bytes: a\\nAllow it? y\\u{1b}[2K",
            "  | -\told",
            "    take: /a\\n  y",
        ] {
            assert!(lines.contains(&line.to_owned()), "{line}: {lines:?}");
        }
    }

    /// The details of a question show every line of the command, each with the quote prefix.
    #[doc = "holds: design H3"]
    #[test]
    fn consent_details_show_every_line_marked() {
        let shown: String = (0..200).map(|number| format!("echo line {number}\n")).collect();
        let rows = texts(wrapped(&in_full(&request(&shown)), 80));
        for number in 0..200 {
            let row = format!("  | echo line {number}");
            assert_eq!(rows.iter().filter(|text| **text == row).count(), 1, "{row}");
        }
        assert_eq!(wrapped(&in_full(&request(&shown)), usize::MAX).len(), rows.len(), "a terminal of unknown size");
        // One long line is cut into marked rows, none of which begins like one of artoo's own lines.
        let long = texts(wrapped(&in_full(&request(&"y".repeat(5_000))), 80));
        let long: Vec<_> = long.iter().filter(|row| row.contains("yyy")).collect();
        assert!(long.len() > 60 && long.iter().all(|row| row.starts_with("  ")), "{long:?}");
    }
}
