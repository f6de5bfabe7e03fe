//! Positions of the circles of a network: related ones near each other, none over another.
//!
//! ```text
//!  links --shortest paths--> distances --> two axes of scaling --> springs --> stretched --> pushed apart
//!  connected parts, each by itself -----------------------------------------------------> packed side by side
//! ```
//! Every pair of circles is a spring as long as the shortest path between them, and each circle moves in turn to where
//! its springs pull it (Gansner, Koren and North 2004, "Graph drawing by stress majorization"). The start is classical
//! scaling (Torgerson 1952): the two axes along which the distances spread most. There is no randomness, and only
//! arithmetic that is exact to the last bit on every machine (no logarithm, sine or power), so a network looks the same
//! everywhere. The time is cubic in the number of circles: a few milliseconds for a hundred.

use super::Link;

/// Distance between the edges of neighboring circles.
const GAP: f64 = 6.0;
/// Rounds of the iteration that finds an axis.
const AXIS_ROUNDS: usize = 60;
/// Rounds in which every circle follows its springs.
const SPRING_ROUNDS: usize = 120;
/// Maximum number of rounds in which circles are pushed apart.
const APART_ROUNDS: usize = 300;
/// Maximum factor by which a part is stretched to the form of the page.
const STRETCH_MAX: f64 = 1.7;

/// Circle with a position.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Spot {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) radius: f64,
}

/// Returns positions for circles with these radii in a rectangle from 0 that is about `aspect` times as wide as high,
/// and the size of that rectangle.
pub(super) fn layout(radii: &[f64], links: &[Link], aspect: f64) -> (Vec<Spot>, [f64; 2]) {
    let mut spots = vec![Spot { x: 0.0, y: 0.0, radius: 0.0 }; radii.len()];
    let parts = parts(radii.len(), links);
    let mut boxes = Vec::with_capacity(parts.len());
    for part in &parts {
        let own: Vec<f64> = part.iter().map(|&at| radii[at]).collect();
        let mut placed = arrange(&own, &inside(part, links), aspect);
        boxes.push(to_corner(&mut placed));
        part.iter().zip(placed).for_each(|(&at, spot)| spots[at] = spot);
    }
    let (corners, size) = pack(&boxes, aspect);
    for (part, [x, y]) in parts.iter().zip(corners) {
        for &at in part {
            spots[at].x += x;
            spots[at].y += y;
        }
    }
    (spots, size)
}

/// Returns the connected parts of the network, the one with the first circle first.
fn parts(count: usize, links: &[Link]) -> Vec<Vec<usize>> {
    let mut neighbors = vec![Vec::new(); count];
    for &Link { ends: [one, other], .. } in links {
        neighbors[one].push(other);
        neighbors[other].push(one);
    }
    let mut seen = vec![false; count];
    let mut parts = Vec::new();
    for first in 0..count {
        let mut part = Vec::new();
        let mut waiting = vec![first];
        while let Some(at) = waiting.pop() {
            if !std::mem::replace(&mut seen[at], true) {
                part.push(at);
                waiting.extend(&neighbors[at]);
            }
        }
        if !part.is_empty() {
            part.sort_unstable();
            parts.push(part);
        }
    }
    parts
}

/// Returns the links inside a part, with ends by their number in it.
fn inside(part: &[usize], links: &[Link]) -> Vec<Link> {
    let all = links.iter().filter_map(|&Link { ends: [one, other], weight }| {
        let ends = [part.binary_search(&one).ok()?, part.binary_search(&other).ok()?];
        Some(Link { ends, weight })
    });
    all.collect()
}

/// Places the circles of one part.
fn arrange(radii: &[f64], links: &[Link], aspect: f64) -> Vec<Spot> {
    let distances = distances(radii, links);
    let axes = axes(&distances);
    let [across, down] = if aspect >= 1.0 { [0, 1] } else { [1, 0] };
    let each = radii.iter().enumerate();
    let mut spots: Vec<Spot> =
        each.map(|(at, &radius)| Spot { x: axes[across][at], y: axes[down][at], radius }).collect();
    let spiral = spiral(spots.len());
    // Circles that scaling puts on one point need a direction in which to part.
    for (spot, [x, y]) in spots.iter_mut().zip(spiral) {
        spot.x += GAP * x;
        spot.y += GAP * y;
    }
    for _ in 0..SPRING_ROUNDS {
        pull(&mut spots, &distances);
    }
    stretch(&mut spots, aspect);
    push_apart(&mut spots);
    spots
}

/// Returns points on a spiral about 0 at distances up to 1, evenly spread.
fn spiral(count: usize) -> Vec<[f64; 2]> {
    // The golden angle, of 137.5 degrees.
    const TURN: [f64; 2] = [-0.737_368_878_078_319_7, 0.675_490_294_261_523_7];
    let mut direction = [1.0, 0.0];
    let points = (0..count).map(|at| {
        let [x, y] = direction;
        direction = [x * TURN[0] - y * TURN[1], x * TURN[1] + y * TURN[0]];
        let distance = ((at as f64 + 0.5) / count as f64).sqrt();
        [x * distance, y * distance]
    });
    points.collect()
}

