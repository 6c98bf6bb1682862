//! Units as tables have them in a line under the header.

/// Units and words for them; what stands for thousands or thousandths may come before.
const UNITS: &[&str] = &[
    "m",
    "s",
    "g",
    "K",
    "C",
    "F",
    "h",
    "d",
    "min",
    "hr",
    "hrs",
    "hour",
    "hours",
    "day",
    "days",
    "sec",
    "second",
    "seconds",
    "minute",
    "minutes",
    "month",
    "months",
    "yr",
    "year",
    "years",
    "UTC",
    "Pa",
    "bar",
    "b",
    "atm",
    "psi",
    "torr",
    "mmHg",
    "inHg",
    "Hz",
    "rad",
    "deg",
    "degree",
    "degrees",
    "degC",
    "degF",
    "degK",
    "Celsius",
    "Kelvin",
    "Fahrenheit",
    "north",
    "east",
    "N",
    "J",
    "W",
    "V",
    "A",
    "Wh",
    "VA",
    "°",
    "°C",
    "°F",
    "º",
    "ºC",
    "℃",
    "%",
    "percent",
    "pct",
    "ft",
    "kt",
    "kts",
    "kn",
    "knot",
    "knots",
    "mph",
    "kph",
    "kmh",
    "in",
    "inch",
    "inches",
    "mi",
    "mile",
    "miles",
    "yd",
    "lb",
    "lbs",
    "oz",
    "gal",
    "t",
    "ha",
    "l",
    "L",
    "mol",
    "M",
    "ppm",
    "ppb",
    "ppt",
    "Bq",
    "Gy",
    "Sv",
    "eV",
    "T",
    "lx",
    "lm",
    "cd",
    "cfs",
    "cumec",
    "cumecs",
    "gpm",
    "gpdam",
    "dam",
    "DU",
    "PSU",
    "psu",
    "NTU",
    "pH",
    "octa",
    "octas",
    "okta",
    "oktas",
    "tenths",
    "dB",
    "dBZ",
    "dBm",
    "EUR",
    "USD",
    "GBP",
    "CHF",
    "€",
    "$",
    "£",
    "ct",
    "fraction",
    "unitless",
    "dimensionless",
    "none",
    "bool",
    "code",
    "count",
    "index",
    "number",
];

const PREFIXES: [&str; 12] = ["k", "h", "c", "m", "M", "G", "T", "d", "u", "µ", "μ", "n"];

/// Single letters that are units only beside others: as marks they mean something else.
const MARKS: [&str; 4] = ["M", "T", "A", "N"];

/// Whether a text is a unit: m/s, °C, W m-2, [kg], degrees_north.
pub(super) fn is_unit(text: &str) -> bool {
    let text = text.trim();
    let bracketed = [('[', ']'), ('(', ')')]
        .iter()
        .find_map(|(open, close)| text.strip_prefix(*open)?.strip_suffix(*close));
    if MARKS.contains(&text) || text.is_empty() {
        return false;
    }
    let text = bracketed.unwrap_or(text);
    let between =
        |c: char| c.is_whitespace() || c.is_ascii_digit() || "/*·.^-−+_²³¹⁻()".contains(c);
    let mut parts = text.split(between).filter(|part| !part.is_empty()).peekable();
    let is_known = |part: &str| {
        let with_prefix =
            |prefix: &str| part.strip_prefix(prefix).is_some_and(|unit| UNITS.contains(&unit));
        UNITS.contains(&part) || part == "per" || PREFIXES.into_iter().any(with_prefix)
    };
    parts.peek().is_some() && parts.all(is_known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_and_what_is_none() {
        for unit in [
            "m",
            "m/s",
            "m s-1",
            "m s^-1",
            "ms⁻¹",
            "°C",
            "degC",
            "hPa",
            "kg/m3",
            "W m-2",
            "W/m²",
            "%",
            "[mm]",
            "(K)",
            "degrees_north",
            "MW",
            "€/MWh",
            "g/kg",
            "mm/day",
            "cm",
            "µg/m³",
            "knots",
        ] {
            assert!(is_unit(unit), "{unit}");
        }
        for other in [
            "M",
            "T",
            "",
            "abc",
            "x",
            "Berlin",
            "two",
            "missing",
            "1",
            "-",
            "n/a",
            "NaN",
            "low",
            "2024-01-01",
        ] {
            assert!(!is_unit(other), "{other}");
        }
    }
}
