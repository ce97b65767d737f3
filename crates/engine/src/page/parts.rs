//! The components of a page.

use std::path::Path;

use filterblock::escape_path;
use maud::{Markup, html};

use super::document::icon;
use super::names::{message, text};
use crate::report::Severity;

/// A question and its answer in one line, which opens.
pub(super) struct Section {
    pub(super) title: &'static str,
    pub(super) answer: String,
    pub(super) content: Markup,
}

impl Section {
    pub(super) fn show(&self, open: bool) -> Markup {
        html! {
            details.part open[open] {
                summary { h2 { (self.title) } span { (message(&self.answer)) } }
                div { (self.content) }
            }
        }
    }
}

/// The class of this colour, and the sign of the verdict that has it.
pub(super) const fn tone(severity: Severity) -> &'static str {
    match severity {
        Severity::Good => "fine",
        Severity::Notice => "better",
        Severity::Bad => "bad",
        Severity::Unknown => "none",
    }
}

pub(super) struct VerdictBox<'a> {
    pub(super) severity: Severity,
    pub(super) tag: &'a str,
    pub(super) title: &'a str,
    /// May be empty.
    pub(super) sentence: &'a str,
    pub(super) action: Markup,
    pub(super) conditions: &'a [String],
    /// A title and a picture.
    pub(super) aside: Option<(&'static str, Markup)>,
}

impl VerdictBox<'_> {
    pub(super) fn show(&self) -> Markup {
        let tone = tone(self.severity);
        html! {
            section class={ "verdict " (tone) @if self.aside.is_some() { " two" } } {
                div {
                    p.tag { (icon(tone)) (self.tag) }
                    h2 { (heading(self.title)) }
                    @if !self.sentence.is_empty() { p.say { (message(self.sentence)) } }
                    div.act { (self.action) }
                    @if !self.conditions.is_empty() {
                        ul.ifs { @for text in self.conditions { li { (message(text)) } } }
                    }
                }
                @if let Some((title, picture)) = &self.aside {
                    figure.aside { figcaption { (title) } (picture) }
                }
            }
        }
    }
}

/// A text whose short names of files stay in one line.
fn heading(text: &str) -> Markup {
    let text = message(text);
    let words: Vec<_> = text.split(' ').collect();
    html! {
        @for (at, word) in words.iter().enumerate() {
            @if at > 0 { " " }
            @if word.contains('-') && word.len() <= 20 { span.file { (word) } } @else { (word) }
        }
    }
}

/// A command to copy. Its lines break only between its arguments.
pub(super) fn command(command: &str) -> Markup {
    html! {
        div.cmd {
            code { @for (at, word) in words(command).iter().enumerate() { @if at > 0 { " " } span { (word) } } }
            button type="button" hidden { "Copy" }
        }
    }
}

/// The words of a command, as a shell has them; an option together with its value.
fn words(command: &str) -> Vec<String> {
    const WITH_VALUE: [&str; 4] = ["--to", "--bits-per-key", "--policy", "--hash"];
    let mut words: Vec<String> = Vec::new();
    let (mut quote, mut word) = (None, String::new());
    let mut end = |word: &mut String| match words.last_mut() {
        Some(last) if WITH_VALUE.contains(&&**last) => {
            last.push(' ');
            last.push_str(&std::mem::take(word));
        }
        _ => words.push(std::mem::take(word)),
    };
    for c in command.chars() {
        match (quote, c) {
            (None, ' ') => {
                end(&mut word);
                continue;
            }
            (None, '\'' | '"') => quote = Some(c),
            (Some(begun), _) if begun == c => quote = None,
            _ => {}
        }
        word.push(c);
    }
    end(&mut word);
    words
}

/// How many of a thing a picture shows, in a cell of its own.
pub(super) struct Tally {
    pub(super) severity: Severity,
    pub(super) icon: &'static str,
    pub(super) number: String,
    pub(super) what: String,
}

pub(super) fn tally(cells: &[Tally]) -> Markup {
    html! {
        ul.tally {
            @for Tally { severity, icon: sign, number, what } in cells {
                li class=(tone(*severity)) { b { (icon(sign)) (number) } (what) }
            }
        }
    }
}

/// Facts with their names.
pub(super) fn facts(facts: &[(&str, Markup)]) -> Markup {
    html! { dl.kv { @for (name, text) in facts { div { dt { (name) } dd { (text) } } } } }
}

/// What opens within a section.
pub(super) fn more(summary: &str, content: &Markup) -> Markup {
    html! { details.more { summary { (summary) } (content) } }
}

/// The name of a database, and facts of a few words.
pub(super) fn name_and_facts(path: &Path, facts: &[String]) -> Markup {
    let shown = |path: &Path| text(escape_path(path).to_string().as_bytes());
    let all = shown(path);
    let name = path.file_name().map(|name| shown(Path::new(name))).unwrap_or_default();
    // What comes before the name is dim.
    let before = all.strip_suffix(&*name).unwrap_or_default();
    html! {
        div.name {
            h1 {
                code {
                    @if before.is_empty() || name.is_empty() { (all) } @else { span.dim { (before) } (name) }
                }
            }
            ul.facts { @for fact in facts { li { (fact) } } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_breaks_between_its_arguments() {
        let found = words("filterblock rebuild 'my db' --in-place --bits-per-key 10 --to \"a 'b\"");
        let expected =
            ["filterblock", "rebuild", "'my db'", "--in-place", "--bits-per-key 10", "--to \"a 'b\""];
        assert_eq!(found, expected);
        let shown = command("a <b>").into_string();
        assert!(shown.contains("<code><span>a</span> <span>&lt;b&gt;</span></code>"), "{shown}");
    }
}
