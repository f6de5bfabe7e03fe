//! The drawing of a network, for libraries that draw it: positions of circles, and the lines that matter.

use outcore_page::chart::{Link, backbone, positions};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Circles, each with the middle from the left and from the top and its radius; lines, each with both ends and the weight.
type Placed = (Vec<[f64; 3]>, Vec<(usize, usize, f64)>);

/// Places circles with areas in proportion to `sizes` on a page of `width` and at most `height`, as in a report. Of
/// `links`, returns those that are drawn.
#[pyfunction]
pub(crate) fn place_network(
    sizes: Vec<f64>,
    links: Vec<(usize, usize, f64)>,
    width: f64,
    height: f64,
) -> PyResult<Placed> {
    let is_known = |end| end < sizes.len();
    if !links.iter().all(|&(one, other, _)| is_known(one) && is_known(other)) {
        return Err(PyValueError::new_err("a link has an end that is no circle"));
    }
    let link = |(one, other, weight)| Link { ends: [one, other], weight };
    let drawn = backbone(sizes.len(), &links.into_iter().map(link).collect::<Vec<_>>());
    let placed = positions(&sizes, &drawn, [width, height]);
    Ok((placed, drawn.iter().map(|link| (link.ends[0], link.ends[1], link.weight)).collect()))
}
