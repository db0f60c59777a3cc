//! Checks facts of the machine. Facts that change by themselves may differ within a tolerance.

use std::collections::BTreeSet;
use std::path::Path;

use artoo_proto::Timestamp;

use super::{Verification, judged, shown, take_word};
use crate::algebra::{Fact, Source, Ty};
use crate::eval::{Answer, EvalError, FileSystem, fact, unreadable};

/// Tolerance in bytes for free and used disk space, which other programs change.
const DISK_TOLERANCE_BYTES: u64 = 256 << 20;

/// Tolerance in bytes for the disk usage of a folder that contains artoo's own data folder.
const OWN_DATA_TOLERANCE_BYTES: u64 = 1 << 20;

/// Tolerance for free and used memory, in percent of the total memory.
const MEMORY_TOLERANCE_PERCENT: u64 = 5;

/// Tolerance in milliseconds for the current time, which is also printed without seconds.
const CLOCK_TOLERANCE_MS: i64 = 90_000;

/// Tolerance in seconds for the boot time, which changes when the clock is corrected.
const BOOT_TOLERANCE_S: u64 = 90;

/// Tolerance in seconds for the uptime, which is printed in minutes.
const UPTIME_TOLERANCE_S: u64 = 150;

/// Absolute tolerance for a load average, in addition to half of its value.
const LOAD_TOLERANCE: f64 = 1.0;

/// Checks a tool's output against the fact's second source.
pub(super) fn fact(fact: &Fact, output: &str, fs: &dyn FileSystem) -> Result<Verification, EvalError> {
    let said = output.trim();
    let row = fact.row();
    match (fact, row.ty) {
        (Fact::Uptime, _) => Ok(uptime(&text(fact, fs)?, said)),
        (Fact::Load, _) => Ok(load(&text(fact, fs)?, said)),
        (Fact::Date | Fact::Time | Fact::DateTime, _) if let Source::Clock(format) = row.source => {
            Ok(clock(format, said, fs))
        }
        (Fact::Disks, _) => disks(output, fs),
        (Fact::BootTime, _) => Ok(same_moment(&text(fact, fs)?, said)),
        (Fact::ProcessorDetails, _) => Ok(details(&fact::processor_details(fs)?, said)),
        (_, Ty::Number) => number(fact, said, fs),
        (_, Ty::Lines) => {
            let Answer::Lines(expected) = fact::value(fact, fs)? else { return Err(EvalError::Meaningless) };
            let expected: BTreeSet<String> =
                expected.iter().map(|line| String::from_utf8_lossy(&line.text).into_owned()).collect();
            let said: BTreeSet<String> =
                said.lines().map(|line| line.trim().to_owned()).filter(|l| !l.is_empty()).collect();
            Ok(if said == expected {
                Verification::pass(format!("read again from the kernel: the same {}", expected.len()))
            } else {
                Verification::fail(format!(
                    "read again from the kernel: {}; the output has {}",
                    expected.len(),
                    said.len()
                ))
            })
        }
        _ => {
            let expected = text(fact, fs)?;
            let holds = said == expected && !said.is_empty();
            Ok(judged(holds, format!("learnt a second way: {}", shown(&expected)), "", said))
        }
    }
}

/// The fact's value from its second source, as text.
fn text(fact: &Fact, fs: &dyn FileSystem) -> Result<String, EvalError> {
    match fact::value(fact, fs)? {
        Answer::Text(text) => Ok(text),
        _ => Err(EvalError::Meaningless),
    }
}

/// Checks a printed number against the fact's value, within the tolerance of the fact.
fn number(fact: &Fact, said: &str, fs: &dyn FileSystem) -> Result<Verification, EvalError> {
    let Answer::Number(expected) = fact::value(fact, fs)? else { return Err(EvalError::Meaningless) };
    let Ok(value) = said.parse::<u64>() else {
        return Ok(Verification::fail(format!("{:?} is no whole number", shown(said))));
    };
    let tolerance = match fact {
        Fact::DiskFree { .. } | Fact::DiskUsed { .. } => DISK_TOLERANCE_BYTES,
        Fact::DiskUsage { path } if holds_own_data(path, fs) => OWN_DATA_TOLERANCE_BYTES,
        Fact::UnixTime => CLOCK_TOLERANCE_MS.unsigned_abs() / 1_000,
        Fact::SwapFree | Fact::SwapUsed => DISK_TOLERANCE_BYTES,
        Fact::MemoryFree | Fact::MemoryUsed => match fact::value(&Fact::MemoryTotal, fs)? {
            Answer::Number(total) => total / 100 * MEMORY_TOLERANCE_PERCENT,
            _ => return Err(EvalError::Meaningless),
        },
        _ => 0,
    };
    let difference = expected.abs_diff(value);
    Ok(if difference == 0 {
        Verification::pass(format!("learnt a second way: {expected}"))
    } else if difference <= tolerance {
        Verification::pass(format!("learnt a second way: {expected}, which moves; within {tolerance}"))
    } else {
        Verification::fail(format!("learnt a second way: {expected}; the output says {value}"))
    })
}

/// Whether artoo's data folder is at or below a path.
fn holds_own_data(folder: &str, fs: &dyn FileSystem) -> bool {
    let below_home = || Some(Path::new(&String::from_utf8(fs.variable("HOME")?).ok()?).join(".artoo"));
    let set = fs.variable("ARTOO_DATA_DIR").and_then(|folder| String::from_utf8(folder).ok());
    let own = set.map(|set| fs.current_folder().join(set)).or_else(below_home);
    own.is_some_and(|own| own.starts_with(folder))
}

