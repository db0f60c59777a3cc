//! Decimal numbers at the start of lines, as integers in billionths.

/// The number one as an integer in billionths. Digits after the ninth decimal place are dropped.
pub(crate) const UNIT: i128 = 1_000_000_000;

/// Maximum number of digits before the decimal point; a longer run is not read as a number.
const MAX_DIGITS: usize = 24;

/// The number at the start of a line, in billionths; `None` unless blanks, an optional minus, and digits or
/// decimals stand there.
pub(crate) fn leading(line: &[u8]) -> Option<i128> {
    let blanks = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let rest = line.get(blanks..)?;
    let (sign, rest) = match rest.split_first() {
        Some((b'-', rest)) => (-1, rest),
        _ => (1, rest),
    };
    let digits = |bytes: &[u8]| bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let whole = digits(rest);
    let is_fraction = matches!(rest, [b'.', digit, ..] if digit.is_ascii_digit());
    if (whole == 0 && !is_fraction) || whole > MAX_DIGITS {
        return None;
    }
    let mut value = decimal(rest.get(..whole)?) * UNIT;
    if let Some((b'.', after)) = rest.get(whole..).and_then(<[u8]>::split_first) {
        let decimals = after.get(..digits(after).min(9))?;
        let scale = 10_i128.pow(9 - u32::try_from(decimals.len()).unwrap_or(9));
        value += decimal(decimals) * scale;
    }
    Some(sign * value)
}

/// The value of a run of ASCII digits.
fn decimal(digits: &[u8]) -> i128 {
    digits.iter().fold(0, |value, digit| value * 10 + i128::from(digit - b'0'))
}

/// A number in billionths as decimal text, without trailing zeros.
pub(crate) fn shown(value: i128) -> String {
    let (sign, value) = (if value < 0 { "-" } else { "" }, value.unsigned_abs());
    let unit = UNIT.unsigned_abs();
    let decimals = format!("{:09}", value % unit);
    let decimals = decimals.trim_end_matches('0');
    let point = if decimals.is_empty() { "" } else { "." };
    format!("{sign}{}{point}{decimals}", value / unit)
}

/// A number rounded to a multiple of `unit`, halves to the even multiple.
pub(crate) fn rounded(value: i128, unit: i128) -> i128 {
    let (whole, rest) = (value.div_euclid(unit), value.rem_euclid(unit));
    let up = rest > unit / 2 || (rest == unit / 2 && whole % 2 != 0);
    (whole + i128::from(up)) * unit
}
