//! What a person is asked to allow, as a digest of all that decides what would happen, and the permission itself.

mod failed;
mod reach;
mod refusal;
mod survey;
mod task;

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use artoo_proto::{ConsentHash, ConsentScope};

use crate::digest;
use crate::limit::Limit;
use crate::open;

#[cfg(test)]
pub(crate) use failed::FailedCalls;
pub(crate) use failed::{CallKey, looks};
pub(crate) use reach::{Cover, Deed, Reach, Verb, place};
pub(crate) use refusal::Footprint;
pub(crate) use survey::survey;
pub(crate) use task::Tasks;

/// How long a yes holds: long enough to start the call, too short to be found lying around.
#[doc(alias = "limit")]
pub const GRANT_LIFETIME: Duration = Duration::from_secs(300);

/// Files larger than this are known by size, time and inode instead of content: hashing must not outlast patience.
pub(crate) const DIGEST_MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Paths of one command that are looked at.
pub(crate) const PATHS_MAX: usize = 64;

/// A person's yes to exactly one call, used up by making it.
///
/// Only [`crate::Registry::grant`] builds one. The call that takes it computes the digest again and refuses when a
/// single byte of command, folder, environment or files differs.
#[derive(Debug)]
pub struct Grant {
    hash: ConsentHash,
    scope: ConsentScope,
    issued: Instant,
}

/// Why a grant does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum GrantProblem {
    #[error("what was allowed is not what would run now: the call or a file it names has changed since")]
    Mismatch,
    #[error("the permission is older than {} s", GRANT_LIFETIME.as_secs())]
    Expired,
}

impl Grant {
    pub(crate) fn new(hash: ConsentHash, scope: ConsentScope) -> Self {
        Self { hash, scope, issued: Instant::now() }
    }

    /// Uses the permission up; it holds for `hash` or for nothing. Gives how far it reaches.
    pub(crate) fn redeem(self, hash: &ConsentHash) -> Result<ConsentScope, GrantProblem> {
        if self.hash != *hash {
            return Err(GrantProblem::Mismatch);
        }
        if self.issued.elapsed() > GRANT_LIFETIME {
            return Err(GrantProblem::Expired);
        }
        Ok(self.scope)
    }
}

/// All that decides what a call would do.
pub(crate) struct Subject<'a> {
    pub(crate) tool: &'a str,
    /// The command's bytes, or the input as JSON.
    pub(crate) text: &'a str,
    pub(crate) program: &'a Path,
    pub(crate) cwd: &'a str,
    pub(crate) environment: &'a [(String, OsString)],
    pub(crate) files: &'a [PathBuf],
}

/// The digest a consent is asked and given for.
pub(crate) fn hash(subject: &Subject<'_>, limit: &Limit) -> ConsentHash {
    let mut parts: Vec<Vec<u8>> = vec![
        subject.tool.into(),
        subject.text.into(),
        subject.program.as_os_str().as_bytes().into(),
        subject.cwd.into(),
    ];
    for (name, value) in subject.environment {
        parts.extend([name.as_bytes().to_vec(), value.as_bytes().to_vec()]);
    }
    for path in subject.files {
        parts.extend([path.as_os_str().as_bytes().to_vec(), fingerprint(path, limit).into_bytes()]);
    }
    ConsentHash(digest::of_parts(parts.iter().map(Vec::as_slice)))
}

/// What stands at a path, so that a change of it shows: content where it can be read, else the facts the system keeps.
fn fingerprint(path: &Path, limit: &Limit) -> String {
    match fs::metadata(path) {
        Err(error) => format!("none {:?}", error.kind()),
        Ok(found) if found.is_dir() => format!("folder {} {}", found.dev(), found.ino()),
        Ok(found) => content(path, &found, limit).unwrap_or_else(|| {
            let (s, ns) = (found.mtime(), found.mtime_nsec());
            format!("facts {} {} {} {s} {ns}", found.dev(), found.ino(), found.len())
        }),
    }
}

/// SHA-256 of a regular file up to the cap; `None` where there is none to have.
pub(crate) fn content(path: &Path, found: &fs::Metadata, limit: &Limit) -> Option<String> {
    if !found.is_file() || found.len() > DIGEST_MAX_BYTES {
        return None;
    }
    digest::of_file(&mut open::regular(path).ok()?, limit).ok().flatten()
}
