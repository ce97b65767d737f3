//! Completions and the manual page.

use super::*;

#[test]
fn completions_know_commands_and_options() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = run(&["completions", shell]).expect(0).quiet().out;
        let options = ["files-from", "max-output", "bits-per-key"].map(str::to_owned);
        for word in commands().into_iter().chain(options) {
            assert!(script.contains(&word), "{shell} {word}");
        }
    }
    run(&["completions", "frobnicate"]).expect(2);
}

#[test]
fn the_manual_has_every_command_and_its_options() {
    let page = run(&["man"]).expect(0).quiet().out;
    assert!(page.contains(".TH filterblock 1"), "{page}");
    for command in commands() {
        let title = format!(".SH \"FILTERBLOCK {}\"\n", command.to_uppercase());
        assert_eq!(page.matches(&title).count(), 1, "{command}");
    }
    for text in ["\\-\\-files\\-from", "\\-\\-max\\-output", "docs/problems.md", "fine, or could be better"] {
        assert!(page.contains(text), "{text}");
    }
}
