//! Layout of rows with names, and of the axis below them.

use super::svg::{Layout, cut, text};
use maud::Markup;

/// Additional height of a row for each bar after the first.
pub(super) const MORE: f64 = 12.0;

pub(super) struct Frame {
    layout: Layout,
    pub(super) left: f64,
    pub(super) right: f64,
    step: f64,
    above: f64,
    pub(super) top: f64,
}

impl Frame {
    pub(super) fn new<'n>(layout: Layout, names: impl Iterator<Item = &'n str>) -> Self {
        let (left, right, step, above, top) = match layout {
            Layout::Wide => {
                ((longest(names) * 6.9 + 14.0).clamp(90.0, 300.0), 76.0, 26.0, 13.0, 6.0)
            }
            Layout::Narrow => (6.0, 58.0, 40.0, 27.0, 4.0),
        };
        Self { layout, left, right: layout.width() - right, step, above, top }
    }

    /// Changes the layout to rows of `count` bars, with room for the texts behind them.
    pub(super) fn of_bars<'t>(self, count: usize, texts: impl Iterator<Item = &'t str>) -> Self {
        let right = self.right.min(self.layout.width() - 8.0 - 6.4 * longest(texts));
        let step = self.step + MORE * count.saturating_sub(1) as f64;
        Self { right, step, ..self }
    }

    /// Changes the layout to have room for a figure above each bar.
    pub(super) fn roomy(self) -> Self {
        let (step, above) = self.layout.pick([(32.0, 20.0), (52.0, 39.0)]);
        Self { step, above, ..self }
    }

    /// Returns the middle of a row's first bar.
    pub(super) fn middle(&self, number: usize) -> f64 {
        self.top + self.step * number as f64 + self.above
    }

    pub(super) fn bottom(&self, rows: usize) -> f64 {
        self.top + self.step * rows as f64 + 2.0
    }

    pub(super) fn name(&self, number: usize, name: &str) -> Markup {
        let y = self.middle(number);
        match self.layout {
            Layout::Wide => text(self.left - 8.0, y + 4.0, "label end", &cut(name, 42)),
            Layout::Narrow => text(self.left, y - self.above + 15.0, "label", &cut(name, 48)),
        }
    }
}

fn longest<'t>(texts: impl Iterator<Item = &'t str>) -> f64 {
    texts.map(|text| text.chars().count()).max().unwrap_or(0) as f64
}
