//! Times filters in the cases of RocksDB's `filter_bench`, which differ in the filters that are asked and in the keys.
//! The time of a dry run is subtracted.

use anyhow::Result;
use filterblock::{BloomFilterPolicy, FilterBlockReader};
use filterblock_interop::leveldb::speed::{Loops, Queries, dry_run};
use filterblock_interop::random::Random;

use super::asking::{block, check, many, single};
use super::data::{Asked, Kind, RANGE, keys};
use super::report::Section;
use super::timing::{Measure, Turns};

const PER_FILTER: usize = 40;

/// The filters that are asked.
#[derive(Clone, Copy)]
enum Choice {
    One,
    Random,
    /// Half of the queries go to one percent of the filters, the other half to random filters.
    HalfInOnePercent,
    /// Four fifths of the queries go to one fifth of the filters, the other queries to random filters.
    EightyInTwenty,
}

impl Choice {
    const ALL: [(Self, &'static str); 4] = [
        (Self::One, "one filter"),
        (Self::Random, "random filters"),
        (Self::HalfInOnePercent, "50 % in 1 %"),
        (Self::EightyInTwenty, "80 % in 20 %"),
    ];

    fn filter(self, random: &mut Random, filters: usize) -> usize {
        match self {
            Self::One => filters / 2,
            Self::Random => random.index(filters),
            Self::HalfInOnePercent if random.index(2) == 0 => random.index(filters.div_ceil(100)),
            Self::EightyInTwenty if random.index(5) != 0 => random.index(filters.div_ceil(5)),
            Self::HalfInOnePercent | Self::EightyInTwenty => random.index(filters),
        }
    }
}

/// Reads each query, and asks nothing.
fn dry(queries: &[(u64, &[u8])]) -> usize {
    queries.iter().filter(|(offset, key)| (*offset as u8) ^ key[0] == 0).count()
}

pub(crate) fn run(rounds: usize, count: usize) -> Result<Section> {
    let (present, absent) = (keys(0, count, Some(16), &[]), keys(1, count, Some(16), &[]));
    let block = block(&present, 10, PER_FILTER);
    let reader = FilterBlockReader::new(BloomFilterPolicy::new(10), &block[..]);
    let loops = Loops::new(10, false);
    let mut rows = Vec::new();
    for kind in [Kind::Mixed, Kind::Hit, Kind::Miss] {
        for (choice, name) in Choice::ALL {
            let mut random = Random::new(4);
            let mut query = |_| {
                let filter = choice.filter(&mut random, count / PER_FILTER);
                let key = filter * PER_FILTER + random.index(PER_FILTER);
                let keys = if kind.is_hit(&mut random) { &present } else { &absent };
                (filter as u64 * RANGE, &keys[key][..])
            };
            let asked = Asked::new((0..count).map(&mut query).collect::<Vec<_>>());
            let queries = asked.queries();
            let raw = Queries::new(&queries);
            let mut expected = Vec::new();
            loops.ask(&block, &raw, &mut expected);
            check(&reader, &queries, &expected)?;

            let (mut to, mut dry_to, mut many_to) = (Vec::new(), Vec::new(), Vec::new());
            let mut turns = Turns::new(&format!("{}, {name}", kind.name()), count);
            let leveldb = turns.fixed("LevelDB", || loops.ask(&block, &raw, &mut to));
            let their_dry = turns.fixed("its dry run", || dry_run(&raw, &mut dry_to));
            let our_dry = turns.ours(|| dry(&queries));
            let one = turns.ours(|| single(&reader, &queries));
            turns.row("single", one, Measure::Net(leveldb, their_dry, our_dry), None);
            let together = turns.ours(|| many(&reader, &queries, &mut many_to));
            turns.row("many", together, Measure::Net(leveldb, their_dry, our_dry), None);
            rows.extend(turns.run(rounds));
        }
    }
    let title = "As RocksDB's `filter_bench` asks: the ratios are of times less those of a dry run";
    Ok(Section::new(title, rows))
}
