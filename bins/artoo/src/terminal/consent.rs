//! Asks for approval of an action in four lines, with everything it is about behind `?`; the default is no.

use std::io;

use artoo_proto::{ConsentOffers, ConsentRequest, ConsentScope, escape};
use rustix::termios::tcgetwinsize;

use super::Conversation;
use crate::display::{Line, QUOTE, quoted, wrap};

/// Default lifetime of a rule (an approval for later tasks), in days.
const DAYS: u32 = 1;
/// Maximum lifetime of a rule (an approval for later tasks), in days.
const DAYS_MAX: u32 = 30;

/// Beginning of a line that says what the action does.
const IT: &str = "  It ";

/// Beginning of the line that says why approval is needed.
const WHY: &str = "  Asking because ";

/// Number of terminal rows reserved below a page of the details, for the line count and the prompt.
const ROWS_BELOW: usize = 3;

/// Minimum number of rows of a page of long details.
const PAGE_MIN: usize = 4;

/// Maximum width of a line of the short question, in columns, for terminals that are wider or don't tell their width.
const LINE_COLUMNS: usize = 240;

const MORE: &str = "Enter shows more, anything else ends the details: ";
const FOR_HOW_LONG: &str = "For how many days, 1 to 30? [1] ";

/// Asks the user to approve an action and returns the approved scope; `None` if denied.
pub(super) async fn ask(talk: &mut Conversation<'_>, request: &ConsentRequest) -> Option<ConsentScope> {
    let (columns, rows) = size();
    let choices = choices(&request.offers);
    let mut lines = short(request, columns.min(LINE_COLUMNS));
    loop {
        match key(&talk.ask(&lines, choices).await?)? {
            Key::Details => {
                let mut pages = pages(in_full(request), columns, rows).into_iter();
                lines = pages.next().unwrap_or_default();
                for page in pages {
                    if !talk.ask(&lines, MORE).await?.is_empty() {
                        lines = Vec::new();
                        break;
                    }
                    lines = page;
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

/// The last line of the question: the answers on offer.
fn choices(offers: &ConsentOffers) -> &'static str {
    match (offers.task.is_empty(), offers.path.is_empty()) {
        (true, true) => "Allow it? y yes, n no, ? details: ",
        (false, true) => "Allow it? y yes, n no, t for this task, ? details: ",
        (true, false) => "Allow it? y yes, n no, p for some days, ? details: ",
        (false, false) => "Allow it? y yes, n no, t for this task, p for some days, ? details: ",
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    Details,
    Once,
    Task,
    Path,
}

/// Parses the user's answer; `None` (denied) for anything but a clear approval.
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
    if answer.is_empty() {
        return Some(DAYS);
    }
    answer.parse().ok().filter(|days| (1..=DAYS_MAX).contains(days))
}

/// The first three lines of the question, each one row: the call, what it changes, and why it is asked.
fn short(request: &ConsentRequest, columns: usize) -> Vec<Line> {
    let line = |head: &str, text: &str| format!("{head}{}", escape::one_line(text));
    let what = request.effects.first().map_or("changes what is not known", String::as_str);
    let why = line(WHY, &request.reason);
    let undo = match request.effects.as_slice() {
        [_, .., last] => line("; it ", last),
        _ => String::new(),
    };
    // Each of the two gets half of the row, and what the other leaves free.
    let undo = wrap::cut(&undo, columns.saturating_sub(wrap::width(&why)).max(columns / 2));
    let why = wrap::cut(&why, columns.saturating_sub(wrap::width(&undo)));
    vec![
        Line::warning(wrap::shorten(&line(QUOTE, &request.shown), columns)),
        Line::plain(wrap::shorten(&line(IT, what), columns)),
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

/// Number of columns and rows of the terminal; unlimited if unknown.
fn size() -> (usize, usize) {
    let known = |number: u16| if number == 0 { usize::MAX } else { usize::from(number) };
    tcgetwinsize(io::stderr()).map_or((usize::MAX, usize::MAX), |size| (known(size.ws_col), known(size.ws_row)))
}

/// Splits the details of a question into pages that fit the terminal; if there are several, each ends with its position.
fn pages(lines: Vec<Line>, columns: usize, rows: usize) -> Vec<Vec<Line>> {
    let room = rows.saturating_sub(ROWS_BELOW).max(PAGE_MIN);
    let cut = |line: &Line| -> Vec<Line> {
        let rows = wrap::rows(&escape::visible(&line.text), columns);
        rows.into_iter().map(|text| Line { style: line.style, text }).collect()
    };
    let all: Vec<Line> = lines.iter().flat_map(cut).collect();
    if all.len() <= room {
        return vec![lines];
    }
    let count = all.len();
    let mut shown = 0;
    let page = |page: &[Line]| {
        let first = shown + 1;
        shown += page.len();
        let place = Line::strong(format!("[lines {first} to {shown} of {count}]"));
        page.iter().cloned().chain([place]).collect()
    };
    all.chunks(room).map(page).collect()
}

#[cfg(test)]
mod tests {
    use artoo_proto::{ConsentHash, ConsentOffers, ConsentRequest, SubTaskId, TaskId};

    use super::{Key, choices, days, in_full, key, pages, short};
    use crate::display::wrap::width;

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
        }
    }

    fn texts(lines: Vec<crate::display::Line>) -> Vec<String> {
        lines.into_iter().map(|line| line.text).collect()
    }

    #[doc = "holds: law 1.6; design H3"]
    #[test]
    fn only_a_plain_yes_is_one() {
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

    #[doc = "holds: law 1.6; design H3"]
    #[test]
    fn a_question_has_four_lines_and_offers_what_there_is() {
        let lines = texts(short(&request("rm a"), 80));
        assert_eq!(lines, ["  | rm a", "  It deletes a\\nb", "  Asking because rm removes; it can be undone"]);
        let mut long = request(&format!("rm {} last", "漢 ".repeat(5_000)));
        long.effects = vec!["x ".repeat(5_000), "z ".repeat(5_000)];
        long.reason = "because ".repeat(5_000);
        for columns in [20, 40, 80, 240] {
            let lines = texts(short(&long, columns));
            assert_eq!(lines.len(), 3);
            assert!(lines.iter().all(|line| width(line) <= columns), "{columns}: {lines:?}");
        }
        let lines = texts(short(&long, 80));
        assert!(lines[0].starts_with("  | rm 漢") && lines[0].ends_with(" last"), "{lines:?}");
        assert!(lines[0].contains("more…]") && lines[2].contains("…; it z z"), "{lines:?}");
        let offers = |task, path| {
            let covers = |is_there| if is_there { vec!["x".to_owned()] } else { Vec::new() };
            choices(&ConsentOffers { task: covers(task), path: covers(path) })
        };
        for (task, path) in [(false, false), (true, false), (false, true), (true, true)] {
            let choices = offers(task, path);
            assert_eq!((choices.contains("t for this task"), choices.contains("p for some days")), (task, path));
            assert!(choices.starts_with("Allow it? y yes, n no, ") && choices.ends_with("? details: "), "{choices}");
        }
    }

    #[doc = "holds: law 0.12; design H3"]
    #[test]
    fn a_command_can_neither_hide_nor_imitate_the_question() {
        let shown = format!("rm a\u{1b}[2K\u{202e}\nAllow it? y yes, n no\n{}", "x".repeat(10_000));
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

    #[doc = "holds: design H3"]
    #[test]
    fn what_is_longer_than_the_screen_is_shown_in_pages_with_nothing_left_out() {
        let shown: String = (0..200).map(|number| format!("echo line {number}\n")).collect();
        let whole = in_full(&request(&shown));
        let paged = pages(whole.clone(), 80, 24);
        assert!(paged.len() > 8 && paged.iter().all(|page| page.len() <= 22), "{}", paged.len());
        for number in 0..200 {
            let row = format!("  | echo line {number}");
            let on = paged.iter().flatten().filter(|line| line.text == row).count();
            assert_eq!(on, 1, "{row}");
        }
        let first = paged[0].last().unwrap();
        assert!(first.text.starts_with("[lines 1 to 21 of 2"), "{first:?}");
        assert_eq!(pages(whole.clone(), 80, 1000).len(), 1);
        assert_eq!(pages(whole, usize::MAX, usize::MAX).len(), 1, "a terminal that does not know its size");
        // One long line is cut into marked rows, none of which begins like one of artoo's own lines.
        let long = pages(in_full(&request(&"y".repeat(5_000))), 80, 24);
        let rows: Vec<_> = long.iter().flatten().filter(|line| line.text.contains("yyy")).collect();
        assert!(rows.len() > 60 && rows.iter().all(|row| row.text.starts_with("  ")), "{rows:?}");
    }
}
