//! Table 1: quartiles over runs, beside the paper's.

use std::fmt::Write as _;

use errbar::math::at_place;

use crate::data_set::{DataSet, PaperRow};
use crate::protocol::{Method, Outcome, Run};

/// The line of one method on one data set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row {
    /// The data set.
    pub set: DataSet,
    /// The method.
    pub method: Method,
    /// Quartiles of the test NLPD.
    pub nlpd: [f64; 3],
    /// What the paper prints, where it has the method.
    pub paper: Option<PaperRow>,
    /// The median NLPD of the true mean and sigma.
    pub oracle: f64,
    /// The median of the NLPD minus the oracle's on the same test points.
    pub regret: f64,
    /// The median CRPS.
    pub crps: f64,
    /// The median Reliability Score.
    pub rs: f64,
    /// The median of the root mean square of estimated minus true sigma.
    pub sigma_rmse: f64,
}

/// All lines.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Data sets in order, methods in order within them.
    pub rows: Vec<Row>,
    /// Runs behind each line.
    pub runs: u64,
    /// The seed.
    pub seed: u64,
}

impl Table {
    /// The table of some runs.
    #[must_use]
    pub fn new(runs: &[Run], sets: &[DataSet], methods: &[Method], seed: u64) -> Self {
        let mut rows = Vec::new();
        for &set in sets {
            let of_set: Vec<&Run> = runs.iter().filter(|run| run.set == set).collect();
            for &method in methods {
                let pick = |value: &dyn Fn(&Run, &Outcome) -> f64| -> Vec<f64> {
                    let outcome = |run: &&Run| {
                        run.outcomes.iter().find(|o| o.method == method).map(|o| value(run, o))
                    };
                    of_set.iter().filter_map(outcome).collect()
                };
                let nlpd = pick(&|_, o| o.nlpd);
                if nlpd.is_empty() {
                    continue;
                }
                let median = |value: &dyn Fn(&Run, &Outcome) -> f64| quantile(pick(value), 0.5);
                rows.push(Row {
                    set,
                    method,
                    nlpd: [0.25, 0.5, 0.75].map(|share| quantile(nlpd.clone(), share)),
                    paper: method.paper(set),
                    oracle: median(&|run, _| run.oracle),
                    regret: median(&|run, o| o.nlpd - run.oracle),
                    crps: median(&|_, o| o.crps),
                    rs: median(&|_, o| o.rs),
                    sigma_rmse: median(&|_, o| o.sigma_rmse),
                });
            }
        }
        let runs = runs.iter().map(|run| run.run + 1).max().unwrap_or(0);
        Self { rows, runs, seed }
    }

    /// As comma-separated values, one line for each method on each data set.
    #[must_use]
    pub fn csv(&self) -> String {
        let mut out = String::from(
            "dataset,method,q1,median,q3,paper_q1,paper_median,paper_q3,oracle,regret_median,\
             crps_median,rs_median,sigma_rmse_median\n",
        );
        for row in &self.rows {
            let paper = row.paper.map_or([String::new(), String::new(), String::new()], |p| {
                p.map(|value| format!("{value:.2}"))
            });
            let name = row.method.name();
            let name = if name.contains(',') { format!("\"{name}\"") } else { name.to_string() };
            let [q1, median, q3] = row.nlpd;
            let _ = writeln!(
                out,
                "{},{name},{q1:.6},{median:.6},{q3:.6},{},{:.6},{:.6},{:.6},{:.6},{:.6}",
                row.set.name(),
                paper.join(","),
                row.oracle,
                row.regret,
                row.crps,
                row.rs,
                row.sigma_rmse
            );
        }
        out
    }

    /// As a Markdown table.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut out = format!(
            "Test NLPD: quartiles of {} runs, seed {} (100 training and 900 test points each).\n\n\
             | data | method | q1 | median | q3 | paper | oracle | regret | CRPS | RS | error of sigma |\n\
             |---|---|--:|--:|--:|---|--:|--:|--:|--:|--:|\n",
            self.runs, self.seed
        );
        for row in &self.rows {
            let paper =
                row.paper.map_or(String::new(), |p| p.map(|value| format!("{value:.2}")).join(" "));
            let [q1, median, q3] = row.nlpd;
            let _ = writeln!(
                out,
                "| {} | {} | {q1:.3} | **{median:.3}** | {q3:.3} | {paper} | {:.3} | {:.3} | {:.4} | {:.5} | {:.3} |",
                row.set.name(),
                row.method.name(),
                row.oracle,
                row.regret,
                row.crps,
                row.rs,
                row.sigma_rmse
            );
        }
        out
    }
}

/// The quantile by linear interpolation between order statistics, as NumPy's default.
#[must_use]
pub fn quantile(mut values: Vec<f64>, share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    at_place(&values, share * values.len().saturating_sub(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_numpys() {
        // numpy.quantile([3, 1, 2, 10], [0.25, 0.5, 0.75]) is [1.75, 2.5, 4.75].
        let values = || vec![3.0, 1.0, 2.0, 10.0];
        assert_eq!([0.25, 0.5, 0.75].map(|share| quantile(values(), share)), [1.75, 2.5, 4.75]);
        assert_eq!(quantile(vec![5.0], 0.75), 5.0);
        assert!(quantile(vec![], 0.5).is_nan());
    }
}
