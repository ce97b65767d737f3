//! `filterblock rebuild` on databases of LevelDB and goleveldb; `compare rebuild` takes any number of them.

mod locks;
mod random;
