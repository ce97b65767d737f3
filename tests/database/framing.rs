//! Records in a log: what is read, what is damage and what is the end (LevelDB's `db/log_reader.cc`).

use std::io::{self, Read};

use filterblock::database::{
    BatchHeader, FragmentHeader, LOG_BLOCK_LEN, LogReader, LogWriter, Manifest, batch_has_writes,
};
use filterblock::{Error, Result};

use crate::databases::{BLOCK, FIRST, FULL, HEADER, LAST, MIDDLE, fragment, log};

/// A record with its offset, or an error as it is shown.
type Item = std::result::Result<(u64, Vec<u8>), String>;

/// Reads a log to its end. Returns all records and errors in order, and the offset of an incomplete tail.
fn read(file: &[u8]) -> (Vec<Item>, Option<u64>) {
    let mut reader = LogReader::new(file);
    let mut all = Vec::new();
    loop {
        match reader.read_record() {
            Ok(Some(record)) => all.push(Ok((record.offset, record.data.to_vec()))),
            Ok(None) => return (all, reader.incomplete_tail()),
            Err(error) => all.push(Err(error.to_string())),
        }
    }
}

fn record(offset: usize, data: &[u8]) -> Item {
    Ok((offset as u64, data.to_vec()))
}

fn damage(error: &str) -> Item {
    Err(error.to_owned())
}

#[test]
fn debug_shows_places_not_contents() {
    let (file, _) = log(&[b"secret", b"secret"]);
    let mut reader = LogReader::new(&file[..]);
    let first = HEADER + 6;
    for offset in [0, first] {
        let record = reader.read_record().unwrap().unwrap();
        assert_eq!(format!("{record:?}"), format!("LogRecord {{ offset: {offset}, len: 6 }}"));
        let shown = format!("{reader:?}");
        assert!(
            shown.contains(&format!("offset: {}", offset + first)) && !shown.contains("secret"),
            "{shown}"
        );
    }
}

#[test]
fn a_record_is_checksum_length_type_and_data() {
    // The second record of LevelDB's own MANIFEST in testdata/databases/unfiltered.
    let file = b"\x43\x6b\xe4\x87\x38\x00\x01\
        \x02\x08\x09\x00\x03\x09\x04\x8e\x02\
        \x07\x00\x07\x95\x2a\x13item/0000/0\x00\xfb\x00\x00\x00\x00\x00\x00\
        \x15item/0196/124\x01\xfa\x00\x00\x00\x00\x00\x00";
    assert_eq!(read(file), (vec![record(0, &file[HEADER..])], None));
    assert_eq!(fragment(FULL, &file[HEADER..]), file);
}

#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn records_of_all_lengths_come_back_around_the_ends_of_blocks() {
    let lengths =
        [0, 1, BLOCK - HEADER, BLOCK - HEADER + 1, BLOCK, 2 * BLOCK - 2 * HEADER, 3 * BLOCK].into_iter();
    // The number of bytes that the first record leaves of its block: none, fewer than a header has, or room for an
    // empty or a short fragment.
    for left in 0..=2 * HEADER {
        let mut records = vec![vec![b'a'; BLOCK - HEADER - left]];
        records.extend(lengths.clone().map(|len| (0..len).map(|i| (i % 251) as u8).collect()));
        records.push(b"last".to_vec());
        let (file, offsets) = log(&records);
        let expected: Vec<_> = offsets.into_iter().zip(records).map(Ok).collect();
        assert_eq!(read(&file), (expected, None), "{left}");
    }
}

#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn it_does_not_matter_how_the_source_hands_out_bytes() {
    struct OneByOne<'a>(&'a [u8], bool);
    impl Read for OneByOne<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.1 = !self.1;
            if self.1 {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let len = buffer.len().min(1);
            self.0.read(&mut buffer[..len])
        }
    }
    let records = [vec![1; 10], vec![2; BLOCK], vec![3; 10]];
    let (file, _) = log(&records);
    let mut reader = LogReader::new(OneByOne(&file, false));
    for expected in records {
        assert_eq!(reader.read_record().unwrap().unwrap().data, expected);
    }
    assert!(reader.read_record().unwrap().is_none());
}

