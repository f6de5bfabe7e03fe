//! Alluvial drawings: two divisions of the same things as columns of blocks, joined by ribbons as thick as what the blocks
//! share (Rosvall and Bergstrom, "Mapping change in large networks", 2010).
//!
//! Blocks are put in an order with few crossings: the barycenter rule is applied to both columns in turn (Sugiyama, Tagawa
//! and Toda, "Methods for visual understanding of hierarchical system structures", 1981), and the best order seen is
//! kept. It depends on the figures alone. Labels keep their distance, with a line to the block where they had to move.

use super::svg::{At, Drawing, LINE, Layout, fit, fold, line, svg_of, texts, width};
use maud::{Markup, html};

/// Width of a block.
const THICK: f64 = 12.0;
/// Distance between blocks.
const GAP: f64 = 3.0;
/// Distance between the baselines of labels.
const STEP: f64 = 14.0;
/// Height of the drawing without labels.
const LEAST: f64 = 320.0;
/// Space above the blocks, for the names of the columns if each takes one line.
const TOP: f64 = 22.0;
/// Maximum width of a label beside a block.
const ROOM: [f64; 2] = [220.0, 96.0];
/// Length of the line from a block to its label.
const REACH: [f64; 2] = [26.0, 12.0];
/// Thinnest ribbon that is drawn.
const THINNEST: f64 = 0.25;
/// Passes over the columns to find an order.
const PASSES: usize = 12;
/// Colors of blocks.
const COLORS: usize = 7;

/// Block of a column.
#[derive(Debug, Clone, PartialEq)]
pub struct AlluvialBlock {
    /// Name beside the block; shortened if there is no room.
    pub name: String,
    /// Figure after the name, which is never shortened.
    pub figure: String,
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
            // A block without ribbons goes to the end, out of the way.
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
    /// Lines of each block's label.
    labels: Vec<Vec<String>>,
}

fn draw(title: &str, of: &Alluvial<'_>, orders: &Orders, layout: Layout) -> Markup {
    let heads = of.heads.map(|head| fold(head, layout.width() / 2.0 - 8.0));
    let top = TOP + LINE * (heads[0].len().max(heads[1].len()) - 1) as f64;
    let labels = of.columns.map(|all| all.iter().map(|block| label(block, layout)).collect());
    let bottom = top + high(&labels);
    let scale = scale(of, bottom - top);
    let columns = columns(of, orders, layout, (top, scale), labels);
    let class = layout.pick(["wide alluvial", "narrow alluvial"]);
    let inside = html! {
        desc { (of.described) }
        (texts(0.0, 12.0, "axis", &heads[0]))
        (texts(layout.width(), 12.0, "axis end", &heads[1]))
        (ribbons(of, orders, &columns, scale))
        @for side in 0..2 {
            (blocks(of.columns[side], &orders[0], side, &columns[side]))
            (beside(layout, &orders[side], side, &columns[side], bottom))
        }
    };
    svg_of(class, title, layout, bottom + 8.0, &inside)
}

/// Returns the lines of a label. The block that stands for many is last, where a narrow drawing has room for a second
/// line.
fn label(block: &AlluvialBlock, layout: Layout) -> Vec<String> {
    let room = layout.pick(ROOM);
    let behind = format!(" · {}", block.figure);
    if layout == Layout::Narrow && block.is_rest {
        return vec![fit(&block.name, room), block.figure.clone()];
    }
    vec![fit(&block.name, room - width(&behind)) + &behind]
}

/// Returns the height of the blocks, for which the labels have room.
fn high(labels: &[Vec<Vec<String>>; 2]) -> f64 {
    let of_column = |column: &Vec<Vec<String>>| {
        let more: usize = column.iter().map(|lines| lines.len() - 1).sum();
        STEP * column.len() as f64 + LINE * more as f64
    };
    labels.iter().map(of_column).fold(LEAST, f64::max)
}

/// Returns the height of a unit, for which both columns have room.
fn scale(of: &Alluvial<'_>, height: f64) -> f64 {
    let of_column = |column: &[AlluvialBlock]| {
        let total = column.iter().map(|block| block.size).sum::<f64>();
        (height - GAP * (column.len() - 1) as f64) / total.max(f64::MIN_POSITIVE)
    };
    of.columns.iter().map(|column| of_column(column)).fold(f64::INFINITY, f64::min)
}

