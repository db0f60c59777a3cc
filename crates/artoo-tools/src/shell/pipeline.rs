//! A pipeline of programs with their arguments, of which no word is interpreted as shell syntax.

use std::ffi::OsString;
use std::path::PathBuf;

use artoo_proto::pipeline::{PROGRAMS_MAX, WORDS_MAX, command};

use super::COMMAND_MAX_CHARS;
use crate::config::ToolConfig;
use crate::input;
use crate::process::{self, Invocation};
use crate::record::Record;

/// A valid pipeline written as a shell command, for display and as the call's target.
///
/// # Errors
/// The record that says why: the pipeline is empty or too long, or a program or word is not valid.
pub(super) fn text(pipeline: &[Vec<String>]) -> Result<String, Box<Record>> {
    input::check_count("pipeline", pipeline.len(), PROGRAMS_MAX)?;
    if pipeline.is_empty() {
        return Err(input::unfit("the pipeline is empty"));
    }
    for words in pipeline {
        input::check_count("pipeline[]", words.len(), WORDS_MAX)?;
        if words.first().is_none_or(|name| name.is_empty() || name.starts_with('-')) {
            return Err(input::unfit("a program of the pipeline has no name, or one that begins with a dash"));
        }
        if words.iter().any(|word| word.contains('\0')) {
            return Err(input::unfit("a word of the pipeline contains a NUL character"));
        }
    }
    let text = command(pipeline);
    input::check_length("pipeline", &text, COMMAND_MAX_CHARS)?;
    Ok(text)
}

/// The invocation of a pipeline: of its only program if that is found, else of a shell that starts its programs and
/// joins them by pipes; `None` if no shell is installed.
pub(super) fn invocation(pipeline: &[Vec<String>], config: &ToolConfig) -> Option<Invocation> {
    if let [words] = pipeline
        && let Some((name, arguments)) = words.split_first()
        && let Some(program) = program(name, config)
    {
        let arguments = arguments.iter().map(OsString::from).collect();
        return Some(Invocation { program, name: name.into(), arguments, environment: Vec::new() });
    }
    // A shell gets the words as positional parameters and reads none of them; `exec` starts no builtin.
    let mut numbers = 1..;
    let stage = |words: &Vec<String>| {
        let parameters = words.iter().zip(&mut numbers).map(|(_, number)| format!(" \"${{{number}}}\""));
        format!("exec{}", parameters.collect::<String>())
    };
    let script = pipeline.iter().map(stage).collect::<Vec<_>>().join(" | ");
    let mut shell = shell(config)?;
    shell.arguments.extend(["-c".into(), script.into(), shell.name.clone()]);
    shell.arguments.extend(pipeline.iter().flatten().map(OsString::from));
    Some(shell)
}

/// The path of a program: as given if it has a `/`, otherwise searched for in the configured folders; `None` if it is
/// not found there.
fn program(name: &str, config: &ToolConfig) -> Option<PathBuf> {
    if name.contains('/') { Some(PathBuf::from(name)) } else { process::find_program(config, name) }
}

/// The start of an invocation of bash, or else sh, without start-up files; its script is to be added. `None` if neither
/// is installed.
pub(super) fn shell(config: &ToolConfig) -> Option<Invocation> {
    let (program, name, options) = match process::find_program(config, "bash") {
        Some(bash) => (bash, "bash", &["--noprofile", "--norc"][..]),
        None => (process::find_program(config, "sh")?, "sh", &[][..]),
    };
    let arguments = options.iter().map(OsString::from).collect();
    Some(Invocation { program, name: name.into(), arguments, environment: Vec::new() })
}

