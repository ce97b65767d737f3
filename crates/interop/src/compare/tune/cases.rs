//! The databases that are compared.

use super::write::Keys;

/// A database to be written.
#[derive(Debug, Clone)]
pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) keys: Keys,
    /// The number of different keys, of which some are stored.
    pub(super) universe: u64,
    /// The least and the greatest length of a value.
    pub(super) value: (u64, u64),
    pub(super) block_size: usize,
    pub(super) snappy: bool,
    pub(super) writer: Writer,
    /// The steps that make its tables, in order.
    pub(super) steps: Vec<Step>,
    /// True if `tune` reads every key.
    pub(super) all: bool,
    /// True if `tune` is told what is looked up, too.
    pub(super) lookups: bool,
    /// Bits a key and `base_lg` that are tried besides those chosen; any if `None`.
    pub(super) bits_per_key: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Writer {
    LevelDb,
    /// LevelDB with its own policy under its old name.
    LevelDbOldName,
    /// goleveldb with tables of this size, and filters of this `base_lg`.
    Goleveldb {
        table_size: u64,
        base_lg: u8,
    },
}

impl Writer {
    /// Returns true if filters have the name that LevelDB's policy had up to 1.17.
    pub(super) fn has_old_name(self) -> bool {
        self != Self::LevelDb
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    /// Writes to random keys; `deletions` in a hundred are deletions. LevelDB flushes and compacts as it likes.
    Use { writes: u64, deletions: u64, write_buffer: usize, bits: Option<u32> },
    /// Tables on a level, made of `keys` keys from `part` of the range of keys, in `runs` runs. The runs divide that
    /// part among themselves; on level 0 each covers all of it.
    Layer { level: u8, part: (f64, f64), keys: u64, runs: u64, deletions: u64, bits: Option<u32> },
}

const fn layer(level: u8, part: (f64, f64), keys: u64, runs: u64, bits: Option<u32>) -> Step {
    Step::Layer { level, part, keys, runs, deletions: 5, bits }
}

const fn used(writes: u64, write_buffer: usize, bits: Option<u32>) -> Step {
    Step::Use { writes, deletions: 10, write_buffer, bits }
}

const ALL: (f64, f64) = (0.0, 1.0);

impl Case {
    fn new(name: &'static str, keys: Keys, universe: u64, value: (u64, u64), steps: Vec<Step>) -> Self {
        Self {
            name,
            keys,
            universe,
            value,
            block_size: 4096,
            snappy: true,
            writer: Writer::LevelDb,
            steps,
            all: false,
            lookups: false,
            bits_per_key: None,
        }
    }

    fn block_size(self, block_size: usize) -> Self {
        Self { block_size, ..self }
    }

    fn uncompressed(self) -> Self {
        Self { snappy: false, ..self }
    }

    fn writer(self, writer: Writer) -> Self {
        Self { writer, ..self }
    }

    fn all(self) -> Self {
        Self { all: true, ..self }
    }

    fn lookups(self) -> Self {
        Self { lookups: true, ..self }
    }

    fn bits_per_key(self, bits_per_key: u32) -> Self {
        Self { bits_per_key: Some(bits_per_key), ..self }
    }

    /// Returns all cases. `quick`: only some, of every kind, which are made and asked in a few seconds together.
    pub(super) fn list(quick: bool) -> Vec<Self> {
        let mut cases = Self::few();
        if !quick {
            cases.extend(Self::more());
        }
        cases
    }

    fn few() -> Vec<Self> {
        let ten = Some(10);
        vec![
            Self::new(
                "random keys, in use",
                Keys::Random,
                60_000,
                (40, 160),
                vec![used(70_000, 256 << 10, ten), layer(0, ALL, 2000, 2, ten)],
            )
            .lookups(),
            Self::new(
                "four levels without filters",
                Keys::Links,
                60_000,
                (60, 200),
                vec![
                    layer(3, ALL, 36_000, 8, None),
                    layer(2, ALL, 8000, 4, None),
                    layer(1, (0.2, 0.5), 1500, 3, None),
                    layer(0, ALL, 400, 3, None),
                ],
            )
            .all(),
            Self::new(
                "counted keys, a small level 1",
                Keys::Counter,
                60_000,
                (20, 60),
                vec![layer(2, ALL, 40_000, 6, ten), layer(1, (0.7, 0.8), 3000, 1, ten)],
            )
            .block_size(1024),
            Self::new(
                "chunks, filters on the lower levels only",
                Keys::Chunks,
                18_000,
                (100, 1500),
                vec![
                    layer(2, ALL, 11_000, 9, ten),
                    layer(1, (0.0, 0.6), 3000, 4, Some(5)),
                    layer(0, ALL, 300, 5, None),
                ],
            )
            .lookups(),
            Self::new(
                "large values",
                Keys::Random,
                4000,
                (2000, 4000),
                vec![
                    layer(2, ALL, 2400, 4, ten),
                    layer(1, ALL, 500, 2, ten),
                    layer(0, (0.1, 0.9), 60, 1, ten),
                ],
            ),
            Self::new(
                "values of 20 to 100 KB",
                Keys::Links,
                900,
                (20_000, 100_000),
                vec![layer(2, ALL, 500, 4, ten), layer(1, (0.2, 1.0), 80, 1, ten), layer(0, ALL, 12, 1, ten)],
            )
            .bits_per_key(10),
            Self::new(
                "every second number, big-endian",
                Keys::BigEndian,
                60_000,
                (60, 60),
                vec![layer(2, ALL, 60_000, 4, ten), layer(1, (0.3, 0.6), 4000, 1, ten)],
            ),
            Self::new(
                "goleveldb, four levels",
                Keys::Counter,
                50_000,
                (20, 120),
                vec![used(60_000, 64 << 10, ten), used(3000, 64 << 10, ten)],
            )
            .writer(Writer::Goleveldb { table_size: 64 << 10, base_lg: 11 })
            .all(),
            Self::new("level 0 alone", Keys::Random, 20_000, (200, 400), vec![layer(0, ALL, 6000, 3, ten)]),
            Self::new(
                "every second number, %016x",
                Keys::Hexadecimal,
                60_000,
                (60, 60),
                vec![layer(2, ALL, 60_000, 4, ten)],
            ),
        ]
    }

