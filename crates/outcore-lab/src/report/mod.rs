//! Reports: results of the laboratory and their presentation.
//!
//! ```text
//!  Experiment ----> answers, claims: what a reader wants to know first
//!      |---Column--> table --> the terminal, Markdown
//!      |                    `-----> page <-- charts
//!      |---> CSV, with every figure
//!      `---> stored (JSON), compare
//! ```

mod answers;
pub mod busy;
mod charts;
mod column;
pub mod compare;
mod experiment;
pub mod export;
mod judge;
mod limits;
pub mod page;
pub mod stored;
mod table;

pub use crate::number::{percent, three};
pub use answers::{Advice, Answer, answers};
pub use charts::charts;
pub use column::Column;
pub use experiment::{Chart, Experiment, LabReport, SCHEMA};
pub use judge::Control;
pub use limits::Limit;
pub use table::{Table, tables};
