//! Tables of records: on a narrow page each row is a card, and nothing scrolls sideways.

use maud::{Markup, Render, html};

/// Number of columns that fit on a narrow page.
const NARROW: usize = 3;

/// Table whose first column is text; the others are numbers, except for those in `words`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Records<'a> {
    /// Headings of the columns; each cell of a card has its own.
    pub headings: &'a [&'a str],
    /// Cells of each row.
    pub rows: &'a [Vec<Markup>],
    /// Further columns that are text.
    pub words: &'a [usize],
    /// Whether a click on a heading sorts the rows, on a page with [`interactive`](crate::interactive).
    pub sortable: bool,
}

impl Render for Records<'_> {
    fn render(&self) -> Markup {
        let Self { headings, rows, words, sortable } = *self;
        let class = |column| (column == 0 || words.contains(&column)).then_some("words");
        let is_wide = headings.len() > NARROW;
        html! {
            div.scroll {
                table.records.stack[is_wide].sortable[sortable] {
                    thead {
                        tr {
                            @for (column, heading) in headings.iter().enumerate() {
                                th scope="col" class=[class(column)] { (heading) }
                            }
                        }
                    }
                    tbody {
                        @for row in rows {
                            tr {
                                @for (column, (cell, heading)) in row.iter().zip(headings).enumerate() {
                                    td class=[class(column)] data-label=(heading) { (cell) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
