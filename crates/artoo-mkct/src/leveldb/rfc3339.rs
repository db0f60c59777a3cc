//! Times as written in the LevelDB export: `2026-11-22T01:33:33.250Z`.

const MILLIS_PER_DAY: i64 = 86_400_000;

/// Formats Unix milliseconds in RFC 3339; years outside 0..=9999 get a sign or more digits.
pub(super) fn format(at_ms: i64) -> String {
    let (days, millis) = (at_ms.div_euclid(MILLIS_PER_DAY), at_ms.rem_euclid(MILLIS_PER_DAY));
    // Howard Hinnant's civil_from_days: eras of 400 years that begin in March, so that the leap day comes last.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (seconds, fraction) = (millis / 1_000, millis % 1_000);
    let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{fraction:03}Z")
}

/// Tests of formatted times.
#[cfg(test)]
mod tests {
    use super::format;

    #[doc = "holds: design K5"]
    #[test]
    fn rfc3339_handles_all_years_and_leap_days() {
        for (at_ms, expected) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_772_000_000_123, "2026-02-25T06:13:20.123Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(format(at_ms), expected);
        }
        // Whatever it writes, it does not panic.
        format(i64::MAX);
        format(i64::MIN);
    }
}
