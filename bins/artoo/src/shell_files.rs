//! `artoo completions` and `artoo man`: shell completion scripts and manual pages, which a package installs beside the
//! program.

use std::fs;
use std::path::Path;

use clap::CommandFactory;
use clap_complete::Shell;
use clap_mangen::Man;

use crate::args::CommandLine;
use crate::{Exit, Failure, Line, Screen};

/// Prints the completion script for a shell.
pub(crate) fn completions(shell: Shell, screen: &Screen) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut CommandLine::command(), "artoo", &mut script);
    screen.answer(&[Line::answer(String::from_utf8_lossy(&script).trim_end())]);
    Exit::Accepted
}

/// Writes a manual page for the program and one for each command into a folder, or prints all of them.
pub(crate) fn manual(folder: Option<&Path>, screen: &Screen) -> Result<Exit, Failure> {
    let mut command = CommandLine::command();
    command.build();
    for page in pages(command) {
        if let Some(folder) = folder {
            let written = fs::create_dir_all(folder).and_then(|()| page.generate_to(folder));
            let path = written.map_err(|source| Failure::NotWritten { path: folder.to_owned(), source })?;
            screen.answer(&[Line::plain(path.display().to_string())]);
        } else {
            let mut text = Vec::new();
            page.render(&mut text).map_err(|source| Failure::Unwritten { source })?;
            screen.answer(&[Line::answer(String::from_utf8_lossy(&text).trim_end())]);
        }
    }
    Ok(Exit::Accepted)
}

/// The manual page of a command, followed by those of its subcommands.
fn pages(command: clap::Command) -> Vec<Man> {
    let below: Vec<Man> = command.get_subcommands().cloned().flat_map(pages).collect();
    std::iter::once(Man::new(command)).chain(below).collect()
}

/// Tests of the manual pages.
#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::{CommandLine, pages};

    #[test]
    fn manual_names_every_command_and_option() {
        let mut command = CommandLine::command();
        command.build();
        let mut open = vec![command.clone()];
        let pages = pages(command);
        let mut names = 0;
        while let Some(command) = open.pop() {
            let file = format!("{}.1", command.get_display_name().unwrap_or_else(|| command.get_name()));
            let page =
                pages.iter().find(|page| page.get_filename() == file).unwrap_or_else(|| panic!("no page {file}"));
            let mut text = Vec::new();
            page.render(&mut text).unwrap();
            let text = String::from_utf8(text).unwrap().replace("\\-", "-");
            let options =
                command.get_arguments().filter_map(|option| option.get_long().map(|long| format!("--{long}")));
            let commands = command.get_subcommands().map(|command| command.get_name().to_owned());
            for name in options.chain(commands) {
                assert!(text.contains(&name), "{file} does not name {name}");
                names += 1;
            }
            open.extend(command.get_subcommands().cloned());
        }
        assert!(names > 100, "only {names} names were looked for");
    }
}
