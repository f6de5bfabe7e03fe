//! Tables: of figures, and of names with values.

use maud::{Markup, Render, html};

/// Table whose first column is text, and the others are numbers.
#[derive(Debug, Clone, Copy, Default)]
pub struct Table<'a> {
    /// Caption above the table; none if empty.
    pub caption: &'a str,
    /// Headings of the columns.
    pub headings: &'a [&'a str],
    /// Cells of each row.
    pub rows: &'a [Vec<String>],
    /// Further columns that are text.
    pub words: &'a [usize],
    /// Name of the row to show muted, if any.
    pub muted: Option<&'a str>,
}

impl Render for Table<'_> {
    fn render(&self) -> Markup {
        let class = |column| self.words.contains(&column).then_some("words");
        let muted = |row: &Vec<String>| {
            self.muted.is_some_and(|name| row.first().is_some_and(|first| first == name))
        };
        html! {
            div.scroll tabindex="0" {
                table {
                    @if !self.caption.is_empty() { caption { (self.caption) } }
                    thead {
                        tr {
                            @for (column, heading) in self.headings.iter().enumerate() {
                                th scope="col" class=[class(column)] { (heading) }
                            }
                        }
                    }
                    tbody {
                        @for row in self.rows {
                            tr class=[muted(row).then_some("muted")] {
                                @for (column, cell) in row.iter().enumerate() {
                                    td class=[class(column)] { (cell) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Renders a table of names with values.
pub fn facts<'a>(facts: impl IntoIterator<Item = (&'a str, &'a str)>) -> Markup {
    html! {
        div.scroll {
            table.environment {
                @for (name, value) in facts {
                    tr { th scope="row" { (name) } td { (value) } }
                }
            }
        }
    }
}
