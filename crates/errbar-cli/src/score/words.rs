//! The scores as people read them.

use errbar::score::bootstrap::Interval;
use errbar::words::{percent, significant};

use super::{Assessment, Group, Report};
use crate::forms::{event_sentences, event_table, warning_tables};
use crate::text_table::{TextTable, bars, four, range, share_range, within, wrapped};

pub(super) const WIDTH: usize = 100;

impl Report {
    /// The verdict, then the tables behind it. `interval` is what intervals are called.
    pub(super) fn in_words(&self, interval: &str) -> String {
        let mut text = wrapped(&self.all.verdict.text, WIDTH);
        if let Some(skill) = self.all.skill_in_words(interval) {
            text += &wrapped(&skill, WIDTH);
        }
        if let Some(since) = &self.since_training {
            text += &wrapped(&since.to_string(), WIDTH);
        }
        for sentences in event_sentences(&self.all.events, interval) {
            text += &format!("\n{}", wrapped(&sentences, WIDTH));
        }
        let rows = match self.rows {
            1 => String::from("1 row"),
            rows => format!("{rows} rows"),
        };
        text += &format!("\n{}, {rows}\n\n", self.file);
        text += &self.all.score_table(interval).to_string();
        text += &format!("\n{}", self.all.coverage_table(interval));
        if self.all.scores.spread_skill.len() > 1 {
            text += &format!("\n{}", self.all.spread_skill_table());
        }
        if !self.all.events.is_empty() {
            text += &format!("\n{}", event_table(&self.all.events, interval));
            text += &warning_tables(&self.all.events);
        }
        if let Some(by) = &self.by {
            text += &format!("\n{}", group_table(by, &self.groups, interval));
        }
        text
    }
}

impl Assessment {
    /// Whether a sigma that varies is worth its while.
    fn skill_in_words(&self, interval: &str) -> Option<String> {
        // Without errors there is nothing to be better at.
        if self.scores.spread_skill.len() < 2 || self.scores.constant.crps <= 0.0 {
            return None;
        }
        let found = self.intervals.as_ref().map(|i| i.crps_skill).filter(Interval::is_known);
        let held = found.map(|i| format!(" ({interval} {})", share_range(i.low, i.high)));
        let (skill, held) = (self.scores.crps_skill, held.unwrap_or_default());
        let constant = four(self.scores.constant.sigma);
        let sure = found.is_none_or(|i| !i.contains(0.0));
        Some(if !sure {
            format!(
                "Sigma varies, but whether that is better than one sigma of {constant} for all rows \
                 these rows cannot show: CRPS is {} {}{held}.",
                percent(skill.abs()),
                if skill < 0.0 { "worse" } else { "better" },
            )
        } else if skill > 0.0 {
            format!(
                "Sigma knows which rows are uncertain: CRPS is {} better than with one sigma of {constant} for all rows{held}.",
                percent(skill)
            )
        } else {
            format!(
                "One sigma of {constant} for all rows would be better: CRPS is {} worse{held}.",
                percent(-skill)
            )
        })
    }

