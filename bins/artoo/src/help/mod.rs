//! `artoo help`: a page for each command and topic; the answer to a greeting; the command meant by a mistyped word.

mod greeting;
mod slip;

use clap::{CommandFactory, FromArgMatches};

use crate::args::CommandLine;
use crate::{Exit, Failure, Line, Screen};

pub(crate) use greeting::greeting_for;
pub(crate) use slip::check_command;

/// The topics: name and page. Each page fits on a screen of 24 lines.
const TOPICS: [(&str, &str); 8] = [
    ("questions", include_str!("questions.txt")),
    ("undo", include_str!("undo.txt")),
    ("memory", include_str!("memory.txt")),
    ("models", include_str!("models.txt")),
    ("privacy", include_str!("privacy.txt")),
    ("scripts", include_str!("scripts.txt")),
    ("prompt", include_str!("prompt.txt")),
    ("variables", include_str!("variables.txt")),
];

/// Shows the page of `artoo help` on these words.
pub(crate) fn run(words: &[String], screen: &Screen) -> Result<Exit, Failure> {
    let page = page(words).ok_or_else(|| Failure::NoSuchTopic { topic: words.join(" ") })?;
    screen.answer(&[Line::plain(page.trim_end())]);
    Ok(Exit::Accepted)
}

/// The page on a topic or a command, or the overview without words; `None` for other words.
pub(crate) fn page(words: &[String]) -> Option<String> {
    if let [word] = words
        && let Some((_, page)) = TOPICS.iter().find(|(topic, _)| *topic == word.to_lowercase())
    {
        return Some((*page).to_owned());
    }
    let mut command = command();
    for word in words {
        command = command.find_subcommand(word)?.clone();
    }
    Some(command.render_long_help().to_string())
}

/// Builds the command line's definition; the help of each subcommand lists only the shared options that apply to it.
pub(crate) fn command() -> clap::Command {
    let mut command = CommandLine::command();
    command.build();
    command.mut_subcommands(|command| match command.get_name() {
        "run" | "resume" => command,
        name => {
            let name = name.to_owned();
            with_shown_options(command, &name)
        }
    })
}

/// Parses this process's arguments; the error of clap may also be a request for help or for the version.
pub(crate) fn command_line() -> Result<CommandLine, clap::Error> {
    // The help of all commands costs more instructions than the rest of the start.
    let asks_for_help = std::env::args_os().any(|given| given == "--help" || given == "-h");
    let mut command = if asks_for_help { command() } else { CommandLine::command() };
    let matches = command.try_get_matches_from_mut(std::env::args_os())?;
    let mut line = CommandLine::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
    let bare = matches.subcommand().filter(|(_, given)| given.subcommand().is_none());
    line.bare = bare.map(|(name, _)| name.to_owned());
    Ok(line)
}

/// Hides in the help of a subcommand the shared options that mean nothing for it.
fn with_shown_options(command: clap::Command, name: &str) -> clap::Command {
    let is_shown = |option: &str| match option {
        "json" | "quiet" | "plain" | "data_dir" => true,
        "exact" => matches!(name, "tasks" | "undo" | "skills" | "memory" | "report"),
        "verbose" => name == "memory",
        "output" => matches!(name, "tasks" | "report"),
        "deadline" | "workspace" => name == "try",
        "model" => matches!(name, "doctor" | "config"),
        _ => false,
    };
    let fit = |option: clap::Arg| {
        let is_hidden = option.is_hide_set() || option.is_global_set() && !is_shown(option.get_id().as_str());
        option.hide(is_hidden)
    };
    let more = "artoo --help lists the options of every command.";
    command.mut_args(fit).mut_subcommands(|command| with_shown_options(command, name)).after_help(more)
}

/// A line with the subcommands of a command that was given without one; `None` if it has none.
pub(crate) fn subcommands_of(name: &str) -> Option<Line> {
    let command = CommandLine::command();
    let names: Vec<&str> = command.find_subcommand(name)?.get_subcommands().map(clap::Command::get_name).collect();
    let text = format!("artoo {name} also takes: {}. artoo {name} --help explains them.", names.join(", "));
    (!names.is_empty()).then(|| Line::faint(text))
}

/// Whether the words after `artoo help` make it a request, such as "help me find it", or a greeting.
pub(crate) fn is_request(words: &[String]) -> bool {
    page(words).is_none() && (words.len() > 1 || greeting_for(&format!("help {}", words.join(" "))).is_some())
}

/// Shows the version.
pub(crate) fn version(screen: &Screen) -> Exit {
    screen.answer(&[Line::plain(CommandLine::command().render_version().trim_end())]);
    Exit::Accepted
}

/// Tests of the help pages: size, options and completeness.
#[cfg(test)]
mod tests {
    use super::{CommandFactory, CommandLine, TOPICS, page};

    /// Rows and columns of a usual terminal, less one row for the prompt; a help page must fit.
    const SCREEN: (usize, usize) = (23, 80);

    #[test]
    fn topics_fit_on_one_screen() {
        for (topic, page) in TOPICS {
            let widest = page.lines().map(|line| line.chars().count()).max().unwrap_or_default();
            assert!(page.lines().count() <= SCREEN.0 && widest <= SCREEN.1, "{topic}: {widest}");
        }
    }

    /// The help topics name only command-line options that exist.
    #[test]
    fn topics_name_only_options_that_exist() {
        let mut command = CommandLine::command();
        command.build();
        let mut options = Vec::new();
        let mut open = vec![command];
        while let Some(command) = open.pop() {
            options.extend(command.get_arguments().filter_map(|option| option.get_long().map(str::to_owned)));
            open.extend(command.get_subcommands().cloned());
        }
        let is_of_option = |c: char| c.is_ascii_alphabetic() || c == '-';
        let mut named = 0;
        for (topic, page) in TOPICS {
            for option in page.split(|c| !is_of_option(c)).filter_map(|word| word.strip_prefix("--")) {
                assert!(option.is_empty() || options.iter().any(|known| known == option), "{topic}: --{option}");
                named += usize::from(!option.is_empty());
            }
        }
        assert!(named > 8, "only {named} options are named");
    }

    #[test]
    fn every_command_and_topic_has_a_page() {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let mut overview = CommandLine::command();
        let overview = overview.render_long_help().to_string();
        for (topic, text) in TOPICS {
            assert_eq!(page(&words(topic)).as_deref(), Some(text));
            assert!(overview.contains(topic), "--help does not name {topic}");
        }
        for (given, part) in
            [("", "Topics of artoo help"), ("doctor", "--probe"), ("model list", "--verify"), ("SCRIPTS", "Exit")]
        {
            assert!(page(&words(given)).is_some_and(|page| page.contains(part)), "{given}");
        }
        for unknown in ["me find it", "model lisst", "nonsense"] {
            assert_eq!(page(&words(unknown)), None, "{unknown}");
        }
    }
}
