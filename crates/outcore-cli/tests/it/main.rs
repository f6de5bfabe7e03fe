//! Tests of the command from outside, as one program.

mod catalogue;
mod cli;
mod common;
mod compare;
mod faults;
mod foreign;
mod hostile;
mod inside;
mod lab;
mod options;
mod paths;
mod promises;
mod remote;
mod report;
