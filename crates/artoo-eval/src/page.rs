//! The report page that shows result files beside each other: HTML without scripts, with SVG plots, for light and dark.

use crate::results::Row;
use crate::stats::Estimate;
use crate::summary::{Point, curves, figures, kinds, others};
use crate::table::escaped;

const STYLE: &str = "\
:root{color-scheme:light dark;--text:#1b1b1f;--back:#fff;--rule:#d8d8df;--c0:#2f6fb0;--c1:#b8612a;--c2:#3d8a52;--c3:#8a4f9e}\
@media(prefers-color-scheme:dark){:root{--text:#e6e6ea;--back:#17171b;--rule:#3a3a44;--c0:#6aa8e8;--c1:#e8985f;--c2:#74c48a;--c3:#c48ad8}}\
body{font:15px/1.5 system-ui,sans-serif;color:var(--text);background:var(--back);max-width:62rem;margin:2rem auto;padding:0 1rem}\
table{border-collapse:collapse;margin:.6rem 0}td,th{border-bottom:1px solid var(--rule);padding:.2rem .7rem;text-align:left;vertical-align:top}\
svg{display:block;overflow:visible}svg text{fill:var(--text);font:12px system-ui,sans-serif}.axis{stroke:var(--rule)}\
.f0{fill:var(--c0)}.f1{fill:var(--c1)}.f2{fill:var(--c2)}.f3{fill:var(--c3)}\
.s0{stroke:var(--c0)}.s1{stroke:var(--c1)}.s2{stroke:var(--c2)}.s3{stroke:var(--c3)}\
.line{fill:none;stroke-width:2}.whisker{stroke:var(--text);stroke-width:1.5}";

/// Number of colours for the result files or arms in a plot; then they repeat.
const COLOURS: usize = 4;

/// Width of the area of a plot, and (`LEFT`) the position of its left edge, in pixels.
const WIDTH: f64 = 460.0;
const LEFT: f64 = 150.0;

/// Height of a bar with the space below it, and (`HEIGHT`) of a plot of curves, in pixels.
const BAR: f64 = 22.0;
const HEIGHT: f64 = 220.0;

/// The results in one file, with the file's name.
pub(crate) struct Set {
    pub(crate) name: String,
    pub(crate) rows: Vec<Row>,
}

/// The report page about these result files, as HTML.
pub(crate) fn page(sets: &[Set]) -> String {
    let (mut tasks, mut memory) = (Vec::new(), String::new());
    for set in sets {
        let (of_memory, others): (Vec<&Row>, Vec<&Row>) = set.rows.iter().partition(|row| row.run.set == "memory");
        if !of_memory.is_empty() {
            memory += &memory_section(&set.name, &of_memory);
        }
        if !others.is_empty() {
            tasks.push((set.name.as_str(), others));
        }
    }
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Evaluation of artoo</title>\
         <meta name=\"viewport\" content=\"width=device-width\"><style>{STYLE}</style></head><body>\n\
         <h1>Evaluation of artoo</h1>\n<p>Exit code 0 is the claim that the request is done; code compares the end state \
         and the answer with the task. Intervals are of 95 %: Wilson's for shares, the bootstrap's for means.</p>\n"
    );
    page += &comparison(&tasks);
    for (name, rows) in &tasks {
        let (kinds, others) = (kinds(rows).html(), others(rows).html());
        page += &format!("<h2>{}</h2>\n{kinds}<details><summary>Every run that is not done</summary>", escaped(name));
        page += &format!("{others}</details>\n");
    }
    page + &memory + "</body></html>\n"
}

