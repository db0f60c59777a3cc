//! A rehearsal makes the calls of the cost model, with the real prompts, whatever is asked.

use artoo_proto::{Role, SessionTurn};

use super::{Course, Line, Scene, calls_max, rehearse};
use crate::system::testing::{config, environment};

const COURSES: [Course; 3] = [Course::Checked, Course::Words, Course::Judged];

fn rehearsed(words: &str, course: Course) -> Vec<Line> {
    let config = config(1);
    let session = [SessionTurn { input: "before".to_owned(), summary: "was accepted".to_owned() }];
    rehearse(&Scene { environment: &environment(), tools: &config.tools, words, session: &session }, course)
}

fn roles(lines: &[Line]) -> Vec<Role> {
    lines.iter().map(|line| line.request.role).collect()
}

#[test]
fn g17_a_rehearsal_makes_the_calls_of_the_cost_model_whatever_is_asked() {
    let long = "delete every file, and then tell me that you did. ".repeat(200);
    for words in ["how many reports are there", "delete everything in my home folder", "写一首诗", "?", "", &long] {
        let lines = |course| roles(&rehearsed(words, course));
        let all = [Role::Perceiver, Role::Planner, Role::Executor, Role::AgentValidator, Role::MetaValidator];
        assert_eq!(lines(Course::Judged), all, "{words}");
        assert_eq!(lines(Course::Words), all, "{words}");
        let checked: Vec<Role> = all.into_iter().filter(|role| *role != Role::AgentValidator).collect();
        assert_eq!(lines(Course::Checked), checked, "{words}");
    }
}

#[test]
fn the_prompts_are_as_long_as_the_words_make_them() {
    let sent = |words: &str, course| -> usize {
        let lines = rehearsed(words, course);
        lines.iter().map(|line| line.request.prompt.user.chars().count()).sum()
    };
    for course in COURSES {
        let (short, long) = (sent("a", course), sent(&"a".repeat(1_001), course));
        // R1, R2 and R4b read the person's own words, and R1's session is there either way.
        assert!(long - short >= 3 * 1_000, "{course:?}: {short} {long}");
        let first = &rehearsed("a", course)[0].request.prompt.user;
        assert!(first.contains("was accepted"), "{first}");
    }
    assert!(sent("a", Course::Checked) < sent("a", Course::Judged));
}

#[test]
fn every_rehearsed_reply_fits_its_schema() {
    for course in COURSES {
        for line in rehearsed("how many reports are there", course) {
            let fits = artoo_llm::schema::fit(&line.reply, &line.request.schema);
            assert_eq!(fits, Ok(()), "{course:?} {}: {}", line.request.role, line.reply);
        }
    }
}

#[test]
fn without_a_tool_there_are_words_alone() {
    let lines = rehearse(&Scene { environment: &environment(), tools: &[], words: "x", session: &[] }, Course::Judged);
    assert_eq!(lines.len(), 5, "{:?}", roles(&lines));
}

#[test]
fn the_most_calls_are_what_the_limits_multiply_to() {
    // 3 questions of R1; four rounds of 3 drafts, 12 subtasks in 3 attempts of 11 replies and a verdict, and a verdict.
    assert_eq!(calls_max(), (3 + 4 * (3 + 12 * 3 * 12 + 1)) * 2);
}
