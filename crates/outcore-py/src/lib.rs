//! `outcore._outcore`: the command's functions for Python. Python converts options to the command's arguments, so that
//! they are defined only once; this crate calls the engine without the interpreter's lock, passes tables in and out,
//! and converts errors. Users see `python/outcore`.
//!
//! A test keeps names, defaults and values of the keywords in agreement with the command; hints are converted to
//! keywords on the way back.

mod all_edges;
mod edges;
mod errors;
mod graph;
mod lines;
mod lookup;
mod network;
mod parts;
mod relay;
mod tables;

use outcore::progress::Observer;
use outcore_cli::surface::Table;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyAny;
use std::ffi::OsString;
use std::sync::Arc;

/// Counts what jobs allocate against their limits, but not what the interpreter and its other threads allocate.
#[global_allocator]
static METER: outcore::io::Meter = outcore::io::Meter;

/// Runs the command in this process, with its output to the terminal; returns its exit status.
#[pyfunction]
fn run(py: Python<'_>, args: Vec<OsString>) -> u8 {
    py.detach(|| outcore_cli::status(args))
}

/// Runs `outcore ARGS` and returns its report as JSON. The input `-` is `table`, which has `__arrow_c_stream__`.
/// `names` is the meaning of its names as JSON, as in `graph.json`. `listener` is called with (event, stage or text, done,
/// total, unit).
#[pyfunction]
#[pyo3(signature = (args, table=None, names=None, listener=None))]
fn call(
    py: Python<'_>,
    args: Vec<OsString>,
    table: Option<&Bound<'_, PyAny>>,
    names: Option<&str>,
    listener: Option<Py<PyAny>>,
) -> PyResult<String> {
    let names = names.map(serde_json::from_str).transpose();
    let names = names.map_err(|error| PyValueError::new_err(error.to_string()))?;
    let table = table.map(tables::import).transpose()?.map(|stream| Table { stream, names });
    let stop = Arc::default();
    let work = {
        let stop = Arc::clone(&stop);
        move |observer: &dyn Observer| outcore_cli::surface::call(args, table, observer, stop)
    };
    relay::drive(py, listener.as_ref(), stop, work)
}

/// Returns the options of a command, as in its `--help`, as JSON.
#[pyfunction]
fn options(command: &str) -> PyResult<String> {
    serde_json::to_string(&outcore_cli::surface::options(command))
        .map_err(|error| pyo3::exceptions::PyRuntimeError::new_err(error.to_string()))
}

/// Refuses the name of a method that the command does not have; says what to use instead.
#[pyfunction]
fn check_method(py: Python<'_>, name: &str) -> PyResult<()> {
    outcore_cli::surface::check_method(name).map_err(|error| errors::raised(py, &error))
}

/// Returns the extensions of tables that can be written, without the dot.
#[pyfunction]
fn table_endings() -> Vec<&'static str> {
    outcore::output::table_endings().flatten().copied().collect()
}

/// Returns the columns of source, target and weight that the engine chooses among columns with these names, counted
/// from 0, and whether it chose them by name. `numbers` tells which columns hold numbers.
#[pyfunction]
fn choose_columns(
    names: Vec<Vec<u8>>,
    numbers: Vec<bool>,
) -> Option<(usize, usize, Option<usize>, bool)> {
    let names: Vec<&[u8]> = names.iter().map(Vec::as_slice).collect();
    outcore::input::choose_columns(&names, &numbers)
}

#[pymodule(gil_used = false)]
mod _outcore {
    #[pymodule_export]
    use super::edges::{Failure, edge_batches};
    #[pymodule_export]
    use super::graph::GraphFile;
    #[pymodule_export]
    use super::lines::Lines;
    #[pymodule_export]
    use super::lookup::Lookup;
    #[pymodule_export]
    use super::network::place_network;
    #[pymodule_export]
    use super::parts::{
        PyChunks, PyCutter, PyPart, chunk_degrees, cut_chunk, link_forest, spark_plan, write_part,
    };
    #[pymodule_export]
    use super::tables::{
        Batches, Numbers, Pairs, are_rows, read_communities, read_groups, read_labels, read_pairs,
        read_rows, read_stability, table_batches,
    };
    #[pymodule_export]
    use super::{call, check_method, choose_columns, options, run, table_endings};

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        // Otherwise the allocator would retain memory freed by threads that have ended.
        outcore::io::share_freed_memory();
        outcore::input::silence_decoders();
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
