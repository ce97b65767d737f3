//! `filterblock rebuild` on databases of LevelDB and goleveldb, with small counts; `compare rebuild`
//! takes larger ones.

mod locks;
mod random;
