//! Times queries to filters that lie in memory and not in the caches, and the time that the memory alone takes.

use std::cell::Cell;
use std::hint::black_box;
use std::sync::Arc;

use anyhow::{Result, ensure};
use filterblock::{BloomFilterPolicy, FilterBlockReader, InternalFilterPolicy, SharedPolicy};
use filterblock_interop::leveldb::speed::{Loops, Queries};
use filterblock_interop::random::Random;
use memmap2::{Advice, MmapMut};

use super::asking::{block, check, many, single, sstable};
use super::data::{Asked, Kind, RANGE, SUFFIX, keys};
use super::report::{Row, Section};
use super::timing::{Aims, Measure, Turns};

const PER_FILTER: usize = 40;
/// The number of different filters. The other filters are copies of them, at other addresses.
const DISTINCT: usize = 1000;
/// The number of queries of a round. Each round has other queries. The first queries come again once their filters
/// have left the caches.
const ROUND: usize = 10_000;

/// A filter block, the place where its offsets start, and the number of its filters.
struct Filters {
    memory: MmapMut,
    offsets: usize,
    number: usize,
}

impl Filters {
    /// Fills memory with copies of the filters. `pages` advises the system to use pages of 4 KiB or huge ones.
    fn new(present: &[Vec<u8>], megabytes: usize, pages: Advice) -> Result<Self> {
        let few = block(present, 10, PER_FILTER);
        let few = FilterBlockReader::new(BloomFilterPolicy::new(10), &few[..]);
        let filters: Vec<&[u8]> = (0..DISTINCT).filter_map(|index| few.filter(index)).collect();
        let size = filters[0].len();
        ensure!(filters.iter().all(|filter| filter.len() == size), "filters of one size expected");
        let number = megabytes * 1_000_000 / (size + 4);
        let offsets = number * size;
        let mut memory = MmapMut::map_anon(offsets + 4 * number + 5)?;
        memory.advise(pages)?;
        let (data, array) = memory.split_at_mut(offsets);
        for (index, filter) in data.chunks_exact_mut(size).enumerate() {
            filter.copy_from_slice(filters[index % DISTINCT]);
        }
        for (index, offset) in array.chunks_exact_mut(4).enumerate() {
            offset.copy_from_slice(&u32::try_from(index * size)?.to_le_bytes());
        }
        *array.last_mut().expect("the base") = 11;
        Ok(Self { memory, offsets, number })
    }

    fn asked(&self, kind: Kind, rounds: usize, present: &[Vec<u8>], absent: &[Vec<u8>]) -> Vec<Asked> {
        let mut random = Random::new(2);
        let mut query = |_| {
            let filter = random.index(self.number);
            let key = filter % DISTINCT * PER_FILTER + random.index(PER_FILTER);
            let keys = if kind.is_hit(&mut random) { present } else { absent };
            (filter as u64 * RANGE, &keys[key][..])
        };
        (0..rounds).map(|_| Asked::new((0..ROUND).map(&mut query).collect::<Vec<_>>())).collect()
    }

    /// Reads the cache lines that each query needs, those of the offsets and of both ends of its filter, and asks
    /// nothing.
    fn touch(&self, queries: &[(u64, &[u8])]) -> usize {
        let (data, offsets) = self.memory.split_at(self.offsets);
        let offset = |index: usize| {
            let bytes = offsets[4 * index..].first_chunk().expect("an offset behind the last filter");
            u32::from_le_bytes(*bytes) as usize
        };
        let mut ends = [(0, 0); 128];
        let mut sum = 0;
        for queries in queries.chunks(ends.len()) {
            for (ends, (block_offset, _)) in ends.iter_mut().zip(queries) {
                let index = (block_offset >> 11) as usize;
                *ends = (offset(index), offset(index + 1) - 1);
            }
            let values = ends[..queries.len()].iter();
            sum += values
                .map(|&(first, last)| usize::from(data[first]) + usize::from(data[last]))
                .sum::<usize>();
        }
        sum
    }
}

