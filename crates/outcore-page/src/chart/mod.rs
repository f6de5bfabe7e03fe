//! Charts as SVG: bars, lines, columns, networks, alluvial drawings, spans of quantiles.
//!
//! Each is drawn twice, for a wide and a narrow page, so that text keeps its size. Colors are
//! classes of the style sheet.

mod alluvial;
mod bars;
mod columns;
mod frame;
mod lines;
mod network;
mod scale;
mod spans;
mod svg;

pub use alluvial::{Alluvial, AlluvialBlock, Ribbon, alluvial};
pub use bars::{Bar, BarAxis, BarRow, bars};
pub use columns::{Around, Upright, columns};
pub use lines::{Axes, Marks, Point, Range, Series, lines};
pub use network::{Circle, Link, backbone, network, positions};
pub use scale::{extent, size_text};
pub use spans::{Span, spans};
pub use svg::{Drawing, Level};
