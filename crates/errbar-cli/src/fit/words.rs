//! What was learned, in plain words or as JSON.

use std::fmt::Write as _;
use std::path::PathBuf;

use errbar::diagnose::Finding;
use errbar::fit::guarantee::Method;
use errbar::fit::{
    ErrorSource, Fit, Fitted, Importance, Kind, LEAST_ROWS, Shape, Validation, Worth,
};
use errbar::law::Transform;
use errbar::loss::LossKind;
use errbar::score::Scores;
use errbar::score::verdict::Verdict;
use errbar::sigma::Model;
use errbar::sigma::stack::Member;
use errbar::words::{and, percent, significant};

use crate::advice;
use crate::columns::FileRows;
use crate::console::Console;
use crate::promise::promised;
use crate::score::with_remedy;
use crate::text_table::{four, wrapped};

/// Everything there is to say about a fit.
pub(super) struct FitSummary {
    pub(super) fit: Fit,
    pub(super) held_out_scores: Option<Scores>,
    /// The verdict on them.
    pub(super) verdict: Option<Verdict>,
    pub(super) findings: Vec<Finding>,
    /// What learning the bias is worth, or would be.
    pub(super) worth: Option<Worth>,
    /// What the calendar is worth, where some of it is an input.
    pub(super) calendar: Option<Worth>,
    /// What errors of earlier rows are worth, where they were asked for.
    pub(super) lags: Option<Worth>,
    /// What they would save, where they were not.
    pub(super) suggested: Option<String>,
    /// How the sigma did that was there already.
    pub(super) prior: Option<Scores>,
    pub(super) notes: Vec<String>,
    /// How the times are written, where that is not ISO 8601.
    pub(super) time_written: Option<String>,
    pub(super) file: String,
    /// Those that are one table here; none where there is only one.
    pub(super) files: Vec<FileRows>,
    pub(super) output: PathBuf,
    pub(super) in_order: bool,
}

/// The bounds of the observations, where there are some.
fn bounds(fitted: &Fitted) -> Option<String> {
    let bounds = fitted.options().bounds;
    let [lower, upper] = [bounds.lower(), bounds.upper()].map(|bound| significant(bound, 6));
    let between = match (bounds.lower().is_finite(), bounds.upper().is_finite()) {
        (false, false) => return None,
        (true, false) => format!("observations are at least {lower}"),
        (false, true) => format!("observations are at most {upper}"),
        (true, true) => format!("observations lie between {lower} and {upper}"),
    };
    let words =
        format!("{between}: what the law has beyond counts as the bound; sigma is that before");
    Some(wrapped(&words, 85))
}

/// The scale that errors were learned on, where that is not the user's.
fn scale(fitted: &Fitted) -> Option<String> {
    let of = match fitted.options().transform {
        Transform::None => return None,
        Transform::Sqrt => "square roots",
        _ => "logarithms",
    };
    let words = format!(
        "errors, sigma and scores are on the scale of {of}; intervals, quantiles and exceedances of \
         errbar predict on yours"
    );
    Some(wrapped(&words, 85))
}

