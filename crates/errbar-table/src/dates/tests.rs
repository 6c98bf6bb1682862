//! Texts against Python's datetime, whole columns, and every moment written and read again.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::fmt::strtime;
use jiff::tz::TimeZone;
use proptest::prelude::*;

use super::*;

fn texts(values: &[&str]) -> Vec<String> {
    values.iter().map(|value| value.to_string()).collect()
}

fn format(text: &str) -> DateFormat {
    text.parse().unwrap()
}

/// Expected is what Python says: `U = timezone.utc`, `(… - datetime(1970, 1, 1, tzinfo=U)) / timedelta(seconds=1)`.
#[test]
fn one_text_in_each_layout() {
    #[rustfmt::skip]
    let cases = [
        // datetime(2012, 1, 1, tzinfo=U)
        ("2012/01/01", 1_325_376_000.0, Layout::YearMonthDay('/')),
        // datetime(2012, 1, 31, 7, 5, tzinfo=U)
        ("2012.1.31 7:05", 1_327_993_500.0, Layout::YearMonthDay('.')),
        // datetime(2024, 1, 31, tzinfo=U)
        ("31.01.2024", 1_706_659_200.0, Layout::DayMonthYear('.')),
        // datetime(2024, 1, 31, 17, 0, 5, 250000, tzinfo=U)
        ("31.1.2024 17:00:05,25", 1_706_720_405.25, Layout::DayMonthYear('.')),
        // datetime(1999, 12, 31, 23, 59, 59, tzinfo=U)
        ("31/12/1999 23:59:59", 946_684_799.0, Layout::DayMonthYear('/')),
        // datetime(2000, 2, 29, tzinfo=U)
        ("29-02-2000", 951_782_400.0, Layout::DayMonthYear('-')),
        // datetime(2024, 1, 31, 17, tzinfo=U)
        ("01/31/2024 5:00 PM", 1_706_720_400.0, Layout::MonthDayYear('/')),
        // datetime(2024, 1, 31, 0, 30, tzinfo=U)
        ("1/31/2024, 12:30:00 AM", 1_706_661_000.0, Layout::MonthDayYear('/')),
        // datetime(2024, 1, 31, 12, tzinfo=U)
        ("01/31/2024 12pm", 1_706_702_400.0, Layout::MonthDayYear('/')),
        // datetime(2024, 1, 31, tzinfo=U)
        ("01-31-2024", 1_706_659_200.0, Layout::MonthDayYear('-')),
        // datetime(2024, 1, 3, tzinfo=U)
        ("3 Jan 2024", 1_704_240_000.0, Layout::DayNameYear),
        // datetime(2024, 1, 3, 17, tzinfo=U)
        ("03-JAN-2024 17:00", 1_704_301_200.0, Layout::DayNameYear),
        // datetime(2024, 9, 3, 17, 0, 0, 500000, tzinfo=U)
        ("3. September 2024 17:00:00.5 GMT", 1_725_382_800.5, Layout::DayNameYear),
        // datetime(2024, 9, 3, tzinfo=U)
        ("03SEPT2024", 1_725_321_600.0, Layout::DayNameYear),
        // datetime(2024, 1, 3, tzinfo=U)
        ("Jan 3, 2024", 1_704_240_000.0, Layout::NameDayYear),
        // datetime(1968, 5, 31, 4, 5, tzinfo=timezone(-timedelta(hours=3, minutes=30)))
        ("May 31 1968 04:05 -0330", -50_084_700.0, Layout::NameDayYear),
        // datetime(2024, 2, 29, 6, tzinfo=U)
        ("2024-Feb-29T06", 1_709_186_400.0, Layout::YearNameDay),
        // datetime(2004, 1, 1, tzinfo=U) + timedelta(days=122)
        ("2004-123", 1_083_456_000.0, Layout::DayOfYear),
        // datetime(2004, 1, 1, 12, tzinfo=U) + timedelta(days=365)
        ("2004-366 12:00 UTC", 1_104_494_400.0, Layout::DayOfYear),
        // datetime(2004, 1, 1, 0, tzinfo=U)
        ("2004010100", 1_072_915_200.0, Layout::DigitsAndHour),
        // datetime(1900, 1, 1, tzinfo=U)
        ("1899123124", -2_208_988_800.0, Layout::DigitsAndHour),
        // datetime(2004, 1, 1, 6, tzinfo=U)
        ("20040101 06:00", 1_072_936_800.0, Layout::Digits),
        // datetime(2024, 1, 31, tzinfo=U)
        ("2024-01-31", 1_706_659_200.0, Layout::Iso),
        // datetime(2024, 2, 1, tzinfo=U)
        ("2024-02", 1_706_745_600.0, Layout::Iso),
        // datetime(2024, 1, 31, 5, 7, tzinfo=U)
        ("2024-1-31 5:07", 1_706_677_620.0, Layout::Iso),
        // datetime(2024, 1, 31, 18, 0, 0, 123456, tzinfo=U)
        ("2024-01-31T18:00:00.123456789", 1_706_724_000.123456, Layout::Iso),
        // datetime(2024, 1, 31, 18, tzinfo=U)
        ("2024-01-31T18:00Z", 1_706_724_000.0, Layout::Iso),
        // datetime(2024, 1, 31, 18, tzinfo=U)
        ("2024-01-31 18:00:00 UTC", 1_706_724_000.0, Layout::Iso),
        // datetime(2024, 1, 31, 18, tzinfo=timezone(timedelta(hours=2)))
        ("2024-01-31T18:00+02:00", 1_706_716_800.0, Layout::Iso),
        // datetime(2024, 1, 31, 18, tzinfo=timezone(timedelta(hours=2)))
        ("2024-01-31 18:00 +0200", 1_706_716_800.0, Layout::Iso),
        // datetime(2024, 1, 31, 18, tzinfo=timezone(-timedelta(hours=5)))
        ("2024-01-31T18:00-05", 1_706_742_000.0, Layout::Iso),
        // datetime(2025, 1, 1, tzinfo=U)
        ("2024-12-31 24:00", 1_735_689_600.0, Layout::Iso),
        // datetime(1, 1, 1, tzinfo=U)
        ("0001-01-01", -62_135_596_800.0, Layout::Iso),
        // datetime(2024, 1, 31, 18, tzinfo=U)
        ("20240131T1800", 1_706_724_000.0, Layout::Iso),
    ];
    for (text, seconds, layout) in cases {
        let read = read(&texts(&[text])).unwrap();
        assert_eq!((read.seconds, read.layout), (vec![seconds], layout), "{text}");
        // Said by name, it is read alike.
        let told = read_as(&texts(&[text]), &format(&layout.to_string())).unwrap();
        assert_eq!(told, [seconds], "{text}");
    }
}

