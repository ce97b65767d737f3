//! Decompressing a stored block, whichever codec it was compressed with, within limits.

use bytes::Bytes;

use super::{Codec, snappy};
use crate::{Error, Result, Structure};

/// Decompresses the contents of a block, which are of compression type `id` and stored at `offset`
/// in the file. Returns them with their codec.
///
/// Uncompressed contents are returned as they are. Decompressed contents stay within `limits`, and
/// take no more memory than a codec can fill from the stored bytes. The memory of `buffer` may be
/// used for them.
///
/// `made` grows by roughly the number of bytes that the codecs made, even if all of them fail in the
/// end.
///
/// A type can have several meanings. Codecs with a magic are tried first, if the data begin with
/// that magic, then codecs without a magic, until a codec decodes the data from the first byte to the
/// last. If a codec with a magic exceeds a limit, no further codec is tried.
pub(crate) fn decompress(
    id: u8,
    stored: Bytes,
    offset: u64,
    limits: Limits,
    buffer: &mut Vec<u8>,
    made: &mut u64,
) -> Result<(Bytes, Codec)> {
    if Codec::of_type(id) == [Codec::None] {
        *made = made.saturating_add(stored.len() as u64);
        // If `buffer` were kept as well, the limit could be exceeded.
        *buffer = Vec::new();
        return Ok((stored, Codec::None));
    }
    let mut failed = Failed::default();
    for &codec in Codec::of_type(id) {
        if !codec.magic_matches(&stored) {
            continue;
        }
        match decode(codec, &stored, offset, limits, buffer, made) {
            None => failed.unbuilt.push(codec),
            Some(Ok(contents)) => return Ok((contents, codec)),
            Some(Err(error)) if codec.has_magic() && matches!(error, Error::Limit { .. }) => {
                return Err(error);
            }
            Some(Err(error)) => failed.note(error),
        }
    }
    Err(failed.error(id, &stored, offset))
}

/// Decodes `stored` with one codec. Returns `None` if this build does not have that codec.
fn decode(
    codec: Codec,
    stored: &Bytes,
    offset: u64,
    limits: Limits,
    buffer: &mut Vec<u8>,
    made: &mut u64,
) -> Option<Result<Bytes>> {
    if codec != Codec::Snappy {
        // The other codecs allocate memory of their own. If `buffer` were kept as well, the limit could
        // be exceeded.
        *buffer = Vec::new();
    }
    let decoded = match codec {
        // Not compressed: `decompress` returns the stored bytes themselves.
        Codec::None => return None,
        Codec::Snappy => snappy::decode(stored, offset, limits.contents, std::mem::take(buffer), made),
        #[cfg(feature = "zstd")]
        Codec::Zstd => crate::table::codec::zstd::decode(stored, offset, limits, made),
        #[cfg(feature = "zlib")]
        Codec::Zlib | Codec::Deflate => {
            crate::table::codec::deflate::decode(codec, stored, offset, limits.contents, made)
        }
        #[cfg(feature = "lz4")]
        Codec::Lz4 => crate::table::codec::lz4::decode(stored, offset, limits.contents, made),
        #[cfg(not(feature = "zstd"))]
        Codec::Zstd => return None,
        #[cfg(not(feature = "zlib"))]
        Codec::Zlib | Codec::Deflate => return None,
        #[cfg(not(feature = "lz4"))]
        Codec::Lz4 => return None,
    };
    Some(decoded.map(Bytes::from))
}

/// The reasons why the codecs tried so far have failed.
#[derive(Default)]
struct Failed {
    /// The first error that is not a limit.
    error: Option<Error>,
    tried: usize,
    /// The first error that is a limit.
    over_limit: Option<Error>,
    /// Codecs that this build does not have.
    unbuilt: Vec<Codec>,
}

impl Failed {
    fn note(&mut self, error: Error) {
        self.tried = self.tried.saturating_add(1);
        match error {
            Error::Limit { .. } => self.over_limit.get_or_insert(error),
            error => self.error.get_or_insert(error),
        };
    }

    /// The error to report: if the data may be sound, the obstacle to reading them, else their
    /// damage.
    fn error(self, id: u8, stored: &[u8], offset: u64) -> Error {
        let unsupported = |meaning: &str| unsupported(id, offset, stored.len(), meaning);
        let known = Codec::of_type(id);
        if known.is_empty() {
            return unsupported(Codec::foreign_name(id).unwrap_or("of unknown meaning"));
        }
        if let Some(error) = self.over_limit {
            return error;
        }
        // Data that begin with a codec's magic count as that codec's, damaged or not.
        let marked = known.iter().find(|codec| codec.has_magic() && codec.magic_matches(stored));
        let mut missing = self.unbuilt;
        missing.retain(|codec| marked.is_none_or(|marked| marked == codec));
        if !missing.is_empty() {
            return unsupported(&needed(&missing));
        }
        match self.error {
            Some(error) if self.tried == 1 || marked.is_some() => error,
            // bzip2, as RocksDB writes it, in a table with LevelDB's magic. The data may well be
            // sound.
            None if stored.starts_with(b"BZh") => unsupported("bzip2"),
            _ => {
                let names: Vec<_> = known.iter().map(|codec| codec.name()).collect();
                let expected = format!("data of type {id}: {}", names.join(", "));
                Error::corrupt(Structure::Compressed, offset, expected, "something else")
            }
        }
    }
}

/// Lists codecs with the features that enable them, for messages.
fn needed(codecs: &[Codec]) -> String {
    let needed = codecs.iter().map(|codec| {
        let feature = codec.feature().unwrap_or_default();
        format!("{}, which needs the feature `{feature}`", codec.name())
    });
    needed.collect::<Vec<_>>().join("; or ")
}

fn unsupported(id: u8, offset: u64, stored_len: usize, meaning: &str) -> Error {
    Error::Unsupported {
        what: Structure::CompressionType,
        offset: offset.saturating_add(stored_len as u64),
        expected: supported().into(),
        found: format!("{id} ({meaning})").into(),
    }
}

/// Lists the types that this build reads, for messages.
fn supported() -> String {
    let features = [
        (cfg!(feature = "zstd"), ", 2 or 3 (zstd)"),
        (cfg!(feature = "zlib"), ", 2 (zlib), 2 or 4 (deflate)"),
        (cfg!(feature = "lz4"), ", 2 (lz4)"),
    ];
    let built = features.iter().filter(|(is_built, _)| *is_built).map(|(_, codecs)| *codecs);
    std::iter::once("0 (none), 1 (snappy)").chain(built).collect()
}

#[cfg(test)]
mod tests;

/// The memory that decompressing one block may take, in bytes.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    /// The limit for the contents.
    pub(crate) contents: u64,
    /// The limit for contents, window and decoder together, if the decoder needs much memory.
    #[cfg_attr(not(feature = "zstd"), expect(dead_code, reason = "no other decoder does"))]
    pub(crate) memory: u64,
}

/// The error for contents that are longer than allowed.
pub(super) fn too_long(offset: u64, limit: u64, found: u64) -> Error {
    Error::Limit { what: "decompressed block", offset, limit, found }
}