/// Checks that two boot times such as `2024-05-15 08:00:00` are equal within the tolerance.
fn same_moment(expected: &str, said: &str) -> Verification {
    let moment = |text: &str| text.replacen(' ', "T", 1).parse::<jiff::civil::DateTime>().ok();
    let apart = moment(expected).zip(moment(said)).map(|(a, b)| a.duration_since(b).as_secs().unsigned_abs());
    let holds = apart.is_some_and(|apart| apart <= BOOT_TOLERANCE_S);
    judged(holds, format!("the kernel says {expected}"), &format!("; within {BOOT_TOLERANCE_S} seconds"), said)
}

/// Checks that the output contains each of these lines `name: value`.
fn details(known: &[(&'static str, String)], said: &str) -> Verification {
    for (name, expected) in known {
        let line = said.lines().find_map(|line| line.trim_start().strip_prefix(name)?.strip_prefix(':'));
        if line.map(|value| value.split_whitespace().collect::<Vec<_>>().join(" "))
            != Some(expected.split_whitespace().collect::<Vec<_>>().join(" "))
        {
            return Verification::fail(format!("learnt a second way: {name} is {}", shown(expected)));
        }
    }
    let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
    Verification::pass(format!("learnt a second way: {}; the rest is the program's own word", names.join(", ")))
}

/// Checks that the output is the current time in a `strftime` format, within the tolerance.
fn clock(format: &str, said: &str, fs: &dyn FileSystem) -> Verification {
    let now = fs.now();
    let at = |ms: i64| Timestamp::from_millis(now.as_millis().saturating_add(ms));
    // Try times in steps of half a minute, so that every minute within the tolerance is covered.
    let moments = (-CLOCK_TOLERANCE_MS..=CLOCK_TOLERANCE_MS).step_by(30_000).map(at);
    let matches = |at: Timestamp| fact::clock(format, at, fs) == said;
    match moments.into_iter().any(matches) {
        true => Verification::pass("as on this machine's clock, read again"),
        false => Verification::fail(format!("this machine's clock is at {now}; the output says {:?}", shown(said))),
    }
}

/// Checks the output of `uptime -p` against the uptime in seconds.
fn uptime(seconds: &str, said: &str) -> Verification {
    let unit = |word: &str| -> Option<u64> {
        match word.trim_end_matches('s') {
            "minute" => Some(60),
            "hour" => Some(3_600),
            "day" => Some(86_400),
            "week" => Some(7 * 86_400),
            "year" => Some(365 * 86_400),
            "decade" => Some(3_650 * 86_400),
            _ => None,
        }
    };
    let part = |part: &str| {
        let (count, word) = part.trim().split_once(' ')?;
        unit(word)?.checked_mul(count.parse::<u64>().ok()?)
    };
    let told: Option<u64> = match said.strip_prefix("up") {
        Some(rest) if rest.trim().is_empty() => Some(0),
        Some(rest) => rest.split(',').map(part).sum(),
        None => None,
    };
    let apart = told.zip(seconds.parse().ok()).map(|(told, seconds)| told.abs_diff(seconds));
    let holds = apart.is_some_and(|apart| apart <= UPTIME_TOLERANCE_S);
    judged(holds, format!("the kernel counts {seconds} seconds"), &format!("; within {UPTIME_TOLERANCE_S}"), said)
}

/// Checks that three printed load averages are within the tolerance of the expected ones.
fn load(expected: &str, said: &str) -> Verification {
    let numbers = |text: &str| -> Option<Vec<f64>> {
        let text = text.rsplit(':').next()?;
        text.split([' ', ',']).filter(|part| !part.is_empty()).map(|part| part.parse().ok()).collect()
    };
    let close = |(a, b): (&f64, &f64)| (a - b).abs() <= LOAD_TOLERANCE + a / 2.0;
    let both = numbers(expected).zip(numbers(said));
    let holds = both.is_some_and(|(a, b)| a.len() == 3 && b.len() == 3 && a.iter().zip(&b).all(close));
    let tolerance = format!(", which moves; within {LOAD_TOLERANCE} and half");
    judged(holds, format!("the kernel says {expected}"), &tolerance, said)
}

/// Checks the output's table of file systems: size, used and available bytes, mount point.
fn disks(output: &str, fs: &dyn FileSystem) -> Result<Verification, EvalError> {
    let mut checked = 0;
    for line in output.lines().skip(1) {
        let mut rest = line.trim_start();
        let mut bytes = || take_word(&mut rest)?.parse::<u64>().ok();
        let (Some(size), Some(used), Some(available)) = (bytes(), bytes(), bytes()) else {
            return Ok(Verification::fail(format!("{:?} is no file system with its room", shown(line))));
        };
        let path = Path::new(rest.trim_end());
        let space = fs.space(path).map_err(unreadable(path))?;
        let close = |a: u64, b: u64| a.abs_diff(b) <= DISK_TOLERANCE_BYTES;
        if space.total != size || !close(space.used, used) || !close(space.available, available) {
            return Ok(Verification::fail(format!("the room on {} is not what the system says", shown(rest))));
        }
        checked += 1;
    }
    Ok(match checked {
        0 => Verification::fail("the output names no file system"),
        _ => Verification::pass(format!(
            "asked the system again about each of {checked}; within {DISK_TOLERANCE_BYTES} bytes"
        )),
    })
}
