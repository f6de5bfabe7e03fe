//! Networks: circles whose area is a size, and lines whose width is a weight. Each circle leads to an element of the page.
//!
//! ```text
//!  circles, links --backbone--> lines that matter --layout--> positions --labels--> names with room --> SVG
//! ```
//! Circles are links of the page, so they work by mouse, keyboard and without a script.

mod backbone;
mod labels;
mod layout;
#[cfg(test)]
mod tests;

pub use backbone::backbone;

use super::svg::{At, Drawing, Layout, line};
use labels::{Label, place};
use layout::{Spot, layout};
use maud::{Markup, html};

/// Radius of the smallest circle, which stands for all sizes below its area.
const SMALLEST: f64 = 4.0;
/// Share of the area that the circles cover, if all have one size.
const COVERED: f64 = 0.22;
/// Maximum radius, as a share of the shorter side.
const LARGEST: f64 = 0.2;
/// Maximum factor by which a small network is enlarged.
const ENLARGED: f64 = 1.3;
/// Width and height of the drawing on a wide and on a narrow page.
const HEIGHT: [f64; 2] = [540.0, 420.0];
/// Width of the thinnest and the thickest line.
const THIN: f64 = 0.8;
const THICK: f64 = 9.0;
/// Free space at the borders.
const MARGIN: f64 = 8.0;

/// Circle of a network.
#[derive(Debug, Clone, PartialEq)]
pub struct Circle {
    /// Identifier of the element to which it leads.
    pub target: String,
    /// Its name from the longest form to the shortest; the first for which there is room is drawn.
    pub names: Vec<String>,
    /// What its area stands for.
    pub size: f64,
    /// Class in the style sheet.
    pub class: &'static str,
    /// Tooltip, and what a screen reader says.
    pub reported: String,
}

/// Link between two circles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Link {
    /// Numbers of the two circles, which differ.
    pub ends: [usize; 2],
    /// Its weight, above 0.
    pub weight: f64,
}

/// Places circles of these sizes on a page of this width and at most this height, as [`network`] does. Returns the middle
/// of each, from the left and from the top, and its radius.
///
/// # Panics
/// Panics if the end of a link is not the number of a circle.
pub fn positions(sizes: &[f64], links: &[Link], page: [f64; 2]) -> Vec<[f64; 3]> {
    arrange(sizes, links, page).0.iter().map(|spot| [spot.x, spot.y, spot.radius]).collect()
}

/// Draws a network with a line for each of `links`; `words` describe it where it cannot be seen. `None` without circles.
pub fn network(title: &str, words: &str, circles: &[Circle], links: &[Link]) -> Option<Drawing> {
    if circles.is_empty() {
        return None;
    }
    Drawing::new(title, |layout| Some(Plan::new(layout, circles, links).draw(title, words)))
}

/// Network with all positions in pixels.
struct Plan<'a> {
    layout: Layout,
    height: f64,
    circles: &'a [Circle],
    spots: Vec<Spot>,
    lines: Vec<(Link, f64)>,
    labels: Vec<Label>,
}

impl<'a> Plan<'a> {
    fn new(form: Layout, circles: &'a [Circle], links: &[Link]) -> Self {
        let width = form.width();
        let sizes: Vec<f64> = circles.iter().map(|circle| circle.size).collect();
        let (spots, height) = arrange(&sizes, links, [width, form.pick(HEIGHT)]);
        let names: Vec<Vec<String>> = circles.iter().map(|circle| circle.names.clone()).collect();
        let labels = place(&spots, &names, [width, height]);
        let largest = links.iter().map(|link| link.weight).fold(0.0, f64::max);
        let thickness = |weight: f64| (THICK * weight / largest).max(THIN);
        let lines = links.iter().map(|&link| (link, thickness(link.weight))).collect();
        Self { layout: form, height, circles, spots, lines, labels }
    }

    fn draw(&self, title: &str, words: &str) -> Markup {
        let class = self.layout.pick(["wide network", "narrow network"]);
        let size = format!("0 0 {} {:.0}", self.layout.width(), self.height.ceil());
        html! {
            // Not an image: its parts can be reached by keyboard.
            svg class=(class) viewBox=(size) role="group" aria-label=(title) {
                desc { (words) }
                // Thick lines are below thin ones.
                @for (link, thickness) in &self.lines { (self.line(*link, *thickness)) }
                @for (circle, spot) in self.circles.iter().zip(&self.spots) { (draw(circle, spot)) }
                @for label in &self.labels { (self.label(label)) }
            }
        }
    }

    fn line(&self, Link { ends, .. }: Link, thickness: f64) -> Markup {
        let [one, other] = ends.map(|end| (self.spots[end].x, self.spots[end].y));
        let [a, b] = ends.map(|end| self.circles[end].target.as_str());
        html! {
            g data-ends={ (a) " " (b) } stroke-width=(At(thickness)) { (line("tie", one, other)) }
        }
    }

    fn label(&self, label: &Label) -> Markup {
        let Label { circle, x, y, text, is_inside } = label;
        let class = if *is_inside { "label inside middle" } else { "label middle" };
        html! {
            text class=(class) x=(At(*x)) y=(At(*y)) data-of=(self.circles[*circle].target) { (text) }
        }
    }
}

fn draw(circle: &Circle, spot: &Spot) -> Markup {
    html! {
        a href={ "#" (circle.target) } aria-label=(circle.reported) {
            circle class={ "community " (circle.class) } cx=(At(spot.x)) cy=(At(spot.y)) r=(At(spot.radius)) {
                title { (circle.reported) }
            }
        }
    }
}

/// Places circles of these sizes on a page of this width and at most this height. Returns the height that they take, too.
fn arrange(sizes: &[f64], links: &[Link], [width, most]: [f64; 2]) -> (Vec<Spot>, f64) {
    let (mut spots, size) = layout(&radii(sizes, [width, most]), links, width / most);
    let room = [width - 2.0 * MARGIN, most - 2.0 * MARGIN];
    let factor = (room[0] / size[0]).min(room[1] / size[1]).min(ENLARGED);
    let left = (width - factor * size[0]) / 2.0;
    for Spot { x, y, radius } in &mut spots {
        *x = left + factor * *x;
        *y = MARGIN + factor * *y;
        *radius *= factor;
    }
    (spots, factor * size[1] + 2.0 * MARGIN)
}

/// Returns the radii of circles on a page of this size.
fn radii(sizes: &[f64], [width, height]: [f64; 2]) -> Vec<f64> {
    let total: f64 = sizes.iter().map(|size| size.max(0.0)).sum();
    let most = sizes.iter().copied().fold(0.0, f64::max);
    // Few circles are not enlarged to cover the page.
    let area = COVERED * width * height * (sizes.len() as f64 / (sizes.len() as f64 + 6.0));
    let unit = (area / (std::f64::consts::PI * total.max(f64::MIN_POSITIVE))).sqrt();
    let unit = unit.min(LARGEST * width.min(height) / most.max(f64::MIN_POSITIVE).sqrt());
    sizes.iter().map(|size| (unit * size.max(0.0).sqrt()).max(SMALLEST)).collect()
}
