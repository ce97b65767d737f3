//! Policies make filters and ask them: [`FilterPolicy`], and the policies that come with the library.

mod atomic;
mod basho;
mod basho_user_key;
mod bit_array;
mod bloom;
mod cassandra;
mod filter_policy;
mod forward;
mod key_hash;
mod known;
mod legacy;
mod murmur3;
mod origin;
mod prefix;
mod rate;
mod shape;
mod user_key;

pub(crate) use bloom::PREFETCHED;

pub use atomic::AtomicBloomFilter;
pub use basho::BashoBloom2Policy;
pub use basho_user_key::BashoInternalFilterPolicy;
pub use bloom::BloomFilterPolicy;
pub use cassandra::CassandraBloomPolicy;
pub use filter_policy::{FilterPolicy, SharedPolicy};
pub use key_hash::KeyHash;
pub use known::{OpaquePolicy, default_read_policies};
pub use legacy::{LegacyBloomPolicy, LegacyHash};
pub use murmur3::Murmur3BloomPolicy;
pub use origin::Origin;
pub use prefix::PrefixPolicy;
pub use rate::expected_false_positive_rate;
pub use shape::FilterShape;
pub use user_key::InternalFilterPolicy;