impl FitSummary {
    pub(super) fn say(&self, console: Console, json: bool) -> anyhow::Result<()> {
        self.notes.iter().for_each(|note| console.note(note));
        if json {
            console.result(&format!("{}\n", serde_json::to_string_pretty(&self.json())?))?;
        } else if !console.quiet {
            console.result(&self.words())?;
        }
        self.findings.iter().for_each(|finding| console.warn(&advice::on_errors(finding)));
        let moved = self.fit.fitted.bias().is_some();
        if let Some(Worth { gain, standard_error: noise, .. }) =
            self.worth.filter(|worth| worth.pays() && !moved)
        {
            console.warn(&format!(
                "the forecaster's errors are not zero on average everywhere: with --debias, which learns \
                 that from the inputs and moves the forecasts, the CRPS would be lower by about {}% \
                 (standard error {}%)",
                significant(100.0 * gain, 2),
                significant(100.0 * noise, 2)
            ));
        }
        let alike = self.fit.fitted.validation().is_some_and(|found| found.dependence.is_some());
        if self.fit.fitted.guarantee().is_some() && alike && !self.in_order {
            console.warn(
                "neighbouring errors resemble each other, so that new rows may not be exchangeable with these, as \
                 the guarantee assumes: it may not hold; name the column of times with --time, and see errbar \
                 backtest",
            );
        }
        if let Some(suggested) = &self.suggested {
            console.warn(suggested);
        }
        if self.fit.fitted.too_few_rows() {
            console.warn(&format!(
                "with fewer than {LEAST_ROWS} rows ({} here) every model is one constant sigma",
                self.fit.fitted.rows().0
            ));
        }
        if self.fit.fitted.error_source() == ErrorSource::InSample {
            console.warn(IN_SAMPLE);
        }
        console.note(&format!(
            "wrote {0}; next: errbar predict NEW.csv --model {0} -o with-sigma.csv{1}",
            self.output.display(),
            match self.fit.fitted.series() {
                Some(_) => format!(
                    "; and as observations come in: errbar update {} OBSERVED.csv",
                    self.output.display()
                ),
                None => String::new(),
            }
        ));
        Ok(())
    }

    /// What was wrong with a sigma that was there already.
    fn prior_in_words(&self) -> Option<String> {
        let (name, scores) = self.fit.fitted.prior().zip(self.prior.as_ref())?;
        let rms = scores.rms_z;
        let size = match rms {
            rms if rms > 1.05 => format!("{} times as large as it says", significant(rms, 3)),
            rms if rms < 0.95 => format!("{} of what it says", percent(rms)),
            _ => String::from("as large as it says on the whole"),
        };
        let holds = scores.coverage.iter().find(|c| c.level == 0.9);
        let holds = holds.map_or(String::new(), |found| {
            format!(", 90% intervals of it hold {}", percent(found.observed))
        });
        let words = format!(
            "the sigma \"{name}\" is corrected, and what is said here of sigma is a factor to it; as it was, errors are {size}{holds}, \
             CRPS {} (of all rows)",
            four(scores.crps)
        );
        Some(wrapped(&words, 85))
    }

    fn words(&self) -> String {
        let words = self.words_of_sigma();
        match self.fit.fitted.prior() {
            Some(_) => words
                .replace("one constant sigma", "that sigma times one factor")
                .replace("one sigma for all rows", "one factor for all rows")
                .replace("log sigma", "the logarithm of the factor")
                .replace("; sigma ", "; factor "),
            None => words,
        }
    }

