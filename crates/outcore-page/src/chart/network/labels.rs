//! Names of circles: inside their circle or beside it, never over another name or another circle.

use super::layout::Spot;
use crate::chart::svg::width;

/// Height of a line above and below its base, and free space around it.
const ASCENT: f64 = 11.5;
const DESCENT: f64 = 3.5;
const SPACE: f64 = 3.0;

/// Name with its place.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Label {
    /// Number of its circle.
    pub(super) circle: usize,
    /// Middle of the base line.
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) text: String,
    /// Whether it is inside its circle.
    pub(super) is_inside: bool,
}

/// Rectangle: left, top, right, bottom.
type Area = [f64; 4];

impl Label {
    /// Returns the space that the name takes at most.
    pub(super) fn area(&self) -> Area {
        let half = width(&self.text) / 2.0;
        [self.x - half, self.y - ASCENT, self.x + half, self.y + DESCENT]
    }
}

/// Places names of the circles, first ones first: each in the longest of its forms for which there is room, or not at
/// all.
pub(super) fn place(
    spots: &[Spot],
    names: &[Vec<String>],
    [width, height]: [f64; 2],
) -> Vec<Label> {
    let mut placed: Vec<Label> = Vec::new();
    for (circle, forms) in names.iter().enumerate() {
        let is_free = |label: &Label| {
            let [left, top, right, bottom] = label.area();
            let on_page =
                left >= 1.0 && top >= 1.0 && right <= width - 1.0 && bottom <= height - 1.0;
            on_page
                && placed.iter().all(|other| are_apart(label.area(), other.area()))
                && (label.is_inside || spots.iter().all(|spot| is_beside(label.area(), spot)))
        };
        let mut forms = forms.iter().filter(|form| !form.trim().is_empty());
        let found = forms.find_map(|form| places(circle, &spots[circle], form).find(is_free));
        placed.extend(found);
    }
    placed
}

/// Returns the possible places of a name, best first.
fn places(circle: usize, spot: &Spot, text: &str) -> impl Iterator<Item = Label> {
    let &Spot { x, y, radius } = spot;
    let half = width(text) / 2.0;
    let middle = y + (ASCENT - DESCENT) / 2.0;
    let fits = |half: f64| half * half + ASCENT * ASCENT / 2.0 <= radius * radius;
    let beside = radius + SPACE + half;
    let at =
        move |x: f64, y: f64, is_inside| Label { circle, x, y, text: text.to_owned(), is_inside };
    let inside = fits(half).then(|| at(x, middle, true));
    let outside = [
        at(x + beside, middle, false),
        at(x - beside, middle, false),
        at(x, y - radius - SPACE - DESCENT, false),
        at(x, y + radius + SPACE + ASCENT, false),
    ];
    inside.into_iter().chain(outside)
}

fn are_apart(one: Area, other: Area) -> bool {
    one[2] + SPACE <= other[0]
        || other[2] + SPACE <= one[0]
        || one[3] <= other[1]
        || other[3] <= one[1]
}

fn is_beside([left, top, right, bottom]: Area, spot: &Spot) -> bool {
    let dx = spot.x - spot.x.clamp(left, right);
    let dy = spot.y - spot.y.clamp(top, bottom);
    dx * dx + dy * dy >= spot.radius * spot.radius
}
