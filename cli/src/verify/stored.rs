//! The filters, asked for every stored key.

use filterblock::{FilterBlockReader, FilterPolicy};

use super::finding::{Code, Finding, Findings, key_text};
use super::reading::Reading;

/// Counts the stored keys that their filters deny.
pub(super) struct Stored<'a, P: FilterPolicy, B: AsRef<[u8]>> {
    filters: &'a FilterBlockReader<P, B>,
    readings: Vec<Denials>,
    /// The data block being asked about, and how many keys it has had so far.
    offset: u64,
    keys: u64,
}

/// What the filters deny, for one way to read the keys.
struct Denials {
    reading: Reading,
    total: u64,
    /// Keys that cannot be read this way. They match every filter.
    misfits: u64,
    /// In the data block being asked about.
    in_block: u64,
    first: Vec<u8>,
    findings: Findings,
}

impl<'a, P: FilterPolicy, B: AsRef<[u8]>> Stored<'a, P, B> {
    /// With several readings, the one which fits the most keys is taken to be right.
    pub(super) fn new(filters: &'a FilterBlockReader<P, B>, readings: &[Reading]) -> Self {
        let readings = readings.iter().map(|&reading| Denials {
            reading,
            total: 0,
            misfits: 0,
            in_block: 0,
            first: Vec::new(),
            findings: Findings::default(),
        });
        Self { filters, readings: readings.collect(), offset: 0, keys: 0 }
    }

    pub(super) fn begin_block(&mut self, offset: u64) {
        self.offset = offset;
        self.keys = 0;
    }

    #[inline]
    pub(super) fn key(&mut self, key: &[u8]) {
        self.keys += 1;
        for denials in &mut self.readings {
            let Some(filtered) = denials.reading.filtered(key) else {
                denials.misfits += 1;
                continue;
            };
            if !self.filters.key_may_match(self.offset, filtered) {
                denials.note(filtered);
            }
        }
    }

    pub(super) fn end_block(&mut self) {
        let (offset, keys, base_lg) = (self.offset, self.keys, self.filters.base_lg());
        for denials in &mut self.readings {
            let denied = std::mem::take(&mut denials.in_block);
            if denied == 0 {
                continue;
            }
            denials.total += denied;
            let first = &denials.first;
            denials.findings.add(Code::FilterDeniesKey, || {
                let filter = offset.checked_shr(base_lg.into()).unwrap_or_default();
                let expected = format!("filter {filter} to let the stored key {} pass", key_text(first));
                let found = format!("it denied, one of {denied} among the {keys} keys of this data block");
                Finding::new(Code::FilterDeniesKey, offset, expected, found)
            });
        }
    }

    /// How many keys are denied, and the findings.
    pub(super) fn finish(self) -> (u64, Findings) {
        let best = self.readings.into_iter().min_by_key(|denials| denials.total + denials.misfits);
        best.map(|denials| (denials.total, denials.findings)).unwrap_or_default()
    }
}

impl Denials {
    #[cold]
    fn note(&mut self, key: &[u8]) {
        if self.in_block == 0 {
            self.first.clear();
            self.first.extend_from_slice(key);
        }
        self.in_block += 1;
    }
}
