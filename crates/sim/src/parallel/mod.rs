//! One run on several threads: the world in parts, each with its own event queue.
//!
//! Simulated time is divided into rounds, half as long as the least delay between two parts. In a round each part processes
//! its own events, and then hands over its messages. A packet that it sends to another part arrives no earlier than in the round
//! after the next. So a part begins a round when the others have finished the last but one, and none waits for another that is
//! slower for a while. Rounds in which nothing happens are left out. So every part processes the same events in the same order
//! as one thread would, and the result and its digest are the same for any number of threads.
//!
//! A world that cannot be divided is run on one thread: see `partition.rs`.

mod border;
mod exchange;
mod joining;
mod partition;
mod rounds;
mod work;

pub use partition::Partition;

use crate::network::route::NoRoute;
use crate::record::result::RunResult;
use crate::record::summary::Course;
use crate::spec::WorldSpec;
use crate::world::{Messages, Part, World};
use exchange::{Broken, Exchange};
use joining::join;
use netspurt_tcp::time::Time;
use rounds::Rounds;
use std::sync::Arc;
use std::thread;

/// Runs a world to its end in these parts, each on its own thread. `stop` is called with the time after each round and
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
    let work = &|me: usize, stop: &mut dyn FnMut(Time) -> bool| {
        let _guard = exchange.guard();
        // If there is no route, all parts find that.
        make(me).map(|world| take_part(world, me, (&exchange, partition), stop))
    };
    let courses = thread::scope(|scope| {
        let other = |me: usize| scope.spawn(move || work(me, &mut |_| false));
        let others: Vec<_> = (1..partition.parts).map(other).collect();
        let ours = work(0, stop);
        let theirs = others.into_iter().map(|other| match other.join() {
            Ok(course) => course,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        let theirs: Vec<_> = theirs.collect();
        core::iter::once(ours).chain(theirs).collect::<Result<Result<Vec<_>, Broken>, NoRoute>>()
    });
    let courses = courses?.unwrap_or_else(|Broken| unreachable!("a panic of another thread is passed on"));
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
    let mut rounds = Rounds::new(partition.lookahead);
    let mut messages: Vec<Messages> = (0..partition.parts).map(|_| Messages::default()).collect();
    let mut interrupted = false;
    while rounds.start <= horizon && !interrupted {
        let end = rounds.end().min(horizon);
        world.run_until(end);
        world.post_messages(&mut messages);
        let due = messages.iter().filter_map(|all| all.next_due(end)).chain(world.next_due()).min();
        exchange.post(rounds.number, me, &mut messages, (due.unwrap_or(Time::NEVER), stop(end)));
        let mut due = None;
        if let Some(over) = rounds.over() {
            exchange.wait(over)?;
            exchange.receive(over, me, |messages| world.receive_messages(messages));
            due = exchange.next_due(over);
            interrupted = due.is_none();
        }
        rounds.advance(due);
        world.forget_before(Time::from_ps(rounds.start.as_ps().saturating_sub(partition.lookahead)));
    }
    for round in rounds.left() {
        exchange.wait(round)?;
        exchange.receive(round, me, |messages| world.receive_messages(messages));
    }
    Ok((world.into_course(), interrupted))
}
