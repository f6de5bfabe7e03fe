//! Alluvial drawings: two divisions of the same things as columns of blocks, joined by ribbons as thick as what the blocks
//! share (Rosvall and Bergstrom, "Mapping change in large networks", 2010).
//!
//! Blocks are put in an order with few crossings: the barycenter rule is applied to both columns in turn (Sugiyama, Tagawa
//! and Toda, "Methods for visual understanding of hierarchical system structures", 1981), and the best order seen is
//! kept. It depends on the figures alone. Labels keep their distance, with a line to the block where they had to move.

use super::svg::{At, Drawing, LETTER, Layout, line, svg, text};
use maud::{Markup, html};

/// Width of a block.
const THICK: f64 = 12.0;
/// Distance between blocks.
const GAP: f64 = 3.0;
/// Distance between the baselines of labels.
const STEP: f64 = 14.0;
/// Height of the drawing without labels.
const LEAST: f64 = 320.0;
/// Space above the blocks, for the names of the columns.
const TOP: f64 = 22.0;
/// Thinnest ribbon that is drawn.
const THINNEST: f64 = 0.25;
/// Passes over the columns to find an order.
const PASSES: usize = 12;
/// Colors of blocks.
const COLORS: usize = 7;

/// Block of a column.
#[derive(Debug, Clone, PartialEq)]
pub struct AlluvialBlock {
    /// Name beside the block.
    pub name: String,
    /// Height.
    pub size: f64,
    /// Whether it is drawn last and in gray, as it stands for many.
    pub is_rest: bool,
    /// Tooltip.
    pub reported: String,
}

/// Ribbon between two blocks.
#[derive(Debug, Clone, PartialEq)]
pub struct Ribbon {
    /// Place of the block in the left column.
    pub left: usize,
    /// Place of the block in the right column.
    pub right: usize,
    /// Thickness, in the unit of the blocks' heights.
    pub size: f64,
    /// Tooltip.
    pub reported: String,
}

/// Figures of an alluvial drawing.
#[derive(Debug, Clone, Copy)]
pub struct Alluvial<'a> {
    /// Names of the two columns.
    pub heads: [&'a str; 2],
    /// Blocks of the two columns.
    pub columns: [&'a [AlluvialBlock]; 2],
    /// Ribbons between them.
    pub ribbons: &'a [Ribbon],
    /// Text alternative.
    pub described: &'a str,
}

/// Draws it; `None` if a column has no block.
pub fn alluvial(title: &str, of: &Alluvial<'_>) -> Option<Drawing> {
    if of.columns.iter().any(|column| column.is_empty()) {
        return None;
    }
    let orders = orders(of);
    Drawing::new(title, |layout| Some(draw(title, of, &orders, layout)))
}

/// Order of the blocks of both columns: places from the top down.
type Orders = [Vec<usize>; 2];

/// Finds an order with few crossings.
fn orders(of: &Alluvial<'_>) -> Orders {
    let mut orders = of.columns.map(|column| (0..column.len()).collect::<Vec<usize>>());
    rest_last(of, &mut orders);
    let mut best = (crossings(of, &orders), orders.clone());
    for pass in 0..PASSES {
        let moved = 1 - pass % 2;
        let centers = centers(of.columns[1 - moved], &orders[1 - moved]);
        let (mut sums, mut totals) =
            (vec![0.0; of.columns[moved].len()], vec![0.0; of.columns[moved].len()]);
        for ribbon in of.ribbons {
            let ends = [ribbon.left, ribbon.right];
            sums[ends[moved]] += ribbon.size * centers[ends[1 - moved]];
            totals[ends[moved]] += ribbon.size;
        }
        let center = |block: usize| match totals[block] > 0.0 {
            true => sums[block] / totals[block],
            // Without ribbons, it is out of the way at the end.
            false => f64::INFINITY,
        };
        orders[moved].sort_by(|&one, &other| center(one).total_cmp(&center(other)));
        rest_last(of, &mut orders);
        let count = crossings(of, &orders);
        if count < best.0 {
            best = (count, orders.clone());
        }
    }
    best.1
}

fn rest_last(of: &Alluvial<'_>, orders: &mut Orders) {
    for (order, column) in orders.iter_mut().zip(of.columns) {
        order.sort_by_key(|&block| column[block].is_rest);
    }
}

/// Returns the middle of each block, from the top of its column.
fn centers(column: &[AlluvialBlock], order: &[usize]) -> Vec<f64> {
    let mut centers = vec![0.0; column.len()];
    let mut top = 0.0;
    for &block in order {
        centers[block] = top + column[block].size / 2.0;
        top += column[block].size;
    }
    centers
}

/// Returns the area of all crossings: the sum of products of sizes.
fn crossings(of: &Alluvial<'_>, orders: &Orders) -> f64 {
    let places = orders.each_ref().map(|order| {
        let mut places = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, &block)| places[block] = place);
        places
    });
    let ends: Vec<(usize, usize, f64)> = of
        .ribbons
        .iter()
        .map(|ribbon| (places[0][ribbon.left], places[1][ribbon.right], ribbon.size))
        .collect();
    let mut sum = 0.0;
    for (at, one) in ends.iter().enumerate() {
        let cross = |other: &&(usize, usize, f64)| {
            (one.0 < other.0 && one.1 > other.1) || (one.0 > other.0 && one.1 < other.1)
        };
        sum += ends[..at].iter().filter(cross).map(|other| one.2 * other.2).sum::<f64>();
    }
    sum
}

