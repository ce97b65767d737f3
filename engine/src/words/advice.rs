//! The advice of `tune` in words, whatever they stand in.

use std::path::Path;

use super::numbers::size;
use super::shell_word::{path_word, shell_word};
use crate::report::{Budget, BudgetOrigin, Choice, LevelBits, Outcome};

/// Advice to leave the filters as they are, as a sentence without an end. `ten_bits`: what ten bits a key
/// would do instead, if that were much, for more space.
pub fn leave_text(budget: Budget, now: &Outcome, ten_bits: Option<&Outcome>) -> String {
    let within = match budget.origin {
        BudgetOrigin::Given => format!("of at most {}", size(budget.bytes)),
        BudgetOrigin::InUse | BudgetOrigin::TenBits => "of the same size".to_owned(),
    };
    let mut text = format!("leave the filters as they are, as no others {within} save enough");
    if let Some((reads, then)) = now.reads.zip(ten_bits) {
        let fewer = then.reads.map_or(0.0, |reads| reads.absent().value);
        let more = then.size.value - now.size.value;
        text += &format!(
            ". With {} more, 10 bits a key, an absent key would read {fewer:.3} data blocks instead of {:.3}",
            size(more.max(0.0) as u64),
            reads.absent().value,
        );
    }
    text
}

/// Advice to rebuild with other filters than those that do `now`, as a sentence without an end.
pub fn rebuild_text(now: &Outcome, choice: &Choice) -> String {
    let (bits, ranges) = (bits_text(choice), ranges_text(choice.base_lg));
    format!("rebuild with {bits} and {ranges}: {}", saving(now, &choice.outcome))
}

/// What changes if filters that do `now` are replaced by those that do `then`.
fn saving(now: &Outcome, then: &Outcome) -> String {
    let (Some(reads), Some(fewer)) = (now.reads, then.reads) else { return size_change(now, then) };
    let [of_absent, of_absent_then, of_stored, of_stored_then] =
        [reads.absent(), fewer.absent(), reads.present, fewer.present]
            .map(|reads| format!("{:.3}", reads.value));
    let mut text = format!("an absent key then reads {of_absent_then} data blocks instead of {of_absent}");
    if of_stored_then != of_stored {
        text += &format!(", a stored one {of_stored_then} instead of {of_stored}");
    }
    format!("{text}; {}", size_change(now, then))
}

fn size_change(now: &Outcome, then: &Outcome) -> String {
    let (now, then) = (now.size.value.round() as u64, then.size.value.round() as u64);
    let word = if then > now { "more" } else { "less" };
    format!("filters take {} {word}", size(now.abs_diff(then)))
}

/// The command that follows the advice.
pub fn rebuild_command(database: &Path, arguments: &[String]) -> String {
    let mut command = format!("filterblock rebuild {} --in-place", path_word(database));
    for argument in arguments {
        command.push(' ');
        command.push_str(&shell_word(argument));
    }
    command
}

/// The bits a key of all levels: `20 bits a key on levels 0 and 1, 17 on level 2`, or one number.
pub fn bits_text(choice: &Choice) -> String {
    if let Some(bits) = choice.same_bits() {
        return format!("{bits} {} a key", if bits == 1 { "bit" } else { "bits" });
    }
    let mut parts = Vec::new();
    for group in choice.bits.chunk_by(|one, next| one.bits_per_key == next.bits_per_key) {
        let Some(LevelBits { bits_per_key: bits, .. }) = group.first() else { continue };
        let unit = if parts.is_empty() { " bits a key" } else { "" };
        let levels: Vec<_> = group.iter().filter_map(|of| Some(of.level?.to_string())).collect();
        let levels = match levels.split_last() {
            Some((last, [])) => format!("level {last}"),
            Some((last, others)) => format!("levels {} and {last}", others.join(", ")),
            None => "tables of no level".to_owned(),
        };
        parts.push(format!("{bits}{unit} on {levels}"));
    }
    parts.join(", ")
}