    fn score_table(&self, interval: &str) -> TextTable {
        let mut heads = vec!["", "value"];
        if self.intervals.is_some() {
            heads.push(interval);
        }
        heads.push("<");
        let mut table = TextTable::new(&heads);
        let mut add = |name: &str, value: f64, known: Option<Interval>, note: &str| {
            let mut cells = vec![name.to_string(), within(value, known)];
            if self.intervals.is_some() {
                cells.push(known.map_or_else(String::new, range));
            }
            cells.push(note.to_string());
            table.row(cells);
        };
        let (s, i) = (&self.scores, self.intervals.as_ref());
        if (s.effective_rows - s.rows as f64).abs() > 0.5 {
            add("effective rows", s.effective_rows, None, "after weighting");
        }
        add("bias", s.bias, i.map(|i| i.bias), "mean of observation minus forecast");
        add("mean absolute error", s.mae, i.map(|i| i.mae), "");
        add("root mean squared error", s.rmse, i.map(|i| i.rmse), "");
        add("mean sigma", s.mean_sigma, i.map(|i| i.mean_sigma), "");
        let size = "1 is right; above 1 sigma is too small";
        add("errors over sigma (rms)", s.rms_z, i.map(|i| i.rms_z), size);
        add("CRPS", s.crps, i.map(|i| i.crps), "accuracy, in the units of the observation");
        let better = format!("1 - CRPS over {}, that of one sigma for all", four(s.constant.crps));
        add("CRPS skill", s.crps_skill, i.map(|i| i.crps_skill), &better);
        let d = &s.decomposition;
        let of = |part: f64| percent(if d.crps > 0.0 { part / d.crps } else { 0.0 });
        let lost =
            format!("{} of CRPS; {} by chance", of(d.reliability), of(d.reliability_by_chance));
        add("lost to miscalibration", d.reliability, None, &lost);
        add("NLPD", s.nlpd, i.map(|i| i.nlpd), "");
        let chance = match i {
            Some(_) => format!(
                "0 is perfect; {} by chance, which the interval leaves out",
                four(s.rs_by_chance)
            ),
            None => format!("0 is perfect; {} by chance", four(s.rs_by_chance)),
        };
        let chance = match self.rs_bound {
            Some(bound) => format!("{chance}; to within {}", significant(bound, 2)),
            None => chance,
        };
        add("reliability score RS", s.rs, i.map(|i| i.rs), &chance);
        let cost = format!("beta CRPS + (1 - beta)(RS + 0.39894), beta = {}", four(s.ar.beta));
        add("accuracy-reliability AR", s.ar.value, i.map(|i| i.ar), &cost);
        let p = format!("of the reliability diagram; p = {:.3}", s.diagram.p_value);
        add("largest deviation", s.diagram.largest_deviation, None, &p);
        let pit = format!("{}  even when calibrated", bars(&s.pit.frequency));
        let mut cells = vec![String::from("PIT histogram"), String::new()];
        cells.extend(self.intervals.as_ref().map(|_| String::new()));
        cells.push(pit);
        table.row(cells);
        table
    }

    pub(super) fn coverage_table(&self, interval: &str) -> TextTable {
        let known = self.intervals.as_ref();
        let mut heads = vec!["central interval", "holds"];
        heads.extend(known.map(|_| interval));
        heads.extend(["chance alone", "mean width"]);
        let mut table = TextTable::new(&heads);
        for (nth, c) in self.scores.coverage.iter().enumerate() {
            let mut cells =
                vec![format!("{}%", significant(100.0 * c.level, 5)), percent(c.observed)];
            cells.extend(
                known.map(|known| share_range(known.coverage[nth].low, known.coverage[nth].high)),
            );
            cells.push(share_range(c.low, c.high));
            cells.push(four(c.mean_width));
            table.row(cells);
        }
        table
    }

    fn spread_skill_table(&self) -> TextTable {
        let heads = ["rows with sigma", "rows", "sigma (rms)", "error (rms)", "error / sigma"];
        let mut table = TextTable::new(&heads);
        for bin in &self.scores.spread_skill {
            table.row(vec![
                format!("{} to {}", four(bin.sigma_from), four(bin.sigma_to)),
                bin.rows.to_string(),
                four(bin.spread),
                four(bin.skill),
                significant(bin.skill / bin.spread, 3),
            ]);
        }
        table
    }
}

fn group_table(by: &str, groups: &[Group], interval: &str) -> TextTable {
    let judged = || groups.iter().filter_map(|group| group.judged.as_ref());
    let known = judged().any(|judged| judged.intervals.is_some());
    let level = judged().find_map(|judged| judged.verdict.verdict.coverage).map(|c| c.level);
    let holds = level.map(|level| format!("{}% holds", significant(100.0 * level, 4)));
    let mut heads = vec![by, "rows", "bias", "RMSE", "mean sigma", "error/sigma", "CRPS"];
    if known {
        heads.push(interval);
    }
    heads.push("skill");
    heads.extend(holds.as_deref());
    heads.push("<verdict");
    let mut table = TextTable::new(&heads);
    for group in groups {
        let value = if group.value.is_empty() { "(missing)" } else { &group.value };
        let mut cells = vec![value.to_string(), group.rows.to_string()];
        let Some(Assessment { verdict, scores, intervals, .. }) = &group.judged else {
            cells.push(String::from("no row has any weight"));
            table.row(cells);
            continue;
        };
        cells.extend([scores.bias, scores.rmse, scores.mean_sigma].map(four));
        cells.extend([significant(scores.rms_z, 3), four(scores.crps)]);
        if known {
            cells.push(intervals.as_ref().map_or_else(String::new, |i| range(i.crps)));
        }
        cells.push(percent(scores.crps_skill));
        cells.extend(verdict.verdict.coverage.map(|c| percent(c.observed)));
        cells.push(verdict.word.to_string());
        table.row(cells);
    }
    table
}
