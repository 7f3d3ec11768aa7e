// SPDX-License-Identifier: GPL-2.0-only
//! Streams and the links that they share: who is under way, how fast, and when the next of them is through.
//!
//! A change moves the rates of the streams that hang together with it by links that could be full, and of no other. Streams
//! whose rates were found together are a *crew*: their next end stands in the agenda once for all of them.

use super::serving::Served;
use super::streams::{Class, Link, Stream, StreamDemand, Use, end_of};
use hpcc_core::max_min::{Demand, MaxMin};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A part of a capacity that no measurement sees: answers whose load changes by less move no rate.
const UNSEEN: f64 = 0.003;
/// Rates are found anew at most so often in a moment, for answers that change with them.
const MOST_PASSES: u32 = 3;
/// In a crew of so many streams those that end at almost the same time end at once.
const LARGE_CREW: usize = 2_000;
/// And in one of so many, those that do within this part of their time.
const HUGE_CREW: f64 = 200_000.0;
const ALMOST: f64 = 0.01;

/// Whose end is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    Stream { number: u32, version: u32 },
    Crew(u32),
}

/// Of no crew.
const ALONE: u32 = u32::MAX;

/// All streams and links.
#[derive(Debug, Default)]
pub struct Sharing {
    streams: Vec<Stream>,
    idle: Vec<u32>,
    links: Vec<Link>,
    served: Option<Served>,
    crews: Vec<Vec<u32>>,
    idle_crews: Vec<u32>,
    due: BinaryHeap<Reverse<(u64, Due)>>,
    /// Crews of which some have ended.
    broken: Vec<u32>,
    /// Streams that have begun, and links from which some went away.
    begun: Vec<u32>,
    changed: Vec<u32>,
    touched: Vec<u32>,
    search: u32,
    solver: MaxMin,
    /// How often rates were found, and of how many streams together.
    pub solved: u64,
    pub rated: u64,
}

impl Sharing {
    /// Links of these capacities in bytes/ns, by which hosts send or not; how classes are served, if they are told apart.
    pub fn new(links: impl Iterator<Item = (f64, bool)>, served: Option<Served>) -> Sharing {
        let link = |(capacity, is_host)| {
            let by_class = served.and_then(|served| served.by(is_host).map(|_| Box::default()));
            Link { capacity, is_host, by_class, ..Link::default() }
        };
        Sharing { links: links.map(link).collect(), served, ..Sharing::default() }
    }

    /// The capacity of a link, in bytes/ns.
    pub fn capacity(&self, link: u32) -> f64 {
        self.links[link as usize].capacity
    }

    /// A stream, which has nothing to send yet; returns its number.
    pub fn open(&mut self, course: StreamDemand) -> u32 {
        let stream = |version| Stream { course: course.clone(), crew: ALONE, version, ..Stream::default() };
        if let Some(number) = self.idle.pop() {
            self.streams[number as usize] = stream(self.streams[number as usize].version + 1);
            return number;
        }
        self.streams.push(stream(0));
        self.streams.len() as u32 - 1
    }

    /// A stream will not send any more.
    pub fn close(&mut self, number: u32) {
        self.idle.push(number);
    }

    pub fn is_active(&self, number: u32) -> bool {
        self.streams[number as usize].is_active
    }

    /// What is left of a stream's bytes.
    pub fn left(&self, number: u32, now: u64) -> f64 {
        let stream = &self.streams[number as usize];
        (stream.left - stream.rate * now.saturating_sub(stream.since) as f64).max(0.0)
    }

    /// A stream begins to send so many bytes.
    pub fn begin(&mut self, number: u32, bytes: f64, now: u64) {
        let stream = &mut self.streams[number as usize];
        (stream.left, stream.since, stream.begun) = (bytes, now, now);
        (stream.is_active, stream.rate) = (true, 0.0);
        self.enter(number);
    }

    /// A stream that has sent nothing yet has so many bytes.
    pub fn refill(&mut self, number: u32, bytes: f64) {
        self.streams[number as usize].left = bytes;
    }

    /// A stream under way has another number of bytes left.
    pub fn change_left(&mut self, number: u32, left: f64, now: u64) {
        let stream = &mut self.streams[number as usize];
        (stream.left, stream.since) = (left, now);
        // Its rate is found anew, and with it its end stands in the agenda.
        self.begun.push(number);
    }

    /// A stream that has just sent all goes on with so many bytes, at the rate that it has.
    pub fn go_on(&mut self, number: u32, bytes: f64, end: u64) {
        let stream = &mut self.streams[number as usize];
        stream.left = bytes - (stream.rate * (end - stream.since) as f64 - stream.left);
        (stream.since, stream.begun) = (end, end);
        if stream.crew == ALONE {
            self.schedule(number);
        }
    }

    /// A stream has nothing more to send.
    pub fn end(&mut self, number: u32, now: u64) {
        self.set_rate(number, 0.0, now);
        self.leave(number);
        let stream = &mut self.streams[number as usize];
        (stream.is_active, stream.crew) = (false, ALONE);
        stream.version += 1;
    }

