//! Which methods there are, what each is like, and what a clustering is asked for.

pub(crate) mod options;
pub(crate) mod table;
