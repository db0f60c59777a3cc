//! SVG charts of a study: success against false delivery, and the loss after each execution.

use super::study::Cell;

/// Colours of the policies, in order (Okabe and Ito's palette for the colour-blind, with relatives of it and greys).
const COLOURS: [&str; 13] = [
    "#999999", "#E69F00", "#F5D08A", "#8A6FBF", "#4B2E83", "#56B4E9", "#B0A000", "#CC79A7", "#0072B2", "#D55E00",
    "#009E73", "#C00000", "#222222",
];
/// Height of a line of text, in pixels.
const LABEL_HEIGHT: f64 = 15.0;

/// A linear scale from values to pixels.
#[derive(Clone, Copy)]
struct Scale {
    from: f64,
    to: f64,
    start: f64,
    end: f64,
}

impl Scale {
    /// The pixel position of a value on the scale.
    fn at(&self, value: f64) -> f64 {
        self.start + (value - self.from) / (self.to - self.from) * (self.end - self.start)
    }
}

/// One policy's shares of tasks (0 to 1) that ended with full success or false delivery, over all families.
struct Overall<'a> {
    policy: &'a str,
    full: f64,
    false_delivery: f64,
}

/// Draws an SVG chart of full successes against false deliveries, one point per policy, over all families.
#[must_use]
pub fn outcomes(cells: &[Cell]) -> String {
    let points = overall(cells);
    let most_false = points.iter().map(|point| point.false_delivery).fold(0.01, f64::max);
    let x = Scale { from: 0.0, to: (most_false * 1.15 * 50.0).ceil() / 50.0, start: 70.0, end: 560.0 };
    let y = Scale { from: 0.0, to: 1.0, start: 400.0, end: 30.0 };
    let mut svg = open(680, 460, "Full successes against false deliveries, by policy");
    for step in 0..=5 {
        let share = f64::from(step) / 5.0;
        svg += &line(x.start, y.at(share), x.end, y.at(share), "#ddd", 1.0);
        svg += &text(x.start - 8.0, y.at(share) + 4.0, "end", &percent(share));
        let share = x.to * share;
        svg += &line(x.at(share), y.start, x.at(share), y.end, "#eee", 1.0);
        svg += &text(x.at(share), y.start + 18.0, "middle", &percent(share));
    }
    svg += &text(315.0, 440.0, "middle", "tasks ended by a false delivery: left is better");
    svg += &text(x.start, 20.0, "start", "tasks fully done: up is better");
    let mut order: Vec<(usize, &Overall<'_>)> = points.iter().enumerate().collect();
    order.sort_by(|(_, a), (_, b)| b.full.total_cmp(&a.full));
    for (place, (index, point)) in order.into_iter().enumerate() {
        svg += &dot(x.at(point.false_delivery), y.at(point.full), colour(index));
        let legend = y.end + LABEL_HEIGHT * (1.0 + place as f64);
        svg += &dot(x.end + 24.0, legend - 4.0, colour(index));
        svg += &text(x.end + 36.0, legend, "start", point.policy);
    }
    svg + "</svg>\n"
}

/// Draws an SVG chart of the mean loss after each execution, one panel per family and one line per policy.
#[must_use]
pub fn losses(cells: &[Cell]) -> String {
    let families = distinct(cells, |cell| &cell.row.family);
    let policies = distinct(cells, |cell| &cell.row.policy);
    let (columns, width, height) = (4, 220, 180);
    let rows = (families.len() + 1).div_ceil(columns);
    let mut svg = open(columns * width, rows * height, "Mean loss after each execution, by family and policy");
    let most = cells.iter().flat_map(|cell| &cell.losses).copied().fold(0.1, f64::max);
    for (index, family) in families.iter().enumerate() {
        let (left, top) = top_left_corner(index, columns, width, height);
        let x = Scale { from: 1.0, to: 4.0, start: left + 36.0, end: left + 206.0 };
        let y = Scale { from: 0.0, to: (most * 10.0).ceil() / 10.0, start: top + 150.0, end: top + 28.0 };
        svg += &text(left + 121.0, top + 18.0, "middle", family);
        for step in 0..=3 {
            let level = y.to * f64::from(step) / 3.0;
            svg += &line(x.start, y.at(level), x.end, y.at(level), "#ddd", 1.0);
            svg += &text(x.start - 4.0, y.at(level) + 4.0, "end", &format!("{level:.2}"));
            svg += &text(x.at(f64::from(step + 1)), y.start + 15.0, "middle", &(step + 1).to_string());
        }
        for cell in cells.iter().filter(|cell| cell.row.family == *family) {
            let place = policies.iter().position(|policy| *policy == cell.row.policy).unwrap_or(0);
            let points: Vec<String> = (1_u32..)
                .zip(&cell.losses)
                .map(|(execution, loss)| format!("{:.1},{:.1}", x.at(f64::from(execution)), y.at(*loss)))
                .collect();
            let stroke = if cell.row.policy == "v08" { 3.0 } else { 1.3 };
            svg += &format!(
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{stroke}\"/>\n",
                points.join(" "),
                colour(place)
            );
        }
    }
    let (left, top) = top_left_corner(families.len(), columns, width, height);
    for (index, policy) in policies.iter().enumerate() {
        let y = top + 24.0 + LABEL_HEIGHT * index as f64;
        svg += &line(left + 36.0, y - 4.0, left + 60.0, y - 4.0, colour(index), 3.0);
        svg += &text(left + 66.0, y, "start", policy);
    }
    svg + "</svg>\n"
}

/// Each policy's shares of full success and false delivery, over all families.
fn overall(cells: &[Cell]) -> Vec<Overall<'_>> {
    let of = |policy| {
        let rows = || cells.iter().map(|cell| &cell.row).filter(move |row| row.policy == policy);
        let tasks = rows().map(|row| row.tasks).sum::<u64>().max(1) as f64;
        Overall {
            policy,
            full: rows().map(|row| row.full).sum::<u64>() as f64 / tasks,
            false_delivery: rows().map(|row| row.false_delivery).sum::<u64>() as f64 / tasks,
        }
    };
    distinct(cells, |cell| &cell.row.policy).into_iter().map(of).collect()
}

/// The names that `name` gives for the cells, without duplicates, in order of first occurrence.
fn distinct(cells: &[Cell], name: impl Fn(&Cell) -> &String) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for cell in cells {
        let name = name(cell);
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names
}

/// Position of the top left corner of the panel with this index in a grid, in pixels.
fn top_left_corner(index: usize, columns: usize, width: usize, height: usize) -> (f64, f64) {
    ((index % columns * width) as f64, (index / columns * height) as f64)
}

/// The colour of the policy with this index.
fn colour(index: usize) -> &'static str {
    COLOURS.get(index % COLOURS.len()).copied().unwrap_or("#000000")
}

/// A share (0 to 1) as a text in percent.
fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// The beginning of an SVG document of this size, with a title and a white background.
fn open(width: usize, height: usize, title: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"12\" role=\"img\">\n<title>{title}</title>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
    )
}

/// An SVG line.
fn line(x1: f64, y1: f64, x2: f64, y2: f64, colour: &str, width: f64) -> String {
    format!(
        "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{colour}\" stroke-width=\"{width}\"/>\n"
    )
}

/// An SVG circle.
fn dot(x: f64, y: f64, colour: &str) -> String {
    format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5\" fill=\"{colour}\"/>\n")
}

/// An SVG text element; the content is escaped, since a policy's name may contain any character.
fn text(x: f64, y: f64, anchor: &str, content: &str) -> String {
    let content = content.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"#222222\">{content}</text>\n")
}
