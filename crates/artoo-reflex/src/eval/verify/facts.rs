//! Checks printed facts of the machine. Facts that change by themselves may differ within a tolerance.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::Path;

use artoo_proto::Timestamp;

use super::{Checked, ensure, fail, judged, shown, take_word};
use crate::algebra::{Fact, Source, Ty};
use crate::eval::{Answer, EvalError, FileSystem, fact, unreadable};

/// Tolerance in bytes for free and used disk and swap space, which other programs change.
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

/// Checks a tool's output against the value of a fact, which is read without the fact's command.
pub(super) fn fact(fact: &Fact, output: &str, fs: &dyn FileSystem) -> Checked {
    let printed = output.trim();
    let row = fact.row();
    match (fact, row.ty) {
        (Fact::Uptime, _) => uptime(&text(fact, fs)?, printed),
        (Fact::Load, _) => load(&text(fact, fs)?, printed),
        (Fact::Date | Fact::Time | Fact::DateTime, _) if let Source::Clock(format) = row.source => {
            clock(format, printed, fs)
        }
        (Fact::Disks, _) => disks(output, fs),
        (Fact::BootTime, _) => same_moment(&text(fact, fs)?, printed),
        (Fact::ProcessorDetails, _) => details(&fact::processor_details(fs)?, printed),
        (_, Ty::Number) => number(fact, printed, fs),
        (_, Ty::Lines) => {
            let Answer::Lines(expected) = fact::value(fact, fs)? else { return Err(EvalError::Meaningless.into()) };
            let expected: BTreeSet<_> = expected.iter().map(|line| String::from_utf8_lossy(&line.text)).collect();
            let printed: BTreeSet<_> =
                printed.lines().map(|line| line.trim().into()).filter(|l: &Cow<'_, str>| !l.is_empty()).collect();
            ensure(printed == expected, || {
                format!("read again from the kernel: {}; the output has {}", expected.len(), printed.len())
            })?;
            Ok(format!("read again from the kernel: the same {}", expected.len()))
        }
        _ => {
            let expected = text(fact, fs)?;
            let holds = printed == expected && !printed.is_empty();
            judged(holds, format!("learnt a second way: {}", shown(&expected)), "", printed)
        }
    }
}

/// The value of a fact as text, read without the fact's command.
fn text(fact: &Fact, fs: &dyn FileSystem) -> Result<String, EvalError> {
    match fact::value(fact, fs)? {
        Answer::Text(text) => Ok(text),
        _ => Err(EvalError::Meaningless),
    }
}

/// The value of a fact as a number, read without the fact's command.
fn expected_number(fact: &Fact, fs: &dyn FileSystem) -> Result<u64, EvalError> {
    match fact::value(fact, fs)? {
        Answer::Number(number) => Ok(number),
        _ => Err(EvalError::Meaningless),
    }
}

/// Checks a printed number against the fact's value, within the tolerance of the fact.
fn number(fact: &Fact, printed: &str, fs: &dyn FileSystem) -> Checked {
    let Ok(value) = printed.parse::<u64>() else { return fail(format!("{:?} is no whole number", shown(printed))) };
    close(fact, value, 0, fs)
}

/// Checks a size such as `3.07 GB` against the fact's value in bytes, within the tolerance of the fact and of two
/// decimals of the unit, which is given in bytes.
pub(super) fn in_unit(fact: &Fact, unit: u64, output: &str, fs: &dyn FileSystem) -> Checked {
    let printed = output.trim();
    // "3.07" is 307 hundredths.
    let hundredths = printed.split_once(' ').and_then(|(number, _)| {
        let (whole, part) = number.split_once('.').filter(|(_, part)| part.len() == 2)?;
        format!("{whole}{part}").parse::<u64>().ok()
    });
    let Some(hundredths) = hundredths else { return fail(format!("{:?} is no size", shown(printed))) };
    close(fact, hundredths.saturating_mul(unit) / 100, unit / 200 + 1, fs)
}

/// Checks that a number is the fact's value, within the tolerance of the fact and this one for its rounding.
fn close(fact: &Fact, value: u64, rounding: u64, fs: &dyn FileSystem) -> Checked {
    let expected = expected_number(fact, fs)?;
    let moving = match fact {
        Fact::DiskFree { .. } | Fact::DiskUsed { .. } | Fact::SwapFree | Fact::SwapUsed => DISK_TOLERANCE_BYTES,
        Fact::DiskUsage { path } if holds_own_data(path, fs) => OWN_DATA_TOLERANCE_BYTES,
        Fact::UnixTime => CLOCK_TOLERANCE_MS.unsigned_abs() / 1_000,
        Fact::MemoryFree | Fact::MemoryUsed => {
            expected_number(&Fact::MemoryTotal, fs)? / 100 * MEMORY_TOLERANCE_PERCENT
        }
        _ => 0,
    };
    match expected.abs_diff(value) {
        0 => Ok(format!("learnt a second way: {expected}")),
        difference if difference <= rounding => Ok(format!("learnt a second way: {expected}, rounded here")),
        // A program that failed to find the value may print 0.
        difference if difference <= moving + rounding && value != 0 => {
            Ok(format!("learnt a second way: {expected}, which moves; within {moving}"))
        }
        _ => fail(format!("learnt a second way: {expected}; the output says {value}")),
    }
}

/// Whether artoo's data folder is at or below a path.
fn holds_own_data(folder: &str, fs: &dyn FileSystem) -> bool {
    let below_home = || Some(Path::new(&String::from_utf8(fs.variable("HOME")?).ok()?).join(".artoo"));
    let set = fs.variable("ARTOO_DATA_DIR").and_then(|folder| String::from_utf8(folder).ok());
    let own = set.map(|set| fs.current_folder().join(set)).or_else(below_home);
    own.is_some_and(|own| own.starts_with(folder))
}

/// Checks that two boot times such as `2024-05-15 08:00:00` are equal within the tolerance.
fn same_moment(expected: &str, printed: &str) -> Checked {
    let moment = |text: &str| text.replacen(' ', "T", 1).parse::<jiff::civil::DateTime>().ok();
    let apart = moment(expected).zip(moment(printed)).map(|(a, b)| a.duration_since(b).as_secs().unsigned_abs());
    let holds = apart.is_some_and(|apart| apart <= BOOT_TOLERANCE_S);
    judged(holds, format!("the kernel says {expected}"), &format!("; within {BOOT_TOLERANCE_S} seconds"), printed)
}

/// Checks that a tool's output contains each of these names and values as a line `name: value`.
fn details(known: &[(&'static str, String)], printed: &str) -> Checked {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    for (name, expected) in known {
        let value = printed.lines().find_map(|line| line.trim_start().strip_prefix(name)?.strip_prefix(':'));
        let is_same = value.is_some_and(|value| words(value) == words(expected));
        ensure(is_same, || format!("learnt a second way: {name} is {}", shown(expected)))?;
    }
    let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
    Ok(format!("learnt a second way: {}; the rest is the program's own word", names.join(", ")))
}

/// Checks that the output is the current time in a `strftime` format, within the tolerance.
fn clock(format: &str, printed: &str, fs: &dyn FileSystem) -> Checked {
    let now = fs.now();
    let at = |ms: i64| Timestamp::from_millis(now.as_millis().saturating_add(ms));
    // Try times in steps of half a minute, so that every minute within the tolerance is covered.
    let mut moments = (-CLOCK_TOLERANCE_MS..=CLOCK_TOLERANCE_MS).step_by(30_000).map(at);
    let holds = moments.any(|at| fact::clock(format, at, fs) == printed);
    ensure(holds, || format!("this machine's clock is at {now}; the output says {:?}", shown(printed)))?;
    Ok("as on this machine's clock, read again".to_owned())
}

/// Checks the output of `uptime -p` against the uptime in seconds.
fn uptime(seconds: &str, printed: &str) -> Checked {
    let units =
        [("minute", 1), ("hour", 60), ("day", 1_440), ("week", 10_080), ("year", 525_600), ("decade", 5_256_000)];
    let part = |part: &str| {
        let (count, word) = part.trim().split_once(' ')?;
        let (_, minutes) = units.iter().find(|(unit, _)| *unit == word.trim_end_matches('s'))?;
        (minutes * 60_u64).checked_mul(count.parse().ok()?)
    };
    let printed_s: Option<u64> = match printed.strip_prefix("up") {
        Some(rest) if rest.trim().is_empty() => Some(0),
        Some(rest) => rest.split(',').map(part).sum(),
        None => None,
    };
    let apart = printed_s.zip(seconds.parse().ok()).map(|(printed_s, seconds)| printed_s.abs_diff(seconds));
    let holds = apart.is_some_and(|apart| apart <= UPTIME_TOLERANCE_S);
    judged(holds, format!("the kernel counts {seconds} seconds"), &format!("; within {UPTIME_TOLERANCE_S}"), printed)
}

/// Checks that three printed load averages are within the tolerance of the expected ones.
fn load(expected: &str, printed: &str) -> Checked {
    let numbers = |text: &str| -> Option<Vec<f64>> {
        let text = text.rsplit(':').next()?;
        text.split([' ', ',']).filter(|part| !part.is_empty()).map(|part| part.parse().ok()).collect()
    };
    let close = |(a, b): (&f64, &f64)| (a - b).abs() <= LOAD_TOLERANCE + a / 2.0;
    let both = numbers(expected).zip(numbers(printed));
    let holds = both.is_some_and(|(a, b)| a.len() == 3 && b.len() == 3 && a.iter().zip(&b).all(close));
    let tolerance = format!(", which moves; within {LOAD_TOLERANCE} and half");
    judged(holds, format!("the kernel says {expected}"), &tolerance, printed)
}

/// Checks the output's table of file systems: size, used and available bytes, mount point.
fn disks(output: &str, fs: &dyn FileSystem) -> Checked {
    let mut checked = 0;
    for line in output.lines().skip(1) {
        let mut rest = line.trim_start();
        let mut bytes = || take_word(&mut rest)?.parse::<u64>().ok();
        let (Some(size), Some(used), Some(available)) = (bytes(), bytes(), bytes()) else {
            return fail(format!("{:?} is no file system with its room", shown(line)));
        };
        let path = Path::new(rest.trim_end());
        let space = fs.space(path).map_err(unreadable(path))?;
        let close = |a: u64, b: u64| a.abs_diff(b) <= DISK_TOLERANCE_BYTES;
        let holds = space.total == size && close(space.used, used) && close(space.available, available);
        ensure(holds, || format!("the room on {} is not what the system says", shown(rest)))?;
        checked += 1;
    }
    ensure(checked > 0, || "the output names no file system".to_owned())?;
    Ok(format!("asked the system again about each of {checked}; within {DISK_TOLERANCE_BYTES} bytes"))
}
