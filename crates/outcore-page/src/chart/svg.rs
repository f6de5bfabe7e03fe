//! Drawing functions that all charts use.

use super::scale::{Scale, short};
use crate::words::shorten;
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
    svg_of(layout.pick(["wide", "narrow"]), title, layout, height, inside)
}

/// Creates a drawing of these classes.
pub(super) fn svg_of(
    class: &str,
    title: &str,
    layout: Layout,
    height: f64,
    inside: &Markup,
) -> Markup {
    let size = format!("0 0 {} {height:.0}", layout.width());
    html! {
        svg class=(class) viewBox=(size) role="img" aria-label=(title) {
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
        @for (x, tick) in scale.ticks().into_iter().map(|tick| (scale.at(tick), short(tick))) {
            (line("grid", (x, top), (x, bottom)))
            // Where names are above the bars, the axis begins at the edge of the drawing.
            (text(x.max(width(&tick) / 2.0), bottom + 14.0, "tick middle", &tick))
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

/// Maximum number of letters of a name that is shortened.
const FIT_MAX: usize = 60;

/// Vertical distance of the lines of a text.
pub(super) const LINE: f64 = 13.0;

/// Returns the width of a text of 12 pixels in a wide font, such as DejaVu Sans; narrower fonts take less.
pub(super) fn width(text: &str) -> f64 {
    text.chars().map(letter).sum()
}

fn letter(letter: char) -> f64 {
    match letter {
        'i' | 'j' | 'l' | '\'' | '.' | ',' | ':' | ';' | '|' | ' ' | 'I' | '!' => 4.4,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '—' => 12.2,
        '\u{1100}'.. => 13.0,
        'a'..='z' | '0'..='9' | '-' | '_' => 7.8,
        _ => 9.8,
    }
}

/// Draws lines of text below each other.
pub(super) fn texts(x: f64, y: f64, class: &str, lines: &[String]) -> Markup {
    html! {
        @for (number, words) in lines.iter().enumerate() {
            (text(x, y + LINE * number as f64, class, words))
        }
    }
}

/// Breaks a text into lines that are at most `room` wide, between words where possible.
pub(super) fn fold(words: &str, room: f64) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0.0;
    for word in words.split_whitespace() {
        if used > 0.0 && used + letter(' ') + width(word) > room {
            lines.push(String::new());
            used = 0.0;
        } else if used > 0.0 {
            lines.last_mut().expect("at least one").push(' ');
            used += letter(' ');
        }
        for next in word.chars() {
            if used > 0.0 && used + letter(next) > room {
                let line = lines.last_mut().expect("at least one");
                // A line that ends with an ellipsis would seem to be cut.
                let moved = if line.ends_with('…') { line.pop() } else { None };
                lines.push(moved.into_iter().collect());
                used = moved.map_or(0.0, letter);
            }
            lines.last_mut().expect("at least one").push(next);
            used += letter(next);
        }
    }
    lines
}

/// Shortens a name until it is at most `room` wide: its beginning and its end are kept.
pub(super) fn fit(name: &str, room: f64) -> String {
    let whole = shorten(name, FIT_MAX);
    let shorter = (1..=FIT_MAX).rev().map(|most| shorten(name, most));
    shorter.into_iter().find(|text| width(text) <= room).unwrap_or(whole)
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
        let room = layout.width() - 4.0 - width(name);
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
        let folded = |words, room: &str| fold(words, width(room) + 0.1);
        assert_eq!(folded("one two", "one two"), ["one two"]);
        assert_eq!(folded("one two three", "one two"), ["one two", "three"]);
        assert_eq!(folded("abcdefgh k", "abcd"), ["abcd", "efgh", "k"]);
        assert_eq!(folded("abcdefgij k", "abcd"), ["abcd", "efgi", "j k"]);
        assert_eq!(folded("x abcdefgh", "abcd"), ["x", "abcd", "efgh"]);
        assert_eq!(folded("", "abcd"), [""]);
        assert_eq!(folded("abc…efgh", "abc…"), ["abc", "…efg", "h"]);
        assert_eq!(fold("名前", 1.0), ["名", "前"]);
    }

    #[test]
    fn lines_are_as_wide_as_their_letters() {
        // Capital letters take more room than others: fewer fit into a line.
        let words = "mmap MADV_RANDOM MMMM, iiii unsorted and_a_very_long_name_of_a_file.tsv";
        for room in [40.0, 100.0, 204.0] {
            let lines = fold(words, room);
            assert!(lines.iter().all(|line| width(line) <= room), "{lines:?}");
            assert_eq!(lines.concat().replace(' ', ""), words.replace(' ', ""));
        }
        assert!(width("MADV_RANDOM") > width("sequential_"));
    }

    #[test]
    fn names_are_shortened_until_they_fit() {
        assert_eq!(fit("17", 100.0), "17");
        for name in ["W".repeat(70_000), "a_long_name.tsv".repeat(9), "名前".repeat(50)] {
            let short = fit(&name, 90.0);
            assert!(width(&short) <= 90.0 && width(&short) > 60.0, "{short}");
            assert!(short.contains('…') && !short.ends_with('…'), "{short}");
        }
    }
}