    fn words_of_sigma(&self) -> String {
        let fitted = &self.fit.fitted;
        let (rows, trained_on) = fitted.rows();
        let mut text = format!("Learned sigma from {rows} errors in {}.\n", self.file);
        let _ = writeln!(text, "  model    {}", described(fitted.model()));
        let _ = writeln!(text, "  inputs   {}", once(fitted.called()).join(", "));
        if let Some(left_out) = fitted.validation().map(|v| &v.left_out).filter(|l| !l.is_empty()) {
            let names = fitted.names().iter().zip(fitted.called());
            let left_out = names.filter(|(name, _)| left_out.contains(name));
            let left_out = once(left_out.map(|(_, called)| called).collect());
            let words = format!(
                "not used: {}; what they say of sigma did not carry over to rows held out (--keep-inputs \
                 uses them)",
                left_out.join(", ")
            );
            for line in wrapped(&words, 85).lines() {
                let _ = writeln!(text, "           {line}");
            }
        }
        if let Some(written) = &self.time_written {
            let _ = writeln!(text, "  time     {written}");
        }
        let words = self.calendar_in_words();
        for (nth, line) in words.iter().flat_map(|words| words.lines()).enumerate() {
            let _ = writeln!(text, "  {:9}{line}", if nth == 0 { "calendar" } else { "" });
        }
        for (nth, line) in self.lags_in_words().iter().flat_map(|words| words.lines()).enumerate() {
            let _ = writeln!(text, "  {:9}{line}", if nth == 0 { "lags" } else { "" });
        }
        let _ = writeln!(text, "  cost     {}", cost(fitted));
        if trained_on < rows {
            let _ = writeln!(
                text,
                "  trained  on up to {trained_on} of the rows; judged on all held out"
            );
        }
        if let Some(mean) = fitted.mean() {
            let _ = writeln!(text, "  forecast {}", mean.explain());
        }
        let _ = writeln!(text, "  errors   {}", source(fitted.error_source()));
        match fitted.bias() {
            Some(bias) if bias.is_none() && !fitted.moves_by_level() => {
                text += "  bias     none that carries over to later rows was found: forecasts stay as they \
                         are\n";
            }
            Some(_) => match self.worth {
                Some(Worth { gain, standard_error, .. }) => {
                    let words = format!(
                        "learned from the inputs; forecasts are moved by it, which lowers the CRPS of rows \
                         held out by about {}% (standard error {}%); --debias no leaves them as they are",
                        significant(100.0 * gain, 2),
                        significant(100.0 * standard_error, 2)
                    );
                    for (nth, line) in wrapped(&words, 85).lines().enumerate() {
                        let _ = writeln!(text, "  {:9}{line}", if nth == 0 { "bias" } else { "" });
                    }
                }
                None => text += "  bias     learned from the inputs; forecasts are moved by it\n",
            },
            None => {}
        }
        if let Some(shape) = fitted.shape() {
            for (nth, line) in
                wrapped(&law(shape, &fitted.names_of_numbers()), 85).lines().enumerate()
            {
                let _ = writeln!(text, "  {:9}{line}", if nth == 0 { "law" } else { "" });
            }
        }
        for (label, words) in [("bounds", bounds(fitted)), ("scale", scale(fitted))] {
            for (nth, line) in words.iter().flat_map(|words| words.lines()).enumerate() {
                let _ = writeln!(text, "  {:9}{line}", if nth == 0 { label } else { "" });
            }
        }
        for (nth, line) in self.prior_in_words().iter().flat_map(|words| words.lines()).enumerate()
        {
            let _ = writeln!(text, "  {:9}{line}", if nth == 0 { "prior" } else { "" });
        }
        match (fitted.validation(), &self.verdict) {
            (Some(validation), Some(verdict)) => {
                let _ = write!(text, "\n{}", self.judged(validation, verdict));
            }
            _ => text += "\nNo rows were held out: how good the model is, is not known.\n",
        }
        if let Some(guarantee) = fitted.guarantee() {
            let _ = write!(text, "\nGuarantee ({}):\n", method(guarantee.method()));
            for line in wrapped(&promised(guarantee, self.in_order, fitted.promise()), 96).lines() {
                let _ = writeln!(text, "  {line}");
            }
        }
        text
    }

    /// What comes round in the calendar and helps.
    fn calendar_in_words(&self) -> Option<String> {
        let Worth { gain, standard_error, .. } = self.calendar?;
        let cycles = self.fit.fitted.calendar();
        let words = format!(
            "{}, taken from the times, {} the CRPS of later rows by about {}% (standard error {}%); --calendar \
             no leaves {} out",
            and(&cycles.iter().map(|cycle| cycle.name()).collect::<Vec<_>>()),
            if cycles.len() == 1 { "lowers" } else { "lower" },
            significant(100.0 * gain, 2),
            significant(100.0 * standard_error, 2),
            if cycles.len() == 1 { "it" } else { "them" },
        );
        Some(wrapped(&words, 85))
    }

