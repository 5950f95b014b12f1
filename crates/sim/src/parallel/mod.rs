//! One run on several threads: the world in parts, each with its own event queue.
//!
//! Simulated time is divided into windows, as long as the least delay between two parts. In a window each part processes
//! its own events. A packet that it sends to another part arrives after the window. At its end all threads wait for each
//! other and exchange messages. The next window begins with the earliest event of all parts. So every part processes the
//! same events in the same order as one thread would, and the result and its digest are the same for any number of threads.
//!
//! A world that cannot be divided is run on one thread: see `partition.rs`.

mod border;
mod exchange;
mod joining;
mod partition;
mod work;

pub use partition::Partition;

use crate::network::route::NoRoute;
use crate::record::result::RunResult;
use crate::record::summary::Course;
use crate::spec::WorldSpec;
use crate::world::{Messages, Part, World};
use exchange::{Broken, Exchange};
use joining::join;
use netspurt_tcp::time::{Span, Time};
use std::sync::Arc;
use std::thread;

/// Runs a world to its end in these parts, each on its own thread. `stop` is called with the time after each window and
/// ends the run if it returns true. The result is that of [`World::run`], whatever the parts are.
pub fn run(
    spec: WorldSpec,
    seed: u64,
    partition: Option<&Partition>,
    stop: &mut dyn FnMut(Time) -> bool,
) -> Result<RunResult, NoRoute> {
    let Some(partition) = partition else {
        let mut world = World::new(spec, seed, None)?;
        let mut interrupted = false;
        while !interrupted && world.proceed() {
            interrupted = stop(world.now());
        }
        return Ok(world.finish(interrupted));
    };
    let exchange = Exchange::new(partition.parts);
    let make = |me: usize| -> Result<World, NoRoute> {
        let mut world = World::new(spec.clone(), seed, None)?;
        let [of_node, of_channel] = [&partition.of_node, &partition.of_channel].map(Arc::clone);
        world.become_part(Part::new(me as u32, of_node, of_channel));
        Ok(world)
    };
    let first = make(0)?;
    let courses = thread::scope(|scope| {
        let work = |me: usize| {
            let (exchange, partition, make) = (&exchange, partition, &make);
            move || {
                let _guard = exchange.guard();
                let world = make(me).expect("the first part has found all routes");
                take_part(world, me, (exchange, partition), &mut |_| false)
            }
        };
        let others: Vec<_> = (1..partition.parts).map(|me| scope.spawn(work(me))).collect();
        let guard = exchange.guard();
        let ours = take_part(first, 0, (&exchange, partition), stop);
        drop(guard);
        let theirs = others.into_iter().map(|other| match other.join() {
            Ok(course) => course,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        let theirs: Vec<_> = theirs.collect();
        core::iter::once(ours).chain(theirs).collect::<Result<Vec<_>, Broken>>()
    });
    let courses = courses.unwrap_or_else(|Broken| unreachable!("a panic of another thread is passed on"));
    Ok(join(courses, partition))
}

/// Runs one part to the end. Returns its outcome, and whether it was stopped.
fn take_part(
    mut world: World,
    me: usize,
    (exchange, partition): (&Exchange, &Partition),
    stop: &mut dyn FnMut(Time) -> bool,
) -> Result<(Course, bool), Broken> {
    let horizon = Time::ZERO + world.duration();
    let window = Span::from_ps(partition.window - 1);
    let mut messages: Vec<Messages> = (0..partition.parts).map(|_| Messages::default()).collect();
    let (mut start, mut side) = (Time::ZERO, 0);
    let mut interrupted = false;
    loop {
        let end = (start + window).min(horizon);
        world.run_until(end);
        world.post_messages(&mut messages);
        let due = messages.iter().filter_map(Messages::next_due).chain(world.next_due()).min();
        exchange.post(side, me, &mut messages, due.unwrap_or(Time::NEVER));
        if stop(end) {
            exchange.stop(side);
        }
        exchange.wait()?;
        exchange.receive(side, me, |messages| world.receive_messages(messages));
        world.conclude_window();
        match exchange.next_due(side) {
            None => interrupted = true,
            Some(next) if next <= horizon => {
                (start, side) = (next, 1 - side);
                continue;
            }
            Some(_) => {}
        }
        return Ok((world.into_course(), interrupted));
    }
}
