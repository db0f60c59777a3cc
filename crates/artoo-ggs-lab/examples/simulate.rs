//! Command-line program: runs every policy on every family of simulated tasks; prints tables or JSON lines, and draws
//! pictures on request.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use artoo_ggs_lab::simulation::{Cell, Family, Policy, Row, Study, Utility, picture};

const USAGE: &str = "usage: simulate [--tasks N] [--seed N] [--threads N] [--json] [--pictures FOLDER]
                [--families tuning|reported|NAME,...] [--reference POLICY] [--ablation] [--sensitivities]
                [--partial WORTH] [--false-delivery WORTH] [--execution COST] [--minute COST]
                [--unfinished-is-logical PROBABILITY]
  --tasks          tasks of each family, 20000 unless told
  --families       the families on which profiles are tuned, the others, or some by name; all unless told
  --reference      the policy that the others are compared with, v08 unless told
  --ablation       v08 and anytime, each with one number changed or one switch turned over, instead of the policies
  --sensitivities  only one table: the utility of every policy under other assumptions
  --json           a line of JSON for each policy and family instead of the tables
  --pictures       also writes two SVG files into this folder
  the rest         other assumptions: what a partial, a false delivery, an execution and a minute are worth, and how
                   often sound but unfinished work is blamed on the approach";

/// The command line options.
struct Options {
    study: Study,
    json: bool,
    sensitivities: bool,
    pictures: Option<PathBuf>,
}

/// Runs the study that the command line asks for.
fn main() -> ExitCode {
    let options = match options(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(problem) => return print_error(&format!("{problem}\n{USAGE}"), 2),
    };
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        // A reader that closes the pipe needs no more output.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => print_error(&error.to_string(), 1),
    }
}

/// Prints an error and returns this exit code.
fn print_error(problem: &str, code: u8) -> ExitCode {
    // If this can't be printed, nothing else can be done.
    let _ = writeln!(io::stderr(), "{problem}");
    ExitCode::from(code)
}

/// Parses the command line; the error is a text for the user.
fn options(mut words: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options { study: Study::full(20_000), json: false, sensitivities: false, pictures: None };
    while let Some(word) = words.next() {
        match word.as_str() {
            "--json" => options.json = true,
            "--sensitivities" => options.sensitivities = true,
            "--ablation" => (options.study.policies, options.study.reference) = (Policy::ablation(), 0),
            _ => {
                let value = words.next().ok_or_else(|| format!("{word} is unknown, or needs a value"))?;
                set(&mut options, &word, &value)?;
            }
        }
    }
    Ok(options)
}

/// Sets the command-line option `word` to this value; an error if there is no such option.
fn set(options: &mut Options, word: &str, value: &str) -> Result<(), String> {
    let study = &mut options.study;
    match word {
        "--tasks" => study.tasks = parse(word, value)?,
        "--seed" => study.seed = parse(word, value)?,
        "--threads" => study.threads = parse(word, value)?,
        "--reference" => {
            let named = study.policies.iter().position(|policy| policy.name() == value);
            study.reference = named.ok_or_else(|| format!("no policy is called {value:?}"))?;
        }
        "--pictures" => options.pictures = Some(PathBuf::from(value)),
        "--families" => study.families = families(value)?,
        "--partial" => study.utility.partial = finite(word, value)?,
        "--false-delivery" => study.utility.false_delivery = finite(word, value)?,
        "--execution" => study.utility.execution = finite(word, value)?,
        "--minute" => study.utility.minute = finite(word, value)?,
        "--unfinished-is-logical" => {
            let probability = finite(word, value)?;
            study.families.iter_mut().for_each(|family| family.unfinished_is_logical = probability);
        }
        _ => return Err(format!("{word} is unknown")),
    }
    Ok(())
}

/// The families with these names, or a named group of families.
fn families(value: &str) -> Result<Vec<Family>, String> {
    let is_tuning = |family: &Family| Family::TUNING.contains(&family.name);
    let (tuning, reported): (Vec<Family>, Vec<Family>) = Family::ALL.into_iter().partition(is_tuning);
    match value {
        "tuning" => Ok(tuning),
        "reported" => Ok(reported),
        names => {
            let named = |name: &str| Family::named(name).ok_or_else(|| format!("no family is called {name:?}"));
            names.split(',').map(named).collect()
        }
    }
}

