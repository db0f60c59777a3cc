//! Deserializers of numeric fields whose errors name the field, whatever the data format.

use core::fmt;

use serde::Deserializer;
use serde::de::{Error, Unexpected, Visitor};

use crate::unit::Unit;

/// Defines a function for each field, to be used as its `deserialize_with`.
macro_rules! fields {
    ($($read:ident -> $type:ty { $($field:ident)* })*) => {$($(
        pub(crate) fn $field<'de, D: Deserializer<'de>>(deserializer: D) -> Result<$type, D::Error> {
            $read(deserializer, stringify!($field))
        }
    )*)*};
}

fields! {
    number -> f64 { alpha beta lambda w1 w2 epsilon delta rho theta }
    count_64 -> u64 { time_budget_ms at_ms keep_ms elapsed_ms since_ms }
    count_32 -> u32 {
        max_replans kill_after failed_attempts attempts replans worsening_rounds worsening_before pauses round version cycles retries
    }
    unit -> Unit { d p omega propensity }
}

/// Whether a field has its default value, and so is left out of saved data.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Reads a number; an error names `field`.
fn number<'de, D: Deserializer<'de>>(deserializer: D, field: &'static str) -> Result<f64, D::Error> {
    deserializer.deserialize_f64(Number { field })
}

/// Reads a number in 0..=1; an error names `field`.
fn unit<'de, D: Deserializer<'de>>(deserializer: D, field: &'static str) -> Result<Unit, D::Error> {
    let value = number(deserializer, field)?;
    Unit::try_new(value).map_err(|error| D::Error::custom(format_args!("{field}: {error}")))
}

/// Reads a whole number of 64 bits; an error names `field`.
fn count_64<'de, D: Deserializer<'de>>(deserializer: D, field: &'static str) -> Result<u64, D::Error> {
    deserializer.deserialize_u64(Count { field, max: u64::MAX })
}

/// Reads a whole number of 32 bits; an error names `field`.
fn count_32<'de, D: Deserializer<'de>>(deserializer: D, field: &'static str) -> Result<u32, D::Error> {
    let value = deserializer.deserialize_u32(Count { field, max: u64::from(u32::MAX) })?;
    u32::try_from(value).map_err(|_| D::Error::custom(format_args!("{field} is {value}, more than {}", u32::MAX)))
}

/// Visitor that accepts any number as `f64`.
struct Number {
    field: &'static str,
}

impl Visitor<'_> for Number {
    type Value = f64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to be a number", self.field)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<f64, E> {
        Ok(value)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<f64, E> {
        Ok(value as f64)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<f64, E> {
        Ok(value as f64)
    }
}

/// Visitor that accepts a whole number up to `max`.
struct Count {
    field: &'static str,
    max: u64,
}

impl Visitor<'_> for Count {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to be a whole number from 0 to {}", self.field, self.max)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<u64, E> {
        if value <= self.max { Ok(value) } else { Err(E::invalid_value(Unexpected::Unsigned(value), &self)) }
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<u64, E> {
        match u64::try_from(value) {
            Ok(value) => self.visit_u64(value),
            Err(_) => Err(E::invalid_value(Unexpected::Signed(value), &self)),
        }
    }
}