    /// What errors of earlier rows are worth, where they were asked for.
    fn lags_in_words(&self) -> Option<String> {
        let lags = self.fit.fitted.lags();
        let words = match self.lags {
            Some(Worth { gain, standard_error, .. }) if !lags.is_empty() => format!(
                "errors of earlier rows ({}) lower the CRPS of rows held out by {}% (standard error {}%); rows \
                 of which they are not known get the error bars of a model without them",
                self.fit.fitted.lag_names().join(", "),
                significant(100.0 * gain, 2),
                significant(100.0 * standard_error, 2)
            ),
            Some(Worth { gain, standard_error, .. }) => format!(
                "errors of earlier rows do not help here and are not used: with them the CRPS of rows held \
                 out is {}% {} (standard error {}%)",
                significant(100.0 * gain.abs(), 2),
                if gain > 0.0 { "lower" } else { "higher" },
                significant(100.0 * standard_error, 2)
            ),
            None => return None,
        };
        Some(wrapped(&words, 85))
    }

    fn judged(&self, validation: &Validation, verdict: &Verdict) -> String {
        let how = format!("{} ({}):", self.how(validation), self.then_fitted_to());
        let mut text = wrapped(&how, 100);
        let accuracy = wrapped(&accuracy(self.fit.fitted.model(), validation), 96);
        let verdict = wrapped(&with_remedy(verdict, self.fit.fitted.bias().is_some()), 96);
        for line in accuracy.lines().chain(verdict.lines()) {
            let _ = writeln!(text, "  {line}");
        }
        if validation.candidates.len() > 1 {
            let tried: Vec<String> = validation
                .candidates
                .iter()
                .map(|c| format!("{} {}", c.kind.name(), four(c.crps)))
                .collect();
            let on = validation
                .sample
                .map_or(String::new(), |rows| format!(" on a sample of {rows} rows"));
            let tried = format!("CRPS of the models tried{on}: {}.", tried.join(", "));
            let chosen = chosen(self.fit.fitted.model(), validation);
            for line in wrapped(&tried, 96).lines().chain(wrapped(&chosen, 96).lines()) {
                let _ = writeln!(text, "  {line}");
            }
        }
        if !validation.not_tried.is_empty() {
            let names: Vec<&str> = validation.not_tried.iter().map(|kind| kind.name()).collect();
            let _ = writeln!(text, "  Not tried within --budget: {}.", names.join(", "));
        }
        if let Some(found) = validation.dependence {
            let what = if found.of_sizes { "sizes of errors" } else { "errors" };
            let words = format!(
                "Neighbouring {what} resemble each other (correlation {}), so blocks of rows were held out \
                 together: name --time if the rows are in the order of time, or say --independent.",
                significant(found.autocorrelation, 2)
            );
            for line in wrapped(&words, 96).lines() {
                let _ = writeln!(text, "  {line}");
            }
        }
        if !validation.importance.is_empty() {
            // The bias may have its own: the last error tells it, and often nothing of sigma.
            text += match self
                .fit
                .fitted
                .bias()
                .is_some_and(|bias| !bias.is_none() || self.fit.fitted.moves_by_level())
            {
                true => "\nWhich inputs matter to sigma (the bias is another question):\n",
                false => "\nWhich inputs matter:\n",
            };
            text += &importance(&validation.importance, &self.fit.fitted);
        }
        text
    }

    /// What the model itself was fitted to.
    fn then_fitted_to(&self) -> String {
        let fitted = &self.fit.fitted;
        let (rows, trained_on) = fitted.rows();
        let kept = fitted.guarantee().filter(|guarantee| guarantee.method() == Method::Split);
        let which = match trained_on < rows {
            true => format!("up to {trained_on} of the {rows} rows"),
            false if kept.is_some() => format!("the {rows} rows"),
            false => String::from("all rows"),
        };
        let others = kept.map_or(String::new(), |guarantee| {
            format!(
                " that are not kept from it: the guarantee is read off {} others",
                guarantee.rows(None)
            )
        });
        format!("the model was then fitted to {which}{others}")
    }