/// An SVG text element at a position in pixels.
fn label(x: f64, y: f64, words: &str) -> String {
    format!("<text x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escaped(words))
}

/// The heading of a plot and the start of its SVG.
fn plot(title: &str, height: f64) -> String {
    format!("<h3>{}</h3>\n<svg width=\"820\" height=\"{height}\" role=\"img\">", escaped(title))
}

/// HTML with one plot for each figure, with a bar and interval for each result file.
fn comparison(sets: &[(&str, Vec<&Row>)]) -> String {
    let all: Vec<_> = sets.iter().map(|(name, rows)| (*name, figures(rows))).collect();
    let count = all.first().map_or(0, |(_, figures)| figures.len());
    let mut html = String::new();
    for number in 0..count {
        let own: Vec<_> = all.iter().filter_map(|(name, figures)| Some((*name, figures.get(number)?))).collect();
        let Some((_, first)) = own.first() else { continue };
        let highest = own.iter().filter_map(|(_, figure)| Some(figure.estimate?.high)).fold(1e-9, f64::max);
        let scale = WIDTH / if first.is_share { 1.0 } else { highest };
        html += &plot(first.name, BAR * own.len() as f64 + 6.0);
        for (place, (name, figure)) in own.iter().enumerate() {
            let (y, colour) = (BAR * place as f64, place % COLOURS);
            html += &label(0.0, y + 16.0, &name.chars().take(22).collect::<String>());
            if let Some(Estimate { value, low, high }) = figure.estimate {
                let (width, from, to) = (value * scale, LEFT + low * scale, LEFT + high * scale);
                let (top, a, b, c) = (y + 5.0, y + 8.0, y + 12.0, y + 16.0);
                html +=
                    &format!("<rect class=\"f{colour}\" x=\"{LEFT}\" y=\"{top}\" width=\"{width:.1}\" height=\"14\"/>");
                html += &format!(
                    "<path class=\"whisker\" d=\"M{from:.1} {b}H{to:.1}M{from:.1} {a}V{c}M{to:.1} {a}V{c}\"/>"
                );
            }
            html += &label(LEFT + WIDTH + 10.0, y + 16.0, &format!("{} {}", figure.text(), figure.count));
        }
        html += "</svg>\n";
    }
    html
}

/// HTML of the section about an evaluation of memory.
fn memory_section(name: &str, rows: &[&Row]) -> String {
    let (curves, all) = (curves(rows), rows.len());
    let lessons = rows.iter().filter(|row| row.kind != "0 lessons").count();
    format!(
        "<h2>Memory: {}</h2>\n<p>A scripted model counts lines in repeated and alike requests; half way the files change so \
         that the earlier lesson is wrong. This shows whether lessons arrive in prompts and what they then cost or save in \
         calls. It does not show that a given model profits. {lessons} of {all} runs had a lesson in a prompt. An arm \
         called planted has lessons from the script instead of memory, as a control of the measurement.</p>\n{}{}",
        escaped(name),
        curve_plot("Model calls of run n", &curves, |point| point.calls),
        curve_plot("Tokens of run n", &curves, |point| point.tokens)
    )
}

/// HTML of a plot with a curve for each arm and an interval at each run; a dashed line marks where the files change.
fn curve_plot(title: &str, curves: &[Vec<Point>], amount: fn(&Point) -> Estimate) -> String {
    let highest = curves.iter().flatten().map(|point| amount(point).high).fold(1e-9, f64::max);
    let last = curves.iter().flatten().map(|point| point.nth).max().unwrap_or(1);
    let (bottom, step) = (HEIGHT - 24.0, (WIDTH - 40.0) / last as f64);
    let x = |nth: f64| 40.0 + step * nth;
    let y = |value: f64| bottom - value / highest * (bottom - 10.0);
    let drift = x((last / 2) as f64 + 0.5);
    let mut html = plot(title, HEIGHT);
    html += &format!("<path class=\"axis\" d=\"M40 {bottom}H{WIDTH}M40 10V{bottom}\"/>");
    html += &format!("<path class=\"axis\" stroke-dasharray=\"4\" d=\"M{drift:.1} 10V{bottom}\"/>");
    html += &(label(0.0, 18.0, &format!("{highest:.0}")) + &label(20.0, bottom, "0"));
    html += &(1..=last).map(|nth| label(x(nth as f64) - 4.0, HEIGHT - 8.0, &nth.to_string())).collect::<String>();
    for (place, curve) in curves.iter().enumerate() {
        let (colour, mut line) = (place % COLOURS, String::new());
        for (number, point) in curve.iter().enumerate() {
            // Points of different arms are shifted a little, so that equal values can be seen.
            let (Estimate { value, low, high }, x) = (amount(point), x(point.nth as f64) + 3.0 * place as f64);
            line += &format!("{}{x:.1} {:.1}", if number == 0 { "M" } else { "L" }, y(value));
            html += &format!("<path class=\"line s{colour}\" d=\"M{x:.1} {:.1}V{:.1}\"/>", y(low), y(high));
        }
        let (top, left) = (24.0 + BAR * place as f64, WIDTH + 30.0);
        html += &format!("<path class=\"line s{colour}\" d=\"{line}M{left} {0}H{1}\"/>", top - 4.0, left + 14.0);
        html += &label(left + 20.0, top, curve.first().map_or("", |point| point.arm.as_str()));
    }
    html + "</svg>\n"
}
