//! Draws attention and decision of one tag over sixty days: events, a rule, contradicting events, and the rule's
//! demotion.
//!
//! `cargo run -p artoo-mkct --example sixty_days > crates/artoo-mkct/docs/sixty-days.svg`

use std::error::Error;

use artoo_mkct::{
    Action, Engine, NewMegram, State, Tag,
    clock::Clocks,
    engine::Potentials,
    record::{Frame, intent_tag, via_tag},
};

const MS_PER_DAY: i64 = 86_400_000;
const DAYS: i64 = 60;
const SAMPLES_PER_DAY: i64 = 8;

/// Width of the picture in pixels. The other constants are its height, the margins, and the plotted values at top and
/// bottom.
const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 48.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 64.0;
const HIGHEST: f64 = 9.0;
const LOWEST: f64 = -3.0;

/// An event to be marked in the plot.
struct Mark {
    day: f64,
    text: &'static str,
}

/// Attention and decision sampled over the sixty days, and the events to be marked.
#[derive(Default)]
struct Story {
    samples: Vec<(f64, Potentials)>,
    marks: Vec<Mark>,
    events: Vec<(f64, State)>,
}

/// Prints the picture of the simulated sixty days as SVG.
fn main() -> Result<(), Box<dyn Error>> {
    print_picture(&draw(&live()?));
    Ok(())
}

/// Simulates ten days of successes, two weeks without events, then failures.
fn live() -> Result<Story, Box<dyn Error>> {
    let (space, entity) = (intent_tag("deploy the site"), via_tag(&["rsync", "shell"]));
    let mut memory = Engine::new();
    let mut story = Story::default();
    for sample in 0..=DAYS * SAMPLES_PER_DAY {
        let now_ms = sample * MS_PER_DAY / SAMPLES_PER_DAY;
        let day = sample as f64 / SAMPLES_PER_DAY as f64;
        let state = match sample / SAMPLES_PER_DAY {
            1..=10 => Some(State::Accept),
            26 | 28 | 30 | 32 | 34 => Some(State::Abandon),
            _ => None,
        };
        if let Some(state) = state.filter(|_| sample % SAMPLES_PER_DAY == 0) {
            let event = NewMegram::new(Tag::new(&space, &entity), state, "…").task(format!("task {day}"));
            memory.write(event, now_ms)?;
            story.events.push((day, state));
        }
        for promotion in memory.promotions(now_ms) {
            if let Frame::Promoted { .. } = memory.promote(&promotion.ticket, "deploy with rsync", now_ms)? {
                story.marks.push(Mark { day, text: "rule made" });
            }
        }
        let report = memory.sweep(Clocks { wall_ms: now_ms, uptime_ms: now_ms });
        story.marks.extend(report.contradicted.iter().map(|_| Mark { day, text: "dissonance" }));
        story.marks.extend(report.demoted.iter().map(|_| Mark { day, text: "rule falls" }));
        story.samples.push((day, memory.query_mk(&Tag::new(&space, &entity), now_ms)));
    }
    Ok(story)
}

/// The plot as SVG.
fn draw(story: &Story) -> String {
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"12\" role=\"img\" aria-label=\"Attention and decision of one tag over sixty days\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#ffffff\"/>\n"
    );
    bands(&mut svg, story);
    axes(&mut svg);
    curve(&mut svg, story, "#3b6fb6", |potentials| potentials.attention);
    curve(&mut svg, story, "#b5482f", |potentials| potentials.decision);
    for (day, state) in &story.events {
        let (color, sign) = if *state == State::Accept { ("#2e7d4f", "+") } else { ("#b5482f", "−") };
        text(&mut svg, x(*day), HEIGHT - 34.0, "middle", color, sign);
    }
    for mark in &story.marks {
        let at = x(mark.day);
        svg += &format!(
            "<line x1=\"{at:.1}\" y1=\"{TOP}\" x2=\"{at:.1}\" y2=\"{:.1}\" stroke=\"#555\" stroke-dasharray=\"2 3\"/>\n",
            y(LOWEST)
        );
    }
    labels(&mut svg, story);
    svg + "</svg>"
}

