//! The rebuild that is advised if filters deny stored keys.

use filterblock::LegacyHash;

use super::hash_evidence::{HashEvidence, HashNeeded};
use super::lookups::Survey;
use crate::audit::policies::{Policy, PolicyCounts};
use crate::report::{Action, Advice};
use crate::words::{USUAL_BITS_TEXT, hash_if_asked_text, hash_text, renew_text, several_policies_text};

/// The filters to make in place of those that deny stored keys.
pub(super) struct Renewal {
    policy: Policy,
    /// Tables have filters that are not of `policy`, so that it has to be named.
    names_policy: bool,
    /// The policy was chosen among those of several tables' filters.
    is_chosen: bool,
    /// The bits a key that are most in use; `None` if they are not known.
    bits: Option<u32>,
    hashes: HashEvidence,
    /// Every table was looked at for `hashes`.
    all: bool,
}

impl Renewal {
    /// `given`: the policy of the request. `policy`: the one to tune for. `bits`: the bits a key most in use by filters
    /// of `policy`. `hashes`: what the filters reveal, and true if every table was looked at.
    pub(super) fn new(
        given: Option<Policy>,
        policy: Policy,
        survey: &Survey,
        bits: Option<u32>,
        (hashes, all): (HashEvidence, bool),
    ) -> Self {
        let mut names =
            survey.iter().filter_map(|filters| Some(filters.as_ref().ok()?.name.as_deref()?.as_bytes()));
        let names = PolicyCounts::of(&mut names);
        // No filters are of a policy that is assumed. Those that deny keys are of a known policy, sound or not.
        let is_kept = given.is_some() || names.has(policy);
        let renewed = if is_kept { policy } else { names.most_frequent().unwrap_or(policy) };
        Self {
            policy: renewed,
            names_policy: names.has_other_than(renewed),
            is_chosen: given.is_none() && names.are_several(),
            bits: bits.filter(|_| renewed == policy),
            hashes,
            all,
        }
    }

    /// The advice for filters that deny this number of stored keys.
    pub(super) fn advice(&self, denied: u64) -> Advice {
        let mut text = renew_text(denied);
        let mut arguments = Vec::new();
        match self.bits {
            Some(bits) => arguments.extend(["--bits-per-key".to_owned(), bits.to_string()]),
            None => text += &format!(". {USUAL_BITS_TEXT}"),
        }
        if self.names_policy {
            arguments.extend(["--policy".to_owned(), self.policy.name().to_owned()]);
        }
        if self.is_chosen {
            text += &format!(". {}", several_policies_text(self.policy.name()));
        }
        let arguments = match self.policy {
            Policy::Builtin(_) => match self.hashes.needed() {
                HashNeeded::This(hash) => Some([arguments, hash_arguments(hash)].concat()),
                HashNeeded::Either => {
                    // A key of another table may have two different hashes.
                    if !self.all {
                        text += &format!(". {}", hash_if_asked_text());
                    }
                    Some(arguments)
                }
                HashNeeded::Unknown => {
                    text += &format!(". {}", hash_text(&arguments));
                    None
                }
            },
            Policy::Builtin2 | Policy::Own(_) => Some(arguments),
        };
        Advice { action: Action::Rebuild, text, choice: None, arguments }
    }
}

/// The arguments of `rebuild` for this hash.
pub(super) fn hash_arguments(hash: LegacyHash) -> Vec<String> {
    let hash = if hash == LegacyHash::Signed { "signed" } else { "unsigned" };
    ["--hash", hash].map(str::to_owned).to_vec()
}
