//! Blocked targets: tool and target pairs that a plan must not use, with a string form.

mod blocklist;
mod scope;

use alloc::borrow::{Cow, ToOwned};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

pub(crate) use blocklist::{AllToolsBlocked, Blocklist};
pub(crate) use scope::{distinct, targets_to_block, tools_of_failing, tools_to_block, used_tools};

/// A target that the next plan must not use, for one tool or for every tool.
///
/// As a string: `read_file:/a/b` is an exact pair, `*:/a/b` that target for every tool, `*:/a/**` everything in a
/// folder, itself included. `:`, `%` and `*` in a tool's name are percent-escaped; an exact target that would read as a
/// folder, or that ends in a backslash, gets one backslash more. Nothing else is escaped: escape a target before you
/// display it.
///
/// ```
/// use artoo_ggs::BlockedTarget;
/// let folder: BlockedTarget = "*:/srv/reports/**".parse().unwrap();
/// assert!(folder.matches("glob", "/srv/reports/2024/q1.pdf"));
/// assert!(folder.matches("glob", "/srv/reports/../reports/x"));
/// assert!(!folder.matches("glob", "/srv/reports2"));
/// assert_eq!(folder.to_string(), "*:/srv/reports/**");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct BlockedTarget {
    /// The tool the target is blocked for; `None` blocks it for every tool.
    pub tool: Option<String>,
    /// The blocked path, pattern, query or command.
    pub target: String,
    /// Whether everything below `target` is blocked too.
    pub subtree: bool,
}

impl BlockedTarget {
    /// Blocks one target for one tool.
    #[must_use]
    pub fn pair(tool: impl Into<String>, target: impl Into<String>) -> Self {
        Self { tool: Some(tool.into()), target: target.into(), subtree: false }
    }

    /// Blocks one target for every tool.
    #[must_use]
    pub fn any_tool(target: impl Into<String>) -> Self {
        Self { tool: None, target: target.into(), subtree: false }
    }

    /// Blocks a folder and everything in it, for every tool.
    #[must_use]
    pub fn folder(target: impl Into<String>) -> Self {
        Self { tool: None, target: target.into(), subtree: true }
    }

    /// The block with its path normalized, as blocks are stored.
    pub(crate) fn into_normalized(mut self) -> Self {
        if let Cow::Owned(path) = normalized(&self.target) {
            self.target = path;
        }
        self
    }

    /// Whether a call of `tool` on `target` is blocked.
    ///
    /// Tools are compared exactly. Paths (`/…`, `~/…`) are compared without `.`, `..`, doubled and trailing slashes;
    /// resolve symbolic links first. Everything else is compared exactly.
    #[must_use]
    pub fn matches(&self, tool: &str, target: &str) -> bool {
        if self.tool.as_deref().is_some_and(|own| own != tool) {
            return false;
        }
        let (own, other) = (normalized(&self.target), normalized(target));
        own == other || (self.subtree && is_under(&other, &own))
    }
}

impl fmt::Display for BlockedTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.tool {
            None => f.write_str("*")?,
            Some(tool) => {
                for c in tool.chars() {
                    match c {
                        ':' => f.write_str("%3A")?,
                        '%' => f.write_str("%25")?,
                        '*' => f.write_str("%2A")?,
                        c => write!(f, "{c}")?,
                    }
                }
            }
        }
        write!(f, ":{}", self.target)?;
        if self.subtree {
            f.write_str(SUBTREE)
        } else if self.target.ends_with(SUBTREE) || self.target.ends_with('\\') {
            f.write_str("\\")
        } else {
            Ok(())
        }
    }
}

/// Suffix that marks a whole folder in the string form of a [`BlockedTarget`], as in `*:/srv/reports/**`.
const SUBTREE: &str = "/**";

/// The error of a string that is not a valid [`BlockedTarget`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BlockedTargetError {
    /// The string has no `:` between tool and target.
    #[error("{text:?} has no `:` between tool and target")]
    NoTool {
        /// The rejected string.
        text: String,
    },
    /// The tool's name has a `%` or `*` that is not part of an escape.
    #[error("tool {tool:?} has a `%` or `*` that is not part of %3A, %25 or %2A")]
    BadEscape {
        /// The tool's name as written.
        tool: String,
    },
}

impl FromStr for BlockedTarget {
    type Err = BlockedTargetError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (tool, target) =
            text.split_once(':').ok_or_else(|| BlockedTargetError::NoTool { text: text.to_owned() })?;
        let tool = if tool == "*" { None } else { Some(unescape(tool)?) };
        let (target, subtree) = match target.strip_suffix('\\') {
            Some(exact) => (exact, false),
            None => target.strip_suffix(SUBTREE).map_or((target, false), |folder| (folder, true)),
        };
        Ok(Self { tool, target: target.to_owned(), subtree })
    }
}

/// Decodes the percent escapes in a tool's name; fails if a `*` is in the name, or a `%` that starts no escape.
fn unescape(tool: &str) -> Result<String, BlockedTargetError> {
    let bad = || BlockedTargetError::BadEscape { tool: tool.to_owned() };
    if tool.contains('*') {
        return Err(bad());
    }
    let mut parts = tool.split('%');
    let mut name = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (c, rest) = [("3A", ':'), ("25", '%'), ("2A", '*')]
            .into_iter()
            .find_map(|(code, c)| part.strip_prefix(code).map(|rest| (c, rest)))
            .ok_or_else(bad)?;
        name.push(c);
        name.push_str(rest);
    }
    Ok(name)
}

/// Normalizes a path: removes `.`, `..`, doubled and trailing slashes. Returns anything else unchanged.
pub(crate) fn normalized(target: &str) -> Cow<'_, str> {
    let (root, rest) = if let Some(rest) = target.strip_prefix("~/") {
        ("~", rest)
    } else if let Some(rest) = target.strip_prefix('/') {
        ("", rest)
    } else {
        return Cow::Borrowed(target);
    };
    if !rest.is_empty() && rest.split('/').all(|part| !matches!(part, "" | "." | "..")) {
        return Cow::Borrowed(target);
    }
    let mut kept: Vec<&str> = Vec::new();
    for part in rest.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                kept.pop();
            }
            part => kept.push(part),
        }
    }
    if kept.is_empty() && root.is_empty() {
        return Cow::Borrowed("/");
    }
    let mut path = root.to_owned();
    for part in kept {
        path.push('/');
        path.push_str(part);
    }
    Cow::Owned(path)
}

/// Whether `target` is below `folder`; both must be normalized.
fn is_under(target: &str, folder: &str) -> bool {
    let folder = folder.strip_suffix('/').unwrap_or(folder);
    target.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}