/// Places the blocks of both columns from the top down. Labels have the room that they take.
fn columns(
    of: &Alluvial<'_>,
    orders: &Orders,
    layout: Layout,
    (top, scale): (f64, f64),
    labels: [Vec<Vec<String>>; 2],
) -> [Column; 2] {
    let margins = labels.each_ref().map(|column| {
        let widest = column.iter().flatten().map(|line| width(line)).fold(0.0, f64::max);
        widest + layout.pick(REACH) + 4.0
    });
    let xs = [margins[0], layout.width() - margins[1] - THICK];
    let mut sides = 0..2;
    labels.map(|labels| {
        let side = sides.next().unwrap_or(0);
        let mut blocks = vec![(0.0, 0.0); of.columns[side].len()];
        let mut next = top;
        for &block in &orders[side] {
            let high = of.columns[side][block].size * scale;
            blocks[block] = (next, high);
            next += high + GAP;
        }
        Column { x: xs[side], blocks, labels }
    })
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

/// Draws the labels beside the blocks; none overlap.
fn beside(layout: Layout, order: &[usize], side: usize, column: &Column, bottom: f64) -> Markup {
    let middles: Vec<f64> =
        order.iter().map(|&block| column.blocks[block].0 + column.blocks[block].1 / 2.0).collect();
    let more = order.last().map_or(0, |&block| column.labels[block].len() - 1);
    let ys = spread(&middles, bottom - LINE * more as f64);
    let reach = layout.pick(REACH);
    let (edge, away, class) = match side {
        0 => (column.x, -1.0, "value end"),
        _ => (column.x + THICK, 1.0, "value"),
    };
    html! {
        @for ((&block, &middle), &y) in order.iter().zip(&middles).zip(&ys) {
            (line("leader span", (edge + away, middle), (edge + (reach - 3.0) * away, y)))
            (texts(edge + reach * away, y + 4.0, class, &column.labels[block]))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn block(name: usize, size: f64) -> AlluvialBlock {
        let (name, figure) = (name.to_string(), size.to_string());
        AlluvialBlock { name, figure, size, is_rest: false, reported: String::new() }
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
    fn names_are_text_and_long_ones_keep_their_ends_and_figures() {
        let mut blocks = vec![block(0, 3.0)];
        blocks[0].name = "<script>&".repeat(20);
        blocks[0].figure = "1,234".into();
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
            assert!(drawn.contains("&amp; · 1,234</text>"), "{drawn}");
            assert!(drawn.contains("<desc>one community</desc>"));
        }
        assert!(alluvial("none", &Alluvial { columns: [&blocks, &[]], ..of }).is_none());
    }

    #[test]
    fn long_names_of_columns_are_folded_and_the_rest_has_two_lines_on_a_narrow_page() {
        let mut blocks: Vec<AlluvialBlock> = (0..40).map(|name| block(name, 10.0)).collect();
        blocks.push(AlluvialBlock { is_rest: true, figure: "99,999".into(), ..block(0, 10.0) });
        blocks[40].name = "12,345 more".into();
        let head = "A: a_long_name_of_a_file_of_communities.tsv".repeat(4);
        let of = Alluvial {
            heads: [&head, "B: short"],
            columns: [&blocks, &blocks],
            ribbons: &[ribbon(0, 0, 3.0)],
            described: "",
        };
        let drawing = alluvial("Nodes", &of).unwrap();
        let of_class = |drawn: &str, class: &str| {
            let tag = format!("class=\"{class}\">");
            let parts = drawn.split(&tag).skip(1);
            parts.map(|part| part.split('<').next().unwrap().to_owned()).collect::<Vec<_>>()
        };
        for (layout, drawn) in
            [(Layout::Wide, &drawing.wide.0), (Layout::Narrow, &drawing.narrow.0)]
        {
            let heads = of_class(drawn, "axis");
            assert!(heads.iter().all(|line| width(line) <= layout.width() / 2.0), "{heads:?}");
            assert_eq!(heads.concat().replace(' ', ""), head.replace(' ', ""));
            let labels = of_class(drawn, "value");
            assert_eq!(labels.len(), 41 + layout.pick([0, 1]));
            assert!(labels.iter().all(|line| width(line) <= layout.pick(ROOM)), "{labels:?}");
            let rest = layout.pick(["12,345 more · 99,999", "12,345 more"]);
            assert!(labels.iter().any(|label| label == rest), "{labels:?}");
        }
    }
}
