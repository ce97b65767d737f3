//! The tests are programs in the folders beside this file; a package cannot be without a library or a program.
