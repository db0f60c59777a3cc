//! The program `artoo-bench`: runs tasks against an endpoint and prints what they cost, beside a bare program's.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "prints one JSON line, and errors")]

mod bare;
mod options;
mod process;
mod run;
mod stand_in;

use std::error::Error;
use std::process::ExitCode;

use clap::Parser as _;

use options::Options;

/// Number of worker threads of the async runtime, as in artoo.
const THREADS: usize = 2;

/// Maximum number of threads for blocking work, as in artoo.
const BLOCKING_THREADS: usize = 32;

/// The exit code if a measured task failed, as in artoo.
const NOT_ACHIEVED: u8 = 9;

/// Runs the measurement; the exit code is 0 only if all tasks succeeded.
fn main() -> ExitCode {
    match measure(&Options::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(NOT_ACHIEVED),
        Err(error) => {
            eprintln!("artoo-bench: {}", artoo_proto::escape::one_line(&error.to_string()));
            ExitCode::FAILURE
        }
    }
}

/// Prints the measurement as one JSON line; false if a task failed.
fn measure(options: &Options) -> Result<bool, Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(THREADS)
        .max_blocking_threads(BLOCKING_THREADS)
        .enable_all()
        .build()?;
    let report = runtime.block_on(run::measure(options))?;
    runtime.shutdown_background();
    for error in report.errors.iter().take(run::ERRORS_SHOWN) {
        eprintln!("{}", artoo_proto::escape::one_line(error));
    }
    println!("{}", report.line);
    Ok(report.errors.is_empty())
}
