//! What the picture of a tree shows.

/// The tables of a database.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Tree {
    /// From the top.
    pub levels: Vec<TreeLevel>,
}

/// The tables of a level, in any order.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct TreeLevel {
    /// As in "level 0", or "tables".
    pub name: String,
    pub tables: Vec<TreeTable>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct TreeTable {
    /// The name of the file, safe to print.
    pub name: String,
    /// Where its first and its last key are among the keys of the database, from 0 to 1; `None` if
    /// that is not known. Such tables are drawn beside each other below the others.
    pub range: Option<(f64, f64)>,
    /// The size of the file in bytes.
    pub size: u64,
    pub filter: TableFilter,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum TableFilter {
    /// The share of absent keys that pass, from 0 to 1.
    Rate(f64),
    /// There are filters, of which no rate is known: not measured, damaged, or not known here.
    Unknown,
    Missing,
}
