//! Reader of sorted records: in blocks, one by one, or in groups.

use super::merge::Merge;
use super::{OUT_RECORDS, Record, SortSummary};
use outcore_io::error::Result;

/// Reader of the sorted records.
pub struct Sorted<R: Record> {
    /// Records in memory; those before `at` have been returned.
    records: Vec<R>,
    at: usize,
    /// Source of further records, unless all were in memory.
    merge: Option<Merge<R>>,
    summary: SortSummary,
}

impl<R: Record> Sorted<R> {
    pub(super) fn new(records: Vec<R>, merge: Option<Merge<R>>, summary: SortSummary) -> Self {
        Self { records, at: 0, merge, summary }
    }

    /// Returns the summary so far.
    pub fn summary(&self) -> SortSummary {
        self.summary
    }

    /// Reads more records, if none are left in memory.
    fn fill(&mut self) -> Result<()> {
        if self.at == self.records.len()
            && let Some(merge) = &mut self.merge
        {
            self.at = 0;
            self.records = merge.next_chunk(std::mem::take(&mut self.records))?;
        }
        Ok(())
    }

    /// Returns the next records in order; `None` after the last.
    ///
    /// # Errors
    /// `CorruptFile` if a run was damaged; `Io`.
    pub fn next_block(&mut self) -> Result<Option<&[R]>> {
        self.fill()?;
        let begin = self.at;
        self.at = (begin + OUT_RECORDS).min(self.records.len());
        Ok((begin < self.at).then(|| &self.records[begin..self.at]))
    }

    /// Returns the next record, which remains the next one.
    ///
    /// # Errors
    /// Those of [`Sorted::next_block`].
    #[inline]
    pub fn peek(&mut self) -> Result<Option<R>> {
        if self.at == self.records.len() {
            self.fill()?;
        }
        Ok(self.records.get(self.at).copied())
    }

    /// Returns the next record if `wanted` accepts it, for example as one of the same group.
    ///
    /// # Errors
    /// Those of [`Sorted::next_block`].
    #[inline]
    pub fn next_if(&mut self, wanted: impl FnOnce(&R) -> bool) -> Result<Option<R>> {
        let record = self.peek()?.filter(wanted);
        self.at += usize::from(record.is_some());
        Ok(record)
    }

    /// Passes over the record that [`Sorted::peek`] has returned.
    #[inline]
    pub(super) fn skip(&mut self) {
        self.at += 1;
    }

    /// Returns the next record; `None` after the last.
    ///
    /// # Errors
    /// Those of [`Sorted::next_block`].
    #[inline]
    pub fn next_record(&mut self) -> Result<Option<R>> {
        self.next_if(|_| true)
    }

    /// Passes all records to `each`, and calls `tick` from time to time.
    ///
    /// # Errors
    /// Those of [`Sorted::next_block`], of `tick` and of `each`.
    pub fn for_each(
        mut self,
        mut tick: impl FnMut() -> Result<()>,
        mut each: impl FnMut(&R) -> Result<()>,
    ) -> Result<()> {
        while let Some(block) = self.next_block()? {
            block.iter().try_for_each(&mut each)?;
            tick()?;
        }
        Ok(())
    }
}
