//! Turns predicates on lines into calls of `grep`.

use super::Unsupported;
use super::pipeline::{Argv, escaped};
use crate::algebra::{NameTest, Pred};
use crate::ensure::ensure;
use crate::eval::regex::extended;

/// Maximum repetition count in a pattern of GNU `grep`.
const REPETITION_MAX: u64 = 32_767;

/// A call of `grep`: its options and patterns.
pub(super) struct Grep<'a> {
    options: Vec<&'static str>,
    patterns: Vec<Pattern<'a>>,
    is_wanted: bool,
}

/// A pattern of `grep`: a fixed text or an extended regular expression.
enum Pattern<'a> {
    /// A text that is searched literally.
    Fixed { text: &'a str, ignore_case: bool },
    /// An extended regular expression; `by_characters` if it must match characters rather than bytes.
    Regex { text: String, by_characters: bool },
}

impl<'a> Grep<'a> {
    /// The `grep` call for a predicate on lines; without a predicate, every line matches.
    pub(super) fn of(keep: Option<&'a Pred>) -> Result<Self, Unsupported> {
        let grep = |patterns, is_wanted| Self { options: vec!["-a"], patterns, is_wanted };
        match keep {
            None => grep(vec![Pattern::Fixed { text: "", ignore_case: false }], true),
            Some(Pred::Word { text, ignore_case }) => {
                grep(vec![Pattern::Fixed { text, ignore_case: *ignore_case }], true).with("-w")
            }
            Some(Pred::Not(inner)) if matches!(**inner, Pred::Word { .. }) => {
                Self { is_wanted: false, ..Self::of(Some(inner))? }
            }
            Some(Pred::Not(inner)) => grep(vec![Pattern::of(inner)?], false),
            Some(Pred::Any(parts)) if !parts.is_empty() => {
                grep(parts.iter().map(Pattern::of).collect::<Result<_, _>>()?, true)
            }
            Some(one) => grep(vec![Pattern::of(one)?], true),
        }
        .checked()
    }

    /// Checks that either all patterns ignore case or none does, as `grep` has one option for all.
    fn checked(self) -> Result<Self, Unsupported> {
        let ignoring = self.patterns.iter().filter(|pattern| pattern.ignores_case()).count();
        let is_mixed = ignoring > 0 && ignoring < self.patterns.len();
        ensure(!is_mixed, || Unsupported::Predicate("texts with and without regard to case, either of them,"))?;
        Ok(self)
    }

    /// Adds an option to the `grep` call.
    pub(super) fn with(mut self, option: &'static str) -> Self {
        self.options.push(option);
        self
    }

    /// The arguments of the `grep` call that reads standard input.
    pub(super) fn argv(&self) -> Argv {
        self.after("grep")
    }

    /// The arguments of the `grep` call that reads the file at a path.
    pub(super) fn of_file(&self, path: &str) -> Argv {
        self.argv().operands([path])
    }

    /// The arguments of the `grep` call that reads files whose NUL-terminated names it gets on standard input.
    pub(super) fn of_names(&self) -> Argv {
        self.after("xargs -0 -r grep -s").and("--")
    }

    /// The arguments that start with this program name and continue with the options and patterns.
    fn after(&self, program: &'static str) -> Argv {
        let by_characters = self.patterns.iter().any(|p| matches!(p, Pattern::Regex { by_characters: true, .. }));
        let argv = if by_characters { Argv::new(program) } else { Argv::bytewise(program) };
        let argv = self.options.iter().fold(argv, |argv, option| argv.and(option));
        let argv = argv.and_if(!self.is_wanted, "-v").and_if(self.patterns.iter().any(Pattern::ignores_case), "-i");
        let all_fixed = self.patterns.iter().all(|pattern| matches!(pattern, Pattern::Fixed { .. }));
        let argv = argv.and(if all_fixed { "-F" } else { "-E" });
        self.patterns.iter().fold(argv, |argv, pattern| {
            let text = match pattern {
                Pattern::Fixed { text, .. } if all_fixed => (*text).to_owned(),
                Pattern::Fixed { text, .. } => literal(text),
                Pattern::Regex { text, .. } => text.clone(),
            };
            argv.and("-e").value(text)
        })
    }
}

impl<'a> Pattern<'a> {
    /// The `grep` pattern for a predicate on lines.
    fn of(pred: &'a Pred) -> Result<Self, Unsupported> {
        let by_bytes = |text: String| Ok(Self::Regex { text, by_characters: false });
        let by_characters = |text: String| Ok(Self::Regex { text, by_characters: true });
        match pred {
            Pred::Contains { text, ignore_case } => Ok(Self::Fixed { text, ignore_case: *ignore_case }),
            Pred::Line(NameTest::Is(text)) => by_bytes(format!("^{}$", literal(text))),
            Pred::Line(NameTest::Starts(text)) => by_bytes(format!("^{}", literal(text))),
            Pred::Line(NameTest::Ends(text)) => by_bytes(format!("{}$", literal(text))),
            Pred::Line(NameTest::Has(text)) => Ok(Self::Fixed { text, ignore_case: false }),
            Pred::Line(NameTest::Glob(pattern)) if !pattern.contains(['?', '[', '\\']) => {
                let parts: Vec<String> = pattern.split('*').map(literal).collect();
                by_bytes(format!("^{}$", parts.join(".*")))
            }
            Pred::Line(NameTest::Pattern(pattern)) if extended(pattern, false).as_ref() == Some(pattern) => {
                by_characters(pattern.clone())
            }
            Pred::Blank => by_bytes("^[[:space:]]*$".to_owned()),
            Pred::MinLength(count) if *count <= REPETITION_MAX => by_characters(format!("^.{{{count}}}")),
            Pred::MaxLength(count) if *count <= REPETITION_MAX => by_characters(format!("^.{{0,{count}}}$")),
            _ => Err(Unsupported::Predicate("this condition on lines")),
        }
    }

    /// Whether the pattern matches without regard to case.
    fn ignores_case(&self) -> bool {
        matches!(self, Self::Fixed { ignore_case: true, .. })
    }
}

/// A regular expression that matches exactly this text.
pub(super) fn literal(text: &str) -> String {
    escaped(text, "\\.[(){*+?^$|")
}
