//! Prints an SVG picture of the loss, round by round, in two sample tasks on which a controller decided.
//!
//! `cargo run -p artoo-ggs-lab --example draw_loss > crates/artoo-ggs-lab/docs/loss.svg`

use std::fmt::Write as _;
use std::io::Write as _;

use artoo_ggs::{
    Controller, CriterionMeasure, Decision, FailureClass, Outcome, Profile, Round, SubtaskMeasure, ToolTarget,
};

/// A sample round: how many of its ten criteria failed by the approach, and how many by the environment.
struct Shares {
    logical: usize,
    environmental: usize,
}

/// Duration of a round in milliseconds.
const ROUND_MS: u64 = 20_000;
/// Height in pixels of a loss of 1.
const SCALE: f64 = 260.0;
/// Vertical pixel position of the bottom of the bars.
const FLOOR: f64 = 300.0;
/// Width of a bar, and distance from the start of one bar to the next, in pixels.
const BAR: (f64, f64) = (46.0, 100.0);
/// Parts of the loss, from the bottom: name and colour.
const PARTS: [(&str, &str); 3] = [("α·D", "#3b6ea5"), ("β_eff·P", "#d08a2e"), ("λ·Ω", "#7a7a7a")];

/// The controller's input for a sample round with these failures.
fn round(shares: &Shares) -> Round {
    let criterion = |n: usize| {
        let class = match n {
            n if n < shares.logical => FailureClass::Logical,
            n if n < shares.logical + shares.environmental => FailureClass::Environmental,
            _ => return CriterionMeasure::met(format!("criterion {n}")),
        };
        CriterionMeasure::unmet(format!("criterion {n}")).blamed_on(class)
    };
    let subtask = SubtaskMeasure::failed((0..10).map(criterion).collect());
    Round::new(vec![subtask.with_calls([ToolTarget::failed("shell", "make report")])])
}

/// The controller's decisions after each of these rounds.
fn decisions(rounds: &[Shares]) -> Vec<Decision> {
    let mut controller = Controller::new(Profile::default());
    let begun = controller.begin((), 0);
    let decide = |(n, shares)| controller.observe(&(), &round(shares), n * ROUND_MS).ok();
    begun.into_iter().flat_map(|()| (1..).zip(rounds)).map_while(decide).collect()
}

/// The picture as SVG text: a task that succeeds, and one that the kill switch (Law 2) ends.
pub fn draw() -> String {
    let found = [(9, 0), (6, 0), (0, 6), (0, 2)];
    let lost = [(0, 4), (0, 6), (0, 9)];
    let mut svg = String::from(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 800 400\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"800\" height=\"400\" fill=\"#ffffff\"/>\n",
    );
    for (n, (name, colour)) in (0_u8..).zip(PARTS) {
        let x = 20.0 + f64::from(n) * 90.0;
        text(&mut svg, x + 16.0, 24.0, "start", name);
        rect(&mut svg, (x, 14.0), (11.0, 11.0), colour);
    }
    panel(&mut svg, 20.0, "another method, another target, close enough", &found);
    panel(&mut svg, 430.0, "the gap grows twice running: Law 2", &lost);
    svg += "</svg>\n";
    svg
}

/// Adds to the SVG text a panel with the bars of one task's rounds.
fn panel(svg: &mut String, left: f64, title: &str, rounds: &[(usize, usize)]) {
    let shares: Vec<_> = rounds
        .iter()
        .map(|(logical, environmental)| Shares { logical: *logical, environmental: *environmental })
        .collect();
    text(svg, left, 52.0, "start", title);
    let profile = Profile::default();
    let parameters = profile.parameters();
    let _ =
        writeln!(svg, "<line x1=\"{left}\" x2=\"{}\" y1=\"{FLOOR}\" y2=\"{FLOOR}\" stroke=\"#222222\"/>", left + 360.0);
    for (n, decision) in (0_u8..).zip(decisions(&shares)) {
        let x = left + 12.0 + f64::from(n) * BAR.1;
        let loss = &decision.loss;
        let parts = [
            parameters.alpha * loss.d.value(),
            parameters.beta_eff(loss.omega) * loss.p.value(),
            parameters.lambda * loss.omega.value(),
        ];
        let mut top = FLOOR;
        for (part, (_, colour)) in parts.into_iter().zip(PARTS) {
            top -= part * SCALE;
            rect(svg, (x, top), (BAR.0, part * SCALE), colour);
        }
        let middle = x + BAR.0 / 2.0;
        text(svg, middle, top - 6.0, "middle", &format!("L {:.2}", loss.l));
        text(svg, middle, FLOOR + 18.0, "middle", &format!("D {:.2}", loss.d.value()));
        text(svg, middle, FLOOR + 34.0, "middle", &format!("∇L {:+.2}", decision.gradient.total));
        text(svg, middle, FLOOR + 54.0, "middle", decision.state().name());
        if let Outcome::Abandon(reason) = &decision.outcome {
            text(svg, middle, FLOOR + 70.0, "middle", reason.name());
        }
    }
}

/// Adds a rectangle to the SVG text.
fn rect(svg: &mut String, (x, y): (f64, f64), (width, height): (f64, f64), colour: &str) {
    // A string takes whatever is written to it.
    let _ = writeln!(
        svg,
        "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{colour}\"/>"
    );
}

/// Adds a text element to the SVG text.
fn text(svg: &mut String, x: f64, y: f64, anchor: &str, words: &str) {
    let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{words}</text>");
}

/// Prints the picture to standard output.
fn main() -> std::io::Result<()> {
    std::io::stdout().write_all(draw().as_bytes())
}
