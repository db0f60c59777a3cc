//! Calendar arithmetic: from time expressions such as "last week" to exact bounds. The current time is passed in.

use artoo_proto::Timestamp;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::Offset;
use jiff::{Span, ToSpan as _};

use crate::concept::{Calendar, TimeUnit};

/// The current time and the local offset from UTC.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    pub(crate) now: Timestamp,
    offset: Offset,
}

/// A time range from `start` (included) to `end` (excluded).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stretch {
    /// The start of the range, included.
    pub(crate) start: Timestamp,
    /// The end of the range, excluded.
    pub(crate) end: Timestamp,
}

impl Clock {
    /// A clock at this time with this offset from UTC in seconds; an offset out of range counts as zero.
    pub(crate) fn new(now: Timestamp, utc_offset_s: i32) -> Self {
        Self { now, offset: Offset::from_seconds(utc_offset_s).unwrap_or(Offset::UTC) }
    }

    /// The current date and time in local time; `None` outside the calendar.
    fn local_now(self) -> Option<DateTime> {
        jiff::Timestamp::from_millisecond(self.now.as_millis()).ok().map(|t| self.offset.to_datetime(t))
    }

    /// The timestamp of a local date and time; `None` outside the calendar.
    fn moment(self, local: DateTime) -> Option<Timestamp> {
        self.offset.to_timestamp(local).ok().map(|t| Timestamp::from_millis(t.as_millisecond()))
    }

    /// The current local date; `None` outside the calendar.
    pub(crate) fn today(self) -> Option<Date> {
        self.local_now().map(DateTime::date)
    }

    /// The time range from the start of the day `first` to the start of the day `after_last`.
    fn days(self, first: Date, after_last: Date) -> Option<Stretch> {
        let midnight = |date: Date| self.moment(date.to_datetime(Time::midnight()));
        Some(Stretch { start: midnight(first)?, end: midnight(after_last)? })
    }

    /// The time range of one local day.
    pub(crate) fn day(self, date: Date) -> Option<Stretch> {
        self.days(date, date.tomorrow().ok()?)
    }

    /// The date, if the range is exactly one local day.
    pub(crate) fn one_day(self, stretch: Stretch) -> Option<Date> {
        let local = jiff::Timestamp::from_millisecond(stretch.start.as_millis()).ok()?;
        let date = self.offset.to_datetime(local).date();
        (self.day(date)? == stretch).then_some(date)
    }

    /// The time range of one month (1 to 12) of a year.
    pub(crate) fn month(self, year: i16, month: i8) -> Option<Stretch> {
        let first = Date::new(year, month, 1).ok()?;
        self.days(first, first.checked_add(1.month()).ok()?)
    }

    /// The time range of one year.
    pub(crate) fn year(self, year: i16) -> Option<Stretch> {
        self.days(Date::new(year, 1, 1).ok()?, Date::new(year.checked_add(1)?, 1, 1).ok()?)
    }

    /// The time range of a calendar expression such as "this week"; weeks begin on Monday.
    pub(crate) fn stretch(self, word: Calendar) -> Option<Stretch> {
        let today = self.today()?;
        let days_into_week = i64::from(today.weekday().to_monday_zero_offset());
        let monday = today.checked_sub(days_into_week.days()).ok()?;
        let last_month = today.first_of_month().checked_sub(1.month()).ok()?;
        match word {
            Calendar::Today => self.day(today),
            Calendar::Yesterday => self.day(today.yesterday().ok()?),
            Calendar::DayBeforeYesterday => self.day(today.checked_sub(2.days()).ok()?),
            Calendar::ThisMorning => {
                let day = self.day(today)?;
                Some(Stretch { start: day.start, end: self.moment(today.at(12, 0, 0, 0))? })
            }
            Calendar::ThisWeek => self.days(monday, monday.checked_add(7.days()).ok()?),
            Calendar::LastWeek => self.days(monday.checked_sub(7.days()).ok()?, monday),
            Calendar::ThisMonth => self.month(today.year(), today.month()),
            Calendar::LastMonth => self.month(last_month.year(), last_month.month()),
            Calendar::ThisYear => self.year(today.year()),
            Calendar::LastYear => self.year(today.year().checked_sub(1)?),
        }
    }

    /// The time range of the latest day with this weekday (1 = Monday), today included; a negative number excludes
    /// today.
    pub(crate) fn weekday(self, weekday: i8) -> Option<Stretch> {
        let today = self.today()?;
        let back = i64::from((today.weekday().to_monday_one_offset() - weekday.abs()).rem_euclid(7));
        // On a Monday, "last Monday" is a week ago.
        let back = if back == 0 && weekday < 0 { 7 } else { back };
        self.day(today.checked_sub(back.days()).ok()?)
    }

    /// The time range of the latest month, or day of that month, that has begun, for a date without a year.
    pub(crate) fn latest(self, month: i8, day: Option<i8>) -> Option<Stretch> {
        let today = self.today()?;
        let begins = Date::new(today.year(), month, day.unwrap_or(1)).ok()?;
        let year = if begins > today { today.year().checked_sub(1)? } else { today.year() };
        match day {
            Some(day) => self.day(Date::new(year, month, day).ok()?),
            None => self.month(year, month),
        }
    }

    /// The point in time this long before now; months and years by the calendar, other units as fixed seconds.
    pub(crate) fn before_now(self, amount: u64, unit: TimeUnit) -> Option<Timestamp> {
        let amount = i64::try_from(amount).ok()?;
        let fixed = |seconds: i64| {
            let ms = amount.checked_mul(seconds)?.checked_mul(1000)?;
            Some(Timestamp::from_millis(self.now.as_millis().checked_sub(ms)?))
        };
        let calendar = |span: Result<Span, jiff::Error>| self.moment(self.local_now()?.checked_sub(span.ok()?).ok()?);
        match unit {
            TimeUnit::Second => fixed(1),
            TimeUnit::Minute => fixed(60),
            TimeUnit::Hour => fixed(3_600),
            TimeUnit::Day => fixed(86_400),
            TimeUnit::Week => fixed(7 * 86_400),
            TimeUnit::Fortnight => fixed(14 * 86_400),
            TimeUnit::Month => calendar(Span::new().try_months(amount)),
            TimeUnit::Year => calendar(Span::new().try_years(amount)),
        }
    }
}
