//! Compares the checked-in picture docs/loss.svg with what the example `draw_loss` draws.

#[path = "../examples/draw_loss.rs"]
#[expect(dead_code, unreachable_pub, reason = "an example, tested through the function its main calls")]
mod draw_loss;

#[test]
fn checked_in_loss_picture_matches_controller() {
    assert_eq!(draw_loss::draw(), include_str!("../docs/loss.svg"), "run the example draw_loss again");
}
