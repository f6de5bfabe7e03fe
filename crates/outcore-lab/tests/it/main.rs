//! Integration tests of the laboratory, in one program.

mod experiments;
mod reports;
mod tune;
mod writing;
