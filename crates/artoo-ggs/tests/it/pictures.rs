//! The picture in the README is what the example draws.

use crate::draw_loss_example::draw;

#[test]
fn the_checked_in_picture_is_what_the_controller_decides() {
    assert_eq!(draw(), include_str!("../../docs/loss.svg"), "run the example draw_loss again");
}
