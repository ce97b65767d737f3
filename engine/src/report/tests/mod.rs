//! Results as lines of JSON.

mod tune;
