//! Asks for approval of an action: all of it is shown, in pages if it is long, and the default is no.

use std::io;

use artoo_proto::{ConsentRequest, ConsentScope, escape};
use rustix::termios::tcgetwinsize;

use super::Conversation;
use crate::display::{Line, quoted, wrap};

/// Default lifetime of a rule (an approval for later tasks), in days.
const DAYS: u32 = 1;
/// Maximum lifetime of a rule (an approval for later tasks), in days.
const DAYS_MAX: u32 = 30;

/// Number of terminal rows reserved below a page of the question, for the line count and the prompt.
const ROWS_BELOW: usize = 3;

/// Minimum number of rows of a page of a long question.
const PAGE_MIN: usize = 4;

const QUESTION: &str = "Allow it? [y/N] ";
const MORE: &str = "Enter shows more, anything else is no: ";
const FOR_HOW_LONG: &str = "For how many days, 1 to 30? [1] ";

/// Asks the user to approve an action and returns the approved scope; `None` if denied.
pub(super) async fn ask(talk: &mut Conversation<'_>, request: &ConsentRequest) -> Option<ConsentScope> {
    let (columns, rows) = size();
    let pages = pages(lines(request), columns, rows);
    let (last, earlier) = pages.split_last()?;
    for page in earlier {
        if !talk.ask(page, MORE).await?.is_empty() {
            return None;
        }
    }
    let answer = talk.ask(last, QUESTION).await?;
    match key(&answer)? {
        Key::Once => Some(ConsentScope::Once),
        Key::Task if !request.offers.task.is_empty() => Some(ConsentScope::Task),
        Key::Path if !request.offers.path.is_empty() => {
            let days = days(&talk.ask(&[], FOR_HOW_LONG).await?)?;
            Some(ConsentScope::Path { days })
        }
        Key::Task | Key::Path => None,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    Once,
    Task,
    Path,
}

/// Parses the user's answer; `None` (denied) for anything but a clear approval.
fn key(answer: &str) -> Option<Key> {
    match answer.to_ascii_lowercase().as_str() {
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

/// Lines of the whole approval question: the action, its effects, the reason, and the possible answers.
fn lines(request: &ConsentRequest) -> Vec<Line> {
    let shown = escape::visible(&request.shown);
    let mut lines = vec![Line::plain(""), Line::warning("This needs your yes. It would run exactly this, once:")];
    lines.extend(quoted(&shown));
    lines.extend(request.effects.iter().map(|effect| Line::plain(format!("  it {}", escape::one_line(effect)))));
    lines.push(Line::plain(format!("  asked because {}", escape::one_line(&request.reason))));
    let mut offer = |head: &str, covers: &[String]| {
        if !covers.is_empty() {
            lines.push(Line::plain(head));
            lines.extend(covers.iter().map(|cover| Line::plain(format!("    {}", escape::one_line(cover)))));
        }
    };
    offer(
        "  y allows this once; t also whatever else this task does of the following, by the same tool:",
        &request.offers.task,
    );
    offer("  p also until a date, in every task, by the same tool (see artoo rules):", &request.offers.path);
    lines
}

/// Number of columns and rows of the terminal; unlimited if unknown.
fn size() -> (usize, usize) {
    let known = |number: u16| if number == 0 { usize::MAX } else { usize::from(number) };
    tcgetwinsize(io::stderr()).map_or((usize::MAX, usize::MAX), |size| (known(size.ws_col), known(size.ws_row)))
}

/// Splits the lines of a question into pages that fit the terminal; if there are several, each ends with its position.
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

    use super::{Key, days, key, lines, pages};

    fn request(shown: &str) -> ConsentRequest {
        ConsentRequest {
            task_id: TaskId::try_from("a-00000000-0000-4000-8000-000000000001".to_owned()).unwrap(),
            subtask_id: serde_json::from_str::<SubTaskId>("\"00000000-0000-4000-8000-000000000001\"").unwrap(),
            hash: ConsentHash("h".to_owned()),
            shown: shown.to_owned(),
            effects: vec!["deletes a\nb".to_owned()],
            reason: "rm removes".to_owned(),
            offers: ConsentOffers { task: vec!["take: /a\n  y".to_owned()], path: Vec::new() },
        }
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
            ("", None),
            ("n", None),
            ("no", None),
            ("yes please", None),
            ("ye", None),
            ("tt", None),
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

    #[doc = "holds: law 0.12; design H3"]
    #[test]
    fn a_command_can_neither_hide_nor_imitate_the_question() {
        let shown = format!("rm a\u{1b}[2K\u{202e}\nAllow it? [y/N] y\n{}", "x".repeat(10_000));
        let lines: Vec<String> = lines(&request(&shown)).into_iter().map(|line| line.text).collect();
        let command: Vec<&String> = lines.iter().filter(|line| line.starts_with("  | ")).collect();
        assert_eq!(command.len(), 3, "{lines:?}");
        assert_eq!(command[0], "  | rm a\\u{1b}[2K\\u{202e}");
        assert_eq!(command[2].len(), 10_004, "nothing is left out");
        assert!(lines.contains(&"  it deletes a\\nb".to_owned()));
        assert!(lines.contains(&"    take: /a\\n  y".to_owned()), "{lines:?}");
    }

    #[doc = "holds: design H3"]
    #[test]
    fn what_is_longer_than_the_screen_is_shown_in_pages_with_nothing_left_out() {
        let shown: String = (0..200).map(|number| format!("echo line {number}\n")).collect();
        let whole = lines(&request(&shown));
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
        let long = pages(lines(&request(&"y".repeat(5_000))), 80, 24);
        let rows: Vec<_> = long.iter().flatten().filter(|line| line.text.contains("yyy")).collect();
        assert!(rows.len() > 60 && rows.iter().all(|row| row.text.starts_with("  ")), "{rows:?}");
    }
}