    /// Which rows were held out, and how.
    fn how(&self, validation: &Validation) -> String {
        let Validation { rows, turns, whole_groups, dependence, .. } = *validation;
        let blocks = dependence.map(|found| format!("blocks of {} neighbours", found.block));
        let which = match (self.in_order, whole_groups, &blocks) {
            (true, ..) => String::from("the last in time"),
            (false, true, _) => String::from("whole groups chosen at random"),
            (false, false, Some(blocks)) => format!("{blocks} chosen at random"),
            (false, false, None) => String::from("chosen at random"),
        };
        let kept = self.fit.fitted.guarantee().map(|guarantee| guarantee.method());
        let all = rows == self.fit.fitted.rows().0 && kept != Some(Method::Split);
        match (turns, self.in_order) {
            (1, _) => format!("On {rows} held-out rows, {which}"),
            (_, true) => format!(
                "On {rows} held-out rows, {which}, in {turns} turns by models of the rows before them"
            ),
            (_, false) if all => {
                let groups = match (whole_groups, blocks) {
                    (true, _) => String::from(", whole groups at a time"),
                    (false, Some(blocks)) => format!(", {blocks} at a time"),
                    (false, None) => String::new(),
                };
                format!("On all {rows} rows, held out in {turns} turns{groups}")
            }
            (_, false) => format!("On {rows} held-out rows, {which}, in {turns} turns"),
        }
    }

    fn json(&self) -> serde_json::Value {
        let fitted = &self.fit.fitted;
        let (rows, trained_on) = fitted.rows();
        let warnings: Vec<String> = self.findings.iter().map(advice::on_errors).collect();
        let moved = fitted.bias().is_some();
        let verdict = self.verdict.as_ref().map(|verdict| with_remedy(verdict, moved));
        let mut json = serde_json::json!({
            "file": self.file,
            "model_file": self.output.display().to_string(),
            "rows": rows,
            "trained_on": trained_on,
            "inputs": fitted.names(),
            "categories": fitted.categories().iter().map(|own| serde_json::json!({
                "input": fitted.names()[own.column()],
                "levels": own.names(),
                "rows": own.rows(),
                "log_size": own.sizes(),
                "log_size_of_unseen": own.unseen(),
                "bias": own.means(),
            })).collect::<Vec<_>>(),
            "time_written": self.time_written,
            "model": fitted.model().name(),
            "description": fitted.model().explain(),
            "forecast": fitted.mean().map(|mean| mean.explain()),
            "errors": fitted.error_source(),
            "law": fitted.shape().map(|shape| serde_json::json!({
                "description": shape.explain_with(&fitted.names_of_numbers()),
                "in_units_of_sigma": shape.law(),
                "skew_by_inputs": shape.turning().map(|turning| {
                    let (_, least, most) = turning.laws();
                    serde_json::json!({"least": least, "most": most})
                }),
                "sigma_multiplied_by": shape.factor(),
            })),
            "training": fitted.training(),
            "held_out": fitted.validation(),
            "guarantee": fitted.guarantee().map(|guarantee| promised(guarantee, self.in_order, fitted.promise())),
            "scores": self.held_out_scores,
            "verdict": verdict,
            "findings": self.findings,
            "debias_would_save": self.worth.map(|worth| worth.gain),
            "calendar": fitted.calendar(),
            "calendar_saves": self.calendar.map(|worth| worth.gain),
            "lags": fitted.lag_names(),
            "lags_save": self.lags.map(|worth| worth.gain),
            "lag_suggested": self.suggested,
            "warnings": warnings,
            "notes": self.notes,
        });
        if !self.files.is_empty() {
            json["files"] = serde_json::json!(self.files);
        }
        json
    }
}

const IN_SAMPLE: &str = "the forecaster was fitted to these observations, so its errors on them \
    are smaller than on new ones: take sigma as a lower bound, or use errors of rows it has not \
    seen (cross-validation)";

fn method(method: Method) -> &'static str {
    match method {
        Method::Split => "split",
        Method::Cross => "cross",
    }
}

