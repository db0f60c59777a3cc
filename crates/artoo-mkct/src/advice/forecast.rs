//! What happens to a tag if nothing more is written: when advice ends, when rules are made or demoted, when records are
//! deleted.

use serde::{Deserialize, Serialize};

use crate::{
    advice::roots::{Exponential, crossings, value},
    engine::{
        ATTENTION_THRESHOLD, Engine,
        index::{TagEntry, term},
        potential::{days_between, decay},
    },
    record::{MegramId, RULE_MAGNITUDE, RuleKind, Tag, quantization::DEMOTED_DECAY},
    rules::{FADED_ATTENTION, PROMOTE_ATTENTION, PROMOTE_DECISION},
};

/// Number of milliseconds in a day.
const MILLIS_PER_DAY: f64 = 86_400_000.0;

/// When advice of a tag ends, a rule is made or demoted, or its records are deleted, in Unix milliseconds; what holds
/// already is dated at the time of the query.
///
/// Sweeps and promotions happen when they are called, so each date is the first moment at which a call would act.
/// Records of contradictions, which a sweep may add, are not predicted.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Forecast {
    /// When the tag first qualifies for a rule of each kind; kinds for which it never does are missing.
    pub promotions: Vec<(RuleKind, i64)>,
    /// When each rule of the tag is demoted; rules that are not demoted are missing.
    pub bankruptcies: Vec<(MegramId, i64)>,
    /// When the tag's attention falls below [`ATTENTION_THRESHOLD`], so that there is no advice; `None` if not within a
    /// century or if the tag has no records.
    pub silent_at_ms: Option<i64>,
    /// When the tag's attention falls below [`FADED_ATTENTION`], so that a sweep may delete the tag; `None` if not
    /// within a century or if the tag has no records.
    pub faded_at_ms: Option<i64>,
}

impl Engine {
    /// Calculates when the advice of a tag ends, rules are made or demoted, and records deleted within a century, if
    /// nothing more is written.
    #[must_use]
    pub fn forecast(&self, tag: &Tag, now_ms: i64) -> Forecast {
        let Some((number, tag)) =
            self.index.number(&tag.space, &tag.entity).and_then(|n| Some((n, self.index.tag(n)?)))
        else {
            return Forecast::default();
        };
        let now_ms = tag.aggregate.clamp(now_ms);
        let promotions = RuleKind::ALL
            .into_iter()
            .filter_map(|kind| Some((kind, self.promotion_date(number, tag, kind, now_ms)?)))
            .collect();
        let bankruptcies: Vec<(MegramId, i64)> = self
            .rule_ids(number)
            .into_iter()
            .filter_map(|rule| Some((rule, self.bankruptcy_date(rule, tag, now_ms)?)))
            .collect();
        if tag.live == 0 {
            return Forecast { promotions, bankruptcies, ..Forecast::default() };
        }
        let attention = channels(tag, now_ms).0;
        let silent_at_ms = first_below(&attention, ATTENTION_THRESHOLD, now_ms);
        let mut faded_at_ms = first_below(&attention, FADED_ATTENTION, now_ms);
        let mut fallen: Vec<i64> = bankruptcies.iter().map(|(_, at_ms)| *at_ms).collect();
        fallen.sort_unstable();
        for (position, then_ms) in fallen.iter().enumerate() {
            if faded_at_ms.is_none_or(|faded| *then_ms <= faded) {
                // A demoted rule counts in attention from its demotion on.
                let knowledge = fallen.iter().take(position + 1).map(|at_ms| {
                    (RULE_MAGNITUDE * decay(DEMOTED_DECAY, days_between(*at_ms, *then_ms)), DEMOTED_DECAY)
                });
                let attention: Vec<Exponential> = channels(tag, *then_ms).0.into_iter().chain(knowledge).collect();
                faded_at_ms = first_below(&attention, FADED_ATTENTION, *then_ms);
            }
        }
        Forecast { promotions, bankruptcies, silent_at_ms, faded_at_ms }
    }

    /// When [`Engine::promotions`] first lists the tag for a rule of a kind, Unix milliseconds; `None` if not within a
    /// century.
    fn promotion_date(&self, number: u32, tag: &TagEntry, kind: RuleKind, now_ms: i64) -> Option<i64> {
        let sign = f64::from(kind.sign());
        let counted = self.evidence_for(number, tag, kind, now_ms);
        let evidence = |sigma: fn(f64) -> f64| -> Vec<Exponential> {
            let of = |w: &crate::rules::evidence::WeightedRow| {
                (sigma(w.row.sigma) * w.attention(), term(&w.row, &self.decays).k)
            };
            counted.0.iter().map(of).collect()
        };
        let (attention, decision) = channels(tag, now_ms);
        let mut days = vec![0.0];
        days.extend(crossings(&attention, PROMOTE_ATTENTION));
        days.extend(crossings(&decision, sign * PROMOTE_DECISION));
        days.extend(crossings(&evidence(|_| 1.0), PROMOTE_ATTENTION));
        days.extend(crossings(&evidence(|sigma| sigma), sign * PROMOTE_DECISION));
        days.sort_unstable_by(f64::total_cmp);
        let holds = |at_ms: &i64| self.promotion(number, tag, kind, *at_ms).is_some();
        days.into_iter().map(|days| date(now_ms, days)).find(holds)
    }

    /// When a rule will be demoted, Unix milliseconds; `None` if not within a century, or if too few tasks contradict
    /// the rule.
    fn bankruptcy_date(&self, rule: MegramId, tag: &TagEntry, now_ms: i64) -> Option<i64> {
        let rule = self.rules.get(&rule)?;
        if !self.is_opposed(rule, tag) {
            return None;
        }
        let decision = channels(tag, now_ms).1;
        let against = |at_ms: &i64| rule.sigma.signum() * tag.aggregate.at(*at_ms).decision < 0.0;
        let days = std::iter::once(0.0).chain(crossings(&decision, 0.0));
        days.map(|days| date(now_ms, days)).find(against)
    }
}

/// Attention and decision of a tag as sums of exponentials from `now_ms` on.
fn channels(tag: &TagEntry, now_ms: i64) -> (Vec<Exponential>, Vec<Exponential>) {
    tag.aggregate
        .exponentials(now_ms)
        .into_iter()
        .map(|(attention, decision, k)| ((attention, k), (decision, k)))
        .unzip()
}

/// When a decreasing sum is first below `level`, Unix milliseconds; `None` if not within a century.
fn first_below(sum: &[Exponential], level: f64, now_ms: i64) -> Option<i64> {
    if value(sum, 0.0) < level {
        return Some(now_ms);
    }
    crossings(sum, level).first().map(|days| date(now_ms, *days))
}

/// The time `days` after `now_ms`, rounded up to a millisecond.
fn date(now_ms: i64, days: f64) -> i64 {
    now_ms.saturating_add((days * MILLIS_PER_DAY).ceil() as i64)
}
