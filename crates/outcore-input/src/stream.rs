//! Table of the caller, which may take the place of a file.

#[cfg(feature = "streams")]
pub use with_streams::TableStream;

/// Table that the caller has in memory. No value exists without the feature `streams`.
#[cfg(not(feature = "streams"))]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TableStream {}

#[cfg(feature = "streams")]
mod with_streams {
    use arrow_array::RecordBatchReader;
    use arrow_schema::Schema;
    use std::fmt;
    use std::sync::{Arc, Mutex, PoisonError};

    /// Table that the caller has in memory or creates while it is read, batch by batch. It can be read only once.
    #[derive(Clone)]
    pub struct TableStream(Arc<Mutex<Option<Box<dyn RecordBatchReader + Send>>>>);

    impl TableStream {
        /// Creates a stream of `batches`.
        pub fn new(batches: Box<dyn RecordBatchReader + Send>) -> Self {
            Self(Arc::new(Mutex::new(Some(batches))))
        }

        pub(crate) fn schema(&self) -> Option<Arc<Schema>> {
            let stream = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            stream.as_ref().map(|batches| batches.schema())
        }

        pub(crate) fn take(&self) -> Option<Box<dyn RecordBatchReader + Send>> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
        }
    }

    impl fmt::Debug for TableStream {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("TableStream")
        }
    }

    impl PartialEq for TableStream {
        fn eq(&self, other: &Self) -> bool {
            Arc::ptr_eq(&self.0, &other.0)
        }
    }

    impl Eq for TableStream {}
}
