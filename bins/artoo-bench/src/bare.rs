//! The bare program with which artoo is compared: it makes the same model calls and starts the same processes, and
//! nothing else.

use std::process::{Command, Stdio};

use artoo_llm::bare::Bare;
use tokio::task::{JoinSet, spawn_blocking};

/// What the bare program does in one task: the number of steps, and the shell command of each.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) n: u16,
    /// The shell command that each step runs; `None` if the steps start no process.
    pub(crate) command: Option<String>,
}

/// Runs one task of the bare program: a call to perceive, one to plan, then for each step in parallel a call, a process
/// and a validating call, then one to merge.
pub(crate) async fn task(client: Bare, plan: Plan) -> Result<(), String> {
    let failed = || "the bare program got no answer".to_owned();
    client.ask("You perceive.", "Run the steps").await.ok_or_else(failed)?;
    client.ask("You plan.", "Run the steps").await.ok_or_else(failed)?;
    let mut steps = JoinSet::new();
    for _ in 0..plan.n {
        let (client, command) = (client.clone(), plan.command.clone());
        steps.spawn(async move {
            client.ask("You act.", "Run one step").await?;
            let output = match command {
                Some(command) => spawn_blocking(move || output_of(&command)).await.ok()?,
                None => "1".to_owned(),
            };
            client.ask("You validate.", &output).await
        });
    }
    while let Some(step) = steps.join_next().await {
        step.ok().flatten().ok_or_else(failed)?;
    }
    client.ask("You merge.", "Join the outputs").await.map(drop).ok_or_else(failed)
}

/// Runs a shell command and returns its standard output; empty if the command can't be run.
fn output_of(text: &str) -> String {
    let mut command = Command::new("bash");
    let output = command.args(["-c", text]).stdin(Stdio::null()).output();
    output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default()
}
