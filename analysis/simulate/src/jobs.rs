// SPDX-License-Identifier: GPL-2.0-only
//! How the jobs of a run go: what their ranks have noted, and who waits for whom if they stand still.

use crate::bound::{self, Busy, Cost};
use hpcc_core::fabric::{Fabric, IdealFlow};
use hpcc_core::settings::Named;
use hpcc_core::topology::routes::PathMetrics;
use hpcc_core::units::{BitRate, Nanos};
use hpcc_core::workload::{Graph, Jobs, Message, Note, Noted, Operation, Span, Unfinished, Work};
use hpcc_model::job::{JobSpec, JobWork};
use hpcc_model::jobs::Request;
use hpcc_model::jobs::ideal::Times;
use hpcc_model::jobs::protocol_name;
use hpcc_model::results::collectives_csv::CollectiveRow;
use hpcc_model::results::jobs_csv::JobRow;
use hpcc_model::results::requests_csv::RequestRow;
use hpcc_model::results::timeline_csv::TimelineRow;
use hpcc_model::scenario::Scenario;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Most ranks of a chain that an error names.
const LONGEST_CHAIN: usize = 8;

/// One iteration of a collective.
#[derive(Clone, Copy, Debug)]
struct Iteration {
    begin: Nanos,
    end: Nanos,
    slowest: u32,
    ended: u32,
}

/// A job so far.
#[derive(Clone, Default)]
struct JobProgress {
    /// The network as it was when the last rank was over.
    fabric: Option<Arc<Fabric>>,
    over: u32,
    /// When the first rank was over, and the last, and which that was.
    first: Nanos,
    last: Nanos,
    slowest: u32,
    /// Of all ranks together.
    computed: u64,
    exposed: u64,
    messages: u64,
    /// Bytes of messages by the highest switch on their path: a leaf, a spine, or above.
    bytes: [u64; 3],
}

/// When ranks began collectives that are not over, by job, rank and collective.
type Begun = BTreeMap<(u32, u32, u32), Nanos>;

/// The jobs of a run so far.
pub struct JobResults {
    specs: Vec<JobSpec>,
    courses: Vec<JobProgress>,
    /// By job, collective and iteration.
    iterations: BTreeMap<(u32, u32, u32), Iteration>,
    /// When marks of a job were reached, by the last rank that has them.
    marks: BTreeMap<(u32, u32), Nanos>,
    /// Whether ideal times are reckoned, which takes about as long as the jobs without a network.
    pub has_ideals: bool,
    /// What ranks did, if that is recorded, and the collectives that they are in.
    timeline: Option<(Vec<TimelineRow>, Begun)>,
}

/// The jobs for an engine, whose messages are numbered behind `flows` flows.
pub fn jobs(scenario: &Scenario, flows: u32) -> Jobs {
    let mut jobs = Jobs::new(flows, scenario.servers);
    scenario.flows.jobs.iter().for_each(|spec| _ = jobs.add(spec.job()));
    if scenario.monitor.timeline {
        jobs.record_spans();
    }
    jobs
}

impl JobResults {
    pub fn new(scenario: &Scenario) -> JobResults {
        let specs = &scenario.flows.jobs;
        JobResults {
            specs: specs.clone(),
            courses: vec![JobProgress::default(); specs.len()],
            iterations: BTreeMap::new(),
            marks: BTreeMap::new(),
            has_ideals: true,
            timeline: scenario.monitor.timeline.then(Default::default),
        }
    }

    /// Whether all are over.
    pub fn is_done(&self) -> bool {
        self.specs.iter().zip(&self.courses).all(|(spec, course)| course.over as usize == spec.hosts.len())
    }

    /// The number of a job's group.
    pub fn group(&self, job: u32) -> u32 {
        self.specs[job as usize].group
    }

    /// A message of a job has finished, whose path has so many links.
    pub fn count(&mut self, job: u32, bytes: u64, links: u8) {
        let course = &mut self.courses[job as usize];
        course.messages += 1;
        let tier = usize::from(links.saturating_sub(1) / 2).min(2);
        course.bytes[tier] += bytes;
    }

