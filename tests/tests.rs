//! The tests are programs in the folders beside this file. A package has to have a library or a program, and this one's
//! doctests are the examples of README.md, which the published crate does not have.
#![cfg_attr(all(doctest, feature = "table"), doc = include_str!("../README.md"))]