fn described(model: &Model) -> String {
    match model {
        Model::Constant(model) => format!("one sigma for all rows, {}", four(model.sigma)),
        Model::Stack(stack) => {
            let part = |member: &Member| {
                let words = wrapped(&described(&member.model), 80);
                let words = words.trim_end().replace('\n', "\n                  ");
                format!("{:>4.0}%  {}", 100.0 * member.share, words)
            };
            let parts: Vec<String> = stack.members().iter().map(part).collect();
            let refined = stack.refinement().map_or(String::new(), |trees| {
                let words = format!("times what trees of all rows make of it: {}", trees.explain());
                format!(
                    "\n           {}",
                    wrapped(&words, 86).trim_end().replace('\n', "\n           ")
                )
            });
            format!(
                "a weighted mean of log sigma over\n           {}{refined}",
                parts.join("\n           ")
            )
        }
        _ => model.explain(),
    }
}

/// Each name once: both parts of a cycle of the calendar are one.
fn once(mut names: Vec<String>) -> Vec<String> {
    names.dedup();
    names
}

/// What was chosen, and why.
fn chosen(model: &Model, validation: &Validation) -> String {
    let Model::Stack(stack) = model else {
        return match model {
            Model::Constant(_) => "Chosen: constant; no mean of models does better.".into(),
            _ => format!("Chosen: {}; no other model adds to it.", model.name()),
        };
    };
    let mut members: Vec<&Member> = stack.members().iter().collect();
    members.sort_by(|a, b| b.share.total_cmp(&a.share));
    let mut names: Vec<&str> = members.iter().map(|member| member.model.name()).collect();
    // The mean may have the same kind twice: of some rows, and that which trees of all rows refine.
    let mut named = Vec::new();
    names.retain(|name| {
        !named.contains(name) && {
            named.push(*name);
            true
        }
    });
    let better = match validation.crps < validation.constant_crps {
        true => ", which does better than one constant sigma",
        false => "",
    };
    let refined = match stack.refinement() {
        Some(_) => ", refined by trees of all rows",
        None => "",
    };
    format!(
        "Chosen: a mean of {} (most weight first){refined}{better}; weights go by how well each does on \
         these rows, alone and with the others.",
        names.join(", ")
    )
}

/// What the law of the errors is, and what was done to their size.
fn law(shape: &Shape, names: &[String]) -> String {
    let mut text = shape.explain_with(names);
    if (shape.factor() - 1.0).abs() > 0.005 {
        text += &format!(
            "; sigma was multiplied by {}, as held-out rows ask for",
            significant(shape.factor(), 3)
        );
    }
    let mean = shape.law().mean();
    if mean.abs() > 0.005 {
        text += &format!(
            "; centred {} sigma {} the forecast",
            significant(mean.abs(), 2),
            if mean > 0.0 { "above" } else { "below" }
        );
    }
    text
}

fn cost(fitted: &Fitted) -> &'static str {
    match fitted.options().loss {
        _ if fitted.options().by_law => {
            "accuracy and reliability together (AR), of the law of the errors"
        }
        LossKind::Ar(_) | LossKind::OfLaw(..) => "accuracy and reliability together (AR)",
        LossKind::Crps => "CRPS",
        LossKind::Nlpd => "negative log predictive density",
    }
}

fn source(source: ErrorSource) -> &'static str {
    match source {
        ErrorSource::HeldOut => {
            "taken as held-out: of forecasts made without knowing the observation (if the\n           \
             forecaster was fitted to these rows, say --errors in-sample)"
        }
        ErrorSource::InSample => "in-sample: the forecaster was fitted to these rows",
        ErrorSource::LeaveOneOut => {
            "leave-one-out: each observation is forecast from all the others"
        }
    }
}

