//! Runs every policy on every family of simulated tasks; prints the tables, or lines of JSON, and draws pictures on
//! request.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use artoo_ggs_lab::simulation::{Cell, Family, Row, Study, picture};

const USAGE: &str = "usage: simulate [--tasks N] [--seed N] [--threads N] [--json] [--pictures FOLDER]
                [--partial WORTH] [--false-delivery WORTH] [--unfinished-is-logical PROBABILITY]
  --tasks     tasks of each family, 20000 unless told
  --json      a line of JSON for each policy and family instead of the tables
  --pictures  also writes two SVG files into this folder
  the rest    other assumptions: what a partial and a false delivery are worth, and how often sound but unfinished work
              is blamed on the approach";

struct Options {
    study: Study,
    json: bool,
    pictures: Option<PathBuf>,
}

fn main() -> ExitCode {
    let options = match options(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(problem) => return complain(&format!("{problem}\n{USAGE}"), 2),
    };
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever closes the pipe has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => complain(&error.to_string(), 1),
    }
}

fn complain(problem: &str, code: u8) -> ExitCode {
    // Nothing is left to be done where even this can't be said.
    let _ = writeln!(io::stderr(), "{problem}");
    ExitCode::from(code)
}

fn options(mut words: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options { study: Study::full(20_000), json: false, pictures: None };
    while let Some(word) = words.next() {
        if word == "--json" {
            options.json = true;
            continue;
        }
        let value = words.next().ok_or_else(|| format!("{word} is unknown, or needs a value"))?;
        let study = &mut options.study;
        match word.as_str() {
            "--tasks" => study.tasks = parse(&word, &value)?,
            "--seed" => study.seed = parse(&word, &value)?,
            "--threads" => study.threads = parse(&word, &value)?,
            "--pictures" => options.pictures = Some(PathBuf::from(value)),
            "--partial" => study.utility.partial = finite(&word, &value)?,
            "--false-delivery" => study.utility.false_delivery = finite(&word, &value)?,
            "--unfinished-is-logical" => {
                let probability = finite(&word, &value)?;
                study.families.iter_mut().for_each(|family| family.unfinished_is_logical = probability);
            }
            _ => return Err(format!("{word} is unknown")),
        }
    }
    Ok(options)
}

fn parse<T: std::str::FromStr>(option: &str, value: &str) -> Result<T, String> {
    value.parse().map_err(|_| format!("{option} {value:?} is not a number it can take"))
}

fn finite(option: &str, value: &str) -> Result<f64, String> {
    let number: f64 = parse(option, value)?;
    if number.is_finite() { Ok(number) } else { Err(format!("{option} {value:?} is not a finite number")) }
}

fn run(options: &Options) -> io::Result<()> {
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

/// Shares of tasks in percent, the rest per task.
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

fn print_details(out: &mut impl Write, cells: &[Cell]) -> io::Result<()> {
    let mut last = "";
    for cell in cells {
        let row = &cell.row;
        if row.family != last {
            last = &row.family;
            let about = Family::named(last).map_or("", |family| family.about);
            writeln!(out, "\n### {last}: {about}\n\n| policy | {HEAD} | utility ± se | less v08 ± se |")?;
            writeln!(out, "|---|---|---|---|---|---|---|---|---|---|")?;
        }
        let utility = format!("{:+.3} ± {:.3}", row.utility, row.utility_se);
        let difference = format!("{:+.3} ± {:.3}", cell.difference, cell.difference_se);
        writeln!(out, "| {:9} | {} | {utility} | {difference} |", row.policy, columns(row))?;
    }
    Ok(())
}

fn print_overall(out: &mut impl Write, options: &Options, cells: &[Cell]) -> io::Result<()> {
    writeln!(
        out,
        "\n### All families alike, {} tasks each\n\n| policy | {HEAD} | utility ± se |",
        options.study.tasks
    )?;
    writeln!(out, "|---|---|---|---|---|---|---|---|---|")?;
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
        let utility = format!("{:+.3} ± {:.3}", total.utility, total.utility_se);
        writeln!(out, "| {:9} | {} | {utility} |", total.policy, columns(&total))?;
    }
    Ok(())
}

fn print_differences(out: &mut impl Write, options: &Options, cells: &[Cell]) -> io::Result<()> {
    let others: Vec<&str> =
        options.study.policies.iter().map(|policy| policy.name()).filter(|name| *name != "v08").collect();
    writeln!(out, "\n### Utility less v08's on the same tasks\n\n| family | {} |", others.join(" | "))?;
    writeln!(out, "|---|{}", "---|".repeat(others.len()))?;
    for family in &options.study.families {
        let of = |policy: &&str| {
            let cell = cells.iter().find(|cell| cell.row.family == family.name && cell.row.policy == *policy);
            cell.map_or_else(String::new, |cell| format!("{:+.3}", cell.difference))
        };
        writeln!(out, "| {} | {} |", family.name, others.iter().map(of).collect::<Vec<_>>().join(" | "))?;
    }
    Ok(())
}
