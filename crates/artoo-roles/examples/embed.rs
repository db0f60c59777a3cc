//! Embeds artoo: one request, its answer, and what each part of the answer rests on. Run it in this repository.

#![expect(clippy::print_stdout, reason = "an example shows what it got")]

use artoo_proto::{Ending, escape::visible};
use artoo_roles::runtime::System;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let kept = tempfile::tempdir()?;
    let artoo = System::builder().data_dir(kept.path()).start()?;
    let result = artoo.run("how many rust files are in the crates folder").outcome().await?.result;
    println!("{}\n{}", visible(&result.summary), visible(&result.output));
    for criterion in &result.criteria {
        println!("{:?}: {}", criterion.mark, visible(&criterion.claim));
    }
    let problems = artoo.close().await.problems;
    if matches!(result.ending, Ending::Accept { .. }) && problems.is_empty() {
        return Ok(());
    }
    Err(format!("{:?}, not kept as promised: {problems:?}", result.ending).into())
}
