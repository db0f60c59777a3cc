//! Tests that the schema of judging models' replies and the type that reads them agree.

use artoo_proto::{FailureClass, Verdict};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;

use super::judgement::{JudgedCriterion, Judgement};
use super::prompt::schema;
use crate::agreement::{every_length_is_bounded, text, whatever_fits_is_read, whatever_is_written_fits};
use crate::limits::{CRITERIA_MAX, REPLY_CITE_CHARS, REPLY_CITES, REPLY_REMARK_CHARS};
use crate::testing::bench::look;

/// Random verdicts of a model on one of `count` criteria.
fn judged(count: usize) -> impl Strategy<Value = JudgedCriterion> {
    let verdict = prop_oneof![Just(Verdict::Pass), Just(Verdict::Fail)];
    let class = of(prop_oneof![Just(FailureClass::Logical), Just(FailureClass::Environmental)]);
    let number = 1..=u32::try_from(count).unwrap();
    (number, verdict, vec(text(REPLY_CITE_CHARS), 0..=REPLY_CITES), text(REPLY_REMARK_CHARS), class).prop_map(
        |(number, verdict, cites, evidence, class)| JudgedCriterion::of(number, verdict, cites, evidence, class),
    )
}

#[doc = "holds: law 3.11; fault L23"]
#[test]
fn judge_schema_agrees_with_its_type() {
    let calls = [look(1, "12"), look(2, "x")];
    for (count, calls) in [(1, &calls[..0]), (2, &calls[..1]), (CRITERIA_MAX, &calls[..])] {
        let schema = schema(count, calls);
        every_length_is_bounded(&schema, &[]);
        whatever_fits_is_read::<Judgement>(&schema);
        let judgements = (vec(judged(count), count), of(text(REPLY_REMARK_CHARS)))
            .prop_map(|(verdicts, what_to_do)| Judgement { verdicts, what_to_do });
        whatever_is_written_fits(&schema, judgements, |judgement| serde_json::to_value(judgement).unwrap());
    }
}