    /// Takes in what ranks have noted and done on a network as it is now.
    pub fn take(&mut self, notes: Vec<Noted>, spans: Vec<Span>, fabric: &Arc<Fabric>) {
        for Noted { job, rank, note, at } in notes {
            match note {
                Note::Begin { collective, iteration } => {
                    let known = self.iterations.entry((job, collective, iteration)).or_insert(Iteration {
                        begin: at,
                        end: at,
                        slowest: rank,
                        ended: 0,
                    });
                    known.begin = known.begin.min(at);
                    if let Some((_, begun)) = &mut self.timeline {
                        begun.insert((job, rank, collective), at);
                    }
                }
                Note::End { collective, iteration } => {
                    self.end_collective((job, rank, collective), at);
                    let Some(known) = self.iterations.get_mut(&(job, collective, iteration)) else { continue };
                    known.ended += 1;
                    // Of several at one time the first rank, however the run was divided.
                    if at > known.end || (at == known.end && rank < known.slowest) {
                        (known.end, known.slowest) = (at, rank);
                    }
                }
                // All ranks of a replica have made a token when the last one has.
                Note::Mark { mark } => {
                    let known = self.marks.entry((job, mark)).or_insert(at);
                    *known = at.max(*known);
                }
                Note::Completion { .. } => {}
                Note::Over { computed } => {
                    let start = self.specs[job as usize].start;
                    let course = &mut self.courses[job as usize];
                    course.first = if course.over == 0 { at } else { course.first.min(at) };
                    // Of several at one time the first rank.
                    if course.over == 0 || at > course.last || (at == course.last && rank < course.slowest) {
                        (course.last, course.slowest) = (at, rank);
                    }
                    course.fabric = Some(Arc::clone(fabric));
                    course.over += 1;
                    course.computed += computed.0;
                    course.exposed += (at - start - computed).0;
                }
            }
        }
        for span in spans {
            let row = self.row_of(&span);
            self.timeline.iter_mut().for_each(|(rows, _)| rows.push(row.clone()));
        }
    }

    /// A rank has ended a collective.
    fn end_collective(&mut self, (job, rank, collective): (u32, u32, u32), at: Nanos) {
        let Some((rows, begun)) = &mut self.timeline else { return };
        let begin = begun.remove(&(job, rank, collective));
        let spec = &self.specs[job as usize];
        rows.extend(begin.zip(spec.collective(collective)).map(|(begin, plan)| TimelineRow {
            what: plan.pattern.kind.name().into(),
            begin_ns: begin.0,
            end_ns: at.0,
            collective: Some(collective),
            ..TimelineRow::of(spec.group, rank)
        }));
    }

    fn row_of(&self, span: &Span) -> TimelineRow {
        let spec = &self.specs[span.job as usize];
        let (operation, collective) = match &spec.work {
            JobWork::Collective(plan) => (None, Some(plan.number)),
            JobWork::Graphs { graphs, .. } => {
                let operation = Graph::operation_of(span.token);
                let collective = match graphs[span.rank as usize].works().nth(operation as usize) {
                    Some(Work::Collective(collective)) => Some(collective.number()),
                    Some(_) | None => None,
                };
                (Some(operation), collective)
            }
            JobWork::Outside => (None, None),
        };
        let (what, peer, size) = match span.operation {
            Operation::Send { to, size, .. } => ("send", Some(to), Some(size)),
            Operation::Receive { from, .. } => ("receive", from, None),
            Operation::Compute(_) => ("compute", None, None),
            Operation::Wait(_) => ("wait", None, None),
        };
        TimelineRow {
            number: Some(span.number),
            what: what.into(),
            peer,
            size,
            begin_ns: span.begin.0,
            end_ns: span.end.0,
            cause: span.cause,
            message: span.message,
            operation,
            collective,
            ..TimelineRow::of(spec.group, span.rank)
        }
    }

    /// The rows of `timeline.csv`, if there are any: by job, rank and begin.
    pub fn timeline(&mut self) -> Option<Vec<TimelineRow>> {
        let (mut rows, _) = self.timeline.take()?;
        rows.sort_by_key(|row| (row.group, row.rank, row.begin_ns, row.number, row.collective));
        Some(rows)
    }

