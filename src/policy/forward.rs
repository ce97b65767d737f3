//! Implements `FilterPolicy` for references and smart pointers by forwarding every method.

use std::sync::Arc;

use super::{FilterPolicy, FilterShape, KeyHash, Origin};
use crate::{Keys, Result};

macro_rules! forward {
    ($($pointer:ty),*) => {$(
        impl<P: FilterPolicy + ?Sized> FilterPolicy for $pointer {
            #[inline]
            fn name(&self) -> &str {
                (**self).name()
            }
            #[inline]
            fn create_filter(&self, keys: Keys<'_>, dst: &mut Vec<u8>) -> Result<()> {
                (**self).create_filter(keys, dst)
            }
            #[inline]
            fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
                (**self).key_may_match(key, filter)
            }
            #[inline]
            fn keys_may_match(&self, probes: &[(&[u8], &[u8])], answers: &mut [bool]) {
                (**self).keys_may_match(probes, answers);
            }
            #[inline]
            fn hash_key(&self, key: &[u8]) -> Option<KeyHash> {
                (**self).hash_key(key)
            }
            fn hash_keys(&self, keys: Keys<'_>, hashes: &mut Vec<KeyHash>) -> bool {
                (**self).hash_keys(keys, hashes)
            }
            #[inline]
            fn create_filter_from_hashes(&self, hashes: &[KeyHash], dst: &mut Vec<u8>) -> Result<()> {
                (**self).create_filter_from_hashes(hashes, dst)
            }
            #[inline]
            fn hash_may_match(&self, hash: KeyHash, filter: &[u8]) -> bool {
                (**self).hash_may_match(hash, filter)
            }
            fn hashes_may_match(&self, hashes: &[KeyHash], filter: &[u8], answers: &mut [bool]) {
                (**self).hashes_may_match(hashes, filter, answers);
            }
            fn filter_len(&self, num_keys: usize) -> Option<usize> {
                (**self).filter_len(num_keys)
            }
            #[inline]
            fn describe(&self, filter: &[u8]) -> Option<FilterShape> {
                (**self).describe(filter)
            }
            fn reads_dialect(&self, origin: Origin) -> bool {
                (**self).reads_dialect(origin)
            }
        }
    )*};
}

forward!(&P, Box<P>, Arc<P>);