/// Blocks of a column with their places on the page.
struct Column {
    /// Left edge.
    x: f64,
    /// Top and height of each block.
    blocks: Vec<(f64, f64)>,
}

fn draw(title: &str, of: &Alluvial<'_>, orders: &Orders, layout: Layout) -> Markup {
    let margin = layout.pick([170.0, 92.0]);
    let most = of.columns.iter().map(|column| column.len()).max().unwrap_or(0);
    let height = (STEP * most as f64).max(LEAST);
    let room = |column: &[AlluvialBlock]| height - GAP * (column.len() - 1) as f64;
    let total = |column: &[AlluvialBlock]| column.iter().map(|block| block.size).sum::<f64>();
    let scale = of
        .columns
        .iter()
        .map(|column| room(column) / total(column).max(f64::MIN_POSITIVE))
        .fold(f64::INFINITY, f64::min);
    let xs = [margin, layout.width() - margin - THICK];
    let columns: [Column; 2] = std::array::from_fn(|side| {
        let mut blocks = vec![(0.0, 0.0); of.columns[side].len()];
        let mut top = TOP;
        for &block in &orders[side] {
            let high = of.columns[side][block].size * scale;
            blocks[block] = (top, high);
            top += high + GAP;
        }
        Column { x: xs[side], blocks }
    });
    let letters = ((margin - 20.0) / LETTER) as usize;
    let head_letters = (layout.width() / 2.0 / LETTER) as usize - 1;
    let inside = html! {
        desc { (of.described) }
        (text(0.0, 12.0, "axis", &cut(of.heads[0], head_letters)))
        (text(layout.width(), 12.0, "axis end", &cut(of.heads[1], head_letters)))
        (ribbons(of, orders, &columns, scale))
        @for side in 0..2 {
            (blocks(of.columns[side], &orders[0], side, &columns[side]))
            (labels(of.columns[side], &orders[side], side, &columns[side], letters, TOP + height))
        }
    };
    svg(title, layout, TOP + height + 8.0, &inside)
}

/// Returns the class of a block's color. Blocks on the left have colors, from which ribbons take theirs.
fn color(block: &AlluvialBlock, place: usize) -> String {
    if block.is_rest { "first".into() } else { format!("f{}", place % COLORS) }
}

