//! First come, first served over all stations without overhead: the reference for contention.
//!
//! Each frame that arrives at a station adds the station to the line. If a queue drops waiting frames, the same number of
//! the station's places in the line become void: the earliest ones.

use super::Step;
use std::collections::VecDeque;

/// A line of stations.
#[derive(Debug)]
pub(crate) struct FirstCome {
    /// The medium is free from this time on.
    free: u64,
    /// Stations, once for each waiting frame.
    line: VecDeque<u32>,
    /// For each station, the number of its void places.
    void: Vec<u32>,
    /// The station that has the medium.
    holder: Option<u32>,
}

impl FirstCome {
    pub(crate) fn new(stations: u32) -> Self {
        Self { free: 0, line: VecDeque::new(), void: vec![0; stations as usize], holder: None }
    }

    pub(super) fn is_clear(&self, now: u64) -> bool {
        self.free <= now && self.line.is_empty() && self.holder.is_none()
    }

    pub(super) fn holds(&self, station: u32) -> bool {
        self.holder == Some(station)
    }

    pub(super) fn request(&mut self, station: u32) {
        self.line.push_back(station);
    }

    pub(super) const fn begin(&mut self, station: u32) {
        self.holder = Some(station);
    }

    pub(super) fn step(&mut self, now: u64) -> Option<Step> {
        if self.free > now {
            return None;
        }
        if let Some(station) = self.holder {
            return Some(Step::Sent { station, start: now });
        }
        while let Some(&station) = self.line.front() {
            let void = &mut self.void[station as usize];
            if *void == 0 {
                return Some(Step::Take(station));
            }
            *void -= 1;
            self.line.pop_front();
        }
        None
    }

    pub(super) fn took(&mut self, station: u32, found: bool) {
        if found {
            self.line.pop_front();
            self.holder = Some(station);
        }
    }

    pub(super) fn withdraw(&mut self, station: u32) {
        self.void[station as usize] += 1;
    }

    pub(super) const fn sent(&mut self, free: u64) {
        self.free = free;
        self.holder = None;
    }

    pub(super) fn next(&self) -> Option<u64> {
        (!self.line.is_empty()).then_some(self.free)
    }
}
