//! Parallel loops, threads and channels that are compiled once, whatever they carry.
//!
//! rayon and crossbeam are generic: a loop, a thread and a channel are about 30,000 lines of LLVM each time that they
//! are used with another type, and took almost half of the compile time of a crate that sorts a dozen kinds of records.
//! Here values travel in boxes, and loops call through a reference. Cost: an allocation for each value and a call for
//! each piece of work, so values are buffers and pieces take microseconds or more.

use crossbeam_channel as channel;
use rayon::ThreadPool;
use rayon::prelude::*;
use std::any::Any;
use std::marker::PhantomData;
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;

/// Calls `task` with the numbers below `count` on the threads of the pool, or of the current one, in any order.
pub fn for_numbers(pool: Option<&ThreadPool>, count: usize, task: &(dyn Fn(usize) + Sync)) {
    let run = || (0..count).into_par_iter().for_each(task);
    match pool {
        Some(pool) => pool.install(run),
        None => run(),
    }
}

/// Calls `f` with each item on the threads of the pool, or of the current one; returns the results in order.
pub fn map<T: Send, U: Send>(
    pool: Option<&ThreadPool>,
    items: Vec<T>,
    f: impl Fn(T) -> U + Sync,
) -> Vec<U> {
    /// Item, and then its result.
    type Slot<T, U> = Mutex<(Option<T>, Option<U>)>;
    let slots: Vec<Slot<T, U>> =
        items.into_iter().map(|item| Mutex::new((Some(item), None))).collect();
    for_numbers(pool, slots.len(), &|at| {
        let (item, result) = &mut *slots[at].lock().unwrap_or_else(PoisonError::into_inner);
        *result = item.take().map(&f);
    });
    let result = |slot: Slot<T, U>| slot.into_inner().unwrap_or_else(PoisonError::into_inner).1;
    slots.into_iter().map(|slot| result(slot).expect("the loop visits each number")).collect()
}

/// Calls `f` with each item on the threads of the pool, or of the current one.
pub fn for_each<T: Send>(pool: Option<&ThreadPool>, items: Vec<T>, f: impl Fn(T) + Sync) {
    map(pool, items, f);
}

/// Runs `task` on a thread of its own.
pub fn spawn(task: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
    spawn_boxed(Box::new(task))
}

fn spawn_boxed(task: Box<dyn FnOnce() + Send>) -> JoinHandle<()> {
    std::thread::spawn(task)
}

/// Nobody is at the other end of a channel, or no value is in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed;

/// Sending end of a channel.
pub struct Sender<T>(channel::Sender<Box<dyn Any + Send>>, PhantomData<fn(T)>);

/// Receiving end of a channel.
pub struct Receiver<T>(channel::Receiver<Box<dyn Any + Send>>, PhantomData<fn() -> T>);

/// Creates a channel that holds at most `most` values; any number, if `None`.
pub fn channel<T: Send + 'static>(most: Option<usize>) -> (Sender<T>, Receiver<T>) {
    let (to, from) = most.map_or_else(channel::unbounded, channel::bounded);
    (Sender(to, PhantomData), Receiver(from, PhantomData))
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone(), PhantomData)
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone(), PhantomData)
    }
}

impl<T: Send + 'static> Sender<T> {
    /// Sends a value, once there is room for it.
    ///
    /// # Errors
    /// There is no receiver left.
    pub fn send(&self, value: T) -> Result<(), Closed> {
        send(&self.0, Box::new(value))
    }

    /// Sends a value if there is room for it and a receiver; drops it if not.
    pub fn send_if_room(&self, value: T) {
        send_if_room(&self.0, Box::new(value));
    }
}

impl<T: 'static> Receiver<T> {
    /// Receives a value, once there is one.
    ///
    /// # Errors
    /// There is no sender left.
    pub fn recv(&self) -> Result<T, Closed> {
        receive(&self.0, true).map(unboxed)
    }

    /// Receives a value if there is one.
    ///
    /// # Errors
    /// There is none.
    pub fn try_recv(&self) -> Result<T, Closed> {
        receive(&self.0, false).map(unboxed)
    }

    /// Returns whether there is no value now.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T: 'static> Iterator for Receiver<T> {
    type Item = T;

    /// Waits for a value; `None` without a sender.
    fn next(&mut self) -> Option<T> {
        self.recv().ok()
    }
}

fn unboxed<T: 'static>(value: Box<dyn Any + Send>) -> T {
    *value.downcast().unwrap_or_else(|_| unreachable!("the sender takes only this type"))
}

fn send(
    to: &channel::Sender<Box<dyn Any + Send>>,
    value: Box<dyn Any + Send>,
) -> Result<(), Closed> {
    to.send(value).map_err(|_| Closed)
}

fn send_if_room(to: &channel::Sender<Box<dyn Any + Send>>, value: Box<dyn Any + Send>) {
    // A full channel and a missing receiver are the same to the caller.
    let _ = to.try_send(value);
}

fn receive(
    from: &channel::Receiver<Box<dyn Any + Send>>,
    wait: bool,
) -> Result<Box<dyn Any + Send>, Closed> {
    if wait { from.recv().map_err(|_| Closed) } else { from.try_recv().map_err(|_| Closed) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_items() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("threads");
        let texts = map(Some(&pool), (0..1000).collect(), |number: u32| number.to_string());
        assert!(texts.iter().enumerate().all(|(at, text)| *text == at.to_string()));
        let mut doubled = [1, 2, 3];
        for_each(None, doubled.iter_mut().collect(), |number: &mut i32| *number *= 2);
        assert_eq!(doubled, [2, 4, 6]);
    }

    #[test]
    fn a_panic_of_a_piece_reaches_the_caller() {
        let caught = std::panic::catch_unwind(|| for_each(None, vec![1, 0], |at| assert!(at > 0)));
        assert!(caught.is_err());
    }

    #[test]
    fn values_arrive_until_the_last_sender_is_gone() {
        let (to, from) = channel(Some(1));
        let thread = spawn(move || (0..10).for_each(|at| to.send(vec![at]).expect("a receiver")));
        assert!(from.clone().flatten().eq(0..10));
        thread.join().expect("no panic");
        assert!(from.is_empty() && from.recv() == Err(Closed) && from.try_recv() == Err(Closed));
        let (to, from) = channel(Some(1));
        to.send_if_room(1);
        to.send_if_room(2);
        assert_eq!((from.recv(), from.try_recv()), (Ok(1), Err(Closed)));
        drop(from);
        assert_eq!(to.send(3), Err(Closed));
    }
}