    /// The rows of `requests.csv`, if jobs serve requests.
    pub fn requests(&self) -> Vec<RequestRow> {
        let of_job = |(spec, job): (&JobSpec, u32)| {
            let row = move |(request, number): (&Request, u32)| {
                let arrival = spec.start + request.arrival;
                let [first, end] = Request::marks(number).map(|mark| self.marks.get(&(job, mark)).copied());
                let both = first.zip(end).filter(|_| request.output > 1);
                RequestRow {
                    group: spec.group,
                    request: number,
                    arrival_ns: arrival.0,
                    prompt: request.prompt,
                    output: request.output,
                    prefill: request.prefill,
                    decode: request.decode,
                    ttft_ns: first.map(|first| (first - arrival).0),
                    end_ns: end.map(|end| end.0),
                    tpot_ns: both.map(|(first, end)| (end - first).0 / (request.output - 1)),
                }
            };
            spec.requests.iter().zip(0..).map(row).collect::<Vec<_>>()
        };
        self.specs.iter().zip(0..).flat_map(of_job).collect()
    }

    /// The rows of `jobs.csv` and `collectives.csv`.
    pub fn rows(&self, scenario: &Scenario) -> (Vec<JobRow>, Vec<CollectiveRow>) {
        let job = |(spec, course): (&JobSpec, &JobProgress)| {
            let ranks = spec.hosts.len() as u32;
            let time_ns = (course.over == ranks).then(|| (course.last - spec.start).0);
            let &JobProgress { over: finished, messages, bytes, first, last, slowest, computed, exposed, .. } = course;
            let fabric = course.fabric.as_deref();
            let fabric = fabric.filter(|_| self.has_ideals && time_ns.is_some() && spec.is_known());
            let mean = |sum: u64| sum / u64::from(finished).max(1);
            JobRow {
                group: spec.group,
                ranks,
                finished,
                start_ns: spec.start.0,
                time_ns,
                messages,
                bytes: bytes.iter().sum(),
                leaf_bytes: bytes[0],
                spine_bytes: bytes[1],
                core_bytes: bytes[2],
                ideal_ns: fabric.map(|fabric| best_time(spec, fabric, scenario).0),
                compute_ns: mean(computed),
                exposed_ns: mean(exposed),
                slowest,
                spread_ns: (last - first).0,
            }
        };
        let row = |(&(job, collective, iteration), known): (&(u32, u32, u32), &Iteration)| {
            let spec = &self.specs[job as usize];
            let plan = spec.collective(collective)?;
            let ranks = plan.group.len() as u32;
            if known.ended < ranks {
                return None;
            }
            let time = known.end - known.begin;
            let algbw = plan.size as f64 / (time.0 as f64).max(1.0);
            Some(CollectiveRow {
                group: spec.group,
                collective,
                operation: plan.pattern.kind.name().into(),
                algorithm: plan.pattern.name.into(),
                protocol: protocol_name(plan).into(),
                channels: plan.channels,
                ranks,
                size: plan.size,
                iteration,
                start_ns: known.begin.0,
                time_ns: time.0,
                algbw,
                busbw: algbw * plan.pattern.kind.bus_factor(ranks),
                slowest: known.slowest,
            })
        };
        (self.specs.iter().zip(&self.courses).map(job).collect(), self.iterations.iter().filter_map(row).collect())
    }

    /// A sentence for each job with ranks that are not over: which of them waits for which.
    pub fn stalls(
        &self,
        unfinished: impl Iterator<Item = Unfinished>,
        scenario: &Scenario,
        is_still: bool,
    ) -> Vec<String> {
        let mut by_job: BTreeMap<u32, BTreeMap<u32, Unfinished>> = BTreeMap::new();
        for rank in unfinished {
            by_job.entry(rank.job).or_default().insert(rank.rank, rank);
        }
        let stall = |(job, ranks): (u32, BTreeMap<u32, Unfinished>)| {
            let name = &scenario.flows.groups[self.group(job) as usize];
            let (start, total) = (self.specs[job as usize].start, self.specs[job as usize].hosts.len());
            if start >= scenario.stop {
                return format!("job {name} begins at {start}, and the run ends at {}", scenario.stop);
            }
            format!("job {name}: {} of {total} ranks are not over: {}", ranks.len(), chain(&ranks, is_still))
        };
        by_job.into_iter().map(stall).collect()
    }
}

