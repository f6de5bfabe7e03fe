//! Searches in parallel: starts and combinations of starts are independent, so each thread takes one of them.
//!
//! A sweep over a graph of few blocks is too short to be divided among threads; a whole search is not. Each search runs
//! on one thread, shares the blocks in memory, and counts its own sweeps, so its result depends neither on the number
//! of threads nor on the memory. With one thread, or memory for one search, they run one after the other.
//!
//! Memory: each search has the state of the level. On levels above the graph, all together take no more than the graph
//! itself does, which is not in memory then.

use super::Starts;
use crate::base::hash::mix;
use crate::drive::job::SizeClass;
use crate::drive::memory::{ClusterMemory, Fit, Shape};
use crate::drive::multilevel::{Level, Multilevel};
use crate::kernel::history::History;
use crate::kernel::objective::Sums;
use crate::store::hierarchy::Hierarchy;
use outcore_io::Files;
use outcore_io::error::opt::THREADS;
use outcore_io::error::{Error, ErrorKind, Result};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Communities that a search has found.
pub(super) struct Solved {
    pub(super) quality: f64,
    pub(super) labels: Vec<u32>,
}

/// Task of a search, which finds communities if there is something to find.
pub(super) type SearchTask<'t, M> =
    Box<dyn FnOnce(&mut M, &mut Level<'_, '_>) -> Result<Option<Solved>> + Send + 't>;

impl<'a, 'j, O: Sums> Multilevel<'a, 'j, O> {
    /// Runs a search for each task, and passes its number and what it finds to `keep`, in any order.
    pub(super) fn search_each(
        &mut self,
        level: &mut Level<'_, '_>,
        tasks: Vec<SearchTask<'_, Self>>,
        keep: &mut (dyn FnMut(usize, Solved) -> Result<()> + Send),
    ) -> Result<()> {
        let (width, seed) = (self.width(level, tasks.len()), level.seed);
        let mut searches = Vec::new();
        for (at, task) in tasks.into_iter().enumerate() {
            let number = self.place.searches;
            self.place.searches += 1;
            let seed = if number == 0 { seed } else { mix(seed ^ number) };
            searches.push((at, self.apart(level, number), seed, task));
        }
        let keep = Mutex::new(keep);
        let histories = Mutex::new(Vec::new());
        let waiting = Mutex::new(searches.into_iter());
        // Returns whether there was a search left.
        let run = |level: &mut Level<'_, '_>| {
            let Some((at, mut other, seed, task)) = locked(&waiting).next() else {
                return Ok(false);
            };
            level.seed = seed;
            let found = task(&mut other, level)?;
            other.forget_from(0);
            if let Some(found) = found {
                locked(&keep)(at, found)?;
            }
            locked(&histories).push((at, other.history));
            Ok(true)
        };
        if width > 1 {
            in_parallel(level, &pools(width)?, &run)?;
        } else {
            while run(level)? {}
        }
        level.seed = seed;
        let mut histories: Vec<(usize, History)> =
            histories.into_inner().unwrap_or_else(PoisonError::into_inner);
        histories.sort_unstable_by_key(|&(at, _)| at);
        histories.into_iter().for_each(|(_, history)| self.history.include(history));
        Ok(())
    }

    /// Returns the number of searches to run at the same time.
    fn width(&self, level: &Level<'_, '_>, tasks: usize) -> usize {
        let mut memory = level.memory - level.source.kept_bytes();
        if level.number > 0 {
            memory = memory.min(self.job.needed);
        }
        let (threads, arcs) = (rayon::current_num_threads(), level.graph().arc_count());
        self.job.limits.width(tasks, threads, arcs, memory / needed_alone(level, self))
    }

    /// Returns the storage of the groups and labels of searches: for a small graph, memory.
    pub(super) fn files_of_starts(&self, level: &Level<'_, '_>) -> Files {
        let (files, arcs) = (self.hierarchy.files(), level.graph().arc_count());
        let is_small = self.job.size_class() == SizeClass::Small && level.number == 0;
        if is_small && arcs <= files.cramped().level_arcs {
            Files::in_memory()
        } else {
            files.clone()
        }
    }

    /// Returns another search on the level, with files of its own and no checkpoints.
    fn apart(&self, level: &Level<'_, '_>, number: u64) -> Self {
        let prefix = format!("{}search-{}-{number}-", self.place.prefix, level.number);
        let groups = self.job.scratch.join(format!("{prefix}groups"));
        let hierarchy = match level.number {
            0 => Hierarchy::new(&self.files_of_starts(level), groups, Vec::new()),
            _ => self.hierarchy.lent(groups),
        };
        let starts = Starts::one(self.starts.usual);
        let mut other = Self::new(self.job, self.rule, starts, hierarchy);
        (other.place.prefix, other.place.base) = (prefix, level.number);
        other.limits.size = self.limits.size;
        if self.job.size_class() != SizeClass::Small {
            // Only the best start goes through further cycles.
            other.limits.cycles = 1;
        }
        other
    }
}

/// Returns the memory that a search on the level needs on one thread.
fn needed_alone<O: Sums>(level: &Level<'_, '_>, search: &Multilevel<'_, '_, O>) -> u64 {
    let (graph, options) = (level.graph(), search.job.options);
    let fit = Fit { max_labels: level.max_labels, ..Fit::ROOMY };
    ClusterMemory::new(&Shape::of(graph), Some(options.method), 1, fit).total_bytes()
        + search.job.beside_bytes() * graph.node_count()
}

/// Returns pools of one thread each: work inside a search stays on its thread.
fn pools(count: usize) -> Result<Vec<ThreadPool>> {
    let pool = |_| ThreadPoolBuilder::new().num_threads(1).build();
    let pools: std::result::Result<Vec<_>, _> = (0..count).map(pool).collect();
    pools.map_err(|error| {
        Error::new(ErrorKind::Io, format!("cannot start {count} threads: {error}"))
            .hint(format_args!("use {THREADS} with a smaller number"))
    })
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Calls `run` on each of the pools until it returns false. Not generic: it would be compiled for each objective.
fn in_parallel(
    level: &mut Level<'_, '_>,
    pools: &[ThreadPool],
    run: &(dyn Fn(&mut Level<'_, '_>) -> Result<bool> + Sync),
) -> Result<()> {
    let kept = level.source.kept_bytes();
    let memory = kept + (level.memory - kept) / pools.len() as u64;
    let (mut found, mut scans) = (Vec::new(), 0);
    std::thread::scope(|scope| {
        let mut running = Vec::new();
        for pool in pools {
            let (mut source, holdings) = (level.source.shared(), level.holdings.clone());
            let Level { number, seed, needed, max_labels, is_on_disk, class_count, .. } = *level;
            running.push(scope.spawn(move || {
                pool.install(|| {
                    let source = &mut source;
                    // The level's needs are those of all threads; a search on one thread needs less.
                    let needed = needed.min(memory - kept);
                    let mut level = Level {
                        source,
                        holdings,
                        number,
                        seed,
                        memory,
                        needed,
                        max_labels,
                        is_on_disk,
                        class_count,
                    };
                    let mut found = Ok(true);
                    while let Ok(true) = found {
                        found = run(&mut level);
                    }
                    (found.map(drop), level.source.scans())
                })
            }));
        }
        for thread in running {
            let (of_thread, its_scans) =
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            scans += its_scans;
            found.push(of_thread);
        }
    });
    level.source.count_from(level.source.scans() + scans);
    found.into_iter().collect()
}
