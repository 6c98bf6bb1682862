//! Laws of many rows: each of their functions, over columns with a value for each row or one for all.

use std::borrow::Cow;

use errbar::law::{Base, Bounds, Censored, Curve, Law, Laws};
use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rayon::prelude::*;

use crate::arrays::{Column, maybe, refused};
use crate::threads::detached;

/// The rows that one thread takes at a time. So few alone are done before a pool wakes up.
const CHUNK: usize = 4096;

/// What laws are made of, as the front gives it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Parameters<'py> {
    location: Column<'py>,
    left: Column<'py>,
    right: Column<'py>,
    df: Option<Column<'py>>,
    lower: Option<Column<'py>>,
    upper: Option<Column<'py>>,
    /// Of values of a standard Gaussian and of the law in its scale, where it is no base that has one.
    curve: Option<(Vec<f64>, Vec<f64>)>,
}

/// One function of the laws, `at` values for those that have an argument. The front has checked them.
#[pyfunction]
pub(crate) fn law<'py>(
    py: Python<'py>,
    what: &str,
    base: &str,
    parameters: Parameters<'py>,
    at: Option<Column<'py>>,
    rows: usize,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let Parameters { location, left, right, df, lower, upper, curve } = &parameters;
    let curve = curve.as_ref().map(|(q, z)| {
        let refused =
            || PyValueError::new_err("curve: give two or more values q that rise, and z too");
        Curve::new(q, z).ok_or_else(refused)
    });
    let curve = curve.transpose()?;
    let base = if curve.is_some() { Base::Normal } else { base_of(base)? };
    let function = function(what)?;
    let laws = Rows {
        base,
        curve,
        bounded: lower.is_some() || upper.is_some(),
        location: Values::new(maybe(Some(location))?, f64::NAN, rows)?,
        left: Values::new(maybe(Some(left))?, f64::NAN, rows)?,
        right: Values::new(maybe(Some(right))?, f64::NAN, rows)?,
        df: Values::new(maybe(df.as_ref())?, f64::NAN, rows)?,
        lower: Values::new(maybe(lower.as_ref())?, f64::NEG_INFINITY, rows)?,
        upper: Values::new(maybe(upper.as_ref())?, f64::INFINITY, rows)?,
        at: Values::new(maybe(at.as_ref())?, f64::NAN, rows)?,
    };
    let fill = |(chunk, out): (usize, &mut [f64])| laws.fill(chunk * CHUNK, what, function, out);
    let mut out = vec![0.0; rows];
    let done = match rows > CHUNK {
        true => detached(py, || out.par_chunks_mut(CHUNK).enumerate().try_for_each(fill))?,
        false => py.detach(|| fill((0, &mut out))),
    };
    done.map_err(refused)?;
    Ok(out.into_pyarray(py))
}

/// A function of one law and of an argument, which not all of them look at.
type Function = fn(&Censored, f64) -> f64;

/// The same of many laws.
type OfMany = fn(&Laws<'_>, &[f64], &mut [f64]) -> errbar::Result<()>;

/// Functions by the names that `scipy.stats` gives them.
fn function(what: &str) -> PyResult<Function> {
    Ok(match what {
        "mean" => |one, _| one.law.mean(),
        "var" => |one, _| one.law.variance(),
        "std" => |one, _| one.law.standard_deviation(),
        "median" => |one, _| one.median(),
        "cdf" => Censored::cdf,
        "sf" => Censored::exceed,
        "logcdf" => Censored::log_cdf,
        "logsf" => Censored::log_exceed,
        "pdf" => Censored::density,
        "logpdf" => Censored::log_density,
        "ppf" => Censored::quantile,
        "isf" => Censored::upper_quantile,
        "crps" => Censored::crps,
        "logscore" => Censored::log_score,
        _ => return Err(PyValueError::new_err(format!("laws have no {what}"))),
    })
}

fn base_of(name: &str) -> PyResult<Base> {
    Ok(match name {
        "normal" => Base::Normal,
        "logistic" => Base::Logistic,
        "laplace" => Base::Laplace,
        "t" => Base::StudentT { nu: f64::NAN },
        _ => {
            return Err(PyValueError::new_err(format!(
                "base is {name:?}: give \"normal\", \"logistic\", \"laplace\" or \"t\""
            )));
        }
    })
}

/// A value for each row, or one for all.
#[derive(Clone, Copy)]
enum Values<'a> {
    Each(&'a [f64]),
    All(f64),
}

impl<'a> Values<'a> {
    fn new(values: Option<&'a [f64]>, usual: f64, rows: usize) -> PyResult<Self> {
        match values {
            None => Ok(Self::All(usual)),
            Some([value]) => Ok(Self::All(*value)),
            Some(values) if values.len() == rows => Ok(Self::Each(values)),
            Some(values) => Err(PyValueError::new_err(format!(
                "a column of {} values for {rows} laws",
                values.len()
            ))),
        }
    }

    fn at(&self, row: usize) -> f64 {
        match self {
            Self::Each(values) => values[row],
            Self::All(value) => *value,
        }
    }

    fn chunk(&self, start: usize, length: usize) -> Cow<'a, [f64]> {
        match *self {
            Self::Each(values) => Cow::Borrowed(&values[start..start + length]),
            Self::All(value) => Cow::Owned(vec![value; length]),
        }
    }
}

