//! The record that a database has of a table.

use filterblock::database::LiveTable;

/// The record that a sound MANIFEST has of a table in its folder.
#[derive(Clone, Copy, Debug)]
pub struct TableRecord<'d> {
    /// The name of the order of user keys.
    pub comparator: Option<&'d [u8]>,
    /// The order is LevelDB's default one, byte by byte.
    pub is_bytewise: bool,
    /// `None`: the database does not use the table any longer, or not yet.
    pub live: Option<&'d LiveTable>,
    /// The MANIFEST has not named the table yet: its number is a new one.
    pub is_unlisted: bool,
    /// Another table of the same level whose keys reach into this one's, which only level 0 allows.
    pub overlapped: Option<&'d LiveTable>,
}
