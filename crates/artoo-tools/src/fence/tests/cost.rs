//! What the fence costs: the same program started with it and without, in one run.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::yard::Yard;
use crate::process::{self, Invocation};

/// Starts taken each way, in turns, so that a busy moment hits both.
const TURNS: usize = 100;

#[test]
#[ignore = "a measurement"]
fn cost_of_a_start() {
    let yard = Yard::new();
    let environment = process::environment(&yard.config);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (mut fenced, mut open) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        let invocation = Invocation {
            program: "/bin/true".into(),
            name: "true".into(),
            arguments: Vec::new(),
            environment: Vec::new(),
        };
        let order = invocation.order(&yard.config, &yard.sight, &environment, yard.fence());
        let begun = Instant::now();
        let ended = runtime.block_on(process::run(&yard.config, order, Duration::from_secs(20))).unwrap();
        fenced.push(begun.elapsed());
        assert_eq!(ended.exit_code, Some(0));
        let begun = Instant::now();
        let output = Command::new("/bin/true").stdin(Stdio::null()).output().unwrap();
        open.push(begun.elapsed());
        assert!(output.status.success());
    }
    fenced.sort();
    open.sort();
    let (fenced, open) = (fenced[TURNS / 2], open[TURNS / 2]);
    let ratio = fenced.as_secs_f64() / open.as_secs_f64();
    super::say(&format!("median start to end: fenced {fenced:?}, without {open:?}, ratio {ratio:.1}"));
}