/// Draws the action at each time as a coloured background.
fn bands(svg: &mut String, story: &Story) {
    let mut from = 0;
    while let Some((begin, first)) = story.samples.get(from) {
        let same = |(_, potentials): &&(f64, Potentials)| potentials.action == first.action;
        let length = story.samples.iter().skip(from).take_while(same).count();
        let end = story.samples.get(from + length).map_or(DAYS as f64, |(day, _)| *day);
        let (fill, name) = match first.action {
            Action::Exploit => ("#e3f1e7", "exploit"),
            Action::Avoid => ("#f8e4df", "avoid"),
            Action::Caution => ("#fbf3d4", "caution"),
            Action::Ignore => ("#f0f0f0", "ignore"),
        };
        let (left, width, height) = (x(*begin), x(end) - x(*begin), y(LOWEST) - TOP);
        *svg += &format!(
            "<rect x=\"{left:.1}\" y=\"{TOP}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{fill}\"/>\n"
        );
        if width > 40.0 {
            text(svg, left + width / 2.0, y(LOWEST) - 8.0, "middle", "#555555", name);
        }
        from += length;
    }
}

/// Draws the time axis and the value axis with their labels as SVG.
fn axes(svg: &mut String) {
    for value in [-2.0, 0.0, 2.0, 4.0, 6.0, 8.0] {
        let at = y(value);
        let stroke = if value == 0.0 { "#333333" } else { "#d0d0d0" };
        *svg += &format!(
            "<line x1=\"{LEFT}\" y1=\"{at:.1}\" x2=\"{:.1}\" y2=\"{at:.1}\" stroke=\"{stroke}\"/>\n",
            WIDTH - RIGHT
        );
        text(svg, LEFT - 8.0, at + 4.0, "end", "#333333", &format!("{value}"));
    }
    for day in (0..=DAYS).step_by(10) {
        text(svg, x(day as f64), HEIGHT - 14.0, "middle", "#333333", &format!("day {day}"));
    }
}

/// Draws one of the two curves (attention or decision) as an SVG line.
fn curve(svg: &mut String, story: &Story, color: &str, channel: fn(&Potentials) -> f64) {
    let point = |(day, potentials): &(f64, Potentials)| format!("{:.1},{:.1}", x(*day), y(channel(potentials)));
    let points: Vec<String> = story.samples.iter().map(point).collect();
    *svg +=
        &format!("<polyline points=\"{}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"2\"/>\n", points.join(" "));
}

/// Draws the legend and the labels of the marks.
fn labels(svg: &mut String, story: &Story) {
    text(svg, LEFT, 18.0, "start", "#3b6fb6", "attention: how much is known");
    text(svg, LEFT + 200.0, 18.0, "start", "#b5482f", "decision: which way it points");
    text(svg, LEFT + 410.0, 18.0, "start", "#555555", "+ a task that worked   − one that failed");
    for (position, mark) in story.marks.iter().enumerate() {
        // Neighbours at different heights, so that they stay apart.
        text(svg, x(mark.day) + 4.0, TOP + 12.0 + 14.0 * (position % 3) as f64, "start", "#333333", mark.text);
    }
}

/// Draws a text at a position as SVG.
fn text(svg: &mut String, x: f64, y: f64, anchor: &str, fill: &str, words: &str) {
    *svg += &format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{fill}\">{words}</text>\n");
}

/// The horizontal position of a day, in pixels.
fn x(day: f64) -> f64 {
    LEFT + day / DAYS as f64 * (WIDTH - LEFT - RIGHT)
}

/// The vertical position of a value, in pixels.
fn y(value: f64) -> f64 {
    TOP + (HIGHEST - value) / (HIGHEST - LOWEST) * (HEIGHT - TOP - BOTTOM)
}

/// Prints the SVG to standard output.
#[expect(clippy::print_stdout, reason = "the example's output")]
fn print_picture(svg: &str) {
    println!("{svg}");
}
