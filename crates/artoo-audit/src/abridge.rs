//! Anything as JSON that may be kept: redacted, escaped and shortened as it is written, without a tree of it in between.

use std::borrow::Cow;
use std::fmt::{self, Write as _};

use artoo_proto::escape::{is_plain, shorten, visible};
use serde::ser::{self, Serialize, Serializer};
use serde_json::Value;

use artoo_proto::redact::{REDACTED, is_secret_name, redact};

/// Entries kept of a list: twice the subtasks a plan may have.
const LIST_MAX_ENTRIES: usize = 128;

/// Room made at once: most events are shorter.
const USUAL_BYTES: usize = 1024;

/// Why nothing was written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unwritten {
    /// It is longer than the bound.
    #[error("it is too long")]
    TooLong,
    /// It has no form in JSON.
    #[error("{0}")]
    Unreadable(String),
}

impl ser::Error for Unwritten {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::Unreadable(message.to_string())
    }
}

/// The value as a JSON object of at most `max_bytes`: every text redacted, escaped and cut to `max_chars`, every list
/// bounded, and the texts under names of secrets left out.
pub(crate) fn object(value: &impl Serialize, max_chars: usize, max_bytes: usize) -> Result<Vec<u8>, Unwritten> {
    let text = Vec::with_capacity(max_bytes.min(USUAL_BYTES));
    let mut page = Page { text, max_chars, max_bytes, spelled: String::new() };
    value.serialize(Part { page: &mut page, name: "" })?;
    Ok(page.text)
}

/// What is written so far.
struct Page {
    text: Vec<u8>,
    max_chars: usize,
    max_bytes: usize,
    /// Room for what is spelled out before it is looked at, such as a time.
    spelled: String,
}

impl Page {
    fn put(&mut self, json: &[u8]) -> Result<(), Unwritten> {
        self.text.extend_from_slice(json);
        self.check()
    }

    /// A text, number or the like, in JSON's own spelling.
    fn put_value(&mut self, value: &impl Serialize) -> Result<(), Unwritten> {
        serde_json::to_writer(&mut self.text, value).map_err(ser::Error::custom)?;
        self.check()
    }

    fn put_text(&mut self, text: &str) -> Result<(), Unwritten> {
        match safe_text(text, self.max_chars) {
            Some(safe) => self.put_value(&safe),
            None => self.put_value(&text),
        }
    }

    fn check(&self) -> Result<(), Unwritten> {
        if self.text.len() > self.max_bytes { Err(Unwritten::TooLong) } else { Ok(()) }
    }
}

/// The text as it may be kept; `None` where it may be kept as it is.
fn safe_text(text: &str, max_chars: usize) -> Option<String> {
    let redacted = redact(text);
    let is_unchanged = matches!(redacted, Cow::Borrowed(_)) && is_plain(text) && text.len() <= max_chars;
    (!is_unchanged).then(|| shorten(&visible(&redacted), max_chars))
}

/// A place for one value, under this name where it has one.
struct Part<'p> {
    page: &'p mut Page,
    name: &'p str,
}

impl<'p> Part<'p> {
    /// Opens an object or a list; the variant's own object is around it where it has a name.
    fn open(self, variant: Option<&'static str>, bracket: u8) -> Result<Inside<'p>, Unwritten> {
        if let Some(variant) = variant {
            self.page.put(b"{")?;
            self.page.put_value(&variant)?;
            self.page.put(b":")?;
        }
        self.page.put(&[bracket])?;
        Ok(Inside { page: self.page, name: String::new(), entries: 0, has_variant: variant.is_some() })
    }
}

/// A list or an object under way.
struct Inside<'p> {
    page: &'p mut Page,
    /// The name of the entry that comes next, as it was given.
    name: String,
    entries: usize,
    has_variant: bool,
}

impl Inside<'_> {
    fn comma(&mut self) -> Result<(), Unwritten> {
        self.entries += 1;
        if self.entries > 1 { self.page.put(b",") } else { Ok(()) }
    }

    /// An entry of a list; those beyond the bound are only counted.
    fn entry<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unwritten> {
        if self.entries >= LIST_MAX_ENTRIES {
            self.entries += 1;
            return Ok(());
        }
        self.comma()?;
        value.serialize(Part { page: &mut *self.page, name: "" })
    }

    /// A field of ours: its name needs no look.
    fn field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Unwritten> {
        self.comma()?;
        self.page.put_value(&name)?;
        self.page.put(b":")?;
        value.serialize(Part { page: &mut *self.page, name })
    }

    fn end_list(self) -> Result<(), Unwritten> {
        let more = self.entries.saturating_sub(LIST_MAX_ENTRIES);
        if more > 0 {
            self.page.put(b",")?;
            self.page.put_value(&format!("… [{more} more entries]"))?;
        }
        self.page.put(if self.has_variant { b"]}" } else { b"]" })
    }

    fn end_object(self) -> Result<(), Unwritten> {
        self.page.put(if self.has_variant { b"}}" } else { b"}" })
    }
}

