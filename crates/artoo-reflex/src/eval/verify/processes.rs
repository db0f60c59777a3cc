//! Checks lists and counts of processes, which start and end between the command and the check.

use super::{Checked, ensure, fail, judged, shown, take_word};
use crate::algebra::{Layers, Query};
use crate::eval::{Answer, EvalError, FileSystem, Process, evaluate, process};

/// Tolerance for the number of processes, in addition to a tenth of them.
const PROCESSES_TOLERANCE: usize = 12;

/// Checks that the output is the number of processes, within the tolerance.
pub(super) fn count(query: &Query, output: &str, fs: &dyn FileSystem) -> Checked {
    let Answer::Number(expected) = evaluate(query, fs)? else { return Err(EvalError::Meaningless.into()) };
    let tolerance = tolerance(expected) as u64;
    let holds = output.trim().parse::<u64>().is_ok_and(|printed| printed.abs_diff(expected) <= tolerance);
    let tolerance = format!(", which moves; within {tolerance}");
    judged(holds, format!("counted again: {expected}"), &tolerance, output)
}

/// How many of `count` processes may have started or ended between the command and the check.
fn tolerance(count: u64) -> usize {
    PROCESSES_TOLERANCE + usize::try_from(count / 10).unwrap_or(usize::MAX)
}

/// Checks a printed list of processes with lines `id user kilobytes percent name`.
pub(super) fn list(query: &Query, output: &str, fs: &dyn FileSystem) -> Checked {
    let Layers { limit, keys, members, .. } = query.layers();
    let Answer::Processes(known) = evaluate(members, fs)? else { return Err(EvalError::Meaningless.into()) };
    let mut printed: Vec<Process> = Vec::new();
    let mut gone = 0;
    for line in output.lines() {
        let Some(process) = listed(line) else { return fail(format!("{:?} is no process", shown(line))) };
        let is_known = known.iter().any(|other| other.id == process.id && other.name == process.name);
        gone += usize::from(!is_known);
        printed.push(process);
    }
    let tolerance = tolerance(known.len() as u64);
    let wanted = limit.map_or(known.len(), |(skip, count)| {
        known.len().saturating_sub(usize::try_from(skip).unwrap_or(usize::MAX)).min(usize::try_from(count).unwrap_or(0))
    });
    let allowed = if limit.is_some() { 0 } else { tolerance };
    ensure(printed.len().abs_diff(wanted) <= allowed, || {
        format!("looked again: {wanted}; the output lists {}", printed.len())
    })?;
    let (there, all) = (printed.len() - gone, printed.len());
    ensure(gone <= tolerance.min(all.div_ceil(2)), || {
        format!("{gone} of {all} listed are not there when looked again")
    })?;
    ensure(process::sort(printed.clone(), keys) == printed, || "the output is not in the order asked for".to_owned())?;
    Ok(format!("looked again: {there} of {all} are there, and they come and go"))
}

/// Parses an output line of `ps`: id, user, resident kilobytes, percent of a processor, name.
fn listed(line: &str) -> Option<Process> {
    let mut rest = line.trim_start();
    let mut field = || take_word(&mut rest);
    let (id, user) = (field()?.parse().ok()?, field()?.to_owned());
    let (kilobytes, cpu) = (field()?.parse::<u64>().ok()?, field()?);
    let (whole, tenths) = cpu.split_once('.').unwrap_or((cpu, "0"));
    let name = rest.trim_end().trim_end_matches(" <defunct>");
    Some(Process {
        id,
        user,
        memory_bytes: kilobytes * 1024,
        cpu_permille: whole.parse::<u64>().ok()? * 10 + tenths.parse::<u64>().ok()?,
        name: name.as_bytes().to_vec(),
    })
}