fn accuracy(model: &Model, validation: &Validation) -> String {
    let Validation { crps, constant_crps, crps_skill, skill_standard_error, .. } = *validation;
    let (crps, constant) = (four(crps), four(constant_crps));
    let size = |share: f64| percent(share.abs());
    let noise = size(skill_standard_error);
    if matches!(model, Model::Constant(_)) {
        let tried = validation.candidates.iter().any(|candidate| candidate.kind != Kind::Constant);
        return match tried {
            true => format!("CRPS {crps}. No model of the inputs beats one constant sigma here."),
            false => {
                format!("CRPS {crps}, with one constant sigma; no model of the inputs was tried.")
            }
        };
    }
    match crps_skill {
        skill if skill > 2.0 * skill_standard_error => format!(
            "CRPS {crps}, {} lower than with one constant sigma, {constant} (standard error {noise}).",
            size(skill)
        ),
        skill if skill < -2.0 * skill_standard_error => format!(
            "CRPS {crps}, {} higher than with one constant sigma, {constant} (standard error \
             {noise}): use --model constant.",
            size(skill)
        ),
        skill if skill < 0.0 => format!(
            "CRPS {crps}, {} higher than with one constant sigma, {constant}, which may be chance \
             (standard error {noise}): it is no better than --model constant here.",
            size(skill)
        ),
        skill => format!(
            "CRPS {crps}, {} lower than with one constant sigma, {constant}, which may be chance (standard \
             error {noise}).",
            size(skill)
        ),
    }
}

/// What each of the most telling inputs does, inputs that stand in for one another as one.
fn importance(inputs: &[Importance], fitted: &Fitted) -> String {
    const SHOWN: usize = 10;
    let names: Vec<String> = inputs.iter().take(SHOWN).map(called).collect();
    // A long row of twins must not push all the others aside.
    let alone = inputs.iter().zip(&names).filter(|(input, _)| input.twins.is_empty());
    let width = alone.map(|(_, name)| name.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for (input, name) in inputs.iter().zip(&names) {
        let share = 100.0 * input.crps_share;
        let (its, where_) = match input.twins.is_empty() {
            true => ("its", String::from("near")),
            false => ("their", format!("with {} near", input.name)),
        };
        let ((low_at, low), (high_at, high)) = (input.smallest, input.largest);
        let mut says = format!("CRPS {share:.1}% higher with {its} values shuffled");
        if low_at != high_at {
            let cycle = fitted.calendar().iter().find(|cycle| cycle.name() == input.name);
            let said = |at: f64| cycle.map_or_else(|| four(at), |cycle| cycle.said(at));
            let [low, low_at, high, high_at] = [four(low), said(low_at), four(high), said(high_at)];
            let column = fitted.names().iter().position(|name| *name == input.name);
            let _ = match column.and_then(|column| fitted.category(column)) {
                Some(levels) => {
                    let [low_at, high_at] =
                        [input.smallest.0, input.largest.0].map(|at| levels.name_of(at));
                    write!(
                        says,
                        "; sigma is largest for {high_at} ({high}), smallest for {low_at} ({low})"
                    )
                }
                None => write!(says, "; sigma {low} {where_} {low_at}, {high} near {high_at}"),
            };
        }
        if share < 0.05 {
            says = match input.twins.is_empty() {
                true => "tells next to nothing".into(),
                false => "tell next to nothing".into(),
            };
        }
        // Twins have a line of their own above what they say.
        let lines = match input.twins.is_empty() {
            true => format!("{name:width$}  {says}"),
            false => format!("{name}\n{:width$}  {says}", ""),
        };
        lines.lines().for_each(|line| text += &format!("  {line}\n"));
    }
    if inputs.len() > SHOWN {
        let _ = writeln!(text, "  and {} more", inputs.len() - SHOWN);
    }
    text
}

/// An input, or all that stand in for one another.
fn called(input: &Importance) -> String {
    const NAMED: usize = 4;
    let names: Vec<&str> = input.names().collect();
    match names.len() {
        1 => input.name.clone(),
        n if n > NAMED => {
            format!("{} and {} more together:", names[..NAMED].join(", "), n - NAMED)
        }
        _ => format!("{} together:", and(&names)),
    }
}