/// Methods for what can be no secret and is never long.
macro_rules! as_it_is {
    ($($method:ident: $type:ty),* $(,)?) => {
        $(fn $method(self, value: $type) -> Result<(), Unwritten> {
            self.page.put_value(&value)
        })*
    };
}

/// Lists and objects of ours, under the many names that serde has for them.
macro_rules! inside {
    ($($trait:ident: $method:ident($($name:ident: $type:ty)?) by $act:ident, $end:ident;)*) => {
        $(impl ser::$trait for Inside<'_> {
            type Ok = ();
            type Error = Unwritten;

            fn $method<T: Serialize + ?Sized>(&mut self, $($name: $type,)? value: &T) -> Result<(), Unwritten> {
                self.$act($($name,)? value)
            }

            fn end(self) -> Result<(), Unwritten> {
                self.$end()
            }
        })*
    };
}

inside! {
    SerializeSeq: serialize_element() by entry, end_list;
    SerializeTuple: serialize_element() by entry, end_list;
    SerializeTupleStruct: serialize_field() by entry, end_list;
    SerializeTupleVariant: serialize_field() by entry, end_list;
    SerializeStruct: serialize_field(name: &'static str) by field, end_object;
    SerializeStructVariant: serialize_field(name: &'static str) by field, end_object;
}

impl<'p> Serializer for Part<'p> {
    type Ok = ();
    type Error = Unwritten;
    type SerializeSeq = Inside<'p>;
    type SerializeTuple = Inside<'p>;
    type SerializeTupleStruct = Inside<'p>;
    type SerializeTupleVariant = Inside<'p>;
    type SerializeMap = Inside<'p>;
    type SerializeStruct = Inside<'p>;
    type SerializeStructVariant = Inside<'p>;

    as_it_is! {
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64,
        serialize_f32: f32, serialize_f64: f64,
    }

    fn serialize_char(self, value: char) -> Result<(), Unwritten> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, text: &str) -> Result<(), Unwritten> {
        if is_secret_name(self.name) {
            return self.page.put_value(&REDACTED);
        }
        self.page.put_text(text)
    }

    fn collect_str<T: fmt::Display + ?Sized>(self, value: &T) -> Result<(), Unwritten> {
        let mut spelled = std::mem::take(&mut self.page.spelled);
        spelled.clear();
        write!(spelled, "{value}").map_err(ser::Error::custom)?;
        let written = Part { page: &mut *self.page, name: self.name }.serialize_str(&spelled);
        self.page.spelled = spelled;
        written
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<(), Unwritten> {
        bytes.serialize(self)
    }

    fn serialize_none(self) -> Result<(), Unwritten> {
        self.page.put(b"null")
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Unwritten> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Unwritten> {
        self.page.put(b"null")
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Unwritten> {
        self.page.put(b"null")
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), Unwritten> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), Unwritten> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Unwritten> {
        let mut inside = self.open(None, b'{')?;
        inside.field(variant, value)?;
        inside.end_object()
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Inside<'p>, Unwritten> {
        self.open(None, b'[')
    }

    fn serialize_tuple(self, _: usize) -> Result<Inside<'p>, Unwritten> {
        self.open(None, b'[')
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Inside<'p>, Unwritten> {
        self.open(None, b'[')
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Inside<'p>, Unwritten> {
        self.open(Some(variant), b'[')
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Inside<'p>, Unwritten> {
        self.open(None, b'{')
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Inside<'p>, Unwritten> {
        self.open(None, b'{')
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Inside<'p>, Unwritten> {
        self.open(Some(variant), b'{')
    }
}

impl ser::SerializeMap for Inside<'_> {
    type Ok = ();
    type Error = Unwritten;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Unwritten> {
        self.comma()?;
        self.name = match serde_json::to_value(key).map_err(ser::Error::custom)? {
            Value::String(name) => name,
            key @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
                key.to_string()
            }
        };
        self.page.put_text(&self.name)?;
        self.page.put(b":")
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unwritten> {
        value.serialize(Part { page: &mut *self.page, name: &self.name })
    }

    fn end(self) -> Result<(), Unwritten> {
        self.end_object()
    }
}

#[cfg(test)]
mod tests;
