//! The functions of `shim/order.cc`.

use super::{Bytes, Sink, collect};

unsafe extern "C" {
    fn fb_order_compare(internal_keys: u8, a: Bytes, b: Bytes) -> i32;
    fn fb_order_separator(internal_keys: u8, start: Bytes, limit: Bytes, key: Sink);
    fn fb_order_successor(internal_keys: u8, of: Bytes, key: Sink);
    fn fb_internal_key_debug_string(key: Bytes, text: Sink);
}

pub(in crate::leveldb) fn internal_key_debug_string(key: &[u8]) -> Vec<u8> {
    // SAFETY: only reads the bytes, however many; the sink is used only during the call.
    collect(|text| unsafe { fb_internal_key_debug_string(Bytes::new(key), text) })
}

pub(in crate::leveldb) fn compare(internal_keys: bool, a: &[u8], b: &[u8]) -> i32 {
    // SAFETY: only reads the bytes; `KeyOrder` checks that internal keys have their last 8 bytes.
    unsafe { fb_order_compare(internal_keys.into(), Bytes::new(a), Bytes::new(b)) }
}

pub(in crate::leveldb) fn separator(internal_keys: bool, start: &[u8], limit: &[u8]) -> Vec<u8> {
    // SAFETY: as `compare`; the sink is used only during the call.
    collect(|key| unsafe {
        fb_order_separator(internal_keys.into(), Bytes::new(start), Bytes::new(limit), key)
    })
}

pub(in crate::leveldb) fn successor(internal_keys: bool, of: &[u8]) -> Vec<u8> {
    // SAFETY: as `compare`; the sink is used only during the call.
    collect(|key| unsafe { fb_order_successor(internal_keys.into(), Bytes::new(of), key) })
}
