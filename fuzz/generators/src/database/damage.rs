//! What is wrong with a database.

use arbitrary::Arbitrary;

use crate::corruption::Corruption;

/// What is damaged in a folder. Numbers of files are taken modulo their count, in the order of their
/// names; files without contents of the database, such as LOCK, are not counted.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum DatabaseDamage<'a> {
    /// The bytes of this file. No checksum is corrected.
    Bytes(u8, Corruption<'a>),
    /// This file as by [`Damager`](crate::Damager), with the damage made of these bytes: one
    /// structure, with the checksums right, and with the table's size right in the MANIFEST. Where
    /// checksums are left wrong, its bytes.
    Structure(u8, &'a [u8]),
    /// This file is missing.
    Missing(u8),
    /// CURRENT names something else.
    Current(CurrentNames<'a>),
    /// Some files are as in the older state of the folder, missing where they are missing there: file
    /// number n of both states if bit n modulo 32 is set.
    Older(u32),
}

/// What CURRENT names.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum CurrentNames<'a> {
    /// This file, of those in the folder and in its older state. Without a newline if `true`.
    File(u8, bool),
    /// A MANIFEST of this number, whether there is one or not.
    Manifest(u64),
    /// These bytes.
    Any(&'a [u8]),
}
