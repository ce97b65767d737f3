//! The databases to try the page with.

use std::fs;
use std::path::Path;

use filterblock::database::{FileKind, LiveTable, LogWriter, VersionEdit};
use filterblock::table::{Compression, TableBuilder, WriteOptions};

use crate::Result;

/// The databases of the test data.
const SAMPLES: &str = "../../testdata/databases";

/// The files of the samples: a line of JSON with their names and sizes, then their bytes.
pub(crate) fn samples() -> Result<Vec<u8>> {
    let mut files = folder("levels", "Sound sample")?;
    files.extend(damaged_world()?);
    files.extend(unfiltered("Sample without filters")?);
    let names: Vec<_> = files.iter().map(|(name, bytes)| format!("[\"{name}\",{}]", bytes.len())).collect();
    let contents = files.into_iter().flat_map(|(_, bytes)| bytes);
    Ok(format!("[{}]\n", names.join(",")).into_bytes().into_iter().chain(contents).collect())
}

/// The files of a database of the test data, to be shown in another folder.
fn folder(of: &str, shown: &str) -> Result<Vec<(String, Vec<u8>)>> {
    let paths = fs::read_dir(Path::new(SAMPLES).join(of))?.map(|entry| Ok(entry?.path()));
    let mut paths = paths.collect::<std::io::Result<Vec<_>>>()?;
    paths.sort();
    let file = |path: &std::path::PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).ok_or("a name that is not Unicode")?;
        Ok((format!("{shown}/{name}"), fs::read(path)?))
    };
    paths.iter().map(file).collect()
}

/// A world of Minecraft without CURRENT, with one wrong bit in a table, and with zeros in another.
fn damaged_world() -> Result<Vec<(String, Vec<u8>)>> {
    let world = "Sample of a damaged world";
    let mut files = folder("levels", &format!("{world}/db"))?;
    files.retain(|(name, _)| !name.ends_with("CURRENT"));
    for (name, bytes) in &mut files {
        let damaged = match &name[name.len() - 10..] {
            "000005.ldb" => bytes.get_mut(500..501).map(|byte| byte[0] ^= 1),
            "000007.ldb" => bytes.get_mut(512..1024).map(|bytes| bytes.fill(0)),
            _ => Some(()),
        };
        damaged.ok_or("a table is too short")?;
    }
    files.push((format!("{world}/levelname.txt"), world.as_bytes().to_vec()));
    Ok(files)
}

/// A database without filters, just large enough that they would matter.
fn unfiltered(shown: &str) -> Result<Vec<(String, Vec<u8>)>> {
    let (mut files, mut tables) = (Vec::new(), Vec::new());
    for number in 3_u64..8 {
        let options = WriteOptions::default().internal_keys(true).compression(Compression::None);
        let mut table = TableBuilder::new(Vec::new(), options);
        for user in number * 1000..number * 1000 + 30 {
            // The sequence number, and the type of a value.
            let key = [format!("user/{user:06}").as_bytes(), &(user << 8 | 1).to_le_bytes()].concat();
            table.add(&key, "{\"name\":\"Ana\",\"seen\":[]}".repeat(320).as_bytes())?;
        }
        let (bytes, made) = table.finish().map_err(|failed| failed.into_error())?;
        let (first, last) = made.key_range.unwrap_or_default();
        tables.push(LiveTable::new(2, number, made.file_size, first, last));
        files.push((format!("{shown}/{}", FileKind::Table.file_name(number)), bytes));
    }
    let mut edit = VersionEdit::default();
    edit.comparator = Some(b"leveldb.BytewiseComparator".to_vec().into());
    edit.log_number = Some(0);
    edit.next_file_number = Some(8);
    edit.last_sequence = Some(8000);
    edit.new_tables = tables;
    let (mut record, mut manifest) = (Vec::new(), LogWriter::new(Vec::new()));
    edit.encode(&mut record)?;
    manifest.add_record(&record)?;
    files.push((format!("{shown}/MANIFEST-000002"), manifest.into_writer()));
    files.push((format!("{shown}/CURRENT"), b"MANIFEST-000002\n".to_vec()));
    Ok(files)
}
