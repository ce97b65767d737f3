//! Tables of a page.

use maud::{Markup, html};

/// Lines with which a folded table starts open.
const SHORT: usize = 12;

pub(crate) enum Cell {
    /// Of a row.
    Head(Markup),
    Text(Markup),
    /// Of any length.
    Key(Markup),
    /// Of many words.
    Words(Markup),
    Number(String),
}

impl Cell {
    pub(crate) fn text(text: impl AsRef<str>) -> Self {
        Self::Text(html! { (text.as_ref()) })
    }

    pub(crate) fn head(text: impl AsRef<str>) -> Self {
        Self::Head(html! { (text.as_ref()) })
    }

    fn to_html(&self) -> Markup {
        match self {
            Self::Head(text) => html! { th scope="row" { (text) } },
            Self::Text(text) => html! { td { (text) } },
            Self::Key(text) => html! { td.k { (text) } },
            Self::Words(text) => html! { td.w { (text) } },
            Self::Number(text) => html! { td.n { (text) } },
        }
    }
}

/// A title that begins with `#` heads a column of numbers.
pub(crate) fn grid(titles: &[&str], lines: &[Vec<Cell>]) -> Markup {
    html! {
        div.scroll {
            table {
                thead { tr { @for title in titles {
                    @match title.strip_prefix('#') {
                        Some(title) => th.n scope="col" { (title) },
                        None => th scope="col" { (title) },
                    }
                } } }
                tbody { @for line in lines { tr { @for cell in line { (cell.to_html()) } } } }
            }
        }
    }
}

/// Open if it is short.
pub(crate) fn folded(summary: &str, titles: &[&str], lines: &[Vec<Cell>]) -> Markup {
    html! {
        details open[lines.len() <= SHORT] {
            summary { (summary) }
            (grid(titles, lines))
        }
    }
}
