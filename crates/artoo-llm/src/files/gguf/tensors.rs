//! The list of tensors in a GGUF file: counts their elements and checks that the file contains all of their data.

use std::io::{Read, Seek};

use super::reader::Reader;
use super::{GgufError, invalid};

/// Maximum number of dimensions of a tensor: the format's own limit.
const DIMENSIONS_MAX: u32 = 4;

/// Number of elements in a quantisation block, by tensor type number (ggml's `ggml_type`); 0 for unused numbers.
const BLOCK_ELEMENTS: [u16; 40] = [
    1, 1, 32, 32, 0, 0, 32, 32, 32, 0, 256, 256, 256, 256, 256, 0, 256, 256, 256, 256, 32, 256, 256, 256, 1, 1, 1, 1,
    1, 256, 1, 0, 0, 0, 256, 256, 0, 0, 0, 32,
];

/// Size in bytes of a quantisation block, by tensor type number; 0 for unused numbers.
const BLOCK_BYTES: [u16; 40] = [
    4, 2, 18, 20, 0, 0, 22, 24, 34, 0, 84, 110, 144, 176, 210, 0, 66, 74, 98, 50, 18, 110, 82, 136, 1, 2, 4, 8, 8, 56,
    2, 0, 0, 0, 54, 66, 0, 0, 0, 17,
];

/// Names of quantisations, by `general.file_type` (llama.cpp's `llama_ftype`); empty for unused numbers.
const FILE_TYPES: [&str; 39] = [
    "F32", "F16", "Q4_0", "Q4_1", "", "", "", "Q8_0", "Q5_0", "Q5_1", "Q2_K", "Q3_K_S", "Q3_K_M", "Q3_K_L", "Q4_K_S",
    "Q4_K_M", "Q5_K_S", "Q5_K_M", "Q6_K", "IQ2_XXS", "IQ2_XS", "Q2_K_S", "IQ3_XS", "IQ3_XXS", "IQ1_S", "IQ4_NL",
    "IQ3_S", "IQ3_M", "IQ2_S", "IQ2_M", "IQ4_XS", "IQ1_M", "BF16", "", "", "", "TQ1_0", "TQ2_0", "MXFP4",
];

/// The name of a model file's quantisation by its number; `unknown` if the number is missing or not known.
pub(super) fn file_type(number: Option<u64>) -> &'static str {
    let name = number.and_then(|number| FILE_TYPES.get(usize::try_from(number).ok()?)).copied().unwrap_or_default();
    if name.is_empty() { "unknown" } else { name }
}

/// Reads the list of tensors and checks that all of their data is inside the file; returns the total number of
/// elements.
pub(super) fn read(reader: &mut Reader<impl Read + Seek>, tensors: u64, alignment: u64) -> Result<u64, GgufError> {
    if tensors == 0 {
        return invalid("it is damaged: it has no tensors");
    }
    let (mut total, mut end) = (Some(0_u64), Some(0_u64));
    for _ in 0..tensors {
        let what = "a tensor";
        reader.key()?;
        let dimensions = reader.u32(what)?;
        if dimensions > DIMENSIONS_MAX {
            return invalid(format!("it is damaged: a tensor has {dimensions} dimensions, expected at most 4"));
        }
        let mut elements = Some(1_u64);
        for _ in 0..dimensions {
            elements = elements.zip(Some(reader.u64(what)?)).and_then(|(elements, size)| elements.checked_mul(size));
        }
        let kind = reader.u32(what)?;
        let offset = reader.u64(what)?;
        let tensor_end = elements.and_then(|elements| offset.checked_add(bytes(kind, elements)?));
        end = end.zip(tensor_end).map(|(end, tensor_end)| end.max(tensor_end));
        total = total.zip(elements).and_then(|(total, elements)| total.checked_add(elements));
    }
    let data = reader.position.checked_next_multiple_of(alignment);
    match (total, data.zip(end).and_then(|(data, end)| data.checked_add(end))) {
        (Some(total), Some(end)) if end <= reader.bytes => Ok(total),
        (Some(_), Some(_)) => invalid("it is truncated: its weights would lie beyond its end"),
        _ => invalid("it is damaged: a tensor is larger than any file"),
    }
}

/// Size of a tensor's data in bytes; 0 for a type number that is newer than this code, `None` if the size overflows.
fn bytes(kind: u32, elements: u64) -> Option<u64> {
    let of =
        |table: &[u16]| table.get(usize::try_from(kind).ok()?).copied().map(u64::from).filter(|number| *number > 0);
    match of(&BLOCK_ELEMENTS).zip(of(&BLOCK_BYTES)) {
        Some((block_elements, block_bytes)) => elements.div_ceil(block_elements).checked_mul(block_bytes),
        None => Some(0),
    }
}
