//! The tests are programs in the folders beside this file. A package has to have a library or a program.