#[test]
fn a_file_that_ends_within_a_record_is_no_damage() {
    let records = [&b"first"[..], b"", b"third"];
    let (file, offsets) = log(&records);
    for len in 0..=file.len() {
        let ends: Vec<usize> =
            offsets[1..].iter().map(|&end| end as usize).chain(std::iter::once(file.len())).collect();
        let whole = ends.iter().filter(|&&end| end <= len).count();
        let expected = (0..whole).map(|i| record(offsets[i] as usize, records[i])).collect();
        let tail = (len > 0 && !ends.contains(&len)).then(|| offsets[whole]);
        assert_eq!(read(&file[..len]), (expected, tail), "{len}");
    }
}

#[test]
fn a_file_that_ends_between_the_fragments_of_a_record_is_no_damage() {
    let (file, offsets) = log(&[vec![1; 100], vec![2; 2 * BLOCK]]);
    for len in [BLOCK, BLOCK + 3, 2 * BLOCK - 1, 2 * BLOCK, 2 * BLOCK + HEADER, file.len() - 1] {
        let (all, tail) = read(&file[..len]);
        assert_eq!((all, tail), (vec![record(0, &[1; 100])], Some(offsets[1])), "{len}");
    }
    assert_eq!(read(&file).0.len(), 2);
}

#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn no_flipped_bit_changes_a_record_unnoticed() {
    let records = [&b"first"[..], b"the second", b"3"];
    let (file, offsets) = log(&records);
    let sound: Vec<_> = (0..3).map(|i| record(offsets[i] as usize, records[i])).collect();
    for bit in 0..file.len() * 8 {
        let mut damaged = file.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        let (all, tail) = read(&damaged);
        let hit = offsets.iter().filter(|&&offset| offset as usize <= bit / 8).count() - 1;
        let offset = offsets[hit];
        // The block is lost from the damaged fragment on, or the fragment's length reaches beyond the file.
        assert_eq!(all[..hit], sound[..hit], "{bit}");
        match &all[hit..] {
            [] => assert_eq!(tail, Some(offset), "{bit}"),
            [Err(error)] => {
                assert!(error.starts_with(&format!("log record at offset {offset}: expected ")), "{error}");
            }
            more => panic!("{bit}: {more:?}"),
        }
    }
}

#[test]
fn reading_goes_on_in_the_next_block_behind_a_wrong_checksum() {
    let records = [vec![1; 10], vec![2; 10], vec![3; BLOCK], vec![4; 10]];
    let (mut file, offsets) = log(&records);
    file[offsets[1] as usize + HEADER] ^= 1;
    let (all, tail) = read(&file);
    // The third record begins in the lost block: its LAST fragment in the next one is not reported anew.
    let [first, Err(error), fourth] = &all[..] else { panic!("{all:?}") };
    assert_eq!(*first, record(0, &records[0]));
    assert!(error.starts_with("log record at offset 17: expected checksum 0x"), "{error}");
    assert!(error.contains(" for type 1 and 10 bytes of data, found 0x"), "{error}");
    assert_eq!(*fourth, record(offsets[3] as usize, &records[3]));
    assert_eq!(tail, None);
}

#[test]
fn a_length_beyond_the_block_is_damage_unless_the_file_ends_there() {
    let mut file = fragment(FULL, b"lost");
    file[4..6].copy_from_slice(&(BLOCK as u16).to_le_bytes());
    assert_eq!(read(&file), (vec![], Some(0)));
    file.resize(BLOCK, 0);
    file.extend(fragment(FULL, b"found"));
    assert_eq!(
        read(&file).0,
        [
            damage(
                "log record at offset 0: expected a length of at most 32761, the rest of the block, found 32768"
            ),
            record(BLOCK, b"found")
        ]
    );
}

#[test]
fn a_fragment_of_unknown_type_is_passed_over() {
    // Type 0 means blank space only where the length is 0 too.
    for kind in [0, 5, 8, 255] {
        let file = [fragment(FULL, b"a"), fragment(kind, b"xyz"), fragment(FULL, b"b")].concat();
        assert_eq!(
            read(&file).0,
            [
                record(0, b"a"),
                damage(&format!(
                    "log record at offset 8: expected a fragment of type 1 to 4, found type {kind}"
                )),
                record(18, b"b")
            ]
        );
    }
}

#[test]
fn a_record_with_a_fragment_of_unknown_type_is_reported_once() {
    let file = [fragment(FIRST, b"a"), fragment(7, b""), fragment(LAST, b"b"), fragment(FULL, b"c")].concat();
    assert_eq!(
        read(&file).0,
        [
            damage("log record at offset 8: expected a fragment of type 1 to 4, found type 7"),
            record(23, b"c")
        ]
    );
}

