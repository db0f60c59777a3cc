//! Losses in saved state, as text that parses back to the same bits (a JSON number may come back one bit off).

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::loss::Loss;
use crate::unit::Unit;

#[derive(Serialize, Deserialize)]
struct ExactLoss {
    d: String,
    p: String,
    omega: String,
    l: String,
}

pub(super) fn serialize<S: Serializer>(loss: &Loss, serializer: S) -> Result<S::Ok, S::Error> {
    let [d, p, omega] = [loss.d, loss.p, loss.omega].map(|unit| unit.value().to_string());
    ExactLoss { d, p, omega, l: loss.l.to_string() }.serialize(serializer)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Loss, D::Error> {
    let text = ExactLoss::deserialize(deserializer)?;
    let number = |text: &str| text.parse::<f64>().map_err(D::Error::custom);
    let unit = |text: &str| Unit::try_new(number(text)?).map_err(D::Error::custom);
    let l = number(&text.l)?;
    if !l.is_finite() {
        return Err(D::Error::custom("l is not a finite number"));
    }
    Ok(Loss { d: unit(&text.d)?, p: unit(&text.p)?, omega: unit(&text.omega)?, l })
}
