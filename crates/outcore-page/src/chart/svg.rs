//! What all charts are drawn with.

use super::scale::{Scale, short};
use maud::{Markup, Render, html};
use std::fmt::{self, Display};

/// A chart with its title, for both kinds of pages.
#[derive(Debug, Clone)]
pub struct Drawing {
    /// What it shows.
    pub title: String,
    /// SVG for a page of a desk.
    pub wide: Markup,
    /// SVG for a page of a telephone.
    pub narrow: Markup,
}

impl Drawing {
    /// Draws both; `None` if there is nothing to draw.
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

/// Width and layout.
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

    /// What such a page shows of a pair.
    pub(super) fn pick<T>(self, [wide, narrow]: [T; 2]) -> T {
        match self {
            Self::Wide => wide,
            Self::Narrow => narrow,
        }
    }
}

/// A coordinate, to a tenth of a pixel.
pub(super) struct At(pub(super) f64);

impl Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1}", self.0)
    }
}

/// A drawing of this height around what is `inside`.
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

/// Upright lines with their values below, from `top` to `bottom`.
pub(super) fn upright_grid(scale: &Scale, top: f64, bottom: f64) -> Markup {
    html! {
        @for (x, tick) in scale.ticks().into_iter().map(|tick| (scale.at(tick), tick)) {
            (line("grid", (x, top), (x, bottom)))
            (text(x, bottom + 14.0, "tick middle", &short(tick)))
        }
    }
}

/// Level lines with their values before them, from `left` to `right`.
pub(super) fn level_grid(scale: &Scale, left: f64, right: f64) -> Markup {
    html! {
        @for (y, tick) in scale.ticks().into_iter().map(|tick| (scale.at(tick), tick)) {
            (line("grid", (left, y), (right, y)))
            (text(left - 6.0, y + 4.0, "tick end", &short(tick)))
        }
    }
}

/// At most `most` characters.
pub(super) fn cut(words: &str, most: usize) -> String {
    if words.chars().count() <= most {
        return words.to_owned();
    }
    words.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}
