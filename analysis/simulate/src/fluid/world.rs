// SPDX-License-Identifier: GPL-2.0-only
//! A fluid run under way: flows and messages of jobs from their begin to their end.

use super::alone::{Alone, Solo};
use super::calendar::{Calendar, Event};
use super::paths::{DIRECTIONS, Paths};
use super::posted::{Known, LISTED, Line, NONE, Over, PairKey, Posted, counted, ends};
use super::quick::QuickMap;
use super::serving;
use super::sharing::Sharing;
use super::streams::StreamDemand;
use super::wholes::Watch;
use crate::jobs::jobs;
use hpcc_core::engine::{FlowOptions, FlowRequest, SourcePorts};
use hpcc_core::fabric::Fabric;
use hpcc_core::units::Nanos;
use hpcc_core::workload::{Action, Arrival, Jobs, Message, Noted, Pair, Sent};
use hpcc_model::job::JobWork;
use hpcc_model::scenario::Scenario;
use std::collections::VecDeque;
use std::sync::Arc;

/// Collectives of a job times its ranks, up to which its pairs of hosts are listed.
const MOST_LISTED: usize = 50_000;

/// All of a run but its results.
pub struct World<'a> {
    scenario: &'a Scenario,
    pub fabric: Arc<Fabric>,
    paths: Paths,
    solo: Solo,
    pub sharing: Sharing,
    calendar: Calendar,
    listed: VecDeque<FlowRequest>,
    pub jobs: Jobs,
    /// Whether listed flows share queue pairs, and whether messages of jobs do.
    shares: [bool; 2],
    actions: Vec<Action>,
    pairs: QuickMap<PairKey, Known>,
    ports: QuickMap<u64, SourcePorts>,
    lines: Vec<Line>,
    posted: Vec<Posted>,
    idle: Vec<u32>,
    ended: Vec<(u32, u64)>,
    /// Who sees whether collectives may be wholes, and whether that still holds.
    pub watch: Option<Watch>,
    pub holds: bool,
    pub now: u64,
    pub begun: u64,
    /// Flows that are over since they were taken.
    pub over: Vec<Over>,
}