#[test]
fn fragments_without_a_start_are_reported_once() {
    let file = [
        fragment(MIDDLE, b"x"),
        fragment(MIDDLE, b"y"),
        fragment(LAST, b"z"),
        fragment(LAST, b"another"),
        fragment(FULL, b"whole"),
        fragment(MIDDLE, b"again"),
        fragment(FULL, b"more"),
        fragment(LAST, b"and again"),
    ]
    .concat();
    let expected = "expected a FULL or FIRST fragment";
    assert_eq!(
        read(&file).0,
        [
            damage(&format!("log record at offset 0: {expected}, found a MIDDLE fragment")),
            damage(&format!("log record at offset 24: {expected}, found a LAST fragment")),
            record(38, b"whole"),
            damage(&format!("log record at offset 50: {expected}, found a MIDDLE fragment")),
            record(62, b"more"),
            damage(&format!("log record at offset 73: {expected}, found a LAST fragment")),
        ]
    );
}

#[test]
fn a_record_that_does_not_end_is_reported_and_the_next_one_read() {
    for (kind, name) in [(FULL, "FULL"), (FIRST, "FIRST")] {
        let file =
            [fragment(FIRST, b"x"), fragment(MIDDLE, b"y"), fragment(kind, b"next"), fragment(LAST, b"!")];
        let (all, _) = read(&file.concat());
        let expected = "log record at offset 0: expected MIDDLE fragments and a LAST one";
        assert_eq!(all[0], damage(&format!("{expected}, found a {name} fragment at offset 16")));
        assert_eq!(all[1], record(16, if kind == FULL { b"next" } else { b"next!" }));
    }
}

#[test]
fn an_empty_first_fragment_before_a_new_start_is_no_damage() {
    // An early log writer left an empty fragment where a block had room for no more than a header.
    for kind in [FULL, FIRST] {
        let file = [fragment(FIRST, b""), fragment(kind, b"next"), fragment(LAST, b"")].concat();
        assert_eq!(read(&file).0[0], record(7, b"next"));
    }
}

#[test]
fn blank_space_is_passed_over_to_the_end_of_the_block() {
    let mut file = fragment(FULL, b"a");
    file.resize(BLOCK, 0);
    file.extend(fragment(FULL, b"b"));
    file.resize(2 * BLOCK - 3, 0);
    assert_eq!(read(&file), (vec![record(0, b"a"), record(BLOCK, b"b")], None));
    assert_eq!(read(&vec![0; 3 * BLOCK + 3]), (vec![], None));
}

#[test]
fn blank_space_within_a_record_is_damage() {
    let mut file = fragment(FIRST, b"a");
    file.resize(BLOCK, 0);
    file.extend([fragment(LAST, b"b"), fragment(FULL, b"c")].concat());
    assert_eq!(
        read(&file).0,
        [
            damage(
                "log record at offset 0: expected MIDDLE fragments and a LAST one, found blank space at offset 8"
            ),
            record(BLOCK + 8, b"c")
        ]
    );
}

#[test]
fn records_beyond_the_limit_are_passed_over() {
    let records = [vec![1; 100], vec![2; 101], vec![3; 2 * BLOCK], vec![4; 100]];
    let (file, offsets) = log(&records);
    let mut reader = LogReader::new(&file[..]).max_record_len(100);
    let mut read = || reader.read_record().map(|record| record.map(|record| record.offset));
    let limit = |read: Result<Option<u64>>| match read {
        Err(Error::Limit { what: "log record", offset, limit: 100, found, .. }) => (offset, found),
        other => panic!("{other:?}"),
    };
    assert_eq!(read().unwrap(), Some(0));
    assert_eq!(limit(read()), (offsets[1], 101));
    // The third record's first fragment takes the rest of the block.
    assert_eq!(limit(read()), (offsets[2], (BLOCK - HEADER) as u64 - offsets[2]));
    assert_eq!(read().unwrap(), Some(offsets[3]));
    assert_eq!(read().unwrap(), None);
}