/// The data blocks that a filter of `base_lg` covers.
pub fn ranges_text(base_lg: u8) -> String {
    /// No table is as long as such a range.
    const WHOLE_TABLE: u8 = 40;
    match 1_u64.checked_shl(base_lg.into()) {
        Some(range) if base_lg < WHOLE_TABLE => format!("a filter for every {} of data blocks", size(range)),
        _ => "one filter for each table".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::policies::Policy;
    use crate::report::{Estimate, Reads};

    fn choice(base_lg: u8, bits: &[(Option<u8>, u32)]) -> Choice {
        let bits = bits.iter().map(|&(level, bits_per_key)| LevelBits { level, bits_per_key }).collect();
        Choice { policy: Policy::Builtin2, base_lg, bits, outcome: Outcome::default() }
    }

    #[test]
    fn advice_is_a_sentence() {
        let outcome = |bytes: f64, absent: f64, present: f64| {
            let exact = Estimate::exact;
            let reads = Reads { neighbours: exact(absent), present: exact(present), ..Reads::default() };
            Outcome { size: exact(bytes), reads: Some(reads), ..Outcome::default() }
        };
        let now = outcome(4096.0, 0.5, 1.25);
        let budget = Budget { bytes: 16 << 20, origin: BudgetOrigin::Given };
        assert_eq!(
            leave_text(budget, &now, Some(&outcome(5120.0, 0.031, 1.0))),
            "leave the filters as they are, as no others of at most 16 MiB save enough. With 1 KiB more, 10 bits a key, \
             an absent key would read 0.031 data blocks instead of 0.500"
        );
        let bits = [(Some(0), 20), (Some(1), 20), (Some(2), 17), (Some(4), 9)];
        let choice = Choice { outcome: outcome(1024.0, 0.0625, 1.0), ..choice(14, &bits) };
        assert_eq!(
            rebuild_text(&now, &choice),
            "rebuild with 20 bits a key on levels 0 and 1, 17 on level 2, 9 on level 4 and a filter for every 16 KiB \
             of data blocks: an absent key then reads 0.062 data blocks instead of 0.500, a stored one 1.000 instead \
             of 1.250; filters take 3 KiB less"
        );
        let text = rebuild_text(&outcome(4096.0, 0.5, 1.0004), &choice);
        assert!(
            text.ends_with("reads 0.062 data blocks instead of 0.500; filters take 3 KiB less"),
            "{text}"
        );
    }

    #[test]
    fn bits_are_named_once_if_they_are_the_same() {
        assert_eq!(bits_text(&choice(11, &[(None, 12)])), "12 bits a key");
        assert_eq!(bits_text(&choice(11, &[(Some(0), 1), (Some(3), 1)])), "1 bit a key");
        let four = [(Some(0), 9), (Some(1), 9), (Some(2), 9), (Some(3), 4)];
        assert_eq!(bits_text(&choice(11, &four)), "9 bits a key on levels 0, 1 and 2, 4 on level 3");
    }

    #[test]
    fn a_range_is_a_size_or_the_table() {
        assert_eq!(ranges_text(11), "a filter for every 2 KiB of data blocks");
        assert_eq!(ranges_text(16), "a filter for every 64 KiB of data blocks");
        assert_eq!([ranges_text(63), ranges_text(255)], ["one filter for each table"; 2]);
    }

    #[test]
    fn the_command_is_made_of_words_for_a_shell() {
        let arguments =
            ["--bits-per-key".to_owned(), "0=20,1=9".to_owned(), "--policy".to_owned(), "a b".to_owned()];
        assert_eq!(
            rebuild_command(Path::new("my db"), &arguments),
            "filterblock rebuild 'my db' --in-place --bits-per-key 0=20,1=9 --policy 'a b'"
        );
        assert_eq!(rebuild_command(Path::new("-"), &[]), "filterblock rebuild ./- --in-place");
    }
}