/// The least time that the hardware could do a job in: as it is, or with all NICs of servers if that is sooner.
fn best_time(spec: &JobSpec, fabric: &Fabric, scenario: &Scenario) -> Nanos {
    let time = ideal_time(spec, fabric, scenario);
    spec.by_all_nics().map_or(time, |spec| time.min(ideal_time(&spec, fabric, scenario)))
}

/// The least time of a job on the links of its hosts.
fn ideal_time(spec: &JobSpec, fabric: &Fabric, scenario: &Scenario) -> Nanos {
    let network = fabric.network();
    let rate_of = |host: u32, link: usize| network.links[fabric.ports(host)[link].link as usize].rate;
    // The fastest link of a host, and how many it has.
    let links = |host: u32| {
        let count = fabric.ports(host).len();
        ((0..count).max_by_key(|&link| rate_of(host, link)).unwrap_or_default(), count.max(1) as u64)
    };
    // What chooses links by packet has all at once.
    let by_packet = !scenario.settings.host_transport.is_queue_pairs();
    let mut known = BTreeMap::new();
    let mut alone = |src, dst, size, nic: Option<u8>| {
        let link =
            nic.filter(|_| !by_packet).map_or_else(|| links(src).0, usize::from).min(fabric.ports(src).len() - 1);
        let far = links(dst).0;
        let key = (fabric.path(src, dst).unwrap_or(PathMetrics::HERE), rate_of(src, link), rate_of(dst, far), size);
        *known.entry(key).or_insert_with(|| {
            let flow = |(src, dst), nic| {
                let during = (Nanos(0), scenario.stop);
                IdealFlow { src, dst, ports: None, priority: None, size, own: (nic, BitRate(u64::MAX)), during }
            };
            let (settings, there) = (&scenario.settings, flow((src, dst), nic));
            let arrival = fabric.ideal_arrival(&there, settings);
            let times = Times { arrival, acknowledged: fabric.ideal_fct(&there, settings) };
            let sending = |ends, link| fabric.ideal_sending(&flow(ends, Some(link as u8)), settings);
            (times, sending((src, dst), link), sending((dst, src), far))
        })
    };
    let cost = |&Message { src, dst, size, nic, .. }: &Message| {
        let (times, out, comes) = alone(src, dst, size, nic);
        let link = nic.filter(|_| !by_packet);
        let leaves = Busy { time: out, links: if link.is_some() { 1 } else { links(src).1 } };
        Cost { times, link, leaves, comes: Busy { time: comes, links: links(dst).1 } }
    };
    bound::least_time(spec, scenario.servers, cost)
}

/// Who waits for whom, from the first rank that waits for another one on; `is_still`: no message is under way.
fn chain(ranks: &BTreeMap<u32, Unfinished>, is_still: bool) -> String {
    let first = ranks.values().find(|rank| rank.awaits.is_some()).or_else(|| ranks.values().next());
    let mut seen = Vec::new();
    let mut next = first.map(|rank| rank.rank);
    let mut links = Vec::new();
    while let Some(rank) = next {
        if seen.contains(&rank) {
            links.extend(is_still.then(|| format!("which is rank {rank} again: they wait for each other")));
            break;
        }
        if seen.len() == LONGEST_CHAIN {
            links.push("and so on".into());
            break;
        }
        seen.push(rank);
        let Some(known) = ranks.get(&rank) else {
            links.push(format!("rank {rank} is over and has not sent it"));
            break;
        };
        let Some((from, tag)) = known.awaits else {
            links.push(format!("rank {rank} (host {}) sends or computes", known.host));
            break;
        };
        let (what, tag) = match tag {
            // Tags of collectives are the graph's own.
            Some(tag) if tag >= 1 << 63 => (" of a collective", String::new()),
            Some(tag) => ("", format!(" with tag {tag}")),
            None => ("", String::new()),
        };
        let source = from.map_or_else(|| "any rank".into(), |from| format!("rank {from}"));
        links.push(format!("rank {rank} (host {}) waits for a message{what} from {source}{tag}", known.host));
        next = from;
    }
    links.join(", ")
}