fn place_of(order: &[usize], block: usize) -> usize {
    order.iter().position(|&other| other == block).unwrap_or(0)
}

fn ribbons(of: &Alluvial<'_>, orders: &Orders, columns: &[Column; 2], scale: f64) -> Markup {
    let places = |side: usize, block| place_of(&orders[side], block);
    let mut sorted: Vec<&Ribbon> = of.ribbons.iter().collect();
    sorted.sort_by_key(|ribbon| (places(0, ribbon.left), places(1, ribbon.right)));
    // Ribbons leave a block on the left in the order of the blocks on the right, and arrive in that of the left.
    let mut used = columns.each_ref().map(|column| vec![0.0; column.blocks.len()]);
    let mut paths = Vec::new();
    for ribbon in sorted {
        let thick = ribbon.size * scale;
        let from = columns[0].blocks[ribbon.left].0 + used[0][ribbon.left];
        let to = columns[1].blocks[ribbon.right].0 + used[1][ribbon.right];
        used[0][ribbon.left] += thick;
        used[1][ribbon.right] += thick;
        if thick >= THINNEST {
            let block = &of.columns[0][ribbon.left];
            let class = format!("flow {}", color(block, places(0, ribbon.left)));
            let ends = (columns[0].x + THICK, columns[1].x);
            paths.push((class, path(ends, (from, to), thick), ribbon.reported.as_str()));
        }
    }
    html! {
        @for (class, path, reported) in paths {
            path class=(class) d=(path) { title { (reported) } }
        }
    }
}

/// Returns the outline of a ribbon.
fn path((left, right): (f64, f64), (from, to): (f64, f64), thick: f64) -> String {
    let middle = f64::midpoint(left, right);
    let (left, right, middle) = (At(left), At(right), At(middle));
    let (top, end) = (At(from), At(to));
    let (below, bottom) = (At(from + thick), At(to + thick));
    format!(
        "M{left} {top}C{middle} {top} {middle} {end} {right} {end}V{bottom}\
         C{middle} {bottom} {middle} {below} {left} {below}Z"
    )
}

fn blocks(all: &[AlluvialBlock], left: &[usize], side: usize, column: &Column) -> Markup {
    let class = |at: usize| match side {
        0 => color(&all[at], place_of(left, at)),
        _ => "first".into(),
    };
    html! {
        @for (at, (block, &(top, high))) in all.iter().zip(&column.blocks).enumerate() {
            rect class=(class(at)) x=(At(column.x)) y=(At(top)) width=(At(THICK)) height=(At(high.max(1.0))) {
                title { (block.reported) }
            }
        }
    }
}

/// Draws the names beside the blocks; none overlap.
fn labels(
    all: &[AlluvialBlock],
    order: &[usize],
    side: usize,
    column: &Column,
    letters: usize,
    bottom: f64,
) -> Markup {
    let middles: Vec<f64> =
        order.iter().map(|&block| column.blocks[block].0 + column.blocks[block].1 / 2.0).collect();
    let ys = spread(&middles, bottom);
    let (edge, away, class) = match side {
        0 => (column.x, -1.0, "value end"),
        _ => (column.x + THICK, 1.0, "value"),
    };
    html! {
        @for ((&block, &middle), &y) in order.iter().zip(&middles).zip(&ys) {
            (line("leader span", (edge + away, middle), (edge + 10.0 * away, y)))
            (text(edge + 13.0 * away, y + 4.0, class, &cut(&all[block].name, letters)))
        }
    }
}

/// Moves ascending positions apart, so that labels have their distance and end above `bottom`.
fn spread(middles: &[f64], bottom: f64) -> Vec<f64> {
    let mut ys = middles.to_vec();
    for at in 1..ys.len() {
        ys[at] = ys[at].max(ys[at - 1] + STEP);
    }
    let mut limit = bottom - STEP / 2.0;
    for y in ys.iter_mut().rev() {
        *y = y.min(limit);
        limit = *y - STEP;
    }
    ys
}

