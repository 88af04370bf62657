//! Tasks that each carry out one probe after another.
//!
//! Probes begin and end by the thousand in a second, and a task of its own for each would be made and thrown away as often.
//! The hard question is a probe that has to stop: it does so where it is, with its socket, and its task is free again.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use tokio::sync::Notify;

/// The tasks that have nothing to do. `W` is what is to be done.
pub struct Lanes<W> {
    free: RefCell<Vec<Rc<Lane<W>>>>,
}

/// One task.
pub struct Lane<W> {
    work: Cell<Option<W>>,
    given: Notify,
    stopped: Notify,
}

impl<W> Lanes<W> {
    /// There is none yet.
    pub fn new() -> Lanes<W> {
        Lanes { free: RefCell::default() }
    }

    /// Gives work to a task that is free. Where none is, `start` is to start one that does what its lane is given.
    pub fn give(&self, work: W, start: impl FnOnce(Rc<Lane<W>>)) -> Rc<Lane<W>> {
        let free = self.free.borrow_mut().pop();
        let lane = free.unwrap_or_else(|| {
            let lane = Rc::new(Lane { work: Cell::new(None), given: Notify::new(), stopped: Notify::new() });
            start(Rc::clone(&lane));
            lane
        });
        lane.work.set(Some(work));
        lane.given.notify_one();
        lane
    }

    /// A task has done its work and may be given more. If there are enough of them it must end: then this is `false`.
    #[must_use]
    pub fn is_free(&self, lane: &Rc<Lane<W>>) -> bool {
        let mut free = self.free.borrow_mut();
        let is_wanted = free.len() < MOST_FREE;
        if is_wanted {
            free.push(Rc::clone(lane));
        }
        is_wanted
    }
}

impl<W> Lane<W> {
    /// What is to be done, once something is.
    pub async fn work(&self) -> W {
        loop {
            match self.work.take() {
                Some(work) => return work,
                None => self.given.notified().await,
            }
        }
    }

    /// Does it, unless it is stopped before it is done.
    pub async fn until_stopped(&self, done: impl Future<Output = ()>) {
        tokio::select! {
            biased;
            () = self.stopped.notified() => {}
            () = done => {}
        }
    }

    /// Has the work end where it is. Only for a lane whose work is not done.
    pub fn stop(&self) {
        self.stopped.notify_one();
    }
}

/// So many are kept for what comes next.
const MOST_FREE: usize = 64;

#[cfg(test)]
mod tests {
    use std::future::pending;

    use tokio::task::{LocalSet, spawn_local, yield_now};

    use super::*;

    /// Lanes whose work is a number: 0 goes on for ever.
    struct Site {
        lanes: Lanes<u32>,
        started: Cell<usize>,
        ended: Cell<usize>,
        done: RefCell<Vec<u32>>,
    }

    impl Site {
        fn give(self: &Rc<Site>, work: u32) -> Rc<Lane<u32>> {
            self.lanes.give(work, |lane| {
                self.started.set(self.started.get() + 1);
                spawn_local(Rc::clone(self).work_on(lane));
            })
        }

        async fn work_on(self: Rc<Site>, lane: Rc<Lane<u32>>) {
            loop {
                let work = lane.work().await;
                lane.until_stopped(async {
                    if work == 0 {
                        pending::<()>().await;
                    }
                    self.done.borrow_mut().push(work);
                })
                .await;
                if !self.lanes.is_free(&lane) {
                    self.ended.set(self.ended.get() + 1);
                    return;
                }
            }
        }

        async fn settle(&self) {
            for _ in 0..4 {
                yield_now().await;
            }
        }
    }

    fn run<F: Future<Output = ()>>(test: impl FnOnce(Rc<Site>) -> F) {
        let site = Rc::new(Site {
            lanes: Lanes::new(),
            started: Cell::new(0),
            ended: Cell::new(0),
            done: RefCell::default(),
        });
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        LocalSet::new().block_on(&runtime, test(site));
    }

    #[test]
    fn a_task_that_is_done_is_given_the_next() {
        run(|site| async move {
            for work in 1..=5 {
                site.give(work);
                site.settle().await;
            }
            assert_eq!((site.started.get(), &**site.done.borrow()), (1, &[1, 2, 3, 4, 5][..]));
            site.give(6);
            site.give(7);
            site.settle().await;
            assert_eq!((site.started.get(), site.done.borrow().len()), (2, 7));
        });
    }

    #[test]
    fn what_is_stopped_is_not_done_and_what_comes_after_it_is() {
        run(|site| async move {
            let lane = site.give(0);
            site.settle().await;
            lane.stop();
            site.settle().await;
            // Stopped before it has begun.
            let same = site.give(1);
            assert!(Rc::ptr_eq(&lane, &same));
            same.stop();
            site.settle().await;
            site.give(2);
            site.settle().await;
            assert_eq!((site.started.get(), &**site.done.borrow()), (1, &[2][..]));
        });
    }

    #[test]
    fn many_at_once_leave_only_some_tasks_behind() {
        run(|site| async move {
            let many: Vec<_> = (0..3 * MOST_FREE).map(|_| site.give(0)).collect();
            site.settle().await;
            many.iter().for_each(|lane| lane.stop());
            site.settle().await;
            assert_eq!((site.started.get(), site.ended.get()), (3 * MOST_FREE, 2 * MOST_FREE));
            (0..MOST_FREE).for_each(|_| drop(site.give(3)));
            site.settle().await;
            assert_eq!((site.started.get(), site.done.borrow().len()), (3 * MOST_FREE, MOST_FREE));
        });
    }
}
