//! Layout of rows with names, and of the axis below them.

use super::svg::{LINE, Layout, fold, texts, width};
use maud::Markup;

/// Additional height of a row for each bar after the first.
pub(super) const MORE: f64 = 12.0;

/// Width of the lines of a name.
const ROOM: [f64; 2] = [286.0, 330.0];

pub(super) struct Frame {
    layout: Layout,
    pub(super) left: f64,
    pub(super) right: f64,
    step: f64,
    above: f64,
    /// Distance from the last line of a name down to the middle of its bar, on a narrow page.
    lift: f64,
    pub(super) top: f64,
}

impl Frame {
    pub(super) fn new<'n>(layout: Layout, names: impl Iterator<Item = &'n str>) -> Self {
        let lines: Vec<Vec<String>> = names.map(|name| fold(name, layout.pick(ROOM))).collect();
        let more = lines.iter().map(|lines| lines.len() - 1).max().unwrap_or(0) as f64;
        let widest = widest(lines.iter().flatten().map(String::as_str));
        let (left, right, step, above, top) = match layout {
            // Lines of a name are centered on its bar.
            Layout::Wide => {
                let step = 26.0 + (more - 1.0).max(0.0) * LINE;
                ((widest + 14.0).clamp(90.0, 300.0), 76.0, step, step / 2.0, 6.0)
            }
            Layout::Narrow => (6.0, 58.0, 40.0 + more * LINE, 27.0 + more * LINE, 4.0),
        };
        Self { layout, left, right: layout.width() - right, step, above, lift: 12.0, top }
    }

    /// Changes the layout to rows of `count` bars, with room for the texts behind them.
    pub(super) fn of_bars<'t>(self, count: usize, texts: impl Iterator<Item = &'t str>) -> Self {
        let right = self.right.min(self.layout.width() - 8.0 - widest(texts));
        let step = self.step + MORE * count.saturating_sub(1) as f64;
        Self { right, step, ..self }
    }

    /// Changes the layout to have room for a figure above each bar.
    pub(super) fn roomy(self) -> Self {
        let (step, above) = self.layout.pick([(6.0, 7.0), (12.0, 12.0)]);
        Self { step: self.step + step, above: self.above + above, lift: 24.0, ..self }
    }

    /// Changes the layout to have room for the names of `count` levels above the first row.
    pub(super) fn below_levels(self, count: usize) -> Self {
        Self { top: self.top + LINE * count as f64, ..self }
    }

    /// Returns the middle of a row's first bar.
    pub(super) fn middle(&self, number: usize) -> f64 {
        self.top + self.step * number as f64 + self.above
    }

    pub(super) fn bottom(&self, rows: usize) -> f64 {
        self.top + self.step * rows as f64 + 2.0
    }

    pub(super) fn name(&self, number: usize, name: &str) -> Markup {
        let lines = fold(name, self.layout.pick(ROOM));
        let more = LINE * (lines.len() - 1) as f64;
        let y = self.middle(number);
        match self.layout {
            Layout::Wide => texts(self.left - 8.0, y + 4.0 - more / 2.0, "label end", &lines),
            Layout::Narrow => texts(self.left, y - self.lift - more, "label", &lines),
        }
    }
}

fn widest<'t>(texts: impl Iterator<Item = &'t str>) -> f64 {
    texts.map(width).fold(0.0, f64::max)
}
