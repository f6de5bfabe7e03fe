//! Cycles and instructions of a run, as the processor counts them (`perf_event_open`): they show whether a way is slow
//! because it executes more, or because it waits for memory.
//!
//! The counters cover the thread that opens them and the threads that it starts, also in the kernel. Virtual machines
//! often have no such counters, and the system may not permit them (`/proc/sys/kernel/perf_event_paranoid`); rows then
//! lack these figures.
//!
//! Cost: a few system calls per run, outside its elapsed time.

/// Counts of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Cycles of the processor.
    pub cycles: u64,
    /// Instructions executed.
    pub instructions: u64,
}

#[cfg(target_os = "linux")]
pub use linux::Counters;

#[cfg(target_os = "linux")]
mod linux {
    use super::Counts;
    use perf_event::events::{Event, Hardware};
    use perf_event::{Builder, Counter};
    use std::io;

    /// Counters that are open.
    pub struct Counters([Counter; 2]);

    impl Counters {
        /// Opens the counters; `None` where there are none.
        pub fn open() -> Option<Self> {
            Self::of([Hardware::CPU_CYCLES.into(), Hardware::INSTRUCTIONS.into()]).ok()
        }

        fn of([cycles, instructions]: [Event; 2]) -> io::Result<Self> {
            let open = |event: Event| {
                let mut builder = Builder::new().kind(event);
                builder.include_kernel().inherit(true);
                builder.build()
            };
            Ok(Self([open(cycles)?, open(instructions)?]))
        }

        /// Begins to count.
        pub fn begin(&mut self) {
            self.0.iter_mut().for_each(|counter| _ = counter.enable());
        }

        /// Ends counting.
        pub fn end(&mut self) {
            self.0.iter_mut().for_each(|counter| _ = counter.disable());
        }

        /// Returns the counts; `None` if the processor did not count all the time, because other programs use its
        /// counters too.
        pub fn counts(mut self) -> Option<Counts> {
            let [cycles, instructions] = self.0.each_mut().map(whole);
            Some(Counts { cycles: cycles?, instructions: instructions? })
        }
    }

    fn whole(counter: &mut Counter) -> Option<u64> {
        let read = counter.read_count_and_time().ok()?;
        (read.time_running == read.time_enabled && read.time_enabled > 0).then_some(read.count)
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use perf_event::events::Software;

        /// Uses the kernel's clock of a task, which virtual machines have too, instead of cycles.
        #[test]
        fn work_between_begin_and_end_is_counted() {
            let Ok(mut counters) =
                Counters::of([Software::TASK_CLOCK.into(), Software::PAGE_FAULTS.into()])
            else {
                return;
            };
            let touch = || drop(std::hint::black_box(vec![1u8; 64 << 20]));
            touch();
            counters.begin();
            std::thread::spawn(touch).join().unwrap();
            counters.end();
            touch();
            let Counts { cycles: nanoseconds, instructions: faults } = counters.counts().unwrap();
            assert!((10_000..60_000_000_000).contains(&nanoseconds), "{nanoseconds}");
            assert!((1..30_000).contains(&faults), "{faults}: those of one thread");
            let mut idle = Counters::of([Software::DUMMY.into(), Software::DUMMY.into()]).unwrap();
            idle.end();
            assert_eq!(idle.counts(), None, "never began");
        }

        /// Instructions take cycles, whatever the processor.
        #[test]
        fn hardware_counts_are_plausible_where_they_exist() {
            let Some(mut counters) = Counters::open() else { return };
            counters.begin();
            let sum: u64 = (0..1_000_000).map(std::hint::black_box).sum();
            counters.end();
            std::hint::black_box(sum);
            let Some(Counts { cycles, instructions }) = counters.counts() else { return };
            assert!(instructions >= 1_000_000 && cycles >= 100_000, "{cycles} {instructions}");
        }
    }
}

/// Type without values: this system has no counters.
#[cfg(not(target_os = "linux"))]
pub enum Counters {}

#[cfg(not(target_os = "linux"))]
impl Counters {
    /// Returns `None`.
    pub fn open() -> Option<Self> {
        None
    }

    /// Cannot be called.
    pub fn begin(&mut self) {
        match *self {}
    }

    /// Cannot be called.
    pub fn end(&mut self) {
        match *self {}
    }

    /// Cannot be called.
    pub fn counts(self) -> Option<Counts> {
        match self {}
    }
}