#[test]
fn what_follows_a_record_beyond_the_limit_is_not_taken_for_a_part_of_it() {
    let file = [fragment(FULL, b"long"), fragment(LAST, b"x"), fragment(FULL, b"abc")].concat();
    let mut reader = LogReader::new(&file[..]).max_record_len(3);
    assert!(matches!(reader.read_record(), Err(Error::Limit { offset: 0, limit: 3, found: 4, .. })));
    assert!(matches!(reader.read_record(), Err(Error::Corrupt { offset: 11, .. })));
    assert_eq!(reader.read_record().unwrap().unwrap().data, b"abc");
}

#[test]
fn reading_ends_where_the_source_fails() {
    struct Fails;
    impl Read for Fails {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("no disk"))
        }
    }
    let (file, _) = log(&[vec![1; 10], vec![2; BLOCK]]);
    let mut reader = LogReader::new(file[..BLOCK].chain(Fails));
    assert_eq!(reader.read_record().unwrap().unwrap().data, [1; 10]);
    let error = reader.read_record().unwrap_err();
    assert_eq!(error.to_string(), "reading 32768 bytes at offset 32768: no disk");
    assert!(reader.read_record().unwrap().is_none());
    assert!(
        matches!(batch_has_writes(file[..BLOCK].chain(Fails)), Err(Error::Io { .. })),
        "what is unread may be a batch"
    );
}

/// A reader that, after some honest calls, claims to have read `more` bytes more than there was room for. If `more` is
/// large, the sum would wrap. After `lies` such claims, it is at its end.
struct Liar<'a> {
    file: &'a [u8],
    honest_calls: usize,
    more: usize,
    lies: usize,
}

impl Read for Liar<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.honest_calls == 0 {
            if self.lies == 0 {
                return Ok(0);
            }
            self.lies -= 1;
            return Ok(buffer.len().saturating_add(self.more));
        }
        self.honest_calls -= 1;
        let len = buffer.len().min(5000);
        self.file.read(&mut buffer[..len])
    }
}

#[test]
fn a_source_that_says_it_read_more_than_there_was_room_for_is_an_error() {
    let (file, _) = log(&[vec![1; 100], vec![2; 2 * BLOCK]]);
    for (honest_calls, more) in [(0, 1), (0, usize::MAX), (3, 1), (7, 1), (8, 1), (9, usize::MAX)] {
        let liar = || Liar { file: &file, honest_calls, more, lies: 3 };
        let mut reader = LogReader::new(liar());
        let error = loop {
            match reader.read_record() {
                Ok(Some(record)) => assert_eq!(record.data, [1; 100]),
                Ok(None) => panic!("no error after {honest_calls} calls"),
                Err(error) => break error,
            }
        };
        let Error::Io { action, offset, source, .. } = &error else { panic!("{error}") };
        // A block takes seven honest calls.
        let (blocks, room) = (honest_calls / 7, BLOCK - honest_calls % 7 * 5000);
        assert_eq!((&*action.to_string(), *offset), ("reading 32768 bytes", (blocks * BLOCK) as u64));
        let said = room.saturating_add(more);
        assert_eq!(source.to_string(), format!("the source said it read {said} bytes into {room}"));
        assert!(reader.read_record().unwrap().is_none(), "reading ends there");

        assert!(matches!(batch_has_writes(liar()), Ok(true) | Err(Error::Io { .. })));
        let scan = Manifest::scan(liar(), 1 << 20);
        assert!(scan.damage.is_some());
    }
    assert!(matches!(
        batch_has_writes(Liar { file: b"", honest_calls: 0, more: 1, lies: 3 }),
        Err(Error::Io { .. })
    ));
    let scan = Manifest::scan(Liar { file: b"", honest_calls: 0, more: 1, lies: 3 }, 1 << 20);
    assert!(matches!(scan.damage, Some(Error::Io { .. })));
}

#[test]
fn a_source_that_goes_on_behind_its_end_is_not_read_again() {
    /// A reader that gives a record, then its end, and would then give another record.
    struct Twice<'a>(&'a [&'a [u8]]);
    impl Read for Twice<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let Some((first, rest)) = self.0.split_first() else { return Ok(0) };
            self.0 = rest;
            buffer[..first.len()].copy_from_slice(first);
            Ok(first.len())
        }
    }
    let record_file = fragment(FULL, b"record");
    let reads: [&[u8]; 3] = [&record_file, b"", &record_file];
    let mut reader = LogReader::new(Twice(&reads));
    assert_eq!(reader.read_record().unwrap().unwrap().data, b"record");
    for _ in 0..3 {
        assert!(reader.read_record().unwrap().is_none());
    }
}

