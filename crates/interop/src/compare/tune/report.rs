//! The report, in Markdown, and predictions compared with measurements.

use std::collections::BTreeMap;
use std::fmt;

use filterblock_engine::report::Estimate;

use super::measure::Mean;

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
    /// The verdict, in a word.
    pub(super) verdict: &'static str,
    /// The size of all tables.
    pub(super) bytes: u64,
    pub(super) rows: Vec<Row>,
}

/// The predictions for the database with some filters, and the measured numbers.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) what: &'static str,
    /// The bits per key. `None`: those in use.
    pub(super) bits_per_key: Option<u32>,
    pub(super) compared: Vec<Compared>,
    /// True if the same filters were measured before under another name.
    pub(super) is_repeated: bool,
}

/// A rebuild pays if lookups of some kind read this many blocks fewer.
const READS: f64 = 0.1;
/// A database with fewer bytes of tables is fine.
const FLOOR: u64 = 1 << 20;

/// The columns of the report.
const WHATS: [&str; 5] = ["random", "similar", "lookups", "stored", "size"];

impl Row {
    fn bits(&self) -> String {
        self.bits_per_key.map(|bits| bits.to_string()).unwrap_or_default()
    }
}

impl Database {
    fn row(&self, what: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.what == what)
    }

    /// The faults of the advice: a rebuild for little, and one by which lookups save less than is promised.
    fn faults_of_advice(&self) -> Vec<String> {
        let mut faults = Vec::new();
        if self.bytes < FLOOR && self.verdict != "fine" {
            faults.push(format!("{} for {} bytes of tables", self.verdict, self.bytes));
        }
        let of = |row: &Row, what: &str| row.compared.iter().find(|of| of.what == what).map(|of| of.measured);
        if let (Some(now), Some(then)) = (self.row("now"), self.row("advice")) {
            let saved = ["random", "lookups", "stored"]
                .map(|what| of(now, what).zip(of(then, what)).map_or(0.0, |(now, then)| now - then));
            let saved = saved.into_iter().fold(0.0, f64::max);
            let shrinks = of(now, "size").zip(of(then, "size")).is_some_and(|(now, then)| then <= 0.75 * now);
            if saved < READS * (1.0 - SHARE) && !shrinks {
                faults.push(format!("a rebuild saves {saved:.4} blocks"));
            }
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
                    faults.push(format!("{}, {} {}: {fault}", database.name, row.what, row.bits()));
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
        write!(f, "| database | verdict | filters: bits per key |")?;
        WHATS.iter().try_for_each(|what| write!(f, " {what} |"))?;
        writeln!(f, "\n|---|---|---|---|---|---|---|---|")?;
        for database in &self.databases {
            let levels: Vec<_> =
                database.levels.iter().map(|(level, tables)| format!("{level}: {tables}")).collect();
            let (sample, tables) = database.sample;
            let mut name = format!(
                "{}: {} entries, tables by level {}; {sample} of {tables} read | {}",
                database.name,
                database.entries,
                levels.join(", "),
                database.verdict
            );
            for row in database.measured() {
                write!(
                    f,
                    "| {} | {} {} |",
                    std::mem::replace(&mut name, " |".to_owned()),
                    row.what,
                    row.bits()
                )?;
                for what in WHATS {
                    match row.compared.iter().find(|compared| compared.what == what) {
                        Some(compared) => write!(f, " {compared} |")?,
                        None => write!(f, " |")?,
                    }
                }
                writeln!(f)?;
            }
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
    /// One of [`WHATS`].
    pub(super) what: &'static str,
    pub(super) predicted: f64,
    pub(super) measured: f64,
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
        // The standard error that the interval stands for.
        let of_prediction = (predicted.high - predicted.low) / 2.0 / 1.96;
        let error = of_prediction.hypot(measured.error);
        let errors = if difference == 0.0 { 0.0 } else { difference / error };
        let is_close = difference.abs() <= (SHARE * measured.value).max(NOTHING);
        let own = 1.96 * measured.error;
        let is_held = (predicted.low - own..=predicted.high + own).contains(&measured.value);
        let is_vague = of_prediction > WIDEST / 2.0 * predicted.value.max(LEAST);
        let fault = if !is_close && errors.abs() > ERRORS {
            Some(format!("{what}: {errors:.1} standard errors off; measured by level: {levels:.4?}"))
        } else if !is_close && is_vague {
            Some(format!("{what}: predicted with a standard error of {:.4}", of_prediction))
        } else {
            None
        };
        let (measured, errors) = (measured.value, Some(errors));
        Self { what, predicted: predicted.value, measured, errors, is_held, fault }
    }

    /// Compares the size of filter blocks in bytes.
    pub(super) fn size(predicted: f64, measured: u64) -> Self {
        let measured = measured as f64;
        let is_close = (predicted - measured).abs() <= SIZE_SHARE * measured;
        let fault = (!is_close).then(|| format!("size: {predicted:.0} instead of {measured:.0}"));
        Self { what: "size", predicted, measured, errors: None, is_held: is_close, fault }
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
