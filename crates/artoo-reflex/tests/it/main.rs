//! Integration tests of the crate: wordings, refusals, round trips, and the answers of programs against those of
//! `eval`.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "helpers of tests fail as tests do")]

mod answer;
mod check;
mod declines;
mod disk;
mod facts;
mod kinds;
mod meaning;
mod phrasings;
mod refuse;
mod round_trip;
mod seam;
mod tool;

use artoo_proto::{Environment, Now, Timestamp};

use artoo_reflex::testing::MemoryFileSystem;
use artoo_reflex::{Parsed, parse};

/// Wednesday, 15 May 2024, 14:00 local time (UTC+1 for simplicity: 13:00 UTC).
fn now() -> Now {
    Now { wall: Timestamp::parse("2024-05-15T13:00:00Z").unwrap(), uptime_ms: 0 }
}

/// A Linux machine whose current folder is `/home/ada/work`.
fn environment() -> Environment {
    Environment {
        cwd: "/home/ada/work".to_owned(),
        home: "/home/ada".to_owned(),
        workspace: "/home/ada/artoo_workspace".to_owned(),
        os: "linux".to_owned(),
        utc_offset_s: 3600,
    }
}

/// Parses a request on an empty disk, without earlier requests.
fn read(request: &str) -> Result<Parsed, artoo_proto::Abstention> {
    parse(request, &[], &environment(), now(), &MemoryFileSystem::default())
}