/// Tests that the words of a pipeline reach programs unchanged, and that invalid pipelines are refused.
#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::process::CommandExt;
    use std::path::Path;
    use std::process::{Command, Output};

    use artoo_proto::Environment;
    use proptest::prelude::*;

    use super::{command, invocation, text};
    use crate::config::ToolConfig;

    /// Words that a shell would read as syntax, as several words, or not at all, which must reach programs unchanged.
    const HOSTILE: [&str; 14] = [
        "; touch pwned",
        "$(touch pwned)",
        "`touch pwned`",
        "*",
        "a\nb",
        "-n",
        "'",
        "\"",
        "",
        "\\",
        "~",
        "| touch pwned",
        "&& touch pwned > pwned",
        "${1}",
    ];

    /// A pipeline made of these programs with their arguments, for tests.
    fn pipeline(programs: &[&[&str]]) -> Vec<Vec<String>> {
        programs.iter().map(|words| words.iter().map(|word| (*word).to_owned()).collect()).collect()
    }

    /// A configuration whose only programs are the shell of this name, `printf`, `cat`, `tr` and `touch`.
    fn config(folder: &Path, shell: &str) -> ToolConfig {
        let path = folder.display().to_string();
        let environment = Environment {
            cwd: path.clone(),
            home: path.clone(),
            workspace: path,
            os: "linux".to_owned(),
            utc_offset_s: 0,
        };
        let bin = folder.join("bin");
        fs::create_dir_all(&bin).unwrap();
        for name in [shell, "printf", "cat", "tr", "touch"] {
            let real = ["/usr/bin", "/bin"].map(|bin| Path::new(bin).join(name)).into_iter().find(|path| path.exists());
            let _ = std::os::unix::fs::symlink(real.unwrap(), bin.join(name));
        }
        ToolConfig { program_path: vec![bin], ..ToolConfig::new(environment) }
    }

    /// Runs the invocation of a pipeline and returns its output.
    fn run(pipeline: &[Vec<String>], config: &ToolConfig) -> Output {
        let invocation = invocation(pipeline, config).unwrap();
        Command::new(&invocation.program)
            .arg0(&invocation.name)
            .args(&invocation.arguments)
            .env_clear()
            .env("PATH", &config.program_path[0])
            .current_dir(&config.environment.cwd)
            .output()
            .unwrap()
    }

    /// What `printf` prints for these words, alone and through a pipeline; panics unless the pipeline's text run by a
    /// shell prints the same.
    fn printed(words: &[String], shell: &str) -> Vec<u8> {
        let folder = tempfile::TempDir::new().unwrap();
        let config = config(folder.path(), shell);
        let first = [&["printf".to_owned(), "%s\\0".to_owned()][..], words].concat();
        let one = run(std::slice::from_ref(&first), &config);
        let joined = pipeline(&[&["cat"], &["tr", "a", "a"]]);
        let several = [&[first][..], &joined].concat();
        let by_text = Command::new(shell)
            .args(["-c", &command(&several)])
            .env("PATH", &config.program_path[0])
            .current_dir(folder.path())
            .output()
            .unwrap();
        let several = run(&several, &config);
        for ran in [&one, &several, &by_text] {
            assert!(ran.status.success() && ran.stderr.is_empty(), "{ran:?}");
            assert_eq!(ran.stdout, one.stdout);
        }
        assert!(!folder.path().join("pwned").exists());
        one.stdout
    }

    /// The bytes that `printf` must print for these words.
    fn expected(words: &[String]) -> Vec<u8> {
        words.iter().flat_map(|word| word.bytes().chain([0])).collect()
    }

    /// Words that a shell would read as syntax reach the programs of a pipeline unchanged.
    #[test]
    fn pipeline_words_are_not_shell_syntax() {
        let words = HOSTILE.map(str::to_owned);
        for shell in ["bash", "dash"].into_iter().filter(|shell| Path::new("/usr/bin").join(shell).exists()) {
            // A configured path without bash falls back to sh.
            let shell = if shell == "dash" { "sh" } else { shell };
            assert_eq!(printed(&words, shell), expected(&words));
            for word in &words {
                assert_eq!(printed(std::slice::from_ref(word), shell), expected(std::slice::from_ref(word)));
            }
        }
    }

    /// A pipeline's program that is named like a shell builtin, keyword or command is not interpreted by a shell, and
    /// so is not found.
    #[test]
    fn pipeline_programs_are_not_builtins_or_keywords() {
        let folder = tempfile::TempDir::new().unwrap();
        for shell in ["bash", "sh"] {
            let config = config(folder.path(), shell);
            for name in ["eval", ".", "X=1", "time", "if", "!", "{", "touch pwned", "$(touch pwned)", "~", "a\nb"] {
                for programs in [&[&[name, "touch pwned"][..]][..], &[&["cat"], &[name, "touch pwned"]]] {
                    let ran = run(&pipeline(programs), &config);
                    assert!(matches!(ran.status.code(), Some(126 | 127)), "{name}: {ran:?}");
                }
            }
            assert!(!folder.path().join("pwned").exists());
        }
        let config = config(folder.path(), "bash");
        let path = config.program_path[0].join("printf").display().to_string();
        assert_eq!(run(&pipeline(&[&[&path, "%s", "*"]]), &config).stdout, b"*");
        // Counterpart: a valid program in the same position is accepted.
        assert!(run(&pipeline(&[&["touch", "pwned"]]), &config).status.success());
        assert!(folder.path().join("pwned").exists());
    }

    /// Each invalid pipeline is refused with the reason.
    #[test]
    fn invalid_pipelines_are_refused_with_the_reason() {
        let long = "x".repeat(super::COMMAND_MAX_CHARS);
        let cats = vec![vec!["cat".to_owned()]; 17];
        let words = vec![vec!["cat".to_owned(); 1_025]];
        for (pipeline, fault) in [
            (Vec::new(), "the pipeline is empty"),
            (pipeline(&[&["ls"], &[]]), "no name"),
            (pipeline(&[&["", "x"]]), "no name"),
            (pipeline(&[&["-n", "x"]]), "begins with a dash"),
            (pipeline(&[&["echo", "a\0b"]]), "NUL"),
            (pipeline(&[&["echo", &long]]), "the limit is 32768"),
            (cats.clone(), "the limit is 16"),
            (words.clone(), "the limit is 1024"),
        ] {
            let problem = text(&pipeline).unwrap_err().text;
            assert!(problem.contains(fault), "{problem}");
        }
        for pipeline in [&cats[1..], &[words[0][1..].to_vec()], &pipeline(&[&["echo", &long[..32_000], "-n", ""]])] {
            assert_eq!(text(pipeline).unwrap(), command(pipeline));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

        /// Random words without NUL, many of them with quotes and other shell syntax, reach the program byte by byte.
        #[test]
        fn random_words_reach_the_program(
            words in proptest::collection::vec(
                prop_oneof!["[\u{1}-\u{7f}]{0,16}", "['\"\\\\$`! \n~*?=#-]{0,12}", "\\PC{0,8}", "[^\0]{0,8}"],
                1..12,
            ),
        ) {
            prop_assert_eq!(printed(&words, "bash"), expected(&words));
        }
    }
}
