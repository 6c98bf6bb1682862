//! The saved form of a model: versioned JSON that holds every digit.

use serde::{Deserialize, Serialize};

use super::Fitted;
use super::guarantee::Guarantee;
use crate::error::{Error, Result};
use crate::law::Transform;
use crate::mean::bias::Bias;
use crate::series::Series;

/// The version of the saved form; older programs refuse newer forms.
const FORMAT: u32 = 1;

/// What a model may need beyond the first form, by name. A program that does not know one of the needs
/// of a file refuses it, and reads every other file of the same form: so a new part (a law, a state, a
/// kind of input) is an optional field of [`Fitted`] and a name here, and no new form.
const NEEDS: [&str; 17] = [
    POLYNOMIAL_BIAS,
    SMOOTH_BIAS,
    SYMMETRIC_TREES,
    REFINEMENT,
    LAW,
    CURVE,
    TURNING,
    BOUNDS,
    TRANSFORM,
    GUARANTEE_BY_LAW,
    GUARANTEE_IN_TIME,
    LAGS,
    CALENDAR,
    ENSEMBLE,
    PRIOR,
    FOLLOWED,
    CATEGORIES,
];
const BOUNDS: &str = "bounds";
const CALENDAR: &str = "calendar";
const ENSEMBLE: &str = "members of an ensemble";
const CATEGORIES: &str = "categories";
const CURVE: &str = "curve";
const GUARANTEE_BY_LAW: &str = "guarantee by law";
const GUARANTEE_IN_TIME: &str = "guarantee in time";
const FOLLOWED: &str = "observations followed";
const LAGS: &str = "lags";
const LAW: &str = "law";
const PRIOR: &str = "a sigma that is there already";
const POLYNOMIAL_BIAS: &str = "polynomial bias";
const SMOOTH_BIAS: &str = "smooth bias";
const SYMMETRIC_TREES: &str = "symmetric trees";
const REFINEMENT: &str = "trees that refine a mean";
const TRANSFORM: &str = "transform";
const TURNING: &str = "skew by inputs";

/// The envelope of the saved form.
#[derive(Serialize, Deserialize)]
struct Saved<T> {
    /// Says what this is to whoever opens the file.
    errbar_model: u32,
    /// The version of errbar that wrote it.
    version: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    needs: Vec<String>,
    fitted: T,
}

impl<T> Saved<T> {
    /// As this version writes it.
    fn new(needs: Vec<String>, fitted: T) -> Self {
        Self { errbar_model: FORMAT, version: env!("CARGO_PKG_VERSION").into(), needs, fitted }
    }
}

/// A text that is no model, or a model that is no text.
fn bad(why: &dyn std::fmt::Display) -> Error {
    Error::BadModel { why: why.to_string() }
}

impl Fitted {
    /// The saved form: versioned JSON that holds every digit.
    ///
    /// # Errors
    /// None in practice; what the writer reports is passed on.
    pub fn to_json(&self) -> Result<String> {
        let saved = Saved::new(self.needs(), self);
        let mut text = serde_json::to_string(&saved).map_err(|error| bad(&error))?;
        text.push('\n');
        Ok(text)
    }

    /// [`Fitted::to_json`] of a model that was read from a text and has learned more since: only what it remembers
    /// is written anew, which is little where models are large. `before` is what it remembered then.
    ///
    /// # Errors
    /// As [`Fitted::to_json`].
    pub fn to_json_after(&self, text: &str, before: &Series) -> Result<String> {
        let spliced = self.spliced(text, before).map_err(|error| bad(&error))?;
        spliced.map_or_else(|| self.to_json(), Ok)
    }

    /// `None` for a text that this version would write in another way.
    fn spliced(&self, text: &str, before: &Series) -> serde_json::Result<Option<String>> {
        let Some(series) = &self.series else { return Ok(None) };
        let begins = |series: &Series| -> serde_json::Result<String> {
            let needs = self.needs_with(series.learned() > 0);
            let mut text = serde_json::to_string(&Saved::new(needs, ()))?;
            text.truncate(text.len() - "null}".len());
            Ok(text)
        };
        let Some(rest) = text.strip_prefix(&begins(before)?) else { return Ok(None) };
        let field = |series: &Series| -> serde_json::Result<String> {
            Ok(format!(",\"series\":{}", serde_json::to_string(series)?))
        };
        let old = field(before)?;
        // In quotes nothing looks like that, since quotes themselves are escaped there.
        let at = match rest.strip_suffix("}}\n").and_then(|rest| rest.strip_suffix(&old)) {
            Some(first) => Some(first.len()),
            None => rest.find(&old),
        };
        let Some(at) = at else { return Ok(None) };
        let [head, new] = [begins(series)?, field(series)?];
        Ok(Some([&head, &rest[..at], &new, &rest[at + old.len()..]].concat()))
    }

