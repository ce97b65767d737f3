//! The document around a page, and what every page has in common: style, icons, and the button that copies a command.

use maud::{DOCTYPE, Markup, PreEscaped, html};

/// The style of all pages, for light, dark and print.
pub const STYLE: &str = include_str!("style.css");
/// The signs of all pages, as SVG symbols for `<use href="#i-…">`, and the pattern `#hatch`. They stand once in a
/// document.
pub const ICONS: &str = include_str!("icons.svg");
/// Shows the buttons *Copy* and makes them work. The only script of a page.
const COPY: &str = r"for (const button of document.querySelectorAll('.cmd button')) {
    button.hidden = false;
    button.addEventListener('click', async () => {
        const code = button.previousElementSibling;
        try {
            await navigator.clipboard.writeText(code.textContent);
            button.textContent = 'Copied';
        } catch {
            getSelection().selectAllChildren(code);
            button.textContent = 'Selected';
        }
    });
}
";
/// Nothing is loaded, and nothing runs but [`COPY`], which has this SHA-256.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; \
                      script-src 'sha256-xqiBt8efq+lu9RnaUHFaFOy5oEIgGa+2ULfWdO7Dyo0='";
/// Stands in the head of every page.
const GENERATOR: &str = concat!("filterblock ", env!("CARGO_PKG_VERSION"));
/// How every page begins, of any version.
const START: &str = "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"generator\" content=\"filterblock ";

/// Whether a file that begins with these bytes is a page of filterblock: 128 bytes are enough.
pub fn is_page(start: &[u8]) -> bool {
    start.starts_with(START.as_bytes())
}

/// `body`: from the name on.
pub(super) fn document(title: &str, body: &str) -> String {
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="generator" content=(GENERATOR);
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                (PreEscaped(ICONS))
                div.page {
                    p.brand { (icon("brand")) "filterblock" }
                    main { (PreEscaped(body)) }
                    footer { "Made by " (GENERATOR) ". The database was only read." }
                }
                script { (PreEscaped(COPY)) }
            }
        }
    };
    markup.into_string()
}

/// A sign of [`ICONS`] beside words that say the same.
pub(super) fn icon(name: &str) -> Markup {
    html! { svg.icon aria-hidden="true" { use href={ "#i-" (name) } {} } }
}