pub(crate) fn run(rounds: usize, megabytes: usize) -> Result<Section> {
    let present = keys(0, DISTINCT * PER_FILTER, Some(16), &[]);
    let absent = keys(1, DISTINCT * PER_FILTER, Some(16), &[]);
    let mut rows = Vec::new();
    for (pages, name) in [(Advice::NoHugePage, "4 KiB pages"), (Advice::HugePage, "huge pages")] {
        let filters = Filters::new(&present, megabytes, pages)?;
        // So many windows that lines have left the caches before they are needed again.
        let windows = (filters.number / 10 / ROUND).clamp(1, 100);
        for kind in Kind::ALL {
            let asked = filters.asked(kind, windows, &present, &absent);
            rows.extend(ask(rounds, &format!("{name}, {}", kind.name()), kind, &filters, &asked)?);
        }
    }
    Ok(Section::new(&format!("Asking {megabytes} MB of filters, 16 bytes, 40 a filter, random blocks"), rows))
}

/// Asks key by key, with a branch on each answer.
fn branching(reader: &FilterBlockReader<BloomFilterPolicy, &[u8]>, queries: &[(u64, &[u8])]) -> usize {
    let mut count = 0;
    for (offset, key) in queries {
        if reader.key_may_match(*offset, key) {
            count = black_box(count + 1);
        }
    }
    count
}

/// The aims of rows in which filters are asked for one key at a time. `None`: such a row has no aim.
const fn aims(kind: Kind) -> Option<Aims> {
    match kind {
        Kind::Hit => None,
        Kind::Miss => Some([1.0; 3]),
        Kind::Mixed => Some([1.35; 3]),
    }
}

fn ask(rounds: usize, case: &str, kind: Kind, filters: &Filters, asked: &[Asked]) -> Result<Vec<Row>> {
    let block = &filters.memory[..];
    let queries: Vec<_> = asked.iter().map(Asked::queries).collect();
    let with_suffix: Vec<_> = asked.iter().map(|asked| asked.with_suffix(&SUFFIX)).collect();
    let internal_queries: Vec<_> = with_suffix.iter().map(Asked::queries).collect();
    let raw: Vec<_> = queries.iter().map(|queries| Queries::new(queries)).collect();
    let raw_internal: Vec<_> = internal_queries.iter().map(|queries| Queries::new(queries)).collect();

    let policy = BloomFilterPolicy::new(10);
    let shared: SharedPolicy = Arc::new(policy);
    let reader = FilterBlockReader::new(policy, block);
    let shared = FilterBlockReader::new(shared, block);
    let internal = FilterBlockReader::new(InternalFilterPolicy::new(policy), block);
    let (loops, internal_loops) = (Loops::new(10, false), Loops::new(10, true));
    let mut expected = Vec::new();
    for (raw, (queries, internal_queries)) in raw.iter().zip(queries.iter().zip(&internal_queries)) {
        loops.ask(block, raw, &mut expected);
        let count = check(&reader, queries, &expected)?;
        check(&shared, queries, &expected)?;
        check(&internal, internal_queries, &expected)?;
        ensure!(sstable(&reader, 10, queries) == count, "sstable's answers differ");
    }

    // Each call takes the next queries.
    let turn = Cell::new(0);
    let next = || {
        turn.set((turn.get() + 1) % queries.len());
        turn.get()
    };
    let (mut to, mut internal_to) = (Vec::new(), Vec::new());
    let (mut many_to, mut shared_to, mut many_internal_to) = (Vec::new(), Vec::new(), Vec::new());
    let mut turns = Turns::new(case, ROUND);
    turns.fixed("LevelDB", || loops.ask(block, &raw[next()], &mut to));
    turns.fixed("`sstable`", || sstable(&reader, 10, &queries[next()]));
    let floor = turns.fixed("memory alone", || filters.touch(&queries[next()]));
    turns.faster("single", aims(kind), || single(&reader, &queries[next()]));
    turns.faster("single, branching", aims(kind), || branching(&reader, &queries[next()]));
    let together = turns.faster("many", None, || many(&reader, &queries[next()], &mut many_to));
    turns.row("many, of memory alone", together, Measure::Of(floor), Some([1.5, 1.4, 1.35]));
    let through = turns.ours(|| many(&shared, &queries[next()], &mut shared_to));
    turns.row("many, `SharedPolicy`, by ours", through, Measure::FasterThanOurs(together), Some([0.9; 3]));
    let theirs = turns.fixed("LevelDB, internal keys", || {
        internal_loops.ask(block, &raw_internal[next()], &mut internal_to);
    });
    let together = turns.ours(|| many(&internal, &internal_queries[next()], &mut many_internal_to));
    turns.row("many, internal keys", together, Measure::Faster(theirs), None);
    turns.row("many, internal keys, of memory alone", together, Measure::Of(floor), None);
    Ok(turns.run(rounds))
}
