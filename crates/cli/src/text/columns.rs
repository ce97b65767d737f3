//! Text in columns of fixed width, so that each line can be written as soon as it is known.

use std::io;

use unicode_width::UnicodeWidthStr as _;

use crate::io::{Console, Tone};

const GAP: usize = 2;

#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) title: &'static str,
    pub(crate) width: usize,
    pub(crate) align: Align,
    /// If there is no room for all columns, the highest ranks are hidden first. Rank 0 stays.
    pub(crate) rank: u8,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Align {
    Left,
    Right,
}

impl Column {
    pub(crate) fn left(title: &'static str, width: usize, rank: u8) -> Self {
        Self { title, width: width.max(title.len()), align: Align::Left, rank }
    }

    pub(crate) fn right(title: &'static str, width: usize, rank: u8) -> Self {
        Self { align: Align::Right, ..Self::left(title, width, rank) }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub(crate) text: String,
    pub(crate) tone: Tone,
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self { text, tone: Tone::Plain }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl Cell {
    pub(crate) fn toned(text: impl Into<String>, tone: Tone) -> Self {
        Self { text: text.into(), tone }
    }
}

pub(crate) fn width(text: &str) -> usize {
    text.width()
}

pub(crate) struct Layout {
    columns: Vec<(Column, bool)>,
}

impl Layout {
    /// Hides columns until lines fit into `width`, if there is one, or only columns of rank 0 are left.
    pub(crate) fn new(columns: Vec<Column>, width: Option<usize>) -> Self {
        let mut columns: Vec<_> = columns.into_iter().map(|column| (column, true)).collect();
        while width.is_some_and(|width| total_width(&columns) > width) {
            let shown = columns.iter_mut().filter(|(column, shown)| *shown && column.rank > 0);
            match shown.max_by_key(|(column, _)| column.rank) {
                Some((_, shown)) => *shown = false,
                None => break,
            }
        }
        Self { columns }
    }

    pub(crate) fn all(columns: Vec<Column>) -> Self {
        Self { columns: columns.into_iter().map(|column| (column, true)).collect() }
    }

    /// Writes `rows` below their titles, in columns as wide as their widest cells.
    pub(crate) fn write_all(
        titles: &[(&'static str, Align)],
        rows: Vec<Vec<Cell>>,
        console: &mut Console,
    ) -> io::Result<()> {
        let columns = titles.iter().enumerate().map(|(at, &(title, align))| {
            let widths = rows.iter().filter_map(|row| row.get(at)).map(|cell| width(&cell.text));
            Column { align, ..Column::left(title, widths.max().unwrap_or_default(), 0) }
        });
        let layout = Self::all(columns.collect());
        layout.write_titles(console)?;
        rows.into_iter().try_for_each(|row| layout.write(console, row))
    }

    pub(crate) fn hidden(&self) -> Vec<&'static str> {
        let hidden = self.columns.iter().filter(|(_, shown)| !shown);
        hidden.map(|(column, _)| column.title).collect()
    }

    pub(crate) fn write_titles(&self, console: &mut Console) -> io::Result<()> {
        let titles = self.columns.iter().map(|(column, _)| Cell::toned(column.title, Tone::Title));
        self.write(console, titles.collect())
    }

    /// There is a cell for each column, shown or not.
    pub(crate) fn write(&self, console: &mut Console, cells: Vec<Cell>) -> io::Result<()> {
        self.write_open(console, cells)?;
        writeln!(console)
    }

    pub(crate) fn write_open(&self, console: &mut Console, cells: Vec<Cell>) -> io::Result<()> {
        for piece in self.pieces(cells) {
            let text = console.tone(piece.tone, piece.text);
            write!(console, "{text}")?;
        }
        Ok(())
    }

    /// The cells with the spaces between them, and no space at the end of the line. A first cell that is too wide
    /// breaks the line, unless all others are empty. Another cell that is too wide shifts the next ones, unless their
    /// spare space suffices.
    fn pieces(&self, cells: Vec<Cell>) -> Vec<Cell> {
        let mut pieces: Vec<Cell> = Vec::new();
        // The start of the current column, and the width of the line so far.
        let (mut start, mut at) = (0, 0);
        let shown = cells.into_iter().zip(&self.columns).filter(|(_, (_, shown))| *shown);
        for (number, (cell, (column, _))) in shown.enumerate() {
            let text_width = width(&cell.text);
            let indent = match column.align {
                Align::Left => 0,
                Align::Right => column.width.saturating_sub(text_width),
            };
            if !cell.text.is_empty() {
                let gap = if at > 0 { GAP } else { 0 };
                let spaces = (start + indent).saturating_sub(at).max(gap);
                pieces.push(" ".repeat(spaces).into());
                pieces.push(cell);
                at += spaces + text_width;
                if number == 0 && column.align == Align::Left && text_width > column.width {
                    pieces.push("\n".into());
                    at = 0;
                }
            }
            start += column.width + GAP;
        }
        // Nothing followed the break.
        pieces.pop_if(|last| last.text == "\n");
        pieces
    }
}

fn total_width(columns: &[(Column, bool)]) -> usize {
    let shown = columns.iter().filter(|(_, shown)| *shown);
    shown.map(|(column, _)| column.width + GAP).sum::<usize>().saturating_sub(GAP)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(layout: &Layout, cells: [&str; 3]) -> String {
        layout.pieces(cells.map(Cell::from).to_vec()).into_iter().map(|piece| piece.text).collect()
    }

    fn layout(fit: Option<usize>) -> Layout {
        Layout::new(
            vec![Column::left("name", 6, 0), Column::right("size", 5, 2), Column::left("note", 1, 1)],
            fit,
        )
    }

    #[test]
    fn columns_are_aligned_without_spaces_at_the_end() {
        let layout = layout(None);
        assert_eq!(line(&layout, ["a", "1", "x"]), "a           1  x");
        assert_eq!(line(&layout, ["a", "1", ""]), "a           1");
        assert_eq!(line(&layout, ["a", "", "x"]), "a              x");
    }

    #[test]
    fn columns_stand_below_each_other_whatever_is_in_them() {
        let layout = layout(None);
        assert_eq!(line(&layout, ["longer than 6", "1", "x"]), "longer than 6\n            1  x");
        assert_eq!(line(&layout, ["longer than 6", "", "x"]), "longer than 6\n               x");
        assert_eq!(line(&layout, ["longer than 6", "", ""]), "longer than 6");
        // Seven digits are two more than the width of their column.
        assert_eq!(line(&layout, ["a", "1234567", "x"]), "a       1234567  x");
        // Wide characters take two columns each, and a combining character takes none.
        assert_eq!(line(&layout, ["世界", "1", "x"]), "世界        1  x");
        assert_eq!(line(&layout, ["e\u{301}", "1", "x"]), "e\u{301}           1  x");
        let layout = Layout::new(
            vec![Column::left("a", 2, 0), Column::left("b", 2, 0), Column::right("c", 8, 0)],
            None,
        );
        // The third column's own space makes up for what the second takes.
        assert_eq!(line(&layout, ["a", "12345", "x"]), "a   12345      x");
        assert_eq!(line(&layout, ["a", "1", "x"]), "a   1          x");
    }

    #[test]
    fn what_does_not_fit_goes_by_rank() {
        for (width, hidden) in [(19, 0), (18, 1), (12, 1), (11, 2), (1, 2)] {
            assert_eq!(layout(Some(width)).hidden(), ["size", "note"][..hidden], "{width}");
        }
        assert_eq!(line(&layout(Some(12)), ["a", "1", "x"]), "a       x");
    }
}
