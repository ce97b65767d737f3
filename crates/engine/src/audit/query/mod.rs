//! What `query` answers: the data blocks of a table that may hold a key, and the last write to it in a log.

mod candidates;
mod index;
mod logs;
mod run;

pub use run::{QueryOutcome, QueryOutput, QueryRequest};

/// The keys to look up, in the order given, with their bytewise order.
#[derive(Debug)]
pub struct LookupKeys {
    given: Vec<Vec<u8>>,
    sorted: Vec<usize>,
}

impl LookupKeys {
    /// Takes the keys in the order in which they are answered.
    pub fn new(given: Vec<Vec<u8>>) -> Self {
        let mut sorted: Vec<usize> = (0..given.len()).collect();
        sorted.sort_by(|one, other| given.get(*one).cmp(&given.get(*other)));
        Self { given, sorted }
    }

    /// The keys in the order given.
    pub fn given(&self) -> &[Vec<u8>] {
        &self.given
    }

    /// The indices of `key` among the keys given.
    fn places(&self, key: &[u8]) -> impl Iterator<Item = usize> {
        let of = |at: &usize| self.given.get(*at).map(Vec::as_slice);
        let start = self.sorted.partition_point(|at| of(at) < Some(key));
        let places = self.sorted.iter().skip(start).copied();
        places.take_while(move |at| of(at) == Some(key))
    }

    /// Each key with its index among the keys given, in bytewise order.
    fn sorted(&self) -> impl Iterator<Item = (usize, &[u8])> {
        self.sorted.iter().filter_map(|&at| Some((at, self.given.get(at)?.as_slice())))
    }
}
