//! Many operations in one run of bytes, so that millions of them cost one call into C++.

/// Operations in one run of bytes. The counterpart in C++ is `Script` in `shim/support.h`.
#[derive(Debug, Clone, Default)]
pub(super) struct Script(Vec<u8>);

impl Script {
    pub(super) fn op(&mut self, op: u8) {
        self.0.push(op);
    }

    pub(super) fn i32(&mut self, number: i32) {
        self.0.extend_from_slice(&number.to_ne_bytes());
    }

    pub(super) fn u64(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_ne_bytes());
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        let len = u32::try_from(bytes.len()).expect("keys, values and blocks under 4 GiB");
        self.0.extend_from_slice(&len.to_ne_bytes());
        self.0.extend_from_slice(bytes);
    }

    pub(super) fn as_slice(&self) -> &[u8] {
        &self.0
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}
