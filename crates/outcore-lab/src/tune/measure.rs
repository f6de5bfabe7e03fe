//! Runs of one setting each: a number of requests of one size, from a number of threads, through `io`.

use super::choose::{Options, Setting};
use super::clock::Clock;
use crate::random::Random;
use crate::workplace::Effort;
use outcore::Result;
use outcore::io::{AlignedBuffer, Files, Mode, Scratch, StoredFile, Writer};
use outcore::progress::{Event, Observer, notify};
use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};

/// Kind of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MeasureKind {
    /// Reads in order.
    Read,
    /// Reads at random places.
    Random,
    /// Writes a new file in order.
    Write,
}

/// Amount of measurement.
#[derive(Debug, Clone, Copy)]
pub(super) struct Amount {
    pub(super) rounds: usize,
    /// Approximate duration of one run.
    pub(super) seconds: f64,
    /// Size of the file that is read.
    pub(super) read_bytes: u64,
    /// Maximum size of a file that is written in one run.
    pub(super) write_bytes: u64,
}

impl Amount {
    pub(super) fn of(effort: Effort) -> Self {
        match effort {
            Effort::Quick => {
                Self { rounds: 6, seconds: 0.015, read_bytes: 256 << 20, write_bytes: 16 << 20 }
            }
            Effort::Default => {
                Self { rounds: 12, seconds: 0.1, read_bytes: 1 << 30, write_bytes: 64 << 20 }
            }
            Effort::Full => {
                Self { rounds: 24, seconds: 0.3, read_bytes: 4 << 30, write_bytes: 256 << 20 }
            }
        }
    }
}

/// Files to measure, with the clock and the observer.
pub(super) struct Bench<'a> {
    files: Files,
    scratch: Scratch,
    read_path: PathBuf,
    is_direct: bool,
    amount: Amount,
    clock: &'a dyn Clock,
    observer: &'a dyn Observer,
    runs: AtomicU64,
}

/// Requests of a run.
struct TuneRun {
    kind: MeasureKind,
    block: u64,
    count: u64,
    /// Number of blocks in the file.
    blocks: u64,
    /// First block of the run.
    first: u64,
    next: AtomicU64,
}

impl TuneRun {
    /// Makes requests on one thread until all requests of the run are done.
    fn work(&self, file: &StoredFile, buffer: &mut AlignedBuffer) -> Result<()> {
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= self.count {
                return Ok(());
            }
            let place = match self.kind {
                MeasureKind::Write => number,
                MeasureKind::Read => (self.first + number) % self.blocks,
                MeasureKind::Random => Random(self.first ^ number).below(self.blocks),
            };
            let bytes = &mut buffer.bytes_mut()[..self.block as usize];
            match self.kind {
                MeasureKind::Write => file.write_all_at(place * self.block, bytes)?,
                _ => file.read_exact_at(place * self.block, bytes)?,
            }
        }
    }
}

impl<'a> Bench<'a> {
    /// Creates the file that is read.
    pub(super) fn new(
        files: &Files,
        directory: &Path,
        amount: Amount,
        clock: &'a dyn Clock,
        observer: &'a dyn Observer,
    ) -> Result<Self> {
        let scratch = Scratch::create(files, directory, ".tune.outcore")?;
        let read_path = scratch.path().join("read");
        notify(observer, Event::Detail { text: "writing the file" })?;
        let mut writer = Writer::create(files, &read_path, 1 << 20, 4)?;
        let mut block = vec![0u8; 1 << 20];
        let mut random = Random(2);
        for _ in 0..amount.read_bytes >> 20 {
            notify(observer, Event::Detail { text: "writing the file" })?;
            for word in block.chunks_exact_mut(8) {
                word.copy_from_slice(&random.word().to_le_bytes());
            }
            writer.write(&block)?;
        }
        writer.finish()?;
        let is_direct = files.open(&read_path, Mode::ReadDirect)?.is_direct();
        let (files, runs) = (files.clone(), AtomicU64::new(0));
        Ok(Self { files, scratch, read_path, is_direct, amount, clock, observer, runs })
    }

    /// Returns whether the file system supports direct I/O.
    pub(super) fn is_direct(&self) -> bool {
        self.is_direct
    }

    /// Returns the number of runs so far.
    pub(super) fn runs(&self) -> u64 {
        self.runs.load(Ordering::Relaxed)
    }

