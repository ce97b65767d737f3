//! The filters of every candidate, made from the keys of one table and checked for absent keys.
//!
//! Keeps of each key its hash, to make filters from, and a fingerprint, to tell whether a made key is stored.

use filterblock::table::{ReadAt, Table};
use filterblock::{FilterBlockBuilder, FilterBlockReader, FilterPolicy as _, SharedPolicy};

use super::asked_keys::{AskedKeys, in_rounds};
use super::bits::FilterShape;
use super::entries::Entries;
use super::hash_evidence::{HashCheck, HashEvidence};
use super::input::Input;
use super::key_kinds::{ByKind, KeyKind, SIMILAR};
use super::lookups::{Asked, locate};
use super::similar_keys::SimilarKeys;
use super::walk::EntryWalk;
use crate::audit::policies::Policy;
use crate::audit::rates::{FilterWeights, SplitMix, hash, random_rate};
use crate::audit::stats::{Blocks, FilterStats};
use crate::audit::verify::FalseNegativeCount;
use crate::report::{Fault, SimilarKind};

/// Random keys to check on a level, approximately, unless [`FEWEST`] for each table tried are more.
const RANDOM: u64 = 1 << 16;
/// Keys of each kind to make for a level, approximately, unless [`FEWEST`] for each table tried are more.
const MADE: u64 = 1 << 14;
/// Keys, random or of one kind, to check in one table at least.
const FEWEST: u64 = 512;
/// Bytes of keys of one kind to make.
const MAX_MADE: usize = 16 << 20;
/// False positives after which no further round is checked: the rate is then known to within a tenth.
const ENOUGH: u64 = 400;
/// Offsets in a part count from a multiple of 2^20, so that ranges up to that size begin where they do in the table.
const PART_LG: u32 = 20;

/// What is tried in every table.
pub(super) struct Plan<'a> {
    pub(super) input: &'a Input<'a>,
    pub(super) candidates: &'a [FilterShape],
    /// Of the candidates; the filters in use are checked with it, too.
    pub(super) policy: Policy,
    pub(super) similar: &'a SimilarKeys,
    /// Random keys to check in the filters in use of one table.
    pub(super) random_keys: u64,
}

#[derive(Clone, Default, Debug)]
pub(super) struct Trial {
    pub(super) entries: u64,
    /// Of the filters in use, then of those of each candidate. `None`: the table has no sound filters of the policy, or
    /// they hide stored keys.
    pub(super) filters: Vec<Option<Answers>>,
    /// Stored keys that the filters in use hide.
    pub(super) hidden: u64,
    pub(super) hashes: HashEvidence,
}

#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub(super) struct Answers {
    /// Bytes of the filter block; 0 for the filters in use.
    pub(super) size: u64,
    /// (may match, checked)
    pub(super) passed: ByKind<(u64, u64)>,
}

/// Tries one table. `number`: its own. `tables`: the number of tables tried on its level.
pub(super) fn run<R: ReadAt>(
    table: &Table<R>,
    plan: &Plan<'_>,
    number: usize,
    tables: u64,
    asked: &Asked<'_>,
) -> Result<Trial, Fault> {
    let encoding = plan.input.encoding;
    let blocks = locate(table, asked.keys.iter().map(|(key, _)| *key), plan.input)?;
    let asked: Vec<_> =
        asked.keys.iter().zip(blocks).map(|(&(key, kind), block)| (block.offset, key, kind)).collect();
    let mut trial =
        Trial { filters: vec![Some(Answers::default()); 1 + plan.candidates.len()], ..Trial::default() };
    trial.filters[0] = None;
    let mut part = Part {
        table,
        plan,
        counts: [RANDOM, MADE].map(|of_level| (of_level / tables.max(1)).max(FEWEST)),
        policy: plan.policy.with_bits(10),
        random: SplitMix(number as u64),
        entries: Entries::default(),
    };
    let (mut hiding, mut hashes) = (FalseNegativeCount::new(table, encoding), HashCheck::new(table));
    let mut walk = EntryWalk::new(table);
    while let Some(offset) = walk.next_block()? {
        part.entries.blocks.push((offset, part.entries.prints.len()));
        hiding.begin_block(offset);
        while let Some(key) = walk.next_key()? {
            hiding.key(key);
            trial.entries += 1;
            if let Some(key) = encoding.filtered(key) {
                hashes.key(offset, key);
                part.entries.add(key, &part.policy, &mut part.random)?;
            }
        }
        hashes.end_block();
        if part.entries.is_full() || walk.is_at_last_block() {
            part.check(&asked, walk.end, &mut trial)?;
            part.entries = Entries::default();
        }
    }
    (trial.hidden, trial.hashes) = (hiding.finish(), hashes.evidence);
    // A lookup gets wrong answers from filters that hide stored keys. Such filters count as missing.
    let now = trial.filters[0].filter(|_| trial.hidden == 0);
    trial.filters[0] = now.map(|now| with_random_keys(now, table, plan.random_keys));
    Ok(trial)
}

/// Checks at most `most` random keys as `inspect` does, so that both report one rate for the same filters.
fn with_random_keys<R: ReadAt>(mut now: Answers, table: &Table<R>, most: u64) -> Answers {
    if let Some(filter) = table.filter() {
        let (filters, blocks) = (FilterStats::new(filter.clone()), Blocks::list(table));
        if let Some(rate) = random_rate(&filters, &FilterWeights::new(&filters, Some(&blocks.offsets)), most)
        {
            now.passed[KeyKind::Random] = ((rate.rate * rate.asked as f64).round() as u64, rate.asked);
        }
    }
    now
}

