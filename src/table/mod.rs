//! The tables (`.ldb`, `.sst`) that carry filter blocks.