/// Shortens a text to `max` characters.
fn cut(words: &str, max: usize) -> String {
    if words.chars().count() <= max {
        return words.to_owned();
    }
    let kept: String = words.chars().take(max.saturating_sub(1)).collect();
    kept + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(name: usize, size: f64) -> AlluvialBlock {
        let (name, reported) = (name.to_string(), String::new());
        AlluvialBlock { name, size, is_rest: false, reported }
    }

    fn ribbon(left: usize, right: usize, size: f64) -> Ribbon {
        Ribbon { left, right, size, reported: String::new() }
    }

    #[test]
    fn blocks_are_ordered_without_avoidable_crossings() {
        let blocks: Vec<AlluvialBlock> = (0..9).map(|name| block(name, 10.0)).collect();
        // The right column is the left one in another order, and each block lends a node to the next.
        let ribbons: Vec<Ribbon> = (0..9)
            .flat_map(|at| [ribbon(at, at * 4 % 9, 9.0), ribbon(at, (at * 4 + 4) % 9, 1.0)])
            .collect();
        let of = Alluvial {
            heads: ["a", "b"],
            columns: [&blocks, &blocks],
            ribbons: &ribbons[..17],
            described: "",
        };
        let plain = [(0..9).collect(), (0..9).collect()];
        let found = orders(&of);
        assert!(crossings(&of, &found) < crossings(&of, &plain) / 20.0, "{found:?}");
        assert_eq!(found, orders(&of));
        assert!(found.iter().all(|order| {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            sorted == (0..9).collect::<Vec<_>>()
        }));
    }

    #[test]
    fn the_rest_is_last_in_any_order() {
        let mut blocks = vec![block(0, 1.0), block(1, 1.0), block(2, 9.0)];
        blocks[2].is_rest = true;
        let ribbons = [ribbon(2, 0, 5.0), ribbon(0, 2, 1.0), ribbon(1, 2, 1.0)];
        let columns: [&[AlluvialBlock]; 2] = [&blocks, &blocks];
        let of = Alluvial { heads: ["", ""], columns, ribbons: &ribbons, described: "" };
        assert!(orders(&of).iter().all(|order| order[2] == 2));
    }

    #[test]
    fn labels_keep_their_distance_and_stay_inside() {
        for count in [1, 2, 10, 41] {
            let bottom = TOP + (STEP * count as f64).max(LEAST);
            for shape in [0.0, 0.5, 1.0] {
                let middles: Vec<f64> = (0..count)
                    .map(|at| {
                        TOP + (bottom - TOP) * (shape + (1.0 - shape) * at as f64 / count as f64)
                    })
                    .collect();
                let ys = spread(&middles, bottom);
                assert!(ys.is_sorted_by(|a, b| b - a >= STEP - 1e-9), "{ys:?}");
                assert!(ys[0] >= TOP - STEP && ys[count - 1] <= bottom, "{ys:?}");
            }
        }
    }

    #[test]
    fn names_are_text_and_long_ones_are_cut() {
        let mut blocks = vec![block(0, 3.0)];
        blocks[0].name = "<script>&".repeat(20);
        let ribbons = [ribbon(0, 0, 3.0)];
        let of = Alluvial {
            heads: ["a<b", "b"],
            columns: [&blocks, &blocks],
            ribbons: &ribbons,
            described: "one community",
        };
        let drawing = alluvial("Nodes", &of).unwrap();
        for drawn in [&drawing.wide.0, &drawing.narrow.0] {
            assert!(!drawn.contains("<script") && drawn.contains("a&lt;b") && drawn.contains('…'));
            assert!(drawn.contains("<desc>one community</desc>"));
        }
        assert!(alluvial("none", &Alluvial { columns: [&blocks, &[]], ..of }).is_none());
    }
}
