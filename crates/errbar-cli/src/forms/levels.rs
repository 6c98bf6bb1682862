//! The levels of quantiles, as the names of their columns tell them.

use anyhow::bail;

/// The level of each column.
pub(super) fn of_names(names: &[String], file: &str) -> anyhow::Result<Vec<f64>> {
    let numbers: Vec<Option<Number>> = names.iter().map(|name| Number::of(name)).collect();
    // q1 to q9 may be tenths, and q1 to q3 quarters.
    let all_short = numbers.iter().flatten().all(|n| n.digits == 1 && n.plain);
    let mut levels = Vec::new();
    for (name, number) in names.iter().zip(&numbers) {
        let level = number.as_ref().filter(|_| !all_short).and_then(Number::level);
        match level {
            Some(level) => levels.push(level),
            None => bail!(
                "{file}: the name of the column \"{name}\" does not tell the level of its quantile: give \
                 --quantile-levels, one for each of {}",
                names.join(", ")
            ),
        }
    }
    for (nth, level) in levels.iter().enumerate() {
        if let Some(other) = levels[..nth].iter().position(|l| l == level) {
            bail!(
                "{file}: the columns \"{}\" and \"{}\" are both quantiles of level {level} by their names: name one of \
                 them, or give --quantile-levels",
                names[other],
                names[nth]
            );
        }
    }
    Ok(levels)
}

/// A number in a name.
struct Number {
    text: String,
    digits: usize,
    /// Digits alone, without a point or a sign of percent.
    plain: bool,
    percent: bool,
}

impl Number {
    /// The last one, but for one that a q, a p or a word like quantile stands before.
    fn of(name: &str) -> Option<Self> {
        let characters: Vec<char> = name.chars().collect();
        let mut found: Vec<(usize, usize)> = Vec::new();
        let mut at = 0;
        while at < characters.len() {
            let from = at;
            while at < characters.len()
                && (characters[at].is_ascii_digit()
                    || (characters[at] == '.'
                        && characters.get(at + 1).is_some_and(char::is_ascii_digit)))
            {
                at += 1;
            }
            if at > from {
                found.push((from, at));
            }
            at = at.max(from + 1);
        }
        let told = |&&(from, to): &&(usize, usize)| {
            let before: String = characters[..from].iter().collect();
            let before = before.trim_end_matches(['_', '-', ' ', '=']).to_lowercase();
            let word = before.rsplit(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
            let words = ["q", "p", "quantile", "quant", "perc", "percentile", "pct", "pctl", "tau"];
            words.contains(&word) || characters.get(to) == Some(&'%')
        };
        let &(from, to) = found.iter().rfind(told).or(found.last())?;
        let text: String = characters[from..to].iter().collect();
        let percent = characters.get(to) == Some(&'%');
        let digits = text.chars().filter(char::is_ascii_digit).count();
        let plain = !text.contains('.') && !percent;
        Some(Self { text, digits, plain, percent })
    }

    fn level(&self) -> Option<f64> {
        let value: f64 = self.text.parse().ok()?;
        let level = match (self.percent, self.plain) {
            (true, _) => value / 100.0,
            // 0.05 is a share, 2.5 a percentage.
            (false, false) if value < 1.0 => value,
            (false, false) => value / 100.0,
            // 5, 05 and 95 are percentages, 025 and 975 what follows the point.
            (false, true) if self.digits <= 2 => value / 100.0,
            (false, true) if self.text != "100" => format!("0.{}", self.text).parse().ok()?,
            _ => return None,
        };
        (level > 0.0 && level < 1.0).then_some(level)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(names: &[&str]) -> Option<Vec<f64>> {
        let names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
        of_names(&names, "f.csv").ok()
    }

    #[test]
    fn as_people_write_them() {
        for (names, want) in [
            (&["q05", "q50", "q95"][..], &[0.05, 0.5, 0.95][..]),
            (&["q0.05", "q.5", "q0.95"], &[0.05, 0.5, 0.95]),
            (&["p5", "p95"], &[0.05, 0.95]),
            (&["5%", "2.5%", "97.5 %"], &[0.05, 0.025, 0.975]),
            (&["quantile_0.9", "quantile_0.025"], &[0.9, 0.025]),
            (&["q025", "q975", "q500"], &[0.025, 0.975, 0.5]),
            (&["rain24_q05", "rain24_q95"], &[0.05, 0.95]),
            (&["q05_24h", "q95_24h"], &[0.05, 0.95]),
            (&["Q2.5", "Q97.5"], &[0.025, 0.975]),
        ] {
            let found = levels(names).unwrap_or_else(|| panic!("{names:?}"));
            let same = found.iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-12);
            assert!(same && found.len() == want.len(), "{names:?}: {found:?}");
        }
        for wrong in
            [&["q1", "q2", "q3"][..], &["low", "high"], &["q0", "q50"], &["q100"], &["q5", "q05"]]
        {
            assert_eq!(levels(wrong), None, "{wrong:?}");
        }
    }
}
