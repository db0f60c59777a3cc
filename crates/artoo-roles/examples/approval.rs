//! Embeds artoo with an approval callback: it approves moves to the trash and denies everything else.

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use std::fs;
use std::path::Path;

use artoo_proto::{AbandonReason, ClarificationRequest, ConsentRequest, ConsentScope, Ending, Environment};
use artoo_roles::runtime::{Consent, Operator, System};
use async_trait::async_trait;

/// An operator that approves only calls whose first effect is a move to the trash.
struct TrashOnly;

#[async_trait]
impl Operator for TrashOnly {
    /// With `false`, artoo denies every call that needs approval, without a call of `consent`.
    fn is_present(&self) -> bool {
        true
    }

    /// `effects` says what the call would change; the answer holds for exactly this call.
    async fn consent(&self, request: &ConsentRequest) -> Option<Consent> {
        println!("asked: {}: {}", request.shown, request.effects.join("; "));
        let is_trash = request.effects.first().is_some_and(|effect| effect.contains("to the trash"));
        // Only an answer that a person gave may set `by_person`.
        is_trash.then_some(Consent { scope: ConsentScope::Once, by_person: false })
    }

    /// A request that is not clear: an empty answer goes on without one.
    async fn clarify(&self, _request: &ClarificationRequest) -> String {
        String::new()
    }
}

/// Runs a deletion, which is approved, and a renaming, which is denied; fails unless only the deletion was made.
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let home = tempfile::tempdir()?;
    let notes = home.path().join("notes");
    fs::create_dir(&notes)?;
    for name in ["a.tmp", "b.tmp", "plan.txt"] {
        fs::write(notes.join(name), "text\n")?;
    }
    let artoo = System::builder()
        .environment(environment(home.path()))
        .data_dir(home.path().join(".artoo"))
        .operator(TrashOnly)
        .start()?;

    let deleted = artoo.run("delete the tmp files in ~/notes").outcome().await?.result;
    println!("{}", deleted.summary);
    let moved = artoo.run("rename ~/notes/plan.txt to done.txt").outcome().await?.result;
    println!("{}", moved.summary);
    let problems = artoo.close().await.problems;

    let mut left: Vec<_> = fs::read_dir(&notes)?.flatten().map(|entry| entry.file_name()).collect();
    left.sort();
    let is_denied = matches!(&moved.ending, Ending::Abandon { reason: AbandonReason::ConsentNeeded, .. });
    if matches!(deleted.ending, Ending::Accept { .. }) && is_denied && left == ["plan.txt"] && problems.is_empty() {
        return Ok(());
    }
    Err(format!("{deleted:#?}\n{moved:#?}\n{left:?}, {problems:?}").into())
}

/// A machine whose home folder is `home`: relative paths, `~` and the trash are below it.
fn environment(home: &Path) -> Environment {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    Environment {
        cwd: text(home),
        home: text(home),
        workspace: text(&home.join("workspace")),
        os: std::env::consts::OS.to_owned(),
        utc_offset_s: 0,
    }
}
