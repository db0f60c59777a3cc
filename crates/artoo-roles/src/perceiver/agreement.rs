//! Tests that the schema of R1's reply and the type that reads it agree.

use proptest::option::of;
use proptest::prelude::*;

use super::{Draft, DraftConstraints, prompt};
use crate::agreement::{every_length_is_bounded, text, whatever_fits_is_read, whatever_is_written_fits};
use crate::limits::{LABEL_CHARS, REPLY_GOAL_CHARS, REPLY_PATH_CHARS, REPLY_REMARK_CHARS};

#[doc = "holds: law 3.11; fault L23"]
#[test]
fn perceiver_schema_agrees_with_its_type() {
    let schema = prompt::schema();
    every_length_is_bounded(&schema, &[]);
    whatever_fits_is_read::<Draft>(&schema);
    let constraints =
        (of(text(REPLY_PATH_CHARS)), of(text(40))).prop_map(|(scope, deadline)| DraftConstraints { scope, deadline });
    let drafts = (text(LABEL_CHARS), text(REPLY_GOAL_CHARS), constraints, of(text(REPLY_REMARK_CHARS)))
        .prop_map(|(task_id, intent, constraints, question)| Draft { task_id, intent, constraints, question });
    whatever_is_written_fits(&schema, drafts, |draft| serde_json::to_value(draft).unwrap());
}
