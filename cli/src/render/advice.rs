//! The advice of `tune` in words, whatever they stand in.

use std::path::Path;

use super::numbers::size;
use super::shell_word::{path_word, shell_word};
use crate::audit::tune::report::{Advice, Choice};

/// The advice as a sentence without an end.
pub(crate) fn advice_text(advice: &Advice) -> String {
    match advice {
        Advice::Leave { why } => format!("leave the filters as they are: {why}"),
        Advice::Rebuild { choice, saves, .. } => {
            format!("rebuild with {} and {}: {saves}", bits_text(choice), ranges_text(choice.base_lg))
        }
        Advice::None { why } => format!("no advice: {why}"),
    }
}

/// The command that follows the advice.
pub(crate) fn rebuild_command(database: &Path, arguments: &[String]) -> String {
    let mut command = format!("filterblock rebuild {} --in-place", path_word(database));
    for argument in arguments {
        command.push(' ');
        command.push_str(&shell_word(argument));
    }
    command
}

/// The bits a key of all levels: `20 bits a key on levels 0 and 1, 17 on level 2`, or one number.
pub(crate) fn bits_text(choice: &Choice) -> String {
    if let Some(bits) = choice.same_bits() {
        return format!("{bits} {} a key", if bits == 1 { "bit" } else { "bits" });
    }
    let mut parts = Vec::new();
    for group in choice.bits.chunk_by(|(_, one), (_, next)| one == next) {
        let Some((_, bits)) = group.first() else { continue };
        let unit = if parts.is_empty() { " bits a key" } else { "" };
        let levels: Vec<_> =
            group.iter().filter_map(|(level, _)| *level).map(|level| level.to_string()).collect();
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
pub(crate) fn ranges_text(base_lg: u8) -> String {
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
    use crate::audit::tune::report::Outcome;

    fn choice(base_lg: u8, bits: &[(Option<u8>, u32)]) -> Choice {
        Choice { policy: Policy::Builtin2, base_lg, bits: bits.to_vec(), outcome: Outcome::default() }
    }

    #[test]
    fn advice_is_a_sentence() {
        let why = "it is good".to_owned();
        assert_eq!(
            advice_text(&Advice::Leave { why: why.clone() }),
            "leave the filters as they are: it is good"
        );
        assert_eq!(advice_text(&Advice::None { why }), "no advice: it is good");
        let rebuild = Advice::Rebuild {
            choice: Box::new(choice(14, &[(Some(0), 20), (Some(1), 20), (Some(2), 17), (Some(4), 9)])),
            saves: "saves 0.9 block reads".to_owned(),
            arguments: Vec::new(),
        };
        assert_eq!(
            advice_text(&rebuild),
            "rebuild with 20 bits a key on levels 0 and 1, 17 on level 2, 9 on level 4 and a filter for every 16 KiB \
             of data blocks: saves 0.9 block reads"
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