/// As above.
#[test]
fn one_text_in_a_format_that_was_given() {
    #[rustfmt::skip]
    let cases = [
        // datetime(2024, 1, 31, 17, 5, tzinfo=U)
        ("%d.%m.%Y %H:%M", "31.01.2024 17:05", 1_706_720_700.0),
        // datetime(2004, 1, 1, tzinfo=U) + timedelta(days=122)
        ("%Y%j", "2004123", 1_083_456_000.0),
        // datetime(2004, 1, 31, 23, 5, tzinfo=U)
        ("%Y%m%d%H%M", "200401312305", 1_075_590_300.0),
        // datetime(2024, 1, 31, 17, tzinfo=U)
        ("%m/%d/%y %I:%M %p", "01/31/24 05:00 PM", 1_706_720_400.0),
        // datetime(2024, 1, 3, 17, tzinfo=timezone(timedelta(hours=2)))
        ("%d %b %Y %H:%M %z", "03 Jan 2024 17:00 +0200", 1_704_294_000.0),
        // datetime(2024, 2, 1, tzinfo=U)
        ("%b %Y", "Feb 2024", 1_706_745_600.0),
        // datetime(2024, 1, 31, 18, 0, 0, 250000, tzinfo=U)
        ("%Y-%m-%dT%H:%M:%S%.f", "2024-01-31T18:00:00.25", 1_706_724_000.25),
        // datetime(2024, 4, 3, 17, tzinfo=U)
        ("day/month/year", "03/04/2024 5:00 PM", 1_712_163_600.0),
        // datetime(2024, 3, 4, tzinfo=U)
        ("month/day/year", "03/04/2024", 1_709_510_400.0),
        // datetime(2024, 1, 31, tzinfo=U)
        ("year, month, day", "20240131", 1_706_659_200.0),
        // datetime(2024, 1, 31, 18, 0, 0, 500000, tzinfo=U)
        ("epoch", "1706724000.5", 1_706_724_000.5),
        // datetime(2024, 1, 31, 18, 0, 0, 500000, tzinfo=U)
        ("epoch-ms", "1706724000500", 1_706_724_000.5),
    ];
    for (pattern, text, seconds) in cases {
        let read = read_as(&texts(&["", text]), &format(pattern)).unwrap();
        assert!(read[0].is_nan() && read[1] == seconds, "{text} as {pattern}: {read:?}");
        assert_eq!(format(pattern).to_string(), pattern);
    }
    let wrong = read_as(&texts(&["31.01.2024", "01/31/2024"]), &format("%d.%m.%Y")).unwrap_err();
    assert_eq!(wrong.place, 1);
    assert_eq!(wrong.to_string(), "\"01/31/2024\" does not fit the format \"%d.%m.%Y\"");
    // Neither a day, nor a pattern, nor known.
    for bad in ["%H:%M", "%Y", "%m-%d", "%", "%!", "%d.%m.%Y %", "%Q", "", "soon", "dd.mm.yyyy"] {
        let said = bad.parse::<DateFormat>().unwrap_err().to_string();
        assert!(!said.is_empty() && !said.contains('\n'), "{bad}: {said}");
    }
}

