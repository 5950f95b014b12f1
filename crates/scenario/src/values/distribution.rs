//! Values that may be drawn from a distribution: a bare value, or a table with the distribution's `kind`.

use crate::values::quantity::{Duration, Size};
use netspurt_sim::random::distribution::{Distribution, Family, Quantiles};
use netspurt_tcp::time::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A number of things, whole where it matters.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Count(#[schemars(range(min = 0.0))] pub f64);

/// What can be drawn.
pub trait Measure: Copy {
    /// The unit of bare numbers in a table of quantiles, for errors.
    const UNIT: &'static str;
    /// In the unit that is drawn in.
    fn base(self) -> f64;
    /// From a bare number in a file, which is at least 0.
    fn from_bare(number: f64) -> Self;
}

impl Measure for Size {
    const UNIT: &'static str = "bytes";
    fn base(self) -> f64 {
        self.0 as f64
    }
    fn from_bare(number: f64) -> Self {
        Self(number.round() as u64)
    }
}

impl Measure for Duration {
    const UNIT: &'static str = "seconds";
    fn base(self) -> f64 {
        self.0.as_ps() as f64
    }
    fn from_bare(number: f64) -> Self {
        Self(Span::from_ps((number * 1e12).round() as u64))
    }
}

impl Measure for Count {
    const UNIT: &'static str = "pieces";
    fn base(self) -> f64 {
        self.0
    }
    fn from_bare(number: f64) -> Self {
        Self(number)
    }
}

/// A value, or what values are drawn from.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "Drawn{Q}")]
pub enum Drawn<Q> {
    /// Always this.
    Always(Q),
    /// Another each time.
    From(Kind<Q>),
}

/// A distribution. What lies beyond `min` or `max` counts as the bound.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
#[serde(bound(deserialize = "Q: Deserialize<'de>"))]
#[schemars(rename = "Distribution{Q}")]
pub enum Kind<Q> {
    /// Anything between, alike.
    Uniform {
        /// The least.
        min: Q,
        /// The greatest.
        max: Q,
    },
    /// Exponential: without memory.
    Exponential {
        /// Mean, before it is cut.
        mean: Q,
        /// The least. Default: no bound.
        #[serde(skip_serializing_if = "Option::is_none")]
        min: Option<Q>,
        /// The greatest. Default: no bound.
        #[serde(skip_serializing_if = "Option::is_none")]
        max: Option<Q>,
    },
    /// Pareto's first: a power law from its least value on.
    Pareto {
        /// The least value.
        min: Q,
        /// Exponent of the tail.
        shape: f64,
        /// The greatest. Default: no bound.
        #[serde(skip_serializing_if = "Option::is_none")]
        max: Option<Q>,
    },
    /// Pareto's second: a power law that begins at zero.
    ///
    /// Document: Lomax, "Business failures", 1954.
    Lomax {
        /// Median.
        median: Q,
        /// Exponent of the tail.
        shape: f64,
        /// The least. Default: no bound.
        #[serde(skip_serializing_if = "Option::is_none")]
        min: Option<Q>,
        /// The greatest. Default: no bound.
        #[serde(skip_serializing_if = "Option::is_none")]
        max: Option<Q>,
    },
    /// Log-normal: the logarithm is normal.
    LogNormal {
        /// Median.
        median: Q,
        /// Standard deviation of the natural logarithm.
        sigma: f64,
        /// The least. Default: no bound.
        #[serde(skip_serializing_if = "Option::is_none")]
        min: Option<Q>,
        /// The greatest. Default: no bound.
        #[serde(skip_serializing_if = "Option::is_none")]
        max: Option<Q>,
    },
    /// Weibull: a stretched exponential.
    Weibull {
        /// Scale: 63 % lie below.
        scale: Q,
        /// Below 1 the tail is heavier than exponential.
        shape: f64,
        /// The least. Default: no bound.
        #[serde(skip_serializing_if = "Option::is_none")]
        min: Option<Q>,
        /// The greatest. Default: no bound.
        #[serde(skip_serializing_if = "Option::is_none")]
        max: Option<Q>,
    },
    /// A table of what was measured; between two quantiles the logarithm of the value is linear in the probability.
    Quantiles {
        /// Shares from 0 to 1, rising.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        probabilities: Vec<f64>,
        /// The values that so large a share lies below, never falling.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        values: Vec<Q>,
        /// A CSV file with both instead, its path relative to the scenario's; sizes in bytes, times in seconds.
        #[serde(skip_serializing_if = "Option::is_none")]
        file: Option<String>,
        /// The column of the values in that file. That of the shares is named `probability`.
        #[serde(skip_serializing_if = "Option::is_none")]
        column: Option<String>,
        /// The least. Default: no bound.
        #[serde(skip_serializing_if = "Option::is_none")]
        min: Option<Q>,
        /// The greatest. Default: no bound.
        #[serde(skip_serializing_if = "Option::is_none")]
        max: Option<Q>,
    },
}

/// What is wrong with a distribution: the key at fault, if it is a single one, and a sentence.
pub(crate) type Wrong = (Option<&'static str>, String);

/// Reads a file that a scenario names: its text, or why it cannot be read.
pub type Files<'a> = &'a dyn Fn(&str) -> Result<String, String>;

/// A distribution of whatever.
pub(crate) trait Draws {
    /// Replaces the name of a file by its contents.
    fn resolve(&mut self, files: Files<'_>) -> Result<(), Wrong>;
    /// Checks the values.
    fn check(&self) -> Result<(), Wrong>;
    /// The least that may come out.
    fn least(&self) -> f64;
}

impl<Q: Measure> Drawn<Q> {
    /// What is drawn from. A table of quantiles has been checked before.
    pub fn distribution(&self) -> Distribution {
        let kind = match self {
            Self::Always(value) => return Distribution::constant(value.base()),
            Self::From(kind) => kind,
        };
        let (min, max) = kind.bounds();
        let family = match kind {
            Kind::Uniform { min, max } => Family::Uniform { from: min.base(), to: max.base() },
            Kind::Exponential { mean, .. } => Family::Exponential { mean: mean.base() },
            Kind::Pareto { min, shape, .. } => Family::Pareto { least: min.base(), shape: *shape },
            Kind::Lomax { median, shape, .. } => Family::Lomax { median: median.base(), shape: *shape },
            Kind::LogNormal { median, sigma, .. } => {
                Family::LogNormal { median: median.base(), sigma: *sigma }
            }
            Kind::Weibull { scale, shape, .. } => Family::Weibull { scale: scale.base(), shape: *shape },
            Kind::Quantiles { probabilities, values, .. } => match table(probabilities, values) {
                Ok(quantiles) => Family::Quantiles(quantiles.into()),
                // It was refused when the file was read.
                Err(_) => Family::Constant(0.0),
            },
        };
        Distribution {
            family,
            min: min.map_or(0.0, Measure::base),
            max: max.map_or(f64::INFINITY, Measure::base),
        }
    }
}

fn table<Q: Measure>(
    probabilities: &[f64],
    values: &[Q],
) -> Result<Quantiles, netspurt_sim::random::distribution::QuantileError> {
    let values: Vec<f64> = values.iter().map(|value| value.base()).collect();
    Quantiles::new(probabilities, &values)
}

impl<Q: Measure> Kind<Q> {
    const fn bounds(&self) -> (Option<Q>, Option<Q>) {
        match *self {
            Self::Uniform { min, max } => (Some(min), Some(max)),
            Self::Pareto { min, max, .. } => (Some(min), max),
            Self::Exponential { min, max, .. }
            | Self::Lomax { min, max, .. }
            | Self::LogNormal { min, max, .. }
            | Self::Weibull { min, max, .. }
            | Self::Quantiles { min, max, .. } => (min, max),
        }
    }
}

impl<Q: Measure> Draws for Drawn<Q> {
    fn resolve(&mut self, files: Files<'_>) -> Result<(), Wrong> {
        let Self::From(Kind::Quantiles { probabilities, values, file, column, .. }) = self else {
            return Ok(());
        };
        let Some(name) = file.take() else {
            return match column {
                Some(_) => Err((Some("column"), "a column is one of a file: name it as \"file\"".to_owned())),
                None => Ok(()),
            };
        };
        if !probabilities.is_empty() || !values.is_empty() {
            return Err((Some("file"), "the quantiles stand in a file or here, not in both".to_owned()));
        }
        let text = files(&name).map_err(|why| (Some("file"), format!("\"{name}\" cannot be read: {why}")))?;
        let wanted = column.take();
        let read = |rows: (Vec<f64>, Vec<f64>)| {
            *probabilities = rows.0;
            *values = rows.1.into_iter().map(Q::from_bare).collect();
        };
        let key = if wanted.is_some() { "column" } else { "file" };
        columns(&text, wanted.as_deref()).map(read).map_err(|why| (Some(key), format!("\"{name}\": {why}")))
    }

    fn check(&self) -> Result<(), Wrong> {
        let Self::From(kind) = self else { return Ok(()) };
        let positive = |key: &'static str, value: f64| {
            let message = || (Some(key), format!("{key} must be a number above 0"));
            (value > 0.0 && value.is_finite()).then_some(()).ok_or_else(message)
        };
        match kind {
            Kind::Uniform { .. } => {}
            Kind::Exponential { mean, .. } => positive("mean", mean.base())?,
            Kind::Pareto { min, shape, .. } => {
                positive("min", min.base())?;
                positive("shape", *shape)?;
            }
            Kind::Lomax { median, shape, .. } => {
                positive("median", median.base())?;
                positive("shape", *shape)?;
            }
            Kind::LogNormal { median, sigma, .. } => {
                positive("median", median.base())?;
                positive("sigma", *sigma)?;
            }
            Kind::Weibull { scale, shape, .. } => {
                positive("scale", scale.base())?;
                positive("shape", *shape)?;
            }
            Kind::Quantiles { probabilities, values, .. } => {
                table(probabilities, values).map_err(|error| (None, error.to_string()))?;
            }
        }
        match kind.bounds() {
            (Some(min), Some(max)) if min.base() > max.base() => {
                Err((Some("max"), "max must not be below min".to_owned()))
            }
            _ => Ok(()),
        }
    }

    fn least(&self) -> f64 {
        match self {
            Self::Always(value) => value.base(),
            Self::From(Kind::Quantiles { values, min, .. }) => {
                let first = values.first().map_or(0.0, |value| value.base());
                min.map_or(first, |min| min.base().max(first))
            }
            Self::From(kind) => kind.bounds().0.map_or(0.0, Measure::base),
        }
    }
}

/// The columns `probability` and `wanted` of a CSV file with a line of names; without `wanted` the only other one.
fn columns(text: &str, wanted: Option<&str>) -> Result<(Vec<f64>, Vec<f64>), String> {
    let mut lines = (1..).zip(text.lines()).filter(|(_, line)| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with('#')
    });
    let names: Vec<&str> = lines
        .next()
        .map_or("", |(_, line)| line)
        .split(',')
        .map(|name| name.trim().trim_matches('"'))
        .collect();
    let others = || names.iter().copied().filter(|name| *name != "probability");
    let find = |name: &str| names.iter().position(|known| *known == name);
    let Some(shares) = find("probability") else {
        return Err(format!("there is no column \"probability\", but {}", names.join(", ")));
    };
    let wanted = match (wanted, others().count()) {
        (Some(name), _) => name,
        (None, 1) => others().next().unwrap_or_default(),
        (None, _) => {
            return Err(format!(
                "name the column of the values: {}",
                others().collect::<Vec<_>>().join(", ")
            ));
        }
    };
    let Some(values) = find(wanted) else {
        let known = crate::values::suggest::among(wanted, others());
        return Err(format!("there is no column \"{wanted}\": {known}"));
    };
    let mut read = (Vec::new(), Vec::new());
    for (number, line) in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let cell = |column: usize| {
            let text = cells.get(column).map_or("", |cell| cell.trim());
            let value = text.parse::<f64>().ok().filter(|value| *value >= 0.0);
            value.ok_or_else(|| format!("line {number}: {text:?} is no number, or below 0"))
        };
        read.0.push(cell(shares)?);
        read.1.push(cell(values)?);
    }
    Ok(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_by_name() {
        let text = "# measured\nprobability,length,time\n0,1,0.5\n 1, 2 ,0.25\n";
        assert_eq!(columns(text, Some("length")), Ok((vec![0.0, 1.0], vec![1.0, 2.0])));
        assert_eq!(columns("probability,x\n0,1\n", None), Ok((vec![0.0], vec![1.0])));
    }

    #[test]
    fn an_error_of_parsing_has_line_and_column() {
        let text = "probability,length,time\n0,1,2\n1,x,3\n";
        let error = |text, column| columns(text, column).unwrap_err();
        assert_eq!(error(text, Some("length")), "line 3: \"x\" is no number, or below 0");
        assert!(error(text, Some("lenght")).contains("did you mean \"length\"?"));
        assert_eq!(error(text, None), "name the column of the values: length, time");
        assert_eq!(error("p,x\n0,1\n", None), "there is no column \"probability\", but p, x");
        assert!(error("probability,x\n0,-1\n", None).contains("below 0"));
        assert!(error("probability,x\n0\n", None).contains("line 2"));
    }
}