    /// Which of the [`NEEDS`] it has.
    fn needs(&self) -> Vec<String> {
        self.needs_with(self.series.as_ref().is_some_and(|series| series.learned() > 0))
    }

    fn needs_with(&self, has_learned: bool) -> Vec<String> {
        let bias = self.bias.as_ref();
        let all = [
            (bias.is_some_and(|bias| bias.polynomial().is_some()), POLYNOMIAL_BIAS),
            (bias.is_some_and(|bias| bias.smooth().is_some()), SMOOTH_BIAS),
            (
                self.model.has_symmetric_trees() || bias.is_some_and(Bias::has_symmetric_trees),
                SYMMETRIC_TREES,
            ),
            (self.model.is_refined(), REFINEMENT),
            (self.shape.is_some(), LAW),
            (self.shape.as_ref().is_some_and(|shape| shape.law().curve().is_some()), CURVE),
            (self.shape.as_ref().is_some_and(|shape| shape.turning().is_some()), TURNING),
            (!self.options.bounds.are_none(), BOUNDS),
            (self.options.transform != Transform::None, TRANSFORM),
            (self.guarantee.as_ref().is_some_and(Guarantee::has_law), GUARANTEE_BY_LAW),
            (self.promise().is_some(), GUARANTEE_IN_TIME),
            (!self.lags().is_empty(), LAGS),
            (!self.cycles.is_empty(), CALENDAR),
            (self.ensemble.is_some(), ENSEMBLE),
            (self.prior.is_some(), PRIOR),
            (has_learned, FOLLOWED),
            (self.categories.is_some(), CATEGORIES),
        ];
        let own = all.into_iter().filter(|(has, _)| *has).map(|(_, need)| need.to_string());
        let mut needs: Vec<String> = own.collect();
        for need in self.without_lags.iter().flat_map(|model| model.needs()) {
            if !needs.contains(&need) {
                needs.push(need);
            }
        }
        needs
    }

    /// Reads the saved form and checks everything in it.
    ///
    /// # Errors
    /// Text that is no such model, a form newer than this version knows, or numbers that do not fit
    /// together.
    pub fn from_json(text: &str) -> Result<Self> {
        if let Some(fitted) = Self::at_once(text) {
            return Ok(fitted);
        }
        // The version first: a newer form may look different altogether.
        #[derive(Deserialize)]
        struct Version {
            errbar_model: Option<u32>,
            errbar_sigma_model: Option<u32>,
            #[serde(default)]
            needs: Vec<String>,
        }
        let no_model =
            |why: &dyn std::fmt::Display| bad(&format!("it is no model file of errbar ({why})"));
        if text.trim_start().starts_with('[') {
            return Err(no_model(&"it is a list"));
        }
        let version: Version = serde_json::from_str(text).map_err(|error| no_model(&error))?;
        let form = match (version.errbar_model, version.errbar_sigma_model) {
            (Some(form), _) => form,
            (None, Some(_)) => {
                let why = "it is a model without the names of its inputs, which an early version of \
                           errbar wrote; fit it again";
                return Err(bad(&why));
            }
            (None, None) => return Err(no_model(&"missing field `errbar_model`")),
        };
        let newer = |what: String| bad(&format!("{what}; use a newer one"));
        if form > FORMAT {
            let what =
                format!("it has form {form}, and this version of errbar reads up to {FORMAT}");
            return Err(newer(what));
        }
        if let Some(need) = version.needs.iter().find(|need| !NEEDS.contains(&need.as_str())) {
            return Err(newer(format!(
                "it needs {need:?}, which this version of errbar does not know"
            )));
        }
        let saved: Saved<Self> = serde_json::from_str(text).map_err(|error| bad(&error))?;
        saved.fitted.check().map_err(|why| bad(&why))?;
        Ok(saved.fitted)
    }

    /// A file of this form with all its needs known, in one go: files are large.
    fn at_once(text: &str) -> Option<Self> {
        let saved: Saved<Self> = serde_json::from_str(text).ok()?;
        let known = saved.needs.iter().all(|need| NEEDS.contains(&need.as_str()));
        (saved.errbar_model <= FORMAT && known && saved.fitted.check().is_ok())
            .then_some(saved.fitted)
    }
}