    /// A stream takes other links from now on.
    pub fn reroute(&mut self, number: u32, course: StreamDemand, now: u64) {
        let is_active = self.streams[number as usize].is_active;
        if is_active {
            self.set_rate(number, 0.0, now);
            self.leave(number);
        }
        self.streams[number as usize].course = course;
        if is_active {
            self.enter(number);
        }
    }

    fn enter(&mut self, number: u32) {
        let StreamDemand { uses, data, most, class, .. } = &mut self.streams[number as usize].course;
        for (at, own) in uses[..*data as usize].iter_mut().enumerate() {
            let link = &mut self.links[own.link as usize];
            own.place = link.streams.len() as u32;
            link.streams.push((number, at as u16));
            link.demand += *most * f64::from(own.share);
            if let Some(count) = &mut link.by_class {
                count[usize::from(*class)] += 1;
            }
        }
        self.begun.push(number);
    }

    fn leave(&mut self, number: u32) {
        let StreamDemand { most, class, data, .. } = self.streams[number as usize].course;
        for at in 0..data as usize {
            let Use { link, share, place } = self.streams[number as usize].course.uses[at];
            let own = &mut self.links[link as usize];
            if own.could_be_full() && !own.is_changed {
                own.is_changed = true;
                self.changed.push(link);
            }
            own.streams.swap_remove(place as usize);
            own.demand = if own.streams.is_empty() { 0.0 } else { own.demand - most * f64::from(share) };
            if let Some(count) = &mut own.by_class {
                count[usize::from(class)] -= 1;
            }
            if let Some(&(moved, its)) = own.streams.get(place as usize) {
                self.streams[moved as usize].course.uses[usize::from(its)].place = place;
            }
        }
    }

    /// When the next stream has sent all, in ns.
    pub fn next_end(&mut self) -> Option<u64> {
        while let Some(&Reverse((at, due))) = self.due.peek() {
            match due {
                Due::Stream { number, version } if self.streams[number as usize].version != version => {
                    self.due.pop();
                }
                Due::Stream { .. } | Due::Crew(_) => return Some(at),
            }
        }
        None
    }

    /// Streams that have sent all by now, each with the time: of a large crew also those that will have almost now.
    pub fn take_ended(&mut self, now: u64, ended: &mut Vec<(u32, u64)>) {
        while self.next_end().is_some_and(|at| at <= now) {
            let Some(Reverse((at, due))) = self.due.pop() else { return };
            match due {
                Due::Stream { number, .. } => {
                    self.streams[number as usize].version += 1;
                    ended.push((number, at));
                }
                Due::Crew(crew) => {
                    self.look_through(crew, now, ended);
                    self.broken.push(crew);
                }
            }
        }
    }

    fn look_through(&mut self, crew: u32, now: u64, ended: &mut Vec<(u32, u64)>) {
        let Sharing { crews, streams, .. } = self;
        let members = &mut crews[crew as usize];
        members.retain(|&number| streams[number as usize].crew == crew);
        let almost = match members.len() {
            few if few < LARGE_CREW => 0.0,
            many => ALMOST * (many as f64 / HUGE_CREW).min(1.0),
        };
        for &number in members.iter() {
            let stream = &streams[number as usize];
            let until = now as f64 + almost * now.saturating_sub(stream.begun) as f64;
            if let Some(end) = end_of(stream).filter(|&end| end as f64 <= until) {
                ended.push((number, end));
            }
        }
    }

    /// Finds rates anew where something has changed.
    pub fn settle(&mut self, now: u64) {
        for _ in 0..MOST_PASSES {
            self.heed_answers();
            if self.begun.is_empty() && self.changed.is_empty() {
                break;
            }
            self.search += 1;
            let begun = std::mem::take(&mut self.begun);
            for &number in begun.iter() {
                if self.streams[number as usize].is_active && self.streams[number as usize].seen != self.search {
                    self.solve_around(number, now);
                }
            }
            for changed in std::mem::take(&mut self.changed) {
                self.links[changed as usize].is_changed = false;
                for at in 0.. {
                    let Some(&(number, _)) = self.links[changed as usize].streams.get(at) else { break };
                    if self.streams[number as usize].seen != self.search {
                        self.solve_around(number, now);
                    }
                }
            }
        }
        for crew in std::mem::take(&mut self.broken) {
            self.mend(crew);
        }
    }

    /// Answers whose load has changed much leave data another capacity.
    fn heed_answers(&mut self) {
        for touched in std::mem::take(&mut self.touched) {
            let link = &mut self.links[touched as usize];
            link.is_touched = false;
            let is_seen = (link.answers - link.known_answers).abs() > UNSEEN * link.capacity;
            if is_seen && !link.streams.is_empty() && !link.is_changed {
                link.is_changed = true;
                self.changed.push(touched);
            }
        }
    }