/// Returns the lengths of the shortest paths between all circles of a part.
fn distances(radii: &[f64], links: &[Link]) -> Vec<Vec<f64>> {
    let count = radii.len();
    let mean = radii.iter().sum::<f64>() / count.max(1) as f64;
    let mut largest = vec![0.0f64; count];
    for link in links {
        for end in link.ends {
            largest[end] = largest[end].max(link.weight);
        }
    }
    let mut distances = vec![vec![f64::INFINITY; count]; count];
    for &Link { ends: [one, other], weight } in links {
        // 1 for the largest link of both ends: small communities are tied as closely as large ones.
        let tie = (weight / (largest[one] * largest[other]).sqrt()).clamp(0.0, 1.0);
        let length = radii[one] + radii[other] + GAP + 2.0 * mean * (1.5 - tie.sqrt());
        let shortest = distances[one][other].min(length);
        (distances[one][other], distances[other][one]) = (shortest, shortest);
    }
    for (at, row) in distances.iter_mut().enumerate() {
        row[at] = 0.0;
    }
    for through in 0..count {
        let middle = distances[through].clone();
        for row in &mut distances {
            let first = row[through];
            for (length, second) in row.iter_mut().zip(&middle) {
                *length = length.min(first + second);
            }
        }
    }
    distances
}

/// Returns two coordinates for each circle: those along which the distances spread most.
fn axes(distances: &[Vec<f64>]) -> [Vec<f64>; 2] {
    let count = distances.len();
    let share = 1.0 / count.max(1) as f64;
    let means: Vec<f64> =
        distances.iter().map(|row| share * row.iter().map(|d| d * d).sum::<f64>()).collect();
    let mean = share * means.iter().sum::<f64>();
    let product = |one: usize, other: usize| -> f64 {
        let distance = distances[one][other];
        (means[one] + means[other] - mean - distance * distance) / 2.0
    };
    let products: Vec<Vec<f64>> =
        (0..count).map(|one| (0..count).map(|other| product(one, other)).collect()).collect();
    let starts = spiral(count);
    let first = axis(&products, starts.iter().map(|[x, _]| *x).collect(), None);
    let second = axis(&products, starts.iter().map(|[_, y]| *y).collect(), Some(&first));
    [first, second]
}

/// Returns the axis of a matrix of products to which `start` converges by repeated multiplication, at a right angle to
/// `other`, scaled to the spread along it.
fn axis(products: &[Vec<f64>], start: Vec<f64>, other: Option<&Vec<f64>>) -> Vec<f64> {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let unit = |vector: &mut Vec<f64>| {
        if let Some(other) = other {
            let share = dot(vector, other) / dot(other, other).max(f64::MIN_POSITIVE);
            vector.iter_mut().zip(other).for_each(|(value, other)| *value -= share * other);
        }
        let length = dot(vector, vector).sqrt();
        if length > 0.0 {
            vector.iter_mut().for_each(|value| *value /= length);
        }
        length
    };
    let mut vector = start;
    unit(&mut vector);
    let mut spread = 0.0;
    for _ in 0..AXIS_ROUNDS {
        let mut next: Vec<f64> = products.iter().map(|row| dot(row, &vector)).collect();
        spread = unit(&mut next);
        vector = next;
    }
    let scale = spread.sqrt();
    vector.into_iter().map(|value| value * scale).collect()
}

/// Moves each circle in turn to the mean of where its springs want it; short springs count more.
fn pull(spots: &mut [Spot], distances: &[Vec<f64>]) {
    for at in 0..spots.len() {
        let here = spots[at];
        let [mut x, mut y, mut total] = [0.0; 3];
        for (other, there) in spots.iter().enumerate().filter(|(other, _)| *other != at) {
            let wanted = distances[at][other];
            let (dx, dy) = (here.x - there.x, here.y - there.y);
            let distance = (dx * dx + dy * dy).sqrt();
            let factor = if distance > 0.0 { wanted / distance } else { 0.0 };
            let strength = 1.0 / (wanted * wanted);
            x += strength * (there.x + factor * dx);
            y += strength * (there.y + factor * dy);
            total += strength;
        }
        if total > 0.0 {
            (spots[at].x, spots[at].y) = (x / total, y / total);
        }
    }
}

/// Stretches a part towards the form of the page.
fn stretch(spots: &mut [Spot], aspect: f64) {
    let [_, _, width, height] = extent(spots);
    let wider = (aspect * height / width.max(f64::MIN_POSITIVE)).clamp(1.0, STRETCH_MAX);
    let higher = (width / (aspect * height).max(f64::MIN_POSITIVE)).clamp(1.0, STRETCH_MAX);
    for spot in spots {
        spot.x *= wider;
        spot.y *= higher;
    }
}

