//! Drawing functions that all charts use.

use super::scale::{Scale, short};
use maud::{Markup, Render, html};
use std::fmt::{self, Display};

/// Chart with its title, for wide and narrow pages.
#[derive(Debug, Clone)]
pub struct Drawing {
    /// Title of the chart.
    pub title: String,
    /// SVG for a wide page.
    pub wide: Markup,
    /// SVG for a narrow page, such as on a phone.
    pub narrow: Markup,
}

impl Drawing {
    /// Draws both versions; `None` if there is nothing to draw.
    pub(super) fn new(title: &str, draw: impl Fn(Layout) -> Option<Markup>) -> Option<Self> {
        let (wide, narrow) = (draw(Layout::Wide)?, draw(Layout::Narrow)?);
        Some(Self { title: title.to_owned(), wide, narrow })
    }
}

impl Render for Drawing {
    fn render(&self) -> Markup {
        html! { figure { figcaption { (self.title) } (self.wide) (self.narrow) } }
    }
}

/// Layout of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    Wide,
    Narrow,
}

impl Layout {
    pub(super) fn width(self) -> f64 {
        match self {
            Self::Wide => 760.0,
            Self::Narrow => 340.0,
        }
    }

    /// Returns the element of the pair for this layout.
    pub(super) fn pick<T>(self, [wide, narrow]: [T; 2]) -> T {
        match self {
            Self::Wide => wide,
            Self::Narrow => narrow,
        }
    }
}

/// Coordinate, formatted to a tenth of a pixel.
pub(super) struct At(pub(super) f64);

impl Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1}", self.0)
    }
}

/// Creates a drawing of this height around `inside`.
pub(super) fn svg(title: &str, layout: Layout, height: f64, inside: &Markup) -> Markup {
    let size = format!("0 0 {} {height:.0}", layout.width());
    html! {
        svg class=(layout.pick(["wide", "narrow"])) viewBox=(size) role="img" aria-label=(title) {
            title { (title) }
            (inside)
        }
    }
}

pub(super) fn text(x: f64, y: f64, class: &str, words: &str) -> Markup {
    html! { text x=(At(x)) y=(At(y)) class=(class) { (words) } }
}

pub(super) fn line(class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) -> Markup {
    html! { line class=(class) x1=(At(x1)) y1=(At(y1)) x2=(At(x2)) y2=(At(y2)) {} }
}

/// Draws vertical grid lines from `top` to `bottom`, with their values below.
pub(super) fn upright_grid(scale: &Scale, top: f64, bottom: f64) -> Markup {
    html! {
        @for (x, tick) in scale.ticks().into_iter().map(|tick| (scale.at(tick), tick)) {
            (line("grid", (x, top), (x, bottom)))
            (text(x, bottom + 14.0, "tick middle", &short(tick)))
        }
    }
}

/// Draws horizontal grid lines from `left` to `right`, with their values in front.
pub(super) fn level_grid(scale: &Scale, left: f64, right: f64) -> Markup {
    html! {
        @for (y, tick) in scale.ticks().into_iter().map(|tick| (scale.at(tick), tick)) {
            (line("grid", (left, y), (right, y)))
            (text(left - 6.0, y + 4.0, "tick end", &short(tick)))
        }
    }
}

/// Truncates a text to at most `max` characters.
pub(super) fn cut(words: &str, max: usize) -> String {
    if words.chars().count() <= max {
        return words.to_owned();
    }
    words.chars().take(max.saturating_sub(1)).chain(['…']).collect()
}
