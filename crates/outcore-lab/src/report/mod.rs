//! Reports: results of the laboratory and their presentation.
//!
//! ```text
//!  Experiment --Column--> table --> the terminal
//!      |                    `-----> page <-- charts
//!      `---> stored (JSON), compare
//! ```

mod charts;
mod column;
pub mod compare;
mod experiment;
pub mod page;
pub mod stored;
mod table;

pub use charts::charts;
pub use column::{Column, three};
pub use experiment::{Chart, Experiment, LabReport, SCHEMA};
pub use table::{Table, tables};
