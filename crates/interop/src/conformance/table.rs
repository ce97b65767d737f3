//! Small tables, put together piece by piece, of which a piece may be damaged, with a right or a wrong
//! checksum.

use filterblock::{BloomFilterPolicy, FilterBlockBuilder};

/// The form in which the keys of a table are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// User keys alone.
    User,
    /// Internal keys, as in a database: with a sequence number and the type of a value.
    Internal,
}

impl Form {
    /// The key as stored.
    pub fn key(self, user_key: &str) -> Vec<u8> {
        match self {
            Self::User => user_key.into(),
            Self::Internal => [user_key.as_bytes(), &(SEQUENCE << 8 | 1).to_le_bytes()].concat(),
        }
    }
}

/// The sequence number of all entries.
pub const SEQUENCE: u64 = 9;

/// The name under which LevelDB stores its filter blocks.
pub const FILTER_NAME: &str = "filter.leveldb.BuiltinBloomFilter2";

/// The entries of every damaged table: three in each data block.
pub const ENTRIES: [(&str, &str); 9] = [
    ("apple", "1"),
    ("apricot", "2"),
    ("banana", "3"),
    ("cherry", "4"),
    ("citron", "5"),
    ("damson", "6"),
    ("elder", "7"),
    ("fig", "8"),
    ("grape", "9"),
];
const BLOCK_LEN: usize = 3;

/// Offset and size of a block.
pub type Place = (u64, u64);

/// A block before it is stored.
#[derive(Debug, Clone, Default)]
pub struct Block {
    /// The bytes that are stored.
    pub contents: Vec<u8>,
    /// The compression type.
    pub kind: u8,
    /// The number that the right checksum is combined with by XOR: 0 leaves it right.
    pub checksum_xor: u32,
}

/// An entry of an index or a metaindex: a key or a name, and the encoded place of a block.
pub type Handle = (Vec<u8>, Vec<u8>);

type Edit<T> = Box<dyn Fn(&mut T)>;

/// Changes to the pieces of a table. Each change is made before the pieces that name the changed one are put
/// together.
#[expect(missing_debug_implementations, reason = "functions")]
#[derive(Default)]
pub struct Damage {
    /// The change to the data blocks.
    pub data: Option<Edit<Vec<Block>>>,
    /// The change to the filter block.
    pub filter: Option<Edit<Block>>,
    /// The change to the entries of the metaindex.
    pub names: Option<Edit<Vec<Handle>>>,
    /// The change to the metaindex.
    pub metaindex: Option<Edit<Block>>,
    /// The change to the entries of the index.
    pub handles: Option<Edit<Vec<Handle>>>,
    /// The change to the index.
    pub index: Option<Edit<Block>>,
    /// The change to the handles of metaindex and index in the footer.
    pub places: Option<Edit<(Vec<u8>, Vec<u8>)>>,
    /// The change to the file.
    pub file: Option<Edit<Vec<u8>>>,
}

fn apply<T>(edit: &Option<Edit<T>>, mut piece: T) -> T {
    if let Some(edit) = edit {
        edit(&mut piece);
    }
    piece
}

/// Puts a table of [`ENTRIES`] together.
pub fn assemble(damage: &Damage, form: Form) -> Vec<u8> {
    let mut file = Vec::new();
    let block = |contents| Block { contents, ..Block::default() };
    let stored: Vec<_> = ENTRIES.iter().map(|(key, value)| (form.key(key), value)).collect();
    let data = stored.chunks(BLOCK_LEN).map(|entries| block(entry_block(entries))).collect();
    let data: Vec<Block> = apply(&damage.data, data);
    let mut filter = FilterBlockBuilder::new(BloomFilterPolicy::new(10));
    let (mut handles, mut entries) = (Vec::new(), ENTRIES.chunks(BLOCK_LEN));
    for block in &data {
        let place = store(&mut file, block);
        let entries = entries.next().unwrap_or_default();
        filter.start_block(place.0).expect("offsets ascend");
        entries.iter().for_each(|(key, _)| filter.add_key(key.as_bytes()));
        let last = entries.last().map_or(Vec::new(), |(key, _)| form.key(key));
        handles.push((last, encoded(place)));
    }
    let filter = filter.finish().expect("a small filter block");
    let filter = store(&mut file, &apply(&damage.filter, block(filter.to_vec())));
    let names = apply(&damage.names, vec![(FILTER_NAME.into(), encoded(filter))]);
    let metaindex = store(&mut file, &apply(&damage.metaindex, block(entry_block(&names))));
    let handles = apply(&damage.handles, handles);
    let index = store(&mut file, &apply(&damage.index, block(entry_block(&handles))));
    let (metaindex, index) = apply(&damage.places, (encoded(metaindex), encoded(index)));
    let end = file.len() + 40;
    file.extend([metaindex, index].concat());
    file.resize(end, 0);
    file.extend(0xdb47_7524_8b80_fb57_u64.to_le_bytes());
    apply(&damage.file, file)
}

fn store(file: &mut Vec<u8>, block: &Block) -> Place {
    let place = (file.len() as u64, block.contents.len() as u64);
    file.extend(&block.contents);
    file.push(block.kind);
    let crc = crc32c::crc32c(&file[place.0 as usize..]);
    let masked = crc.rotate_right(15).wrapping_add(0xa282_ead8);
    file.extend((masked ^ block.checksum_xor).to_le_bytes());
    place
}

/// The contents of a block in which every entry is a restart.
pub(super) fn entry_block<K: AsRef<[u8]>, V: AsRef<[u8]>>(entries: &[(K, V)]) -> Vec<u8> {
    let (mut bytes, mut restarts) = (Vec::new(), Vec::new());
    for (key, value) in entries {
        let (key, value) = (key.as_ref(), value.as_ref());
        restarts.extend((bytes.len() as u32).to_le_bytes());
        bytes.extend([vec![0], varint(key.len() as u64), varint(value.len() as u64)].concat());
        bytes.extend([key, value].concat());
    }
    // LevelDB writes one restart into an empty block.
    if restarts.is_empty() {
        restarts.extend([0; 4]);
    }
    let count = restarts.len() as u32 / 4;
    bytes.extend(restarts);
    bytes.extend(count.to_le_bytes());
    bytes
}

/// Encodes a handle as tables have it.
pub(super) fn encoded((offset, size): Place) -> Vec<u8> {
    [varint(offset), varint(size)].concat()
}

/// Encodes a number as a varint, with seven bits in each byte.
pub(super) fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}
