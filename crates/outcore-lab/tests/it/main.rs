//! Integration tests of the laboratory, in one program.

mod claims;
mod experiments;
mod null;
mod reports;
mod rounds;
mod tune;
mod writing;