    /// Finds the rates of all streams that hang together with one.
    fn solve_around(&mut self, number: u32, now: u64) {
        self.solver.clear();
        let mut crew = self.gather(number);
        // In the order of memory: a crew may be a million.
        crew.sort_unstable();
        self.solved += 1;
        self.rated += crew.len() as u64;
        if let [alone] = crew[..]
            && self.solver.has_no_links()
        {
            let most = self.streams[alone as usize].course.most;
            self.set_rate(alone, most, now);
            self.streams[alone as usize].crew = ALONE;
            return self.schedule(alone);
        }
        self.pose(&crew);
        self.solver.solve();
        for (place, &number) in (0..).zip(&crew) {
            let rate = self.solver.rate(place);
            self.set_rate(number, rate, now);
        }
        self.sign_on(crew);
    }

    /// The streams that hang together with one by links that could be full; those links are in the problem then.
    fn gather(&mut self, number: u32) -> Vec<u32> {
        let Sharing { streams, links, solver, search, .. } = self;
        let mut crew = vec![number];
        streams[number as usize].seen = *search;
        let mut at = 0;
        while let Some(&number) = crew.get(at) {
            at += 1;
            let StreamDemand { ref uses, data, .. } = streams[number as usize].course;
            let mut near = Vec::new();
            for own in &uses[..data as usize] {
                let link = &mut links[own.link as usize];
                link.known_answers = link.answers;
                if link.seen != *search && link.could_be_full() {
                    link.seen = *search;
                    link.number = solver.add_link(link.capacity - link.answers);
                    near.push(own.link);
                }
            }
            for link in near {
                for &(other, _) in &links[link as usize].streams {
                    let other_stream = &mut streams[other as usize];
                    if other_stream.seen != *search {
                        other_stream.seen = *search;
                        crew.push(other);
                    }
                }
            }
        }
        crew
    }

    /// Enters the streams of a crew into the problem.
    fn pose(&mut self, crew: &[u32]) {
        let Sharing { streams, links, solver, search, served, .. } = self;
        for &number in crew {
            let StreamDemand { ref uses, data, most, class } = streams[number as usize].course;
            let data = &uses[..data as usize];
            let crowded = served.as_ref().and_then(|_| most_crowded(data, links, *search));
            let demand = match served.as_ref().zip(crowded) {
                None => Demand { most, ..Demand::PLAIN },
                Some((served, link)) => {
                    let Class { tier, weight } = link.fair(served.by(link.is_host), class);
                    Demand { weight, most, tier }
                }
            };
            let full = data.iter().filter(|own| links[own.link as usize].seen == *search);
            solver.add_flow(&demand, full.map(|own| (links[own.link as usize].number, own.share)));
        }
    }

    /// Streams are a crew from now on.
    fn sign_on(&mut self, members: Vec<u32>) {
        let crew = self.idle_crews.pop().unwrap_or(self.crews.len() as u32);
        if crew as usize == self.crews.len() {
            self.crews.push(Vec::new());
        }
        for &number in &members {
            let stream = &mut self.streams[number as usize];
            stream.crew = crew;
            stream.version += 1;
        }
        self.crews[crew as usize] = members;
        self.mend(crew);
    }

    /// The next end of a crew stands in the agenda, if some are left in it.
    fn mend(&mut self, crew: u32) {
        let Sharing { crews, streams, .. } = self;
        let members = &mut crews[crew as usize];
        members.retain(|&number| streams[number as usize].crew == crew);
        match members.iter().filter_map(|&number| end_of(&streams[number as usize])).min() {
            Some(end) => self.due.push(Reverse((end, Due::Crew(crew)))),
            // Those that get nothing stay until somebody changes that.
            None => {
                for number in std::mem::take(members) {
                    streams[number as usize].crew = ALONE;
                }
                self.idle_crews.push(crew);
            }
        }
    }

    fn schedule(&mut self, number: u32) {
        let stream = &mut self.streams[number as usize];
        stream.version += 1;
        let version = stream.version;
        if let Some(end) = end_of(stream) {
            self.due.push(Reverse((end, Due::Stream { number, version })));
        }
    }

    fn set_rate(&mut self, number: u32, rate: f64, now: u64) {
        let Sharing { streams, links, touched, .. } = self;
        let stream = &mut streams[number as usize];
        if stream.rate == rate {
            return;
        }
        let passed = now.saturating_sub(stream.since);
        stream.left -= stream.rate * passed as f64;
        stream.since += passed;
        let change = rate - stream.rate;
        stream.rate = rate;
        for own in &stream.course.uses[stream.course.data as usize..] {
            let link = &mut links[own.link as usize];
            link.answers = (link.answers + change * f64::from(own.share)).max(0.0);
            if !link.is_touched {
                link.is_touched = true;
                touched.push(own.link);
            }
        }
    }
}

/// Of a stream's links in the problem that of which most is asked: it decides what the stream gets beside others. Of equals the
/// first: what it lets through the next ones carry.
fn most_crowded<'a>(data: &[Use], links: &'a [Link], search: u32) -> Option<&'a Link> {
    let own = data.iter().map(|own| &links[own.link as usize]).filter(|link| link.seen == search);
    own.reduce(|first, next| if next.crowding() > first.crowding() * (1.0 + 1e-6) { next } else { first })
}
