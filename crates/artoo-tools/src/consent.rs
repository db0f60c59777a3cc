//! Consent: the digest that an approval is bound to, and the approval itself.

pub(crate) mod denial;
pub(crate) mod scope;

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use artoo_proto::{ConsentHash, ConsentScope};

use crate::digest;
use crate::limit::Limit;
use crate::{open, texts};

/// How long an approval is valid: long enough to start the call.
#[doc(alias = "limit")]
pub const GRANT_LIFETIME: Duration = Duration::from_secs(300);

/// Largest file, in bytes, that is hashed for a consent digest. Larger ones are identified by size, time and inode.
pub(crate) const DIGEST_MAX_BYTES: u64 = 64 * 1024 * 1024;

/// The user's approval of exactly one call, used up by making it.
///
/// Only [`crate::Registry::grant`] makes one. The call computes the digest again, and is denied if a byte of the
/// command, the folder, the environment or the files differs.
#[derive(Debug)]
pub struct Grant {
    hash: ConsentHash,
    scope: ConsentScope,
    issued: Instant,
}

impl Grant {
    /// An approval issued now of the call with this digest, with the scope the user chose.
    pub(crate) fn new(hash: ConsentHash, scope: ConsentScope) -> Self {
        Self { hash, scope, issued: Instant::now() }
    }

    /// The digest that the user approved.
    pub(crate) fn hash(&self) -> &ConsentHash {
        &self.hash
    }

    /// Uses up the approval for a call with this digest, and returns its scope. `Err` says why it is not valid.
    pub(crate) fn redeem(self, hash: &ConsentHash) -> Result<ConsentScope, String> {
        if self.hash != *hash {
            return Err(texts::CHANGED_SINCE_APPROVED.to_owned());
        }
        if self.issued.elapsed() > GRANT_LIFETIME {
            return Err(format!("the approval is older than {} s", GRANT_LIFETIME.as_secs()));
        }
        Ok(self.scope)
    }
}

/// The digest of texts and of the files at these paths.
pub(crate) fn hash<'a>(texts: impl Iterator<Item = &'a [u8]>, files: &[PathBuf], limit: &Limit) -> ConsentHash {
    let mut parts: Vec<Vec<u8>> = texts.map(<[u8]>::to_vec).collect();
    for path in files {
        parts.extend([path.as_os_str().as_bytes().to_vec(), state(path, limit).into_bytes()]);
    }
    ConsentHash(digest::of_parts(parts.iter().map(Vec::as_slice)))
}

/// What a consent digest holds of a path: the SHA-256 of a file, metadata if it is too large or unreadable, device and
/// inode of a folder, or the kind of error if it is missing.
fn state(path: &Path, limit: &Limit) -> String {
    match fs::metadata(path) {
        Err(error) => format!("none {:?}", error.kind()),
        Ok(found) if found.is_dir() => format!("folder {} {}", found.dev(), found.ino()),
        Ok(found) => content(path, &found, limit).unwrap_or_else(|| {
            let (s, ns) = (found.mtime(), found.mtime_nsec());
            format!("facts {} {} {} {s} {ns}", found.dev(), found.ino(), found.len())
        }),
    }
}

/// SHA-256 of a regular file in hex; `None` if it is no regular file, larger than [`DIGEST_MAX_BYTES`], or not read in
/// time.
pub(crate) fn content(path: &Path, found: &fs::Metadata, limit: &Limit) -> Option<String> {
    if !found.is_file() || found.len() > DIGEST_MAX_BYTES {
        return None;
    }
    digest::of_file(&mut open::regular(path).ok()?, limit).ok().flatten()
}
