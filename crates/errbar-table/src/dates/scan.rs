//! A text of a date, piece by piece.

/// What is left of a text.
pub(super) struct Scan<'a>(&'a [u8]);

/// A time of day, in microseconds.
pub(super) struct TimeOfDay {
    pub(super) microseconds: i64,
    /// From UTC, where there is one.
    pub(super) offset: Option<i64>,
}

const SECOND: i64 = 1_000_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

impl<'a> Scan<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self(text.as_bytes())
    }

    pub(super) fn is_done(&self) -> bool {
        self.0.is_empty()
    }

    /// A number of at least and at most so many digits; a further digit is left to whatever follows.
    pub(super) fn digits(&mut self, least: usize, most: usize) -> Option<i64> {
        let count = self.0.iter().take(most).take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, rest) = self.0.split_at_checked(count)?;
        if count < least {
            return None;
        }
        self.0 = rest;
        Some(digits.iter().fold(0, |sum, digit| 10 * sum + i64::from(digit - b'0')))
    }

    pub(super) fn mark(&mut self, mark: char) -> Option<()> {
        let (first, rest) = self.0.split_first()?;
        (char::from(*first) == mark).then(|| self.0 = rest)
    }

    /// Passes what may stand beside the name of a month: 3 Jan, 3-Jan, 3. Jan, Jan 3, and 3Jan.
    pub(super) fn between(&mut self) {
        if let [b'.' | b',', rest @ ..] = self.0 {
            self.0 = rest;
        }
        match self.0 {
            [b'-' | b'/', rest @ ..] => self.0 = rest,
            _ => self.spaces(),
        }
    }

    fn spaces(&mut self) {
        self.0 = self.0.trim_ascii_start();
    }

    /// The number of a month by its English name, in full or its first letters.
    pub(super) fn month(&mut self) -> Option<i64> {
        let word = self.word();
        let is = |name: &str| {
            let begins = name.as_bytes().get(..word.len());
            let begins = begins.is_some_and(|begin| begin.eq_ignore_ascii_case(word));
            // Jan, January, and Sept.
            begins
                && (word.len() == 3
                    || word.len() == name.len()
                    || (word.len(), name.len()) == (4, 9))
        };
        let place = MONTHS.iter().position(|name| is(name))?;
        self.0 = self.0.get(word.len()..)?;
        Some(place as i64 + 1)
    }

    /// The letters that come next.
    fn word(&self) -> &'a [u8] {
        let count = self.0.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        self.0.get(..count).unwrap_or_default()
    }

    /// Passes a word, in letters of either case.
    fn is_word(&mut self, words: &[&str]) -> bool {
        let word = self.word();
        let is = words.iter().any(|other| other.as_bytes().eq_ignore_ascii_case(word));
        if is {
            self.0 = self.0.get(word.len()..).unwrap_or_default();
        }
        is
    }

    /// The rest of a text after the day: nothing, which is midnight, or a time after a T or a space,
    /// perhaps with an offset from UTC. The hour 24 is the end of the day.
    pub(super) fn time_of_day(mut self) -> Option<TimeOfDay> {
        if self.is_done() {
            return Some(TimeOfDay { microseconds: 0, offset: None });
        }
        match self.0 {
            [b'T' | b't', rest @ ..] => self.0 = rest,
            // As browsers write it: 1/31/2024, 5:00:00 PM.
            [b',', b' ', ..] | [b' ', ..] => {
                self.0 = self.0.strip_prefix(b",").unwrap_or(self.0);
                self.spaces();
            }
            _ => return None,
        }
        let mut hour = self.digits(1, 2)?;
        let (mut minute, mut second, mut part) = (0, 0, 0);
        if self.mark(':').is_some() {
            minute = self.digits(2, 2)?;
            if self.mark(':').is_some() {
                second = self.digits(2, 2)?;
                if self.mark('.').or_else(|| self.mark(',')).is_some() {
                    part = self.fraction()?;
                }
            }
        }
        self.spaces();
        let afternoon = self.is_word(&["pm"]);
        if afternoon || self.is_word(&["am"]) {
            if !(1..=12).contains(&hour) {
                return None;
            }
            hour = hour % 12 + if afternoon { 12 } else { 0 };
            self.spaces();
        }
        let offset = self.offset()?;
        let microseconds = hour * HOUR + minute * MINUTE + second * SECOND + part;
        let is_time = minute < 60 && second < 60 && microseconds <= 24 * HOUR && self.is_done();
        is_time.then_some(TimeOfDay { microseconds, offset })
    }

    /// Millionths of a fraction whose point has been passed; further digits do not count.
    fn fraction(&mut self) -> Option<i64> {
        let before = self.0.len();
        let digits = self.digits(1, 6)?;
        let count = before - self.0.len();
        let digit = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.0 = self.0.get(digit..)?;
        Some((count..6).fold(digits, |value, _| 10 * value))
    }

    /// Z, UTC, GMT, +02:00, +0200, +02, or nothing at all.
    fn offset(&mut self) -> Option<Option<i64>> {
        if self.is_done() {
            return Some(None);
        }
        if self.is_word(&["z", "utc", "gmt"]) {
            return Some(Some(0));
        }
        let sign = if self.mark('+').is_some() {
            1
        } else {
            self.mark('-')?;
            -1
        };
        let hours = self.digits(2, 2)?;
        let minutes = match self.mark(':') {
            Some(()) => self.digits(2, 2)?,
            None if self.is_done() => 0,
            None => self.digits(2, 2)?,
        };
        // No place on Earth is further from Greenwich than this, nor does jiff read more.
        (hours < 26 && minutes < 60).then_some(Some(sign * (hours * HOUR + minutes * MINUTE)))
    }
}