#[test]
fn what_is_no_time_is_named() {
    for wrong in [
        "tomorrow",
        "2024-13-01",
        "2024-02-30",
        "2023-02-29",
        "30.02.2024",
        "2024-366x",
        "2023-366",
        "2023-000",
        "31.01.24",
        "3 Foo 2024",
        "3 Septe 2024",
        "2024-01-31 25:00",
        "2024-01-31 24:01",
        "2024-01-31 13:00 PM",
        "2024-01-31 0:00 AM",
        "2024-01-31 10:60",
        "2024-01-31T18:00+2",
        "2024-01-31T18:00 CET",
        "2024-01-31 18:00 UTC+2",
        "2024-01-31T",
        "1799010100",
        "2004010125",
        "é",
        "20",
    ] {
        let said = read(&texts(&["", wrong])).unwrap_err();
        assert_eq!((said.place, &said.why), (1, &Why::NoDate), "{wrong}");
        assert_eq!(said.to_string(), format!("\"{wrong}\" is no time"));
    }
    let mixed = read(&texts(&["2024-01-31T18:00", "2024-01-31T18:00Z"])).unwrap_err();
    assert_eq!((mixed.place, mixed.why), (1, Why::Offset { has: true }));
}

#[test]
fn one_layout_holds_for_a_whole_column() {
    // A day above 12 in any row decides.
    let decided = read(&texts(&["03/04/2024", "", "04/13/2024"])).unwrap();
    assert_eq!(decided.layout, Layout::MonthDayYear('/'));
    assert_eq!(decided.example, "03/04/2024");
    // datetime(2024, 3, 4, tzinfo=U), datetime(2024, 4, 13, tzinfo=U)
    assert_eq!((decided.seconds[0], decided.seconds[2]), (1_709_510_400.0, 1_712_966_400.0));
    assert_eq!(
        read(&texts(&["13-04-2024", "03-04-2024"])).unwrap().layout,
        Layout::DayMonthYear('-')
    );
    // No row does, and it matters.
    let open = read(&texts(&["02/02/2024", "03/04/2024 17:00"])).unwrap_err();
    assert_eq!(open.place, 1);
    assert_eq!(
        open.to_string(),
        "\"03/04/2024 17:00\" is 2024-04-03 17:00:00 if that is day/month/year, or 2024-03-04 17:00:00 if it \
         is month/day/year, and no other value tells"
    );
    // It does not matter.
    assert!(read(&texts(&["02/02/2024", "03/03/2024"])).is_ok());
    // Two layouts in one column.
    let mixed = read(&texts(&["13/04/2024", "14/04/2024", "04/15/2024"])).unwrap_err();
    assert_eq!((mixed.place, &mixed.why), (2, &Why::OtherLayout(Layout::DayMonthYear('/'))));
    let mixed = read(&texts(&["2024-04-13", "14.04.2024"])).unwrap_err();
    assert_eq!((mixed.place, &mixed.why), (1, &Why::OtherLayout(Layout::Iso)));
    // Times of day may come and go.
    assert!(read(&texts(&["31.01.2024", "31.01.2024 06:00", "31.01.2024 6:00:01"])).is_ok());
    assert!(read(&texts(&["", " "])).unwrap().seconds.iter().all(|time| time.is_nan()));
    assert!(read(&[]).unwrap().seconds.is_empty());
}

