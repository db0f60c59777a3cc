//! Sizes and counts as people read them: `2.0 kB`, `1 file`, `72,000 files`.

/// A size in decimal units with one decimal place; exact below 1,000 bytes.
#[must_use]
pub fn bytes(size: u64) -> String {
    const UNITS: [&str; 6] = ["kB", "MB", "GB", "TB", "PB", "EB"];
    if size < 1_000 {
        return count(size, "byte", "bytes");
    }
    let mut unit = 1_000_u64;
    for (index, name) in UNITS.iter().enumerate() {
        let tenths = (u128::from(size) * 10 + u128::from(unit) / 2) / u128::from(unit);
        if tenths < 10_000 || index + 1 == UNITS.len() {
            return format!("{}.{} {name}", tenths / 10, tenths % 10);
        }
        unit = unit.saturating_mul(1_000);
    }
    count(size, "byte", "bytes")
}

/// A number with the noun in singular or plural; with commas from 1,000 on.
#[must_use]
pub fn count(number: u64, one: &str, many: &str) -> String {
    let noun = if number == 1 { one } else { many };
    format!("{} {noun}", self::number(number))
}

/// The digits of a number, with commas between groups of three from 1,000 on.
#[must_use]
pub fn number(number: u64) -> String {
    let digits = number.to_string();
    if number < 1_000 {
        return digits;
    }
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Tests of sizes and counts as text.
#[cfg(test)]
mod tests {
    #[test]
    fn bytes_in_decimal_units() {
        for (size, expected) in [
            (0, "0 bytes"),
            (1, "1 byte"),
            (41, "41 bytes"),
            (999, "999 bytes"),
            (1_000, "1.0 kB"),
            (1_949, "1.9 kB"),
            (1_950, "2.0 kB"),
            (30_000_000, "30.0 MB"),
            (999_949, "999.9 kB"),
            (999_950, "1.0 MB"),
            (25_276_514_304, "25.3 GB"),
            (u64::MAX, "18.4 EB"),
        ] {
            assert_eq!(super::bytes(size), expected, "{size}");
        }
    }

    #[test]
    fn count_in_singular_and_plural() {
        for (number, expected) in [
            (0, "0 files"),
            (1, "1 file"),
            (2, "2 files"),
            (9_999, "9,999 files"),
            (10_000, "10,000 files"),
            (72_000, "72,000 files"),
            (1_234_567, "1,234,567 files"),
        ] {
            assert_eq!(super::count(number, "file", "files"), expected, "{number}");
        }
    }
}
