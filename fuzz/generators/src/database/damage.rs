//! Damage to a database's files.

use arbitrary::Arbitrary;

use crate::corruption::Corruption;

/// Damage to a folder. Numbers of files are taken modulo their count, in the order of their names. Files without
/// contents of the database, such as LOCK, are counted only for [`Older`](Self::Older) and [`CurrentNames::File`].
#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum DatabaseDamage<'a> {
    /// The bytes of this file. No checksum is corrected.
    Bytes(u8, Corruption<'a>),
    /// This file, damaged by [`Damager`](crate::Damager) as these bytes say: in one structure, with the checksums put
    /// right and a table's new size in the MANIFEST; or in its bytes, if checksums are left wrong.
    Structure(u8, &'a [u8]),
    /// This file is missing.
    Missing(u8),
    /// CURRENT names something else.
    Current(CurrentNames<'a>),
    /// Some files become as they are in the older state of the folder, or missing if they are missing there. Of the
    /// files of both states, file number n is among them if bit n modulo 32 is set.
    Older(u32),
}

/// The contents of CURRENT.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum CurrentNames<'a> {
    /// The name of one of the files in the folder and in its older state, without a newline if `true`.
    File(u8, bool),
    /// The name of a MANIFEST of this number, whether there is one or not.
    Manifest(u64),
    /// These bytes.
    Any(&'a [u8]),
}
