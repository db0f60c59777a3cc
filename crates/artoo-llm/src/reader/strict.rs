//! A strict parser for the JSON value at the start of a text: no duplicate keys, bounded nesting, exact numbers.

use std::cell::RefCell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::{MAX_DEPTH, ReaderError};

/// Largest integer up to which a 64-bit float represents every integer: 2^53.
const EXACT_FLOAT_MAX: f64 = 9_007_199_254_740_992.0;

/// Parses the JSON value at the start of `text`; returns it and its length in bytes. `inside` names the value in the
/// error if the text ends in it.
pub(super) fn prefix(text: &str, inside: &'static str) -> Result<(Value, usize), ReaderError> {
    let malformed = |error: serde_json::Error| ReaderError::Malformed { problem: error.to_string() };
    // The first pass only checks the grammar and finds the end; serde_json does that without recursion.
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    match values.next() {
        Some(Ok(_)) => {}
        Some(Err(error)) if !error.is_eof() => return Err(malformed(error)),
        Some(Err(_)) | None => return Err(ReaderError::Cut { inside }),
    }
    let len = values.byte_offset();
    let flaw = RefCell::new(None);
    let mut deserializer = serde_json::Deserializer::from_str(text.get(..len).unwrap_or_default());
    let value = (Strict { levels_left: MAX_DEPTH, flaw: &flaw }).deserialize(&mut deserializer);
    value.map(|value| (value, len)).map_err(|error| flaw.into_inner().unwrap_or_else(|| malformed(error)))
}

/// A serde seed that builds a JSON value, counts its nesting, and records the first fault.
#[derive(Clone, Copy)]
struct Strict<'f> {
    levels_left: usize,
    flaw: &'f RefCell<Option<ReaderError>>,
}

impl Strict<'_> {
    /// Records a fault and stops the parser with an error.
    fn refuse<T, E: Error>(self, flaw: ReaderError) -> Result<T, E> {
        *self.flaw.borrow_mut() = Some(flaw);
        Err(E::custom("refused"))
    }

    /// The seed for the next nesting level; an error if the maximum is reached.
    fn inner<E: Error>(self) -> Result<Self, E> {
        match self.levels_left.checked_sub(1) {
            Some(levels_left) => Ok(Self { levels_left, ..self }),
            None => self.refuse(ReaderError::TooDeep { limit: MAX_DEPTH }),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        if value == 0.0 {
            return Ok(Value::from(0)); // −0 too
        }
        match Number::from_f64(value) {
            // A whole number beyond 64 bits arrives here, rounded.
            Some(number) if value.abs() <= EXACT_FLOAT_MAX => Ok(Value::Number(number)),
            Some(_) | None => self.refuse(ReaderError::InexactNumber),
        }
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let inner = self.inner()?;
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(inner)? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let inner = self.inner()?;
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if object.contains_key(&key) {
                return self.refuse(ReaderError::DuplicateKey { key });
            }
            let value = entries.next_value_seed(inner)?;
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}
