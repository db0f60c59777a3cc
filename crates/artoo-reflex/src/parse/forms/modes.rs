//! Builds changes of permission bits from forms.

use std::path::Path;

use super::acts::Form;
use crate::algebra::{Act, Depth, Kind, ModeChange, Query, Step};
use crate::parse::clauses::phrase;

impl Form<'_> {
    /// The steps for a form that changes permission bits, by its name; `None` for any other form, and inside it if the
    /// values don't fit together.
    pub(super) fn modes(&self, act: &str) -> Option<Option<Vec<Step>>> {
        let bits = || u32::from_str_radix(self.text("octal").or_else(|| self.text("private"))?, 8).ok();
        let selected = |mode: ModeChange| {
            let of = self.query("selection").filter(|of| of.kind() != Kind::Folder || !self.says_contents())?;
            Some(vec![Step::Do(Act::SetMode { of, mode })])
        };
        Some(match act {
            "executable" => selected(ModeChange::Executable),
            "not_executable" => selected(ModeChange::NotExecutable),
            "read_only" => selected(ModeChange::ReadOnly),
            "mode_more" => self.permission_bits().and_then(|bits| selected(ModeChange::Added(bits))),
            "mode_less" => self.permission_bits().and_then(|bits| {
                selected(match bits {
                    0o222 => ModeChange::ReadOnly,
                    0o111 => ModeChange::NotExecutable,
                    bits => ModeChange::Removed(bits),
                })
            }),
            "mode" => bits().and_then(|bits| selected(ModeChange::Bits(bits))),
            "mode_whole" => bits().and_then(|bits| self.whole(ModeChange::Bits(bits))),
            "private" => selected(ModeChange::Bits(0o600)).filter(|_| self.are_plain()),
            _ => return None,
        })
    }

    /// The steps that change everything below a folder, and then the folder itself.
    fn whole(&self, mode: ModeChange) -> Option<Vec<Step>> {
        // Not everything on the machine, or in the home folder.
        let home = Path::new(&self.matcher.context.environment.home);
        let roots = vec![self.path("top").filter(|path| self.is_there(path) && !home.starts_with(path))?];
        let itself = Query::Paths { paths: roots.clone(), kind: Kind::Folder };
        let below = Query::Tree { roots, depth: Depth::Whole, hidden: true, kind: Kind::Any };
        Some([below, itself].into_iter().map(|of| Step::Do(Act::SetMode { of, mode })).collect())
    }

    /// Whether the request says "and its contents", which a folder that is changed alone leaves out.
    fn says_contents(&self) -> bool {
        let tokens = &self.matcher.chart.tokens;
        (0..tokens.len()).any(|at| phrase("with_contents", tokens, at).is_some())
    }

    /// The permission bits that the slots for permissions and kinds of users express together.
    fn permission_bits(&self) -> Option<u32> {
        let all = |names: [&str; 2]| {
            let bits = |name| u32::from_str_radix(self.text(name)?, 8).ok();
            names.into_iter().filter_map(bits).reduce(|one, other| one | other)
        };
        Some((all(["can", "can2"])? * 0o111) & all(["whom", "whom2"])?)
    }

    /// Whether only files without execute bits are selected; 0600 would take these bits from folders and programs.
    fn are_plain(&self) -> bool {
        let mode = |path: &String| self.fs().metadata(Path::new(path)).map(|entry| entry.mode);
        let is_plain = |path: &String| mode(path).is_ok_and(|mode| mode & 0o111 == 0);
        matches!(self.query("selection"), Some(Query::Paths { paths, .. }) if paths.iter().all(is_plain))
    }
}

/// What a word says in a slot for permissions or kinds of users, in octal: the bits of a permission for one kind of
/// users ("can"), or all bits of kinds of users ("whom"); `None` for any other slot or word.
pub(super) fn right(kind: &str, word: &str) -> Option<&'static str> {
    match (kind.trim_end_matches('2'), word) {
        ("can", "read" | "reading" | "readable") => Some("4"),
        ("can", "write" | "writing" | "writable" | "writeable") => Some("2"),
        ("can", "execute" | "exec" | "execution" | "executing" | "executable" | "run") => Some("1"),
        ("whom", "owner" | "user") => Some("700"),
        ("whom", "group") => Some("70"),
        ("whom", "others" | "other") => Some("7"),
        ("whom", "everyone" | "everybody" | "all" | "anyone" | "anybody") => Some("777"),
        _ => None,
    }
}
