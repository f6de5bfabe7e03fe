//! A job in the background, as an object of R: R polls it, so that R itself handles interrupts and warnings.

use crate::frame::{Columns, Parts};
use outcore::Error;
use outcore_bind::facts::Facts;
use outcore_bind::relay::{Events, Next, relay};
use outcore_cli::surface::{Table, call};
use savvy::{
    ListSexp, OwnedListSexp, OwnedLogicalSexp, OwnedRealSexp, OwnedStringSexp, Sexp, StringSexp,
    savvy, savvy_err,
};
use std::ffi::OsString;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;

/// Running command.
#[savvy]
pub struct Job {
    events: Events,
    /// Takes the rows of a data frame; none after the last ones.
    rows: Option<Sender<arrow_array::RecordBatch>>,
    columns: Columns,
    worker: Option<JoinHandle<outcore::Result<String>>>,
}

#[savvy]
impl Job {
    /// Starts `outcore ARGS`. The input `-` is a data frame whose columns have these names and types: `text`, `int32`,
    /// `int64`, `integer64`, `float64` or `none`.
    fn start(args: StringSexp, names: StringSexp, types: StringSexp) -> savvy::Result<Self> {
        let args: Vec<OsString> = args.iter().map(OsString::from).collect();
        let stop = Arc::default();
        let (observer, events) = relay(Arc::clone(&stop));
        let columns = Columns::new(names.iter(), types.iter())?;
        let (table, rows) = match columns.is_empty() {
            true => (None, None),
            false => {
                let (parts, rows) = Parts::new(&columns, events.wants());
                let stream = outcore::input::TableStream::new(Box::new(parts));
                (Some(Table { stream, names: None }), Some(rows))
            }
        };
        let work = move || observer.run(|observer| call(args, table, observer, stop));
        let worker = Some(std::thread::spawn(work));
        Ok(Self { events, rows, columns, worker })
    }

    /// Waits a short time for an event: returns its kind and text, and work done and total work, NaN if unknown. The
    /// kind is `quiet` if there was none, and `ended` at the end.
    fn wait(&self) -> savvy::Result<Sexp> {
        let (kind, text, done, total, unit) = match self.events.next() {
            Next::Message(message) => message,
            Next::Quiet => ("quiet", String::new(), None, None, ""),
            Next::Ended => ("ended", String::new(), None, None, ""),
        };
        let number = |number: Option<u64>| number.map_or(f64::NAN, |number| number as f64);
        let mut event = OwnedListSexp::new(4, true)?;
        event.set_name_and_value(0, "kind", OwnedStringSexp::try_from_scalar(kind)?)?;
        event.set_name_and_value(1, "text", OwnedStringSexp::try_from_scalar(text)?)?;
        let work = OwnedRealSexp::try_from_slice([number(done), number(total)])?;
        event.set_name_and_value(2, "work", work)?;
        event.set_name_and_value(3, "unit", OwnedStringSexp::try_from_scalar(unit)?)?;
        event.into()
    }

    /// Hands the next rows of the data frame to the job, which asked for them by the event `want`; `first` is the number
    /// of the first of them. They are `count` rows of numbers after the first `from`, and the first texts. Without columns
    /// there are no more rows. Returns whether all texts are UTF-8; otherwise, the job gets nothing.
    fn feed(
        &mut self,
        columns: ListSexp,
        first: f64,
        from: f64,
        count: f64,
    ) -> savvy::Result<Sexp> {
        let mut is_text = true;
        if columns.is_empty() {
            self.rows = None;
        } else {
            let batch =
                self.columns.batch(&columns, first as u64, from as usize, count as usize)?;
            is_text = batch.is_some();
            if let (Some(rows), Some(batch)) = (&self.rows, batch) {
                // There is no receiver after the job has ended.
                drop(rows.send(batch));
            }
        }
        OwnedLogicalSexp::try_from_scalar(is_text)?.into()
    }

    /// Asks the job to stop; it keeps what it can, and still sends events until it has ended.
    fn stop(&self) -> savvy::Result<()> {
        self.events.stop();
        Ok(())
    }

    /// Returns the outcome after the last event: the report as JSON, and the error as JSON; one of them is empty.
    fn finish(&mut self) -> savvy::Result<Sexp> {
        self.rows = None;
        let worker = self.worker.take().ok_or_else(|| savvy_err!("the job has been finished"))?;
        let done = worker.join().map_err(|_| savvy_err!("the engine failed: this is a bug"))?;
        let answer = match done {
            Ok(report) => [report, String::new()],
            Err(error) => [String::new(), json(&error)],
        };
        OwnedStringSexp::try_from_slice(answer)?.into()
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        self.events.stop();
    }
}

/// Returns the contents of an error as JSON.
fn json(error: &Error) -> String {
    Facts::of(error).json()
}