/// A part of a table, for whose entries filters are made.
struct Part<'a, R> {
    table: &'a Table<R>,
    plan: &'a Plan<'a>,
    /// Random keys, and keys of each other kind, to make.
    counts: [u64; 2],
    policy: SharedPolicy,
    random: SplitMix,
    entries: Entries,
}

impl<R: ReadAt> Part<'_, R> {
    /// Checks the filters of every candidate, and those in use if they are sound and of the plan's policy. `asked`: keys
    /// of lookups, with the offsets of their data blocks. `end`: of the data blocks, where LevelDB starts one more block,
    /// which stays empty.
    fn check(&mut self, asked: &[(u64, &[u8], KeyKind)], end: u64, trial: &mut Trial) -> Result<(), Fault> {
        self.entries.prints.sort_unstable();
        let mut keys: ByKind<AskedKeys> = ByKind::default();
        self.make_random(&mut keys[KeyKind::Random]);
        for kind in SIMILAR {
            self.make_similar(kind, &mut keys[KeyKind::Similar(kind)])?;
        }
        for &(offset, key, kind) in asked.iter().filter(|(offset, ..)| self.entries.holds_block(*offset)) {
            keys[kind].push(offset, key, &self.policy);
        }
        let start = self.entries.blocks.first().map_or(0, |(offset, _)| offset >> PART_LG << PART_LG);
        let mut contents = Vec::new();
        for (candidate, answers) in self.plan.candidates.iter().zip(trial.filters.iter_mut().skip(1)) {
            let answers = answers.get_or_insert_default();
            let policy = || self.plan.policy.with_bits(candidate.bits_per_key);
            let mut builder = FilterBlockBuilder::with_base_lg(policy(), candidate.base_lg)?;
            for (offset, hashes) in self.entries.hashes_by_block() {
                builder.start_block(offset - start)?;
                hashes.iter().try_for_each(|hash| builder.add_hash(*hash))?;
            }
            builder.start_block(end - start)?;
            contents.clear();
            builder.finish_into(&mut contents)?;
            answers.size += contents.len() as u64;
            answers.add(&keys, &FilterBlockReader::new(policy(), &contents[..]), start);
        }
        if let Some(filters) = self.table.filter()
            && filters.policy().name() == self.policy.name()
            && filters.check().is_ok()
        {
            let filters = FilterBlockReader::new(self.policy.clone(), filters.contents());
            trial.filters[0].get_or_insert_default().add(&keys, &filters, 0);
        }
        Ok(())
    }

    /// Spreads the keys evenly over the entries, and so those of each round.
    fn make_random(&mut self, keys: &mut AskedKeys) {
        let (count, [wanted, _]) = (self.entries.prints.len() as u128, self.counts);
        for number in in_rounds(if count > 0 { wanted as usize } else { 0 }) {
            let at = (number as u128 * count / u128::from(wanted)) as usize;
            if let Some(offset) = self.entries.block_of(at) {
                let key = [self.random.next(), self.random.next()].map(u64::to_le_bytes);
                keys.push(offset, key.as_flattened(), &self.policy);
            }
        }
    }

    /// Leaves out made keys that are stored, or outside the range of the entries.
    fn make_similar(&mut self, kind: SimilarKind, keys: &mut AskedKeys) -> Result<(), Fault> {
        let Self { plan, entries, policy, counts: [_, wanted], .. } = self;
        let (order, Some(first)) = (plan.input.order, &entries.first) else { return Ok(()) };
        let (mut made, mut bytes) = (Vec::new(), 0);
        // The seeds of a table with few entries are in key order: the step spreads the seeds used over it.
        let step = entries.seeds.len().div_ceil((*wanted as usize).max(1)).max(1);
        for (seed, next) in entries.seeds.iter().step_by(step).cycle().take(*wanted as usize) {
            let Some(key) = plan.similar.make(kind, seed, next.as_deref(), &mut self.random) else {
                continue;
            };
            bytes += key.len();
            if bytes > MAX_MADE {
                break;
            }
            let is_within = order.compare(first, &key).is_lt() && order.compare(&key, &entries.last).is_lt();
            // Bytes not in the canonical form may equal a stored key, and programs do not look up bytes that are no key.
            let is_within = is_within && order.can_be_filtered(&key);
            if is_within && entries.prints.binary_search(&hash(&key)).is_err() {
                made.push(key);
            }
        }
        made.sort_by(|a, b| order.compare(a, b));
        let blocks = locate(self.table, made.iter().map(Vec::as_slice), plan.input)?;
        for at in in_rounds(blocks.len()) {
            if let Some((key, block)) = made.get(at).zip(blocks.get(at))
                && entries.holds_block(block.offset)
            {
                keys.push(block.offset, key, policy);
            }
        }
        Ok(())
    }
}

impl Answers {
    /// Checks keys of each kind; made-up keys only until enough of them may match.
    fn add<B: AsRef<[u8]>>(
        &mut self,
        keys: &ByKind<AskedKeys>,
        filters: &FilterBlockReader<SharedPolicy, B>,
        start: u64,
    ) {
        for kind in KeyKind::all() {
            let are_made_up = matches!(kind, KeyKind::Random | KeyKind::Similar(_));
            let enough = if are_made_up { ENOUGH } else { u64::MAX };
            let (passed, checked) = keys[kind].check(filters, start, enough);
            let sums = &mut self.passed[kind];
            *sums = (sums.0 + passed, sums.1 + checked);
        }
    }
}
