//! Tests of the laboratory from outside, in one program.

mod experiments;
mod reports;
mod tune;
mod writing;