/// Parses the value of an option.
fn parse<T: std::str::FromStr>(option: &str, value: &str) -> Result<T, String> {
    value.parse().map_err(|_| format!("{option} {value:?} is not a number it can take"))
}

/// Parses the value of an option as a finite number.
fn finite(option: &str, value: &str) -> Result<f64, String> {
    let number: f64 = parse(option, value)?;
    if number.is_finite() { Ok(number) } else { Err(format!("{option} {value:?} is not a finite number")) }
}

/// A varied assumption of a study: its name, and the function that changes the study.
type Variation = (&'static str, fn(&mut Study));

const VARIATIONS: [Variation; 7] = [
    ("as published", |_| {}),
    ("partial 1", |study| study.utility.partial = 1.0),
    ("partial 0", |study| study.utility.partial = 0.0),
    ("false delivery −3", |study| study.utility.false_delivery = -3.0),
    ("executions free", |study| study.utility.execution = 0.0),
    ("executions and time free", |study| study.utility = Utility { execution: 0.0, minute: 0.0, ..study.utility }),
    ("unfinished logical 0.3", |study| study.families.iter_mut().for_each(|f| f.unfinished_is_logical = 0.3)),
];

/// Prints the mean utility of each policy over all families, one row a policy, one column a varied assumption.
fn print_sensitivities(out: &mut impl Write, study: &Study) -> io::Result<()> {
    writeln!(out, "| policy | {} |", VARIATIONS.map(|(name, _)| name).join(" | "))?;
    writeln!(out, "|---|{}", "---|".repeat(VARIATIONS.len()))?;
    let columns = VARIATIONS.map(|(_, change)| {
        let mut study = study.clone();
        change(&mut study);
        let cells = study.run();
        let mean = |policy: &Policy| {
            let own = cells.iter().filter(|cell| cell.row.policy == policy.name());
            own.map(|cell| cell.row.utility).sum::<f64>() / study.families.len().max(1) as f64
        };
        study.policies.iter().map(mean).collect::<Vec<f64>>()
    });
    for (index, policy) in study.policies.iter().enumerate() {
        let utility = columns.iter().map(|of| of.get(index).map_or_else(String::new, |u| format!("{u:+.3}")));
        writeln!(out, "| {} | {} |", policy.name(), utility.collect::<Vec<_>>().join(" | "))?;
    }
    Ok(())
}

/// Runs the study, prints tables or JSON lines, and writes the pictures if they are asked for.
fn run(options: &Options) -> io::Result<()> {
    if options.sensitivities {
        return print_sensitivities(&mut io::stdout().lock(), &options.study);
    }
    let cells = options.study.run();
    let mut out = io::stdout().lock();
    if options.json {
        for cell in &cells {
            serde_json::to_writer(&mut out, &cell.row)?;
            writeln!(out)?;
        }
    } else {
        print_details(&mut out, &cells)?;
        print_overall(&mut out, options, &cells)?;
        print_differences(&mut out, options, &cells)?;
    }
    if let Some(folder) = &options.pictures {
        std::fs::create_dir_all(folder)?;
        std::fs::write(folder.join("simulated-outcomes.svg"), picture::outcomes(&cells))?;
        std::fs::write(folder.join("simulated-losses.svg"), picture::losses(&cells))?;
        writeln!(io::stderr(), "pictures: {}", folder.display())?;
    }
    out.flush()
}

/// The cells of a table row as text: shares of tasks in percent, and numbers of executions per task.
fn columns(row: &Row) -> String {
    let tasks = row.tasks.max(1) as f64;
    let percent = |count: u64| 100.0 * count as f64 / tasks;
    format!(
        "{:5.1} | {:5.1} | {:5.1} | {:5.2} | {:5.2} | {:5.2} | {:5.2}",
        percent(row.full),
        percent(row.partial),
        percent(row.false_delivery),
        row.executions as f64 / tasks,
        row.wasted as f64 / tasks,
        percent(row.kills),
        percent(row.kills_without_worsening),
    )
}

const HEAD: &str = "full % | partial % | false % | executions | wasted | kills % | without worsening %";

/// Prints a table for each family.
fn print_details(out: &mut impl Write, cells: &[Cell]) -> io::Result<()> {
    let mut last = "";
    for cell in cells {
        let row = &cell.row;
        if row.family != last {
            last = &row.family;
            let about = Family::named(last).map_or("", |family| family.about);
            writeln!(out, "\n### {last}: {about}\n\n| policy | {HEAD} | utility ± se | less the reference ± se |")?;
            writeln!(out, "|---|---|---|---|---|---|---|---|---|---|")?;
        }
        let utility = format!("{:+.3} ± {:.3}", row.utility, row.utility_se);
        let difference = format!("{:+.3} ± {:.3}", cell.difference, cell.difference_se);
        writeln!(out, "| {:9} | {} | {utility} | {difference} |", row.policy, columns(row))?;
    }
    Ok(())
}

/// Prints a table over all families.
fn print_overall(out: &mut impl Write, options: &Options, cells: &[Cell]) -> io::Result<()> {
    writeln!(
        out,
        "\n### All families alike, {} tasks each\n\n| policy | {HEAD} | utility ± se | less the reference ± se |",
        options.study.tasks
    )?;
    writeln!(out, "|---|---|---|---|---|---|---|---|---|---|")?;
    for policy in &options.study.policies {
        let rows: Vec<&Row> = cells.iter().map(|cell| &cell.row).filter(|row| row.policy == policy.name()).collect();
        let sum = |of: fn(&Row) -> u64| rows.iter().map(|row| of(row)).sum::<u64>();
        let families = rows.len().max(1) as f64;
        let total = Row {
            policy: policy.name().to_owned(),
            family: String::new(),
            tasks: sum(|row| row.tasks),
            full: sum(|row| row.full),
            partial: sum(|row| row.partial),
            false_delivery: sum(|row| row.false_delivery),
            executions: sum(|row| row.executions),
            wasted: sum(|row| row.wasted),
            kills: sum(|row| row.kills),
            kills_without_worsening: sum(|row| row.kills_without_worsening),
            utility: rows.iter().map(|row| row.utility).sum::<f64>() / families,
            utility_se: rows.iter().map(|row| row.utility_se.powi(2)).sum::<f64>().sqrt() / families,
        };
        let own = cells.iter().filter(|cell| cell.row.policy == policy.name());
        let difference = own.clone().map(|cell| cell.difference).sum::<f64>() / families;
        let difference_se = own.map(|cell| cell.difference_se.powi(2)).sum::<f64>().sqrt() / families;
        let utility = format!("{:+.3} ± {:.3}", total.utility, total.utility_se);
        let difference = format!("{difference:+.4} ± {difference_se:.4}");
        writeln!(out, "| {:9} | {} | {utility} | {difference} |", total.policy, columns(&total))?;
    }
    Ok(())
}

/// Prints for each family the differences in utility between each policy and the reference policy.
fn print_differences(out: &mut impl Write, options: &Options, cells: &[Cell]) -> io::Result<()> {
    let policies: Vec<&str> = options.study.policies.iter().map(Policy::name).collect();
    let reference = policies.get(options.study.reference).copied().unwrap_or_default();
    writeln!(
        out,
        "\n### Utility less that of {reference} on the same tasks ± se\n\n| family | {} |",
        policies.join(" | ")
    )?;
    writeln!(out, "|---|{}", "---|".repeat(policies.len()))?;
    for family in &options.study.families {
        let of = |policy: &&str| {
            let cell = cells.iter().find(|cell| cell.row.family == family.name && cell.row.policy == *policy);
            cell.map_or_else(String::new, |cell| format!("{:+.3} ± {:.3}", cell.difference, cell.difference_se))
        };
        writeln!(out, "| {} | {} |", family.name, policies.iter().map(of).collect::<Vec<_>>().join(" | "))?;
    }
    Ok(())
}