    fn more() -> Vec<Self> {
        let ten = Some(10);
        vec![
            Self::new(
                "counted keys, in use, no filters",
                Keys::Counter,
                150_000,
                (20, 100),
                vec![used(200_000, 256 << 10, None), layer(0, ALL, 2000, 3, None)],
            )
            .lookups(),
            Self::new(
                "hashes, 16 bits, blocks of 16 KiB",
                Keys::Hashes,
                200_000,
                (20, 50),
                vec![used(220_000, 1 << 20, Some(16))],
            )
            .block_size(16 << 10),
            Self::new(
                "four levels, 10 bits",
                Keys::Random,
                300_000,
                (20, 80),
                vec![
                    layer(3, ALL, 220_000, 10, ten),
                    layer(2, ALL, 22_000, 5, ten),
                    layer(1, ALL, 2200, 2, ten),
                    layer(0, ALL, 220, 1, ten),
                ],
            )
            .uncompressed()
            .lookups(),
            Self::new(
                "four levels of one size",
                Keys::Hashes,
                60_000,
                (50, 150),
                vec![
                    layer(3, ALL, 12_000, 6, ten),
                    layer(2, ALL, 12_000, 6, ten),
                    layer(1, ALL, 12_000, 6, ten),
                    layer(0, ALL, 6000, 3, ten),
                ],
            )
            .all(),
            Self::new(
                "eight tables on level 0",
                Keys::Links,
                60_000,
                (100, 300),
                vec![
                    layer(1, ALL, 20_000, 3, ten),
                    Step::Layer { level: 0, part: ALL, keys: 8000, runs: 8, deletions: 30, bits: ten },
                ],
            ),
            Self::new(
                "every second number, little-endian",
                Keys::LittleEndian,
                60_000,
                (60, 60),
                vec![layer(2, ALL, 60_000, 4, ten)],
            ),
            Self::new(
                "every second number, %016d",
                Keys::Decimal,
                60_000,
                (100, 100),
                vec![layer(2, ALL, 60_000, 4, ten)],
            ),
            Self::new(
                "every second number, block/%d",
                Keys::Blocks,
                60_000,
                (60, 60),
                vec![layer(2, ALL, 60_000, 4, ten), layer(1, ALL, 5000, 2, ten)],
            ),
            Self::new(
                "one level alone",
                Keys::Counter,
                40_000,
                (150, 250),
                vec![layer(2, ALL, 35_000, 16, Some(5))],
            )
            .block_size(2048),
            Self::new(
                "chunks of a world, no filters",
                Keys::Chunks,
                18_000,
                (500, 4000),
                vec![used(18_000, 1 << 20, None)],
            ),
            Self::new(
                "filters on level 0 and 1 only",
                Keys::Hashes,
                80_000,
                (50, 100),
                vec![
                    layer(2, ALL, 50_000, 8, None),
                    layer(1, (0.4, 1.0), 8000, 3, ten),
                    layer(0, ALL, 1000, 2, ten),
                ],
            )
            .block_size(8192),
            Self::new(
                "40 MB of counted keys",
                Keys::Counter,
                500_000,
                (80, 80),
                vec![
                    layer(3, ALL, 380_000, 12, ten),
                    layer(2, (0.0, 0.5), 20_000, 3, ten),
                    layer(1, (0.4, 0.9), 5000, 2, ten),
                ],
            )
            .uncompressed(),
            Self::new(
                "values of 20 to 4,000 bytes",
                Keys::Links,
                12_000,
                (20, 4000),
                vec![
                    layer(2, ALL, 7000, 5, Some(16)),
                    layer(1, (0.0, 0.3), 700, 1, Some(16)),
                    layer(0, (0.2, 0.6), 100, 2, Some(16)),
                ],
            ),
            Self::new(
                "LevelDB's old name",
                Keys::Random,
                60_000,
                (100, 200),
                vec![layer(2, ALL, 30_000, 5, ten), layer(1, ALL, 3000, 2, ten), layer(0, ALL, 500, 2, ten)],
            )
            .writer(Writer::LevelDbOldName),
            Self::new(
                "goleveldb, base_lg 14",
                Keys::Chunks,
                18_000,
                (20, 300),
                vec![used(25_000, 128 << 10, Some(5))],
            )
            .writer(Writer::Goleveldb { table_size: 128 << 10, base_lg: 14 }),
            Self::new(
                "goleveldb, blocks of 1 KiB",
                Keys::Random,
                40_000,
                (50, 50),
                vec![used(50_000, 256 << 10, Some(16))],
            )
            .block_size(1024)
            .writer(Writer::Goleveldb { table_size: 256 << 10, base_lg: 11 })
            .lookups(),
        ]
    }
}
