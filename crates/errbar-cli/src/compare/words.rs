//! The comparison as people read it.

use errbar::score::bootstrap::{Difference, Paired};
use errbar::words::{percent, significant};

use super::{Contender, Report};
use crate::text_table::{TextTable, four, range, share_range, wrapped};

const WIDTH: usize = 100;

/// "new is better than old: CRPS lower by 3.2% (95% interval 2.1% to 4.3%)."
pub(super) fn difference_in_words(
    name: &str,
    other: &str,
    difference: &Difference,
    rows: usize,
    interval: &str,
) -> String {
    let Paired { value, interval: within, .. } = difference.crps_relative;
    // Lower is better, and said as such: the interval turns round with its sign.
    let (side, sign) = if value > 0.0 { ("higher", 1.0) } else { ("lower", -1.0) };
    let ends = [sign * within.low, sign * within.high];
    let within = match within.is_known() {
        true => {
            format!("{interval} {}", share_range(ends[0].min(ends[1]), ends[0].max(ends[1])))
        }
        false => format!("{interval} not known"),
    };
    let found = format!("CRPS {side} by {} ({within})", percent(value.abs()));
    let sure = difference.crps.is_significant();
    let mut text = match (sure, value < 0.0) {
        (true, true) => format!("{name} is better than {other}: {found}"),
        (true, false) => format!("{name} is worse than {other}: {found}"),
        (false, _) => {
            format!("{name} and {other}: no difference that these {rows} rows can show: {found}")
        }
    };
    // Where the other scores see it otherwise, that is worth knowing.
    let mut seen = Vec::new();
    for (score, paired) in [("NLPD", difference.nlpd), ("RS (reliability)", difference.rs)] {
        let agrees = sure && (paired.value < 0.0) == (value < 0.0);
        if paired.is_significant() && !agrees {
            let word = if paired.value < 0.0 { "better" } else { "worse" };
            seen.push(format!("{word} by {score}"));
        }
    }
    if !seen.is_empty() {
        text += &format!("; but {name} is {}", seen.join(" and "));
    }
    text + "."
}

impl Report {
    /// Words first, then the scores side by side, then the differences.
    pub(super) fn in_words(&self, interval: &str) -> String {
        let mut text = String::new();
        for sentence in self.candidates.iter().filter_map(|c| c.text.as_ref()) {
            text += &wrapped(sentence, WIDTH);
        }
        text += &format!("\n{}, {} rows\n\n", self.file, self.rows);
        text += &self.side_by_side(interval).to_string();
        text += &format!("\nDifferences from {} (below 0 is better):\n\n", self.against);
        text += &self.differences(interval).to_string();
        text
    }

    fn side_by_side(&self, interval: &str) -> TextTable {
        let names = self.candidates.iter().map(|named| named.name.as_str());
        let mut table = TextTable::new(&std::iter::once("").chain(names).collect::<Vec<_>>());
        let mut add = |name: &str, cell: &dyn Fn(&Contender) -> String| {
            let cells = std::iter::once(name.to_string()).chain(self.candidates.iter().map(cell));
            table.row(cells.collect());
        };
        if !self.same_errors {
            add("bias", &|c| four(c.candidate.judgement.scores.bias));
            add("root mean squared error", &|c| four(c.candidate.judgement.scores.rmse));
        }
        add("mean sigma", &|c| four(c.candidate.judgement.scores.mean_sigma));
        add("errors over sigma (rms)", &|c| four(c.candidate.judgement.scores.rms_z));
        add("CRPS", &|c| four(c.candidate.judgement.scores.crps));
        add(&format!("  {interval}"), &|c| range(c.candidate.judgement.intervals.crps));
        add("CRPS skill", &|c| percent(c.candidate.judgement.scores.crps_skill));
        add("NLPD", &|c| four(c.candidate.judgement.scores.nlpd));
        add(&format!("  {interval}"), &|c| range(c.candidate.judgement.intervals.nlpd));
        add("reliability score RS", &|c| four(c.candidate.judgement.scores.rs));
        add(&format!("  {interval}"), &|c| range(c.candidate.judgement.intervals.rs));
        let levels =
            self.candidates.first().map_or(&[][..], |c| &c.candidate.judgement.scores.coverage);
        for (nth, coverage) in levels.iter().enumerate() {
            let name = format!("{}% intervals hold", significant(100.0 * coverage.level, 5));
            add(&name, &|c| percent(c.candidate.judgement.scores.coverage[nth].observed));
        }
        add("verdict", &|c| c.verdict_word.to_string());
        table
    }

    fn differences(&self, interval: &str) -> TextTable {
        let heads = ["", "CRPS", interval, "p", "NLPD", interval, "p", "RS", interval, "p"];
        let mut table = TextTable::new(&heads);
        for named in &self.candidates {
            let Some(difference) = named.candidate.difference else { continue };
            let mut cells = vec![named.name.clone()];
            for paired in [difference.crps, difference.nlpd, difference.rs] {
                cells.push(four(paired.value));
                cells.push(range(paired.interval));
                cells.push(format!("{:.3}", paired.p_value));
            }
            table.row(cells);
        }
        table
    }
}