/// The laws of all rows, and the argument of each.
struct Rows<'a> {
    base: Base,
    curve: Option<Curve>,
    bounded: bool,
    location: Values<'a>,
    left: Values<'a>,
    right: Values<'a>,
    df: Values<'a>,
    lower: Values<'a>,
    upper: Values<'a>,
    at: Values<'a>,
}

impl Rows<'_> {
    fn one(&self, row: usize) -> Censored {
        let base = match self.base {
            Base::StudentT { .. } => Base::StudentT { nu: self.df.at(row) },
            base => base,
        };
        let law = Law::new(base, self.location.at(row), self.left.at(row), self.right.at(row));
        let bounds = Bounds::new(Some(self.lower.at(row)), Some(self.upper.at(row)));
        law.within(bounds.unwrap_or_default())
    }

    /// A function of a curve, by the names of [`function`].
    fn of_curve(&self, curve: &Curve, what: &str, row: usize) -> f64 {
        let (location, scale) = (self.location.at(row), self.left.at(row));
        let bounds = Bounds::new(Some(self.lower.at(row)), Some(self.upper.at(row)));
        let bounds = bounds.unwrap_or_default();
        let at = self.at.at(row);
        let z = (at - location) / scale;
        let value = |z: f64| bounds.clamp(location + scale * z);
        let inside = |below: f64, own: f64, above: f64| match at {
            at if at < bounds.lower() => below,
            at if at >= bounds.upper() => above,
            _ => own,
        };
        let score = || match at {
            at if !bounds.hold(at) => f64::INFINITY,
            at if at == bounds.lower() => -curve.log_cdf(z),
            at if at == bounds.upper() => -curve.log_exceed(z),
            _ => curve.log_score(z) + scale.ln(),
        };
        match what {
            "mean" => location + scale * curve.mean_and_deviation().0,
            "std" => scale * curve.mean_and_deviation().1,
            "var" => (scale * curve.mean_and_deviation().1).powi(2),
            "median" => value(curve.quantile(0.5)),
            "ppf" => value(curve.quantile(at)),
            "isf" => value(curve.upper_quantile(at)),
            "cdf" => inside(0.0, curve.cdf(z), 1.0),
            "sf" => inside(1.0, curve.exceed(z), 0.0),
            "logcdf" => inside(f64::NEG_INFINITY, curve.log_cdf(z), 0.0),
            "logsf" => inside(0.0, curve.log_exceed(z), f64::NEG_INFINITY),
            "pdf" => (-score()).exp(),
            "logpdf" => -score(),
            "logscore" => score(),
            _ => {
                let ends =
                    [bounds.lower(), bounds.upper()].map(|end| Some((end - location) / scale));
                scale * curve.crps_within(z, Bounds::new(ends[0], ends[1]).unwrap_or_default())
            }
        }
    }

    /// A function of every law from a row on.
    fn fill(
        &self,
        start: usize,
        what: &str,
        function: Function,
        out: &mut [f64],
    ) -> errbar::Result<()> {
        if let Some(curve) = &self.curve {
            for (row, value) in (start..).zip(out) {
                *value = self.of_curve(curve, what, row);
            }
            return Ok(());
        }
        let base = match (self.base, self.df) {
            (Base::StudentT { .. }, Values::All(nu)) => Some(Base::StudentT { nu }),
            (Base::StudentT { .. }, Values::Each(_)) => None,
            (base, _) => Some(base),
        };
        if let (Some(base), Some(of_many)) = (base, self.of_many(what)) {
            let [location, left, right, at] = [self.location, self.left, self.right, self.at]
                .map(|values| values.chunk(start, out.len()));
            let laws = Laws { base, location: &location, left: &left, right: &right };
            return of_many(&laws, &at, out);
        }
        for (row, value) in (start..).zip(out) {
            *value = function(&self.one(row), self.at.at(row));
        }
        Ok(())
    }

    /// The function where the library has a faster one of many laws of one base, all without bounds.
    fn of_many(&self, what: &str) -> Option<OfMany> {
        match what {
            _ if self.bounded => None,
            "cdf" => Some(|laws, at, out| laws.cdf(at, out)),
            "sf" => Some(|laws, at, out| laws.exceed(at, out)),
            "ppf" => Some(|laws, at, out| laws.quantile(at, out)),
            "isf" => Some(|laws, at, out| laws.upper_quantile(at, out)),
            "crps" => Some(|laws, at, out| laws.crps(at, out)),
            _ => None,
        }
    }
}
