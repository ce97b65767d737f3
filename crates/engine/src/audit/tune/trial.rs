//! The filters of every candidate, made from the keys of one table and checked for absent keys.
//!
//! Keeps of each key its hash, to make filters from, and a fingerprint, to tell whether a made key is stored.

use filterblock::table::{ReadAt, Table};
use filterblock::{FilterBlockBuilder, FilterBlockReader, FilterPolicy as _, Result, SharedPolicy};

use super::candidates::Candidate;
use super::entries::{Entries, over_limit};
use super::hash_evidence::{HashCheck, HashEvidence};
use super::key_kinds::{ASKED, AskedKeys, KeyKind, QUESTIONS, ROUND, locate};
use super::similar_keys::SimilarKeys;
use crate::audit::rates::{FilterWeights, SplitMix, hash, random_rate};
use crate::audit::stats::{Blocks, FilterStats};
use crate::audit::verify::FalseNegativeCount;
use crate::report::{ErrorKind, SimilarKind, TuneFailure};
use crate::{
    audit::key_encoding::KeyEncoding, audit::order::KeyOrder, audit::policies::Policy,
    audit::reading::decode_limit_of,
};

/// Bytes of keys of one kind to make.
const MAX_MADE: usize = 16 << 20;
/// False positives after which no further round is checked: the rate is then known to within a tenth.
const ENOUGH: u64 = 400;
/// Offsets in a part count from a multiple of 2^20, so that ranges up to that size begin where they do in the table.
const PART_LG: u32 = 20;

pub(super) struct Plan<'a> {
    pub(super) candidates: &'a [Candidate],
    /// Of the candidates; the filters in use are checked with it, too.
    pub(super) policy: Policy,
    pub(super) encoding: KeyEncoding,
    pub(super) order: KeyOrder,
    pub(super) similar: &'a SimilarKeys,
    /// Random keys to check in each part of the table.
    pub(super) random: u64,
    /// Keys of each kind to make for each part of the table.
    pub(super) made: u64,
    /// Random keys to check in the filters in use.
    pub(super) random_keys: u64,
    /// Makes the questions of tables differ.
    pub(super) seed: u64,
}

