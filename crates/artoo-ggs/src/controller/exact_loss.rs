//! Serialization of a loss as text, which parses back to the same bits (a JSON number may come back one bit off).

use alloc::string::{String, ToString};

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::loss::Loss;
use crate::unit::Unit;

/// A loss with its numbers as text.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExactLoss {
    d: String,
    p: String,
    omega: String,
    l: String,
}

/// Writes a loss with each of its numbers as text.
pub(super) fn serialize<S: Serializer>(loss: &Loss, serializer: S) -> Result<S::Ok, S::Error> {
    let [d, p, omega] = [loss.d, loss.p, loss.omega].map(|unit| unit.value().to_string());
    ExactLoss { d, p, omega, l: loss.l.to_string() }.serialize(serializer)
}

/// Reads a loss from the texts of its numbers; an error if one is no number, out of 0..=1 or not finite.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Loss, D::Error> {
    let text = ExactLoss::deserialize(deserializer)?;
    let number = |field: &str, text: &str| {
        text.parse::<f64>().map_err(|error| D::Error::custom(format_args!("{field}: {error}")))
    };
    let unit = |field: &str, text: &str| {
        let value = number(field, text)?;
        Unit::try_new(value).map_err(|error| D::Error::custom(format_args!("{field}: {error}")))
    };
    let l = number("l", &text.l)?;
    if !l.is_finite() {
        return Err(D::Error::custom(format_args!("l is {l}, not a finite number")));
    }
    Ok(Loss { d: unit("d", &text.d)?, p: unit("p", &text.p)?, omega: unit("omega", &text.omega)?, l })
}
