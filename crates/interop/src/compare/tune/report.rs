//! The report, in Markdown, and predictions compared with measurements.

use std::collections::BTreeMap;
use std::fmt;

use super::measure::Mean;
use super::predicted::Estimate;

/// The comparisons of all databases.
#[derive(Debug, Default)]
pub struct Report {
    pub(super) databases: Vec<Database>,
}

#[derive(Debug)]
pub(super) struct Database {
    pub(super) name: String,
    /// The number of tables of each level.
    pub(super) levels: BTreeMap<u8, u64>,
    pub(super) entries: usize,
    /// The number of tables that `tune` read, and of all tables.
    pub(super) sample: (u64, u64),
    /// The advice, in a word.
    pub(super) action: String,
    /// The size of all tables.
    pub(super) bytes: u64,
    /// The number of keys of each kind that were asked for.
    pub(super) lookups: usize,
    pub(super) rows: Vec<Row>,
}

/// The predictions for the database with some filters, and the measured numbers.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) what: &'static str,
    /// Bits a key, and `base_lg`.
    pub(super) filters: String,
    pub(super) compared: Vec<Compared>,
    /// The predicted reads of an absent key, by which the advice goes.
    pub(super) absent: f64,
    /// The kind of that absent key, if no lookups of the user's are known.
    pub(super) absent_of: &'static str,
    /// True if the same filters were measured before under another name.
    pub(super) is_repeated: bool,
}

/// A rise by fewer blocks does not count.
const THOUSANDTH: f64 = 0.001;

/// A database with fewer bytes of tables is left as it is.
const FLOOR: u64 = 1 << 20;

/// The columns of the report.
const WHATS: [&str; 8] = ["random", "changed", "between", "cut", "longer", "lookups", "present", "size"];

impl Row {
    fn bytes(&self) -> f64 {
        let size = self.compared.iter().find(|compared| compared.what == "size");
        size.map_or(f64::NAN, |size| size.measured)
    }

    fn measured_absent(&self) -> f64 {
        let of = |what: &str| self.compared.iter().find(|compared| compared.what == what);
        of("lookups").or_else(|| of(self.absent_of)).map_or(f64::NAN, |compared| compared.measured)
    }
}

impl Database {
    fn row(&self, what: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.what == what)
    }

    /// Returns the kinds of keys for which LevelDB reads more with the filters advised than before. A rise does not
    /// count if it may be chance, if it lies within the intervals of the predictions, or if it is at most a
    /// thousandth of a block.
    fn rises(&self) -> Vec<String> {
        let (Some(now), Some(advised)) = (self.row("now"), self.row("advice")) else { return Vec::new() };
        let pairs = now.compared.iter().filter(|now| now.what != "size").filter_map(|now| {
            let then = advised.compared.iter().find(|then| then.what == now.what)?;
            let chance = 4.0 * ((now.measured + then.measured) / self.lookups as f64).sqrt();
            let slack = chance.max(now.half.hypot(then.half)).max(THOUSANDTH);
            let is_more = then.measured > now.measured + slack;
            is_more
                .then(|| format!("{}: {:.4} blocks instead of {:.4}", now.what, then.measured, now.measured))
        });
        pairs.collect()
    }

    /// The faults of the advice.
    fn faults_of_advice(&self) -> Vec<String> {
        let mut faults = self.rises();
        if self.bytes < FLOOR && self.action != "leave" {
            faults.push(format!("{} for {} bytes of tables", self.action, self.bytes));
        }
        faults
    }

    fn measured(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| !row.is_repeated)
    }
}

impl Report {
    /// The number of databases.
    pub fn databases(&self) -> usize {
        self.databases.len()
    }

    /// The number of predictions compared.
    pub fn compared(&self) -> usize {
        self.all().count()
    }

    /// The number of predictions of reads whose 95 % interval holds what was measured, and of all predictions of
    /// reads.
    pub fn held(&self) -> (usize, usize) {
        let reads = || self.all().filter(|compared| compared.what != "size");
        (reads().filter(|compared| compared.is_held).count(), reads().count())
    }

    /// The number of predictions of reads that are within a tenth of what was measured. The other predictions are off
    /// by at most 0.0005 blocks, are within four standard errors, or are faults.
    pub fn within_a_tenth(&self) -> usize {
        let is_within = |compared: &&Compared| (0.9..=1.1).contains(&compared.ratio());
        self.all().filter(|compared| compared.what != "size").filter(is_within).count()
    }

    /// The faults: everything that does not hold.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for database in &self.databases {
            faults.extend(
                database.faults_of_advice().into_iter().map(|fault| format!("{}, {fault}", database.name)),
            );
            for row in database.measured() {
                for fault in row.compared.iter().filter_map(|compared| compared.fault.as_ref()) {
                    faults.push(format!("{}, {} {}: {fault}", database.name, row.what, row.filters));
                }
            }
        }
        faults
    }

    fn all(&self) -> impl Iterator<Item = &Compared> {
        self.databases.iter().flat_map(Database::measured).flat_map(|row| &row.compared)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "Block reads a lookup and bytes of filters, predicted / measured = ratio (standard errors).\n"
        )?;
        write!(f, "| database | filters: bits; base_lg |")?;
        WHATS.iter().try_for_each(|what| write!(f, " {what} |"))?;
        writeln!(f, "\n|---|---|---|---|---|---|---|")?;
        for database in &self.databases {
            let levels: Vec<_> =
                database.levels.iter().map(|(level, tables)| format!("{level}: {tables}")).collect();
            let (sample, tables) = database.sample;
            let mut name = format!(
                "{}: {} entries, tables by level {}; {sample} of {tables} read",
                database.name,
                database.entries,
                levels.join(", ")
            );
            for row in database.measured() {
                write!(f, "| {} | {} {} |", std::mem::take(&mut name), row.what, row.filters)?;
                for what in WHATS {
                    match row.compared.iter().find(|compared| compared.what == what) {
                        Some(compared) => write!(f, " {compared} |")?,
                        None => write!(f, " |")?,
                    }
                }
                writeln!(f)?;
            }
        }
        writeln!(
            f,
            "\nBits by level beside the same on all levels, at one budget: block reads of an absent key.\n"
        )?;
        writeln!(
            f,
            "| database | same bits | by level | bytes | gain predicted | gain measured |\n|---|---|---|---|---|---|"
        )?;
        for database in &self.databases {
            let (Some(uniform), Some(by_level)) = (database.row("uniform"), database.row("by level")) else {
                continue;
            };
            let gain = |of: fn(&Row) -> f64| of(uniform) / of(by_level);
            writeln!(
                f,
                "| {} | {} | {} | {} and {} | {:.2} | {:.2} |",
                database.name,
                uniform.filters,
                by_level.filters,
                uniform.bytes(),
                by_level.bytes(),
                gain(|row| row.absent),
                gain(Row::measured_absent)
            )?;
        }
        let (held, reads) = self.held();
        write!(
            f,
            "\n{} databases, {} predictions, {} of reads within a tenth, {held} of {reads} in their intervals, {} faults",
            self.databases(),
            self.compared(),
            self.within_a_tenth(),
            self.faults().len()
        )
    }
}

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
