//! Tests of results as lines of JSON.

mod tune;
