//! One run on several threads: the world in parts, each with an event queue of its own.
//!
//! Time goes on in windows as long as the least delay between two parts. In a window each part serves its own events; what
//! it sends to another one arrives after the window. Then all tell each other what has happened, and the next window begins
//! where something is due next. So every part serves the same events in the same order as one thread would: the result
//! is the same, digest included, whatever the number of threads.
//!
//! A world that cannot be divided is run on one thread: see [`partition`].

mod joining;
mod meeting;
mod partition;

pub use partition::Partition;

use crate::network::route::NoRoute;
use crate::record::result::RunResult;
use crate::record::summary::Course;
use crate::spec::WorldSpec;
use crate::world::{Part, Told, World};
use joining::join;
use meeting::{Broken, Meeting};
use netspurt_tcp::time::{Span, Time};
use std::sync::Arc;
use std::thread;

/// Runs a world to its end in these parts, each on a thread of its own, or until `stop` says so, which is told the time now and
/// then. The result is that of [`World::run`], whatever the parts are.
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
    let meeting = Meeting::new(partition.parts);
    let make = |me: usize| -> Result<World, NoRoute> {
        let mut world = World::new(spec.clone(), seed, None)?;
        world.become_part(Part::new(me as u32, Arc::clone(&partition.of_node)));
        Ok(world)
    };
    let first = make(0)?;
    let courses = thread::scope(|scope| {
        let work = |me: usize| {
            let (meeting, partition, make) = (&meeting, partition, &make);
            move || {
                let _guard = meeting.guard();
                let world = make(me).expect("the first part has found all routes");
                take_part(world, me, (meeting, partition), &mut |_| false)
            }
        };
        let others: Vec<_> = (1..partition.parts).map(|me| scope.spawn(work(me))).collect();
        let guard = meeting.guard();
        let ours = take_part(first, 0, (&meeting, partition), stop);
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

/// Runs one part to the end; returns what it leaves, and whether it was stopped.
fn take_part(
    mut world: World,
    me: usize,
    (meeting, partition): (&Meeting, &Partition),
    stop: &mut dyn FnMut(Time) -> bool,
) -> Result<(Course, bool), Broken> {
    let horizon = Time::ZERO + world.duration();
    let window = Span::from_ps(partition.window - 1);
    let mut told: Vec<Told> = (0..partition.parts).map(|_| Told::default()).collect();
    let (mut start, mut side) = (Time::ZERO, 0);
    let mut interrupted = false;
    loop {
        let end = (start + window).min(horizon);
        world.run_until(end);
        world.tell(&mut told);
        let due = told.iter().filter_map(Told::next_due).chain(world.next_due()).min();
        meeting.tell(side, me, &mut told, due.unwrap_or(Time::NEVER));
        if stop(end) {
            meeting.stop(side);
        }
        meeting.wait()?;
        meeting.hear(side, me, |told| world.hear(told));
        world.conclude_window();
        match meeting.next_due(side) {
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