/// A record beyond the limit is one error, wherever in the record the limit is passed. The next record is read.
#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn a_record_beyond_the_limit_is_reported_once_and_the_next_one_read() {
    let room = BLOCK - HEADER;
    for fragments in 2..=6 {
        let records = [vec![1; 5], vec![2; room * (fragments - 1)], b"next".to_vec(), b"after".to_vec()];
        let (file, offsets) = log(&records);
        // Passed within the FIRST fragment, at the start and at the end of each MIDDLE one, and within the LAST.
        let first = room - HEADER - 5;
        let ends = (0..fragments - 1).map(|number| first + room * number);
        let limits = ends.flat_map(|end| [end - 1, end, end + 1]).chain([records[1].len() - 1]);
        for limit in limits.filter(|&limit| (5..records[1].len()).contains(&limit)) {
            let mut reader = LogReader::new(&file[..]).max_record_len(limit);
            let mut read = || reader.read_record().map(|record| record.map(|record| record.data.to_vec()));
            assert_eq!(read().unwrap().unwrap(), records[0]);
            let Err(Error::Limit { offset, .. }) = read() else { panic!("{fragments} {limit}") };
            assert_eq!(offset, offsets[1]);
            assert_eq!(read().unwrap().unwrap(), records[2], "{fragments} fragments within {limit}");
            assert_eq!(read().unwrap().unwrap(), records[3]);
            assert_eq!(read().unwrap(), None);
        }
        let mut reader = LogReader::new(&file[..]).max_record_len(records[1].len());
        reader.read_record().unwrap();
        assert_eq!(reader.read_record().unwrap().unwrap().data, records[1], "the limit itself is allowed");
    }
}

#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn counts_of_fragments_and_records_do_not_wrap() {
    let long: Vec<u8> = (0..300 * BLOCK).map(|at| (at % 251) as u8).collect();
    let (file, _) = log(&[&long[..], b"next"]);
    let mut reader = LogReader::new(&file[..]);
    assert_eq!(reader.read_record().unwrap().unwrap().data, long);
    assert_eq!(reader.read_record().unwrap().unwrap().data, b"next");

    let records: Vec<_> = (0..70_000_u32).map(u32::to_le_bytes).collect();
    let (file, offsets) = log(&records);
    let mut reader = LogReader::new(&file[..]);
    for (record, offset) in records.iter().zip(offsets) {
        let read = reader.read_record().unwrap().unwrap();
        assert_eq!((read.offset, read.data), (offset, &record[..]));
    }
    assert!(reader.read_record().unwrap().is_none());
}

#[test]
fn headers_are_those_of_the_fragments_that_a_writer_writes() {
    let mut log = LogWriter::new(Vec::new());
    log.add_record(&[9; 40_000]).unwrap();
    let file = log.into_writer();
    let first = FragmentHeader::decode(&file).unwrap();
    let data = LOG_BLOCK_LEN - FragmentHeader::LEN;
    assert_eq!((usize::from(first.len), first.kind), (data, FIRST));
    assert_eq!(first.encode(), file[..FragmentHeader::LEN]);
    assert_eq!(first.checksum, FragmentHeader::checksum_of(FIRST, &file[FragmentHeader::LEN..LOG_BLOCK_LEN]));
    let last = FragmentHeader::decode(&file[LOG_BLOCK_LEN..]).unwrap();
    assert_eq!((usize::from(last.len), last.kind), (40_000 - data, LAST));
    assert!(FragmentHeader::decode(&file[..6]).is_none() && !last.is_blank());
    let blank = FragmentHeader::decode(&[1, 2, 3, 4, 0, 0, 0]).unwrap();
    assert!(blank.is_blank() && !FragmentHeader { len: 1, ..blank }.is_blank());
}

#[test]
fn the_header_of_a_batch_takes_twelve_bytes() {
    let batch = [7, 0, 0, 0, 0, 0, 0, 1, 3, 0, 0, 0, 0xff];
    let header = BatchHeader { sequence: 7 | 1 << 56, count: 3 };
    assert_eq!(BatchHeader::decode(&batch), Some(header));
    assert_eq!(BatchHeader::decode(&batch[..BatchHeader::LEN]), Some(header));
    assert_eq!(BatchHeader::decode(&batch[..BatchHeader::LEN - 1]), None);
}
