//! An observer that collects warnings.

use outcore::progress::{Event, Observer};
use std::ops::ControlFlow;
use std::sync::Mutex;

#[derive(Default)]
pub(crate) struct Warnings(Mutex<Vec<String>>);

impl Observer for Warnings {
    fn event(&self, event: Event<'_>) -> ControlFlow<()> {
        if let Event::Warning { text } = event {
            self.0.lock().expect("no observer panics").push(text.to_string());
        }
        ControlFlow::Continue(())
    }
}

impl Warnings {
    pub(crate) fn into_texts(self) -> Vec<String> {
        self.0.into_inner().expect("no observer panics")
    }
}
