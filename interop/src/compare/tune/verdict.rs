//! Predictions compared with measurements.

use std::collections::BTreeMap;
use std::fmt;

use super::measure::Mean;
use super::predicted::Estimate;

/// The error that is permitted for reads, as a share, and in standard errors: of hundreds of predictions, one is off
/// by three standard errors by chance.
const SHARE: f64 = 0.1;
const ERRORS: f64 = 4.0;
/// Smaller differences are ignored. They come from a few reads in all, and the errors of so few reads are not
/// normally distributed.
const NOTHING: f64 = 0.0005;
/// The error that is permitted for the size of filters, as a share.
const SIZE_SHARE: f64 = 0.02;
/// An interval that reaches this far to either side, as a share of its number, says too little to excuse a
/// difference.
const WIDEST: f64 = 0.5;
/// With fewer reads for a lookup, a share says nothing: the interval may be as wide as for this many.
const LEAST: f64 = 0.004;

/// A predicted number and the measured one, and whether they agree.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Compared {
    /// "random", "changed", "between", "cut", "longer", "present", "lookups" or "size".
    pub(super) what: &'static str,
    pub(super) predicted: f64,
    pub(super) measured: f64,
    /// Half the width of the predicted interval; 0 for a size.
    pub(super) half: f64,
    /// The difference in standard errors; `None` for a size, which has no standard error.
    pub(super) errors: Option<f64>,
    /// True if the measured number is in the predicted interval, allowing for its own error. For a size: true if there
    /// is no fault.
    pub(super) is_held: bool,
    /// The reason why the prediction does not hold, if it does not.
    pub(super) fault: Option<String>,
}

impl Compared {
    /// Compares the block reads of a lookup. `levels`: the measured reads on each level.
    pub(super) fn reads(
        what: &'static str,
        predicted: Estimate,
        measured: Mean,
        levels: &BTreeMap<u8, f64>,
    ) -> Self {
        let difference = predicted.value - measured.value;
        let error = predicted.error().hypot(measured.error);
        let errors = if difference == 0.0 { 0.0 } else { difference / error };
        let is_close = difference.abs() <= (SHARE * measured.value).max(NOTHING);
        let own = 1.96 * measured.error;
        let is_held = (predicted.low - own..=predicted.high + own).contains(&measured.value);
        let is_vague = predicted.error() > WIDEST / 2.0 * predicted.value.max(LEAST);
        let fault = if !is_close && errors.abs() > ERRORS {
            Some(format!("{what}: {errors:.1} standard errors off; measured by level: {levels:.4?}"))
        } else if !is_close && is_vague {
            Some(format!("{what}: predicted with a standard error of {:.4}", predicted.error()))
        } else {
            None
        };
        let (measured, errors) = (measured.value, Some(errors));
        let half = (predicted.high - predicted.low) / 2.0;
        Self { what, predicted: predicted.value, measured, half, errors, is_held, fault }
    }

    /// Compares the size of filter blocks in bytes.
    pub(super) fn size(predicted: Estimate, measured: u64) -> Self {
        let (predicted, measured) = (predicted.value, measured as f64);
        let is_close = (predicted - measured).abs() <= SIZE_SHARE * measured;
        let fault = (!is_close).then(|| format!("size: {predicted:.0} instead of {measured:.0}"));
        Self { what: "size", predicted, measured, half: 0.0, errors: None, is_held: is_close, fault }
    }

    /// The predicted number divided by the measured one; 1 if both are the same.
    pub(super) fn ratio(&self) -> f64 {
        if self.predicted == self.measured { 1.0 } else { self.predicted / self.measured }
    }
}

impl fmt::Display for Compared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { predicted, measured, .. } = self;
        match self.errors {
            None => write!(f, "{predicted:.0} / {measured:.0} = {:.3}", self.ratio())?,
            Some(errors) => write!(f, "{predicted:.4} / {measured:.4} = {:.2} ({errors:+.1})", self.ratio())?,
        }
        if self.fault.is_some() { f.write_str(" **off**") } else { Ok(()) }
    }
}
