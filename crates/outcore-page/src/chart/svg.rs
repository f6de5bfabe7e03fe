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

/// Vertical distance of the lines of a text.
pub(super) const LINE: f64 = 13.0;

/// Pixels of a letter.
pub(super) const LETTER: f64 = 6.4;

/// Draws lines of text below each other.
pub(super) fn texts(x: f64, y: f64, class: &str, lines: &[String]) -> Markup {
    html! {
        @for (number, words) in lines.iter().enumerate() {
            (text(x, y + LINE * number as f64, class, words))
        }
    }
}

/// Breaks a text into lines of at most `max` characters, between words where possible.
pub(super) fn fold(words: &str, max: usize) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    for word in words.split_whitespace() {
        let mut letters: Vec<char> = word.chars().collect();
        let used = lines.last().map_or(0, |line| line.chars().count());
        if used > 0 && used + 1 + letters.len() > max {
            lines.push(String::new());
        } else if used > 0 {
            lines.last_mut().expect("at least one").push(' ');
        }
        while letters.len() > max {
            let rest = letters.split_off(max);
            lines.last_mut().expect("at least one").extend(letters);
            lines.push(String::new());
            letters = rest;
        }
        lines.last_mut().expect("at least one").extend(letters);
    }
    lines
}

/// Value with a name, drawn as a line across a chart.
pub type Level = (String, f64);

/// Draws vertical lines at `levels` from their names, which stand above each other from `top` on, to `bottom`.
pub(super) fn upright_levels(
    layout: Layout,
    scale: &Scale,
    levels: &[Level],
    top: f64,
    bottom: f64,
) -> Markup {
    let place = |name: &str, x: f64| {
        let room = layout.width() - 4.0 - LETTER * name.chars().count() as f64;
        (x + 4.0).min(room).max(4.0)
    };
    html! {
        @for (number, (name, value)) in levels.iter().enumerate() {
            @let (x, y) = (scale.at(*value), top + LINE * (number as f64 + 1.0));
            (line("level", (x, y - 9.0), (x, bottom)))
            (text(place(name, x), y, "label small-label", name))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_folded_between_words_and_never_cut() {
        assert_eq!(fold("one two", 7), ["one two"]);
        assert_eq!(fold("one two three", 7), ["one two", "three"]);
        assert_eq!(fold("abcdefghij k", 4), ["abcd", "efgh", "ij k"]);
        assert_eq!(fold("x abcdefgh", 4), ["x", "abcd", "efgh"]);
        assert_eq!(fold("", 4), [""]);
    }
}