#[test]
fn numbers_are_dates_only_if_all_of_them_are() {
    let read = of_numbers(&[f64::NAN, 20_040_101.0, 20_041_231.0]).unwrap();
    assert_eq!((read.layout, read.example.as_str()), (Layout::Digits, "20040101"));
    // datetime(2004, 1, 1, tzinfo=U), datetime(2004, 12, 31, tzinfo=U)
    assert!(read.seconds[0].is_nan());
    assert_eq!(read.seconds[1..], [1_072_915_200.0, 1_104_451_200.0]);
    let read = of_numbers(&[2_004_010_100.0, 2_004_010_118.0]).unwrap();
    assert_eq!(read.layout, Layout::DigitsAndHour);
    // datetime(2004, 1, 1, tzinfo=U), datetime(2004, 1, 1, 18, tzinfo=U)
    assert_eq!(read.seconds, [1_072_915_200.0, 1_072_980_000.0]);
    for numbers in [
        &[][..],
        &[f64::NAN],
        &[1.0, 2.0],
        &[20_040_101.0, 20_041_301.0],
        &[20_040_101.0, 2_004_010_100.0],
        &[20_040_101.5],
        &[17_991_231.0],
        &[22_010_101.0],
        &[-20_040_101.0],
        // Seconds since 1970.
        &[1_706_724_000.0],
        &[f64::INFINITY, 1e300],
    ] {
        assert_eq!(of_numbers(numbers), None, "{numbers:?}");
    }
}

/// A moment of the years 1 to 9998, with its microseconds.
fn moment() -> impl Strategy<Value = Timestamp> {
    (-62_135_596_800_i64..253_370_764_799, 0..1_000_000_i32)
        .prop_map(|(second, part)| Timestamp::new(second, 1000 * part).unwrap())
}

/// How jiff writes each layout, with a time of day in some of the usual ways.
const WRITTEN: [(&str, Layout); 12] = [
    ("%Y-%m-%d", Layout::Iso),
    ("%Y-%j", Layout::DayOfYear),
    ("%Y/%m/%d", Layout::YearMonthDay('/')),
    ("%Y.%m.%d", Layout::YearMonthDay('.')),
    ("%d.%m.%Y", Layout::DayMonthYear('.')),
    ("%d/%m/%Y", Layout::DayMonthYear('/')),
    ("%d-%m-%Y", Layout::DayMonthYear('-')),
    ("%m/%d/%Y", Layout::MonthDayYear('/')),
    ("%m-%d-%Y", Layout::MonthDayYear('-')),
    ("%d-%b-%Y", Layout::DayNameYear),
    ("%B %-d, %Y", Layout::NameDayYear),
    ("%Y %b %d", Layout::YearNameDay),
];