/// Pushes circles apart until none is nearer than [`GAP`] to another.
fn push_apart(spots: &mut [Spot]) {
    for _ in 0..APART_ROUNDS {
        let mut moved = false;
        for one in 1..spots.len() {
            for other in 0..one {
                moved |= part_pair(spots, one, other);
            }
        }
        if !moved {
            return;
        }
    }
    // Moving all circles away from the middle by one factor separates them.
    let mut factor = 1.0f64;
    for one in 1..spots.len() {
        for other in 0..one {
            let (distance, wanted) = between(spots[one], spots[other]);
            factor = factor.max(wanted / distance.max(f64::MIN_POSITIVE));
        }
    }
    for spot in spots {
        spot.x *= factor;
        spot.y *= factor;
    }
}

/// Returns the distance of two middles, and the least that is allowed.
fn between(one: Spot, other: Spot) -> (f64, f64) {
    let (dx, dy) = (one.x - other.x, one.y - other.y);
    ((dx * dx + dy * dy).sqrt(), one.radius + other.radius + GAP)
}

/// Moves two circles apart if they are too near; the smaller one moves more.
fn part_pair(spots: &mut [Spot], one: usize, other: usize) -> bool {
    let (a, b) = (spots[one], spots[other]);
    let (distance, wanted) = between(a, b);
    if distance >= wanted {
        return false;
    }
    let (dx, dy) = match distance > 1e-9 {
        true => ((a.x - b.x) / distance, (a.y - b.y) / distance),
        false => (0.6, if one.is_multiple_of(2) { 0.8 } else { -0.8 }),
    };
    // A little more than needed, so that rounding leaves none too near.
    let step = wanted - distance + 1e-3;
    let share = b.radius / (a.radius + b.radius).max(f64::MIN_POSITIVE);
    spots[one].x += dx * step * share;
    spots[one].y += dy * step * share;
    spots[other].x -= dx * step * (1.0 - share);
    spots[other].y -= dy * step * (1.0 - share);
    true
}

/// Returns left, top, width and height of the rectangle around circles.
fn extent(spots: &[Spot]) -> [f64; 4] {
    let ends = |low: fn(&Spot) -> f64, high: fn(&Spot) -> f64| {
        let least = spots.iter().map(low).fold(f64::INFINITY, f64::min);
        (least, spots.iter().map(high).fold(f64::NEG_INFINITY, f64::max) - least)
    };
    let (left, width) = ends(|spot| spot.x - spot.radius, |spot| spot.x + spot.radius);
    let (top, height) = ends(|spot| spot.y - spot.radius, |spot| spot.y + spot.radius);
    [left, top, width, height]
}

/// Moves circles so that the rectangle around them begins at 0, and returns its width and height.
fn to_corner(spots: &mut [Spot]) -> [f64; 2] {
    let [left, top, width, height] = extent(spots);
    for spot in spots {
        spot.x -= left;
        spot.y -= top;
    }
    [width, height]
}

/// Returns the corners of boxes that are packed into a rectangle about `aspect` times as wide as high, and its size: each
/// in turn, largest first, as high up as there is room for it.
fn pack(boxes: &[[f64; 2]], aspect: f64) -> (Vec<[f64; 2]>, [f64; 2]) {
    let space = 2.0 * GAP;
    let area: f64 = boxes.iter().map(|[width, height]| (width + space) * (height + space)).sum();
    let widest = boxes.iter().map(|[width, _]| *width).fold(0.0, f64::max);
    let width = widest.max((1.15 * area * aspect).sqrt());
    let mut order: Vec<usize> = (0..boxes.len()).collect();
    order.sort_by(|&a, &b| {
        let size = |at: usize| boxes[at][0] * boxes[at][1];
        size(b).total_cmp(&size(a)).then(a.cmp(&b))
    });
    let mut corners = vec![[0.0; 2]; boxes.len()];
    let mut placed: Vec<usize> = Vec::new();
    let mut size = [0.0f64; 2];
    for at in order {
        let [own_width, own_height] = boxes[at];
        let ends = placed.iter().map(|&other| corners[other][0] + boxes[other][0] + space);
        let lefts = std::iter::once(0.0).chain(ends);
        let fits = lefts.filter(|left| left + own_width <= width || *left == 0.0);
        let tops = fits.map(|left| {
            let over = placed.iter().filter(|&&other| {
                let begin = corners[other][0];
                begin < left + own_width + space && left < begin + boxes[other][0] + space
            });
            let bottom = over.map(|&other| corners[other][1] + boxes[other][1] + space);
            [bottom.fold(0.0, f64::max), left]
        });
        let best = tops.min_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
        let [top, left] = best.unwrap_or_default();
        corners[at] = [left, top];
        size = [size[0].max(left + own_width), size[1].max(top + own_height)];
        placed.push(at);
    }
    (corners, size)
}