impl<'a> World<'a> {
    /// # Errors
    /// If a setting of load balancing cannot be read.
    pub fn new(scenario: &'a Scenario, fabric: Fabric, listed: Vec<FlowRequest>) -> Result<World<'a>, String> {
        let paths = Paths::new(scenario, &fabric)?;
        // In the order of directions: from one end, from the other.
        let links = scenario.network.links.iter().flat_map(|link| {
            let capacity = link.rate.0 as f64 / 8e9;
            let directions: [u32; DIRECTIONS as usize] = [link.a, link.b];
            directions.map(|from| (capacity, !fabric.is_switch(from)))
        });
        let sharing = Sharing::new(links, serving::served(scenario));
        let jobs = jobs(scenario, listed.len() as u32);
        let mut calendar = Calendar::default();
        for (failure, failed) in (0..).zip(&scenario.link_failures) {
            calendar.enter(failed.time.0, Event::Links { failure, up: false });
            failed.until.iter().for_each(|until| calendar.enter(until.0, Event::Links { failure, up: true }));
        }
        (0..jobs.count()).for_each(|job| calendar.enter(jobs.start(job).0, Event::Job(job)));
        Ok(World {
            scenario,
            fabric: Arc::new(fabric),
            paths,
            solo: Solo::new(scenario),
            sharing,
            calendar,
            listed: listed.into(),
            jobs,
            shares: [false, true].map(|is_of_job| scenario.transport().shares_queue_pairs(is_of_job)),
            actions: Vec::new(),
            pairs: QuickMap::default(),
            ports: QuickMap::default(),
            lines: Vec::new(),
            posted: Vec::new(),
            idle: Vec::new(),
            ended: Vec::new(),
            watch: None,
            holds: true,
            now: 0,
            begun: 0,
            over: Vec::new(),
        })
    }

    /// Goes on to the next moment at which something happens; `false` if nothing does up to `stop`.
    pub fn step(&mut self, stop: u64) -> bool {
        let first = self.listed.front().map(|flow| flow.start.0);
        let next = [first, self.calendar.next(), self.sharing.next_end()].into_iter().flatten().min();
        let Some(next) = next.filter(|&next| next <= stop) else { return false };
        self.now = next.max(self.now);
        self.run_dry();
        while let Some(request) = self.listed.front().filter(|flow| flow.start.0 <= self.now).copied() {
            self.listed.pop_front();
            self.post(request, LISTED, None);
        }
        while let Some(events) = self.calendar.take(self.now) {
            events.into_iter().for_each(|event| self.handle(event));
        }
        self.sharing.settle(self.now);
        true
    }

    /// What ranks have noted since the last call.
    pub fn take_notes(&mut self) -> Vec<Noted> {
        let notes = self.jobs.take_notes();
        if let Some(watch) = &mut self.watch {
            self.holds &= watch.see(&notes);
        }
        notes
    }

    /// How many events there were.
    pub fn events(&self) -> u64 {
        self.calendar.entered + self.begun
    }

    /// Whether nothing is under way.
    pub fn is_still(&self) -> bool {
        !self.calendar.is_busy() && self.lines.iter().all(|line| line.first == NONE)
    }

    fn handle(&mut self, event: Event) {
        let now = Nanos(self.now);
        match event {
            Event::Links { failure, up } => self.change_links(failure, up),
            Event::Job(job) => self.begin_job(job),
            Event::Waited(waiting) => self.jobs.waited(waiting, now, &mut self.actions),
            Event::Arrived(message) => {
                if let Some((_, arrival)) = self.posted[message as usize].of_job {
                    self.jobs.arrived(&arrival, now, &mut self.actions);
                }
            }
            Event::Acknowledged(message) => self.acknowledged(message),
            Event::Stop { stream, message, flow } => self.stop(stream, message, flow),
        }
        self.act();
    }

    /// A job begins: the queue pairs that its messages share have their source ports from now on, as in the engine.
    fn begin_job(&mut self, job: u32) {
        if self.shares[1] && !self.is_large(job) {
            for Pair { src, dst, priority, dport, .. } in self.jobs.pairs(job) {
                let sport = self.take_port(src, dst);
                self.pairs.entry(PairKey::new((src, dst), job, dport, priority)).or_insert(Known { sport, line: NONE });
            }
        }
        self.jobs.begin(job, Nanos(self.now), |_| true, &mut self.actions);
    }

    /// Whether a job has so many collectives that to list its pairs of hosts would take longer than all else: then queue pairs
    /// have source ports in the order of their first messages, which is another one only where a pair of hosts has several.
    fn is_large(&self, job: u32) -> bool {
        let spec = &self.scenario.flows.jobs[job as usize];
        match &spec.work {
            JobWork::Graphs { collectives, .. } => collectives.len() * spec.hosts.len() > MOST_LISTED,
            JobWork::Collective(_) | JobWork::Outside => false,
        }
    }

    fn take_port(&mut self, src: u32, dst: u32) -> u16 {
        let ports = self.ports.entry(ends(src, dst)).or_default();
        if self.scenario.faults().wrapping_ports { ports.count_on() } else { ports.take() }
    }

    /// Does what jobs have asked for.
    fn act(&mut self) {
        let mut actions = std::mem::take(&mut self.actions);
        for action in actions.drain(..) {
            match action {
                Action::Send(message) => self.send(&message),
                Action::Wait { time, waiting, .. } => {
                    self.calendar.enter(self.now.saturating_add(time.0), Event::Waited(waiting));
                }
            }
        }
        self.actions = actions;
    }

    fn send(&mut self, message: &Message) {
        let &Message { id, src, dst, dport, priority, size, from, nic, .. } = message;
        let (start, options) = (Nanos(self.now), FlowOptions::by(nic));
        let request = FlowRequest { id, src, dst, dport, priority, size, start, options };
        let job = self.jobs.job_at(from).unwrap_or(LISTED);
        self.post(request, job, Some((message.sent(), message.arrival())));
    }

    /// A flow or message begins, or waits behind others of its queue pair.
    fn post(&mut self, request: FlowRequest, job: u32, of_job: Option<(Sent, Arrival)>) {
        let request = FlowRequest { start: Nanos(self.now), ..request };
        let number = self.line_of(&request, job);
        self.begun += 1;
        let FlowRequest { id, size, start, options, .. } = request;
        let posted = Posted {
            line: number,
            id,
            size,
            start: start.0,
            bytes: counted(size) as f64,
            ideal: Nanos(0),
            arrival: 0,
            acknowledgement: 0,
            of_job,
            next: NONE,
        };
        let message = self.keep(posted);
        self.reckon(message);
        let bytes = self.posted[message as usize].bytes;
        let line = &mut self.lines[number as usize];
        if line.first == NONE {
            (line.first, line.last) = (message, message);
            self.sharing.begin(number, bytes, self.now);
        } else {
            self.posted[line.last as usize].next = message;
            line.last = message;
        }
        if options.stop < Nanos(u64::MAX) {
            self.calendar.enter(options.stop.0, Event::Stop { stream: number, message, flow: id });
        }
    }

    /// Finds out what a message takes alone, if its stream has, or had, a path.
    fn reckon(&mut self, message: u32) {
        let Posted { line, id, size, start, .. } = self.posted[message as usize];
        let Line { kind, sport, request, .. } = self.lines[line as usize];
        if kind == NONE {
            return;
        }
        let request = FlowRequest { id, size: counted(size), start: Nanos(start), ..request };
        let Alone { ideal, bytes, arrival, acknowledgement } = self.solo.message(&self.fabric, kind, &request, sport);
        let posted = &mut self.posted[message as usize];
        *posted = Posted { ideal, bytes, arrival, acknowledgement, ..*posted };
    }

    fn keep(&mut self, posted: Posted) -> u32 {
        match self.idle.pop() {
            Some(place) => {
                self.posted[place as usize] = posted;
                place
            }
            None => {
                self.posted.push(posted);
                self.posted.len() as u32 - 1
            }
        }
    }

    /// The stream of a flow: that of its queue pair, or a new one. Without a path it waits for one.
    fn line_of(&mut self, request: &FlowRequest, job: u32) -> u32 {
        let &FlowRequest { src, dst, dport, priority, options, .. } = request;
        let is_of_job = job != LISTED;
        let is_common = is_of_job || options == FlowOptions::NONE;
        let is_shared = is_common && self.shares[usize::from(is_of_job)];
        let key = PairKey::new((src, dst), job, dport, priority);
        let known = self.pairs.get(&key).copied().filter(|_| is_shared);
        if let Some(Known { line, .. }) = known.filter(|known| known.line != NONE) {
            return line;
        }
        let sport = known.map_or_else(|| self.take_port(src, dst), |known| known.sport);
        let opened = self.solo.open(&self.fabric, &mut self.paths, &self.sharing, request, sport);
        let (course, kind) = opened.map_or((StreamDemand::default(), NONE), |opened| (opened.course, opened.kind));
        let line = self.sharing.open(course);
        let own = Line { request: *request, sport, kind, is_shared, is_open: true, first: NONE, last: NONE };
        if line as usize == self.lines.len() {
            self.lines.push(own);
        } else {
            self.lines[line as usize] = own;
        }
        if is_shared {
            self.pairs.insert(key, Known { sport, line });
        }
        line
    }

    /// Streams have sent all of a message.
    fn run_dry(&mut self) {
        let mut ended = std::mem::take(&mut self.ended);
        self.sharing.take_ended(self.now, &mut ended);
        for (line, end) in ended.drain(..) {
            self.sent(line, end);
        }
        self.ended = ended;
    }

    fn sent(&mut self, number: u32, end: u64) {
        let line = &mut self.lines[number as usize];
        let message = line.first;
        let Posted { next, arrival, acknowledgement, of_job, .. } = self.posted[message as usize];
        line.first = next;
        if of_job.is_some() {
            self.calendar.enter(end + arrival, Event::Arrived(message));
        }
        self.calendar.enter(end + acknowledgement, Event::Acknowledged(message));
        match self.posted.get(next as usize) {
            Some(next) => self.sharing.go_on(number, next.bytes, end),
            None => self.sharing.end(number, self.now),
        }
    }

    /// A flow has no time left: what it has sent is its size, with the packet that is on its way out and the one that is ready
    /// behind it.
    fn stop(&mut self, number: u32, message: u32, flow: u32) {
        let is_under_way = self.lines[number as usize].first == message && self.sharing.is_active(number);
        if !is_under_way || self.posted[message as usize].id != flow {
            return;
        }
        let packet = self.solo.packet(self.lines[number as usize].request.src);
        let (payload, sent) = (self.payload_sent(message), self.bytes_sent(message));
        let posted = &mut self.posted[message as usize];
        posted.size = posted.size.min((payload / packet + 2) * packet);
        self.reckon(message);
        let left = (self.posted[message as usize].bytes - sent).max(0.0);
        self.sharing.change_left(number, left, self.now);
    }

    /// Bytes of frames of a message under way that have left.
    fn bytes_sent(&self, message: u32) -> f64 {
        let Posted { line, bytes, .. } = self.posted[message as usize];
        bytes - self.sharing.left(line, self.now).min(bytes)
    }

    /// Bytes of its payload that have.
    fn payload_sent(&self, message: u32) -> u64 {
        let Posted { bytes, size, .. } = self.posted[message as usize];
        if bytes > 0.0 { (counted(size) as f64 * self.bytes_sent(message) / bytes) as u64 } else { 0 }
    }

    fn acknowledged(&mut self, message: u32) {
        let Posted { line: number, id, size, start, ideal, of_job, .. } = self.posted[message as usize];
        let line = self.lines[number as usize];
        let request = FlowRequest { id, size, start: Nanos(start), ..line.request };
        let job = of_job.and_then(|(sent, _)| self.jobs.job_at(sent.from));
        self.over.push(Over { request, sport: line.sport, time: Nanos(self.now - start), ideal, job });
        self.idle.push(message);
        if !line.is_shared {
            self.lines[number as usize].is_open = false;
            self.sharing.close(number);
            let ends = ends(line.request.src, line.request.dst);
            if !self.scenario.faults().wrapping_ports
                && let Some(ports) = self.ports.get_mut(&ends)
            {
                ports.give_back(line.sport);
            }
        }
        if let Some((sent, _)) = of_job {
            self.jobs.sent(&sent, Nanos(self.now), &mut self.actions);
        }
    }

    /// Links fail, or come up again: all streams take the routes that there are now, or wait for one.
    fn change_links(&mut self, failure: u32, up: bool) {
        let links = &self.scenario.link_failures[failure as usize].links;
        let changed = Arc::make_mut(&mut self.fabric).set_links(Nanos(self.now), links, up);
        if changed.is_empty() {
            return;
        }
        self.paths.reroute(&self.fabric);
        self.solo.forget();
        for number in 0..self.lines.len() {
            let Line { request, sport, is_open, .. } = self.lines[number];
            if !is_open {
                continue;
            }
            let opened = self.solo.open(&self.fabric, &mut self.paths, &self.sharing, &request, sport);
            let course = opened.as_ref().map_or_else(StreamDemand::default, |opened| opened.course.clone());
            if let Some(opened) = opened {
                let had_none = std::mem::replace(&mut self.lines[number].kind, opened.kind) == NONE;
                if had_none {
                    self.reckon_all(number as u32);
                }
            }
            self.sharing.reroute(number as u32, course, self.now);
        }
    }

    /// The messages of a stream that has found its first path.
    fn reckon_all(&mut self, number: u32) {
        let first = self.lines[number as usize].first;
        let mut message = first;
        while message != NONE {
            self.reckon(message);
            message = self.posted[message as usize].next;
        }
        if let Some(first) = self.posted.get(first as usize) {
            self.sharing.refill(number, first.bytes);
        }
    }

    /// Flows that are under way, with the payload that has left; then those that have not begun.
    pub fn unfinished(&self) -> Vec<(FlowRequest, u16, u64, Option<u32>)> {
        let mut all = Vec::new();
        for line in self.lines.iter().filter(|line| line.first != NONE) {
            let mut message = line.first;
            while let Some(posted) = self.posted.get(message as usize) {
                let &Posted { id, size, start, of_job, next, .. } = posted;
                let sent = if message == line.first { self.payload_sent(message) } else { 0 };
                let job = of_job.and_then(|(sent, _)| self.jobs.job_at(sent.from));
                all.push((FlowRequest { id, size, start: Nanos(start), ..line.request }, line.sport, sent, job));
                message = next;
            }
        }
        all.sort_by_key(|flow| flow.0.id);
        all.extend(self.listed.iter().map(|&flow| (flow, 0, 0, None)));
        all
    }
}