#[derive(Clone, Default, Debug)]
pub(super) struct Trial {
    pub(super) entries: u64,
    pub(super) candidates: Vec<Answers>,
    /// Of the filters in use. `None`: the table has no sound filters of the policy, or they hide stored keys.
    pub(super) now: Option<Answers>,
    /// Stored keys that the filters in use hide.
    pub(super) hidden: u64,
    pub(super) hashes: HashEvidence,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Answers {
    /// Bytes of the filter block; 0 for the filters in use.
    pub(super) size: u64,
    /// (may match, checked), by [`KeyKind`].
    pub(super) passed: [(u64, u64); ASKED],
}

/// `sought`: the keys of lookups that check this table in vain, in key order, and their kinds.
pub(super) fn run<R: ReadAt>(
    table: &Table<R>,
    plan: &Plan<'_>,
    sought: &[(&[u8], KeyKind)],
) -> std::result::Result<Trial, TuneFailure> {
    let policy = &plan.policy.with_bits(10);
    let offsets = locate(table, sought.iter().map(|(key, _)| *key), (plan.encoding, plan.order))?;
    let mut trial = Trial { candidates: vec![Answers::default(); plan.candidates.len()], ..Trial::default() };
    let mut random = SplitMix(plan.seed);
    let mut entries = Entries::default();
    let mut left = decode_limit_of(table);
    let (mut hiding, mut hashes) = (FalseNegativeCount::new(table, plan.encoding), HashCheck::new(table));
    let mut block = table.index();
    let mut end = 0;
    let mut handles = table.data_blocks().peekable();
    while let Some(handle) = handles.next() {
        let handle = handle?;
        check_decoded(left)?;
        // LevelDB writes blocks one after the other. No filters can be made for blocks in another order.
        if handle.offset < end {
            return Err(out_of_order(handle.offset, end));
        }
        end = handle.end().unwrap_or(u64::MAX);
        block.enter(table, handle)?;
        left = left.saturating_sub(block.size() as u64);
        entries.blocks.push((handle.offset, entries.prints.len()));
        hiding.begin_block(handle.offset);
        hashes.begin_block(handle.offset);
        while block.next()? {
            hiding.key(block.key());
            // Many long keys may be stored in few bytes.
            check_decoded(left)?;
            left = left.saturating_sub(block.key().len() as u64);
            trial.entries += 1;
            if let Some(key) = plan.encoding.filtered(block.key()) {
                hashes.key(key);
                entries.add(key, policy, &mut random)?;
            }
        }
        if entries.is_full() || handles.peek().is_none() {
            entries.prints.sort_unstable();
            let mut questions = made_questions(&entries, table, plan, policy, &mut random)?;
            for (&(key, kind), &offset) in sought.iter().zip(&offsets) {
                if let Some(questions) =
                    questions.get_mut(kind.place()).filter(|_| entries.holds_block(offset))
                {
                    questions.push(offset, key, policy);
                }
            }
            try_all(&entries, &questions, end, plan, &mut trial)?;
            check_present_filters(table, &questions, plan, &mut trial);
            entries = Entries::default();
        }
    }
    (trial.hidden, trial.hashes) = (hiding.finish(), hashes.finish());
    // A lookup gets wrong answers from filters that hide stored keys. Such filters count as missing.
    trial.now = trial.now.filter(|_| trial.hidden == 0);
    if let Some(now) = &mut trial.now {
        check_random_keys(table, plan.random_keys, now);
    }
    Ok(trial)
}

fn check_decoded(left: u64) -> std::result::Result<(), TuneFailure> {
    let text = "its blocks and keys are larger than the limit on what is decoded";
    if left == 0 { Err(over_limit(text)) } else { Ok(()) }
}

fn out_of_order(offset: u64, end: u64) -> TuneFailure {
    let text =
        format!("expected data blocks one behind the other, found one at offset {offset} before {end}");
    TuneFailure::new(text, ErrorKind::Damaged)
}

/// Makes up random keys, and keys similar to stored ones, to check in the filters of these entries.
fn made_questions<R: ReadAt>(
    entries: &Entries,
    table: &Table<R>,
    plan: &Plan<'_>,
    policy: &SharedPolicy,
    random: &mut SplitMix,
) -> std::result::Result<[AskedKeys; ASKED], TuneFailure> {
    let mut questions: [AskedKeys; ASKED] = std::array::from_fn(|_| AskedKeys::default());
    for (question, questions) in QUESTIONS.into_iter().zip(&mut questions) {
        match question {
            KeyKind::Random => random_keys(questions, entries, plan, policy, random),
            KeyKind::Similar(kind) => made_keys(kind, questions, entries, table, plan, policy, random)?,
            KeyKind::Present | KeyKind::Own | KeyKind::Stranger(_) => {}
        }
    }
    Ok(questions)
}

fn random_keys(
    questions: &mut AskedKeys,
    entries: &Entries,
    plan: &Plan<'_>,
    policy: &SharedPolicy,
    random: &mut SplitMix,
) {
    let count = entries.prints.len() as u64;
    if count == 0 {
        return;
    }
    // The questions are spread evenly over the entries, and so are those of each round.
    for number in in_rounds(plan.random as usize) {
        let at = (number as u128 * u128::from(count) / u128::from(plan.random)) as usize;
        if let Some(offset) = entries.block_of(at) {
            questions.push_random(offset, random, policy);
        }
    }
}

/// Leaves out made keys that are stored, or outside the range of the entries.
fn made_keys<R: ReadAt>(
    kind: SimilarKind,
    questions: &mut AskedKeys,
    entries: &Entries,
    table: &Table<R>,
    plan: &Plan<'_>,
    policy: &SharedPolicy,
    random: &mut SplitMix,
) -> Result<()> {
    let Some(first) = &entries.first else { return Ok(()) };
    let (mut made, mut bytes) = (Vec::new(), 0);
    // The seeds of a table with few entries are in key order: the step spreads the seeds used over it.
    let (count, wanted) = (entries.seeds.len(), plan.made as usize);
    let step = count.div_ceil(wanted.max(1)).max(1);
    for (seed, next) in entries.seeds.iter().step_by(step).cycle().take(wanted) {
        let mut key = Vec::new();
        if !plan.similar.make(kind, seed, next.as_deref(), random, &mut key) {
            continue;
        }
        bytes += key.len();
        if bytes > MAX_MADE {
            break;
        }
        let is_within =
            plan.order.compare(first, &key).is_lt() && plan.order.compare(&key, &entries.last).is_lt();
        // Bytes not in the canonical form may equal a stored key, and programs do not look up bytes that are no key.
        let is_within = is_within && plan.order.can_be_filtered(&key);
        if is_within && entries.prints.binary_search(&hash(&key)).is_err() {
            made.push(key);
        }
    }
    made.sort_by(|a, b| plan.order.compare(a, b));
    let offsets = locate(table, made.iter().map(Vec::as_slice), (plan.encoding, plan.order))?;
    for at in in_rounds(offsets.len()) {
        let (Some(key), Some(&offset)) = (made.get(at), offsets.get(at)) else { continue };
        if entries.holds_block(offset) {
            questions.push(offset, key, policy);
        }
    }
    Ok(())
}

/// Spreads each round, of at most [`ROUND`] numbers, over all numbers below `count`.
fn in_rounds(count: usize) -> impl Iterator<Item = usize> {
    let rounds = count.div_ceil(ROUND).max(1);
    (0..rounds).flat_map(move |round| (round..count).step_by(rounds))
}

/// `end`: of the data blocks, where LevelDB starts one more block, which stays empty.
fn try_all(
    entries: &Entries,
    questions: &[AskedKeys; ASKED],
    end: u64,
    plan: &Plan<'_>,
    trial: &mut Trial,
) -> Result<()> {
    let start = entries.blocks.first().map_or(0, |(offset, _)| offset >> PART_LG << PART_LG);
    let mut contents = Vec::new();
    for (candidate, answers) in plan.candidates.iter().zip(&mut trial.candidates) {
        let policy = || plan.policy.with_bits(candidate.bits_per_key);
        let mut builder = FilterBlockBuilder::with_base_lg(policy(), candidate.base_lg)?;
        let ends = entries.blocks.iter().skip(1).map(|(_, before)| *before).chain([entries.prints.len()]);
        for (&(offset, from), to) in entries.blocks.iter().zip(ends) {
            builder.start_block(offset - start)?;
            for hash in entries.hashes.get(from..to).unwrap_or_default() {
                builder.add_hash(*hash)?;
            }
        }
        builder.start_block(end - start)?;
        contents.clear();
        builder.finish_into(&mut contents)?;
        answers.size += contents.len() as u64;
        check(&FilterBlockReader::new(policy(), &contents[..]), questions, start, answers);
    }
    Ok(())
}

/// Checks keys of each kind; made-up keys only until enough of them may match.
fn check<B: AsRef<[u8]>>(
    reader: &FilterBlockReader<SharedPolicy, B>,
    questions: &[AskedKeys; ASKED],
    start: u64,
    answers: &mut Answers,
) {
    for ((question, questions), (passed, asked)) in
        QUESTIONS.into_iter().zip(questions).zip(&mut answers.passed)
    {
        let are_made_up = matches!(question, KeyKind::Random | KeyKind::Similar(_));
        let enough = if are_made_up { ENOUGH } else { u64::MAX };
        let before = *passed;
        let index = |offset: u64| index_at(reader, offset - start);
        let mut from = 0;
        for run in questions
            .blocks
            .chunk_by(|one, next| one.end % ROUND != 0 && index(one.offset) == index(next.offset))
        {
            if from % ROUND == 0 {
                if *passed - before >= enough {
                    break;
                }
                *asked += (questions.len() - from).min(ROUND) as u64;
            }
            let to = run.last().map_or(from, |last| last.end);
            let filter = run.first().and_then(|first| reader.filter(index(first.offset)?));
            *passed += match filter {
                // Without a filter every key may match; an empty one rules out every key.
                None => (to - from) as u64,
                Some([]) => 0,
                Some(filter) => questions.passed(from..to, reader.policy(), filter),
            };
            from = to;
        }
    }
}

/// `None`: no block has so many filters.
fn index_at<B: AsRef<[u8]>>(reader: &FilterBlockReader<SharedPolicy, B>, offset: u64) -> Option<usize> {
    usize::try_from(offset.checked_shr(reader.base_lg().into()).unwrap_or(0)).ok()
}

/// Checks at most `most` random keys as `inspect` does, so that both report one rate for the same filters.
fn check_random_keys<R: ReadAt>(table: &Table<R>, most: u64, now: &mut Answers) {
    let Some(filter) = table.filter() else { return };
    let (filters, blocks) = (FilterStats::new(filter.clone()), Blocks::list(table));
    let rate = random_rate(&filters, &FilterWeights::new(&filters, Some(&blocks.offsets)), most);
    if let (Some(passed), Some(rate)) = (now.passed.get_mut(KeyKind::Random.place()), rate) {
        *passed = ((rate.rate * rate.asked as f64).round() as u64, rate.asked);
    }
}

/// Checks the filters in use, if they are sound and of the plan's policy.
fn check_present_filters<R: ReadAt>(
    table: &Table<R>,
    questions: &[AskedKeys; ASKED],
    plan: &Plan<'_>,
    trial: &mut Trial,
) {
    let policy = plan.policy.with_bits(10);
    let filter =
        table.filter().filter(|reader| reader.policy().name() == policy.name() && reader.check().is_ok());
    let Some(filter) = filter else { return };
    let reader = FilterBlockReader::new(policy, filter.contents());
    check(&reader, questions, 0, trial.now.get_or_insert_default());
}