const TIMES: [&str; 5] = [
    "T%H:%M:%S.%6f",
    " %H:%M:%S.%6fZ",
    " %I:%M:%S.%6f %p",
    "T%H:%M:%S.%6f%z",
    " %-H:%M:%S.%6f %:z",
];

/// What dates are made of, days and lines among it, so that some are whole.
const PIECES: [&str; 30] = [
    "2024-01-31",
    "2024/02/29",
    "31.12.1999",
    "03/04/2024",
    "02-02-0001",
    "3 Jan 2024",
    "Feb 29, 2000",
    "2004-366",
    "20040101",
    "2004010124",
    "9999-12-31",
    "\n",
    "\n",
    "\n",
    " ",
    "T",
    "18",
    ":00",
    ":59",
    ".5",
    ",25",
    " 12",
    " PM",
    "AM",
    "Z",
    " UTC",
    "+0200",
    "-25:59",
    "é",
    "-",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn what_is_written_is_read_again(
        moment in moment(),
        (day, layout) in prop::sample::select(&WRITTEN[..]),
        time in prop::sample::select(&TIMES[..]),
    ) {
        let pattern = format!("{day}{time}");
        let text = strtime::format(&pattern, moment).unwrap();
        let found = layout.moment(&text);
        prop_assert_eq!(found.map(|found| found.microseconds), Some(moment.as_microsecond()), "{}", text);
        // In a pattern that was given it is the same moment, if the pattern has no letters of its own.
        if !time.ends_with('Z') {
            let told = read_as(&[text], &format(&pattern)).unwrap();
            prop_assert_eq!(told, [moment.as_microsecond() as f64 * 1e-6]);
        }
    }

    /// Digits make dates and come back.
    #[test]
    fn digits_are_read_again(hours in -1_490_000_i64..2_020_000, with_hour: bool) {
        let moment = Timestamp::from_second(3600 * if with_hour { hours } else { hours / 24 * 24 }).unwrap();
        let text = strtime::format(if with_hour { "%Y%m%d%H" } else { "%Y%m%d" }, moment).unwrap();
        let read = of_numbers(&[text.parse().unwrap()]).unwrap();
        prop_assert_eq!(read.seconds, [moment.as_second() as f64]);
    }

    /// Whatever jiff takes as ISO 8601 means the same here, by the shorter way as well.
    #[test]
    fn texts_like_iso_are_what_jiff_says(text in "[0-9]{4}-[01][0-9](-[0-3][0-9]([T ][0-2][0-9](:[0-6][0-9](:[0-6][0-9]([.,][0-9]{1,9})?)?)?(Z|[+-][01][0-9](:?[0-5][0-9])?)?)?)?") {
        let ours = Layout::Iso.moment(&text);
        let civil = || Some(TimeZone::UTC.to_timestamp(text.parse::<DateTime>().ok()?).unwrap());
        let theirs = text.parse::<Timestamp>().ok().or_else(civil);
        if let (Some(ours), Some(theirs)) = (ours, theirs) {
            let microseconds = theirs.as_nanosecond().div_euclid(1000) as i64;
            prop_assert!((ours.microseconds - microseconds).abs() <= 1, "{}: {:?} {}", text, ours, theirs);
        }
        prop_assert!(ours.is_some() || theirs.is_none(), "{}", text);
    }

    /// What the fuzzer checks, of texts that are nearly dates.
    #[test]
    fn found_told_and_as_numbers_they_are_the_same(
        parts in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..24),
        pattern in prop::sample::select(&["%d.%m.%Y", "month/day/year", "epoch", "%Y%j", ""][..]),
    ) {
        fuzzing::check(format!("{pattern}\n{}", parts.concat()).as_bytes());
    }

    #[test]
    fn nothing_panics(values in prop::collection::vec("[0-9/.:, TtZJanpm+%-]{0,24}|\\PC{0,12}", 0..4), pattern in "(%[a-zA-Z%]|[/. :-]|\\PC){0,8}") {
        let _ = read(&values);
        if let Ok(format) = pattern.parse::<DateFormat>() {
            let _ = read_as(&values, &format);
        }
    }
}