    /// Adds rounds to `options`: every setting once per round, the first one twice, in random order. A preceding
    /// round, which does not count, determines the number of requests in a run.
    pub(super) fn rounds(
        &self,
        kind: MeasureKind,
        options: &mut Options,
        random: &mut Random,
    ) -> Result<()> {
        let settings = options.settings.clone();
        options.samples.resize(settings.len(), Vec::new());
        let mut counts = Vec::with_capacity(settings.len());
        for &setting in &settings {
            let rate = self.run(kind, setting, 2 * setting.depth as u64, random)?;
            counts.push(self.count(kind, setting, rate));
        }
        let mut order: Vec<usize> = (0..=settings.len()).collect();
        for _ in 0..self.amount.rounds {
            random.shuffle(&mut order);
            for &slot in &order {
                // The last slot repeats the first setting: the difference is noise.
                let at = if slot == settings.len() { 0 } else { slot };
                let rate = self.run(kind, settings[at], counts[at], random)?;
                let samples = options.samples.get_mut(slot).unwrap_or(&mut options.again);
                samples.push(rate);
            }
        }
        Ok(())
    }

    /// Returns the number of requests of a run of the usual duration at this rate.
    fn count(&self, kind: MeasureKind, setting: Setting, rate: f64) -> u64 {
        let most = match kind {
            MeasureKind::Write => self.amount.write_bytes,
            _ => self.amount.read_bytes,
        };
        let bytes = (rate * self.amount.seconds).min(most as f64);
        ((bytes / setting.block as f64) as u64).max(2 * setting.depth as u64)
    }

    /// Returns whether `setting` is significantly faster than `than` by more than 5 %. A buffered read reaches the disk
    /// only if these bytes have not been read before, so each round reads different ones; written data must be durable.
    pub(super) fn is_clearly_better(
        &self,
        kind: MeasureKind,
        setting: Setting,
        than: Setting,
    ) -> Result<bool> {
        let rounds = self.amount.rounds as u64;
        let part = match kind {
            MeasureKind::Write => self.amount.write_bytes,
            _ => (self.amount.read_bytes / rounds).min(32 << 20),
        };
        let mut ratios = Vec::new();
        for round in 0..rounds {
            let rate = |setting: Setting| {
                let count = (part / setting.block as u64).max(1);
                self.part(kind, setting, count, round * count)
            };
            // Direct first: data from buffered reads stays in memory.
            let direct = rate(than)?;
            ratios.push(rate(setting)? / direct);
        }
        Ok(crate::statistics::interval(&ratios).low > 1.05)
    }

    /// Makes one run; returns its bytes per second.
    fn run(
        &self,
        kind: MeasureKind,
        setting: Setting,
        count: u64,
        random: &mut Random,
    ) -> Result<f64> {
        let first = random.below(self.amount.read_bytes / setting.block as u64);
        self.part(kind, setting, count, first)
    }

    fn part(&self, kind: MeasureKind, setting: Setting, count: u64, first: u64) -> Result<f64> {
        notify(self.observer, Event::Advance { done: self.runs.fetch_add(1, Ordering::Relaxed) })?;
        let block = setting.block as u64;
        let blocks = self.amount.read_bytes / block;
        let run = TuneRun { kind, block, count, blocks, first, next: AtomicU64::new(0) };
        let written = self.scratch.path().join("write");
        let (path, mode) = match (kind, setting.direct) {
            (MeasureKind::Write, true) => (&written, Mode::CreateDirect),
            (MeasureKind::Write, false) => (&written, Mode::Create),
            (_, true) => (&self.read_path, Mode::ReadDirect),
            (_, false) => (&self.read_path, Mode::Read),
        };
        let handles = (0..setting.depth)
            .map(|_| Ok((self.files.open(path, mode)?, AlignedBuffer::new(setting.block))))
            .collect::<Result<Vec<_>>>()?;
        let seconds = self.timed(&run, handles, kind == MeasureKind::Write && !setting.direct)?;
        if kind == MeasureKind::Write {
            self.files.remove(&written)?;
        }
        Ok((count * block) as f64 / seconds)
    }

    /// Measures the seconds that the threads, one per handle, take for all requests.
    fn timed(
        &self,
        run: &TuneRun,
        mut handles: Vec<(StoredFile, AlignedBuffer)>,
        sync: bool,
    ) -> Result<f64> {
        let barrier = Barrier::new(handles.len() + 1);
        let start = std::thread::scope(|scope| {
            let threads: Vec<_> = handles
                .iter_mut()
                .map(|(file, buffer)| {
                    let barrier = &barrier;
                    scope.spawn(move || {
                        // Memory is touched before the timing begins.
                        buffer.bytes_mut().fill(0x5A);
                        barrier.wait();
                        barrier.wait();
                        run.work(file, buffer)
                    })
                })
                .collect();
            // All threads are ready; none begins before the clock has been read.
            barrier.wait();
            let start = self.clock.seconds();
            barrier.wait();
            for thread in threads {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            }
            Ok::<f64, outcore::Error>(start)
        })?;
        if sync {
            handles[0].0.sync()?;
        }
        Ok((self.clock.seconds() - start).max(1e-9))
    }
}
