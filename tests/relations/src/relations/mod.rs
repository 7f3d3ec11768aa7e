// SPDX-License-Identifier: GPL-2.0-only
//! What has to hold, whatever the right numbers are.

mod apart;
mod bounds;
mod moved;
mod queue;
mod reach;
mod same;
mod skips;

pub use bounds::sums_of;

use crate::draw::Draw;
use crate::run::Bench;
use crate::{Document, ScenarioRng, repair};
use std::path::Path;

/// Something that has to hold.
pub struct Relation {
    /// One word.
    pub name: &'static str,
    /// A sentence.
    pub help: &'static str,
    /// How often it is tried beside others.
    pub weight: u32,
    /// Draws a scenario for it, which may contradict itself.
    draw: fn(Draw<'_>) -> Document,
    /// Whether it holds.
    check: fn(&Document, &Context<'_>) -> Verdict,
}

/// What checks need besides a scenario.
pub struct Context<'a> {
    /// Where runs leave their results.
    pub bench: &'a Bench,
    /// Decides on choices of the check.
    pub seed: u64,
    /// The `hpcc` command, if there is one.
    pub hpcc: Option<&'a Path>,
}

impl Context<'_> {
    /// Choices, the same each time that the check is repeated.
    fn rng(&self) -> ScenarioRng {
        ScenarioRng::new(self.seed, 8)
    }
}

/// What came of a check.
pub enum Verdict {
    /// It holds.
    Holds,
    /// The scenario does not run, or is none that the relation is about.
    Idle,
    /// It does not hold.
    Broken(Broken),
}

/// A relation that does not hold.
pub struct Broken {
    /// What differs.
    pub why: String,
    /// What is run beside the scenario.
    pub second: Second,
}

/// The other one of two runs.
pub enum Second {
    /// There is none.
    None,
    /// The same file with other options.
    Options(String),
    /// Another file.
    File(String),
    /// Another file, of which only the list of flows is looked at.
    Listed(String),
    /// Commands, in which FILE is the scenario.
    Commands(String),
}

/// Any scenario.
fn any(draw: Draw<'_>) -> Document {
    draw.all()
}

/// All relations.
pub static RELATIONS: &[Relation] = &[
    Relation { name: "threads", help: "threads change nothing", weight: 3, draw: any, check: same::threads },
    Relation {
        name: "observers",
        help: "monitors, traces and captures change nothing",
        weight: 3,
        draw: any,
        check: same::observers,
    },
    Relation {
        name: "order",
        help: "the order of sections and keys changes nothing",
        weight: 1,
        draw: any,
        check: same::order,
    },
    Relation {
        name: "effective",
        help: "what a summary says is in force, run again, gives the same",
        weight: 3,
        draw: any,
        check: same::effective,
    },
    Relation {
        name: "longer",
        help: "a longer run changes nothing of what has ended",
        weight: 2,
        draw: any,
        check: same::longer,
    },
    Relation {
        name: "written",
        help: "flows that are written to a file run as before, or are refused",
        weight: 1,
        draw: any,
        check: same::written,
    },
    Relation {
        name: "skips",
        help: "periods that are left out change nothing",
        weight: 2,
        draw: skips::draw,
        check: skips::skips,
    },
    Relation {
        name: "sums",
        help: "flows, bytes and marks add up, and nothing is lost without a reason",
        weight: 3,
        draw: bounds::draw,
        check: bounds::sums,
    },
    Relation {
        name: "ideal",
        help: "no flow is sooner than alone",
        weight: 3,
        draw: bounds::draw,
        check: bounds::ideal,
    },
    Relation {
        name: "goodput",
        help: "no flow is faster than the link of its host",
        weight: 1,
        draw: bounds::draw,
        check: bounds::goodput,
    },
    Relation { name: "pauses", help: "each pause is a row", weight: 1, draw: bounds::draw, check: bounds::pauses },
    Relation { name: "progress", help: "what has not ended goes on", weight: 1, draw: any, check: bounds::progress },
    Relation { name: "shift", help: "a shift of all times shifts results", weight: 4, draw: any, check: moved::shift },
    Relation {
        name: "scale",
        help: "half the rates and twice the times give twice the times",
        weight: 2,
        draw: moved::draw_scale,
        check: moved::scale,
    },
    Relation {
        name: "relabel",
        help: "numbers of hosts in the same order change nothing",
        weight: 2,
        draw: moved::draw_star,
        check: moved::relabel,
    },
    Relation {
        name: "apart",
        help: "what shares no node changes nothing",
        weight: 5,
        draw: apart::draw,
        check: apart::apart,
    },
    Relation {
        name: "front",
        help: "a section in front changes no traffic behind it",
        weight: 1,
        draw: apart::draw_random,
        check: apart::front,
    },
    Relation {
        name: "queue",
        help: "no link stands idle beside a queue",
        weight: 2,
        draw: queue::draw,
        check: queue::work_conserving,
    },
    Relation {
        name: "lone",
        help: "a lone flow reaches 0.9 of its path",
        weight: 2,
        draw: reach::draw_lone,
        check: reach::lone,
    },
    Relation {
        name: "fair",
        help: "equal flows are fair after long",
        weight: 1,
        draw: reach::draw_fair,
        check: reach::fair,
    },
];

/// Relations that do not hold yet: a test of everything leaves them out. Take a line out when it is mended.
const OPEN: &[&str] = &[];

/// More flows take long.
const MOST_FLOWS: u64 = 500;

impl Relation {
    /// Whether a test of everything checks it.
    pub fn is_tested(&self) -> bool {
        !OPEN.contains(&self.name)
    }

    /// The relation of a seed.
    pub fn of(seed: u64) -> &'static Relation {
        let total: u32 = RELATIONS.iter().map(|relation| relation.weight).sum();
        let mut place = ScenarioRng::new(seed, 7).below(total.into()) as u32;
        for relation in RELATIONS {
            if place < relation.weight {
                return relation;
            }
            place -= relation.weight;
        }
        &RELATIONS[0]
    }

    /// The one with this name.
    pub fn named(name: &str) -> Option<&'static Relation> {
        RELATIONS.iter().find(|relation| relation.name == name)
    }

    /// The scenario of a seed; nothing if it contradicts itself whatever is taken out, or takes long.
    pub fn scenario(&self, seed: u64) -> Option<Document> {
        let mut rng = ScenarioRng::new(seed, 3);
        let mut document = (self.draw)(Draw::new(&mut rng, seed, false));
        let (scenario, _) = repair(&mut document, &mut rng).ok()?;
        (scenario.flows.totals.count <= MOST_FLOWS).then_some(document)
    }

    /// Checks a scenario.
    pub fn check(&self, document: &Document, context: &Context<'_>) -> Verdict {
        (self.check)(document, context)
    }
}

/// Holds unless something differs.
fn verdict(why: Option<String>, second: impl FnOnce() -> Second) -> Verdict {
    why.map_or(Verdict::Holds, |why| Verdict::Broken(Broken { why, second: second() }))
}

/// A relation with this check.
#[cfg(test)]
pub(crate) fn testing(check: fn(&Document, &Context<'_>) -> Verdict) -> Relation {
    Relation { name: "test", help: "", weight: 1, draw: any, check }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_relation_is_about_scenarios_that_are_drawn() {
        let bench = Bench::new();
        for relation in RELATIONS.iter().filter(|relation| relation.name != "written") {
            let is_about = |seed: &u64| {
                let context = Context { bench: &bench, seed: *seed, hpcc: None };
                let document = relation.scenario(*seed);
                document.is_some_and(|document| !matches!(relation.check(&document, &context), Verdict::Idle))
            };
            assert!((1..60).any(|seed| is_about(&seed)), "{}", relation.name);
        }
    }

    /// Small scenarios that random seeds broke a relation with: the relation, and the seed of the check.
    const ONCE_BROKEN: &[(&str, u64, &str)] = &[
        (
            "observers",
            557_134,
            "run = { stop = '20000ns' }\n\
             topology = { kind = 'dual_homed', aggs = 3, pairs = 3, hosts_per_pair = 1, rate = '25Gbps', delay = '1us' }\n\
             compatibility = { shared_rng = true }\n\
             load_balancing = { scheme = 'adaptive' }\n\
             traffic = [{ kind = 'incast', receiver = 1, senders = [0], size = 5000 }]\n",
        ),
        (
            "observers",
            9_003_642,
            "run = { stop = '500ns' }\n\
             topology = { kind = 'k_ary_fat_tree', k = 4, rate = '400Gbps', delay = '0ns' }\n\
             congestion_control = { algorithm = 'timely' }\n\
             traffic = [{ kind = 'collective', operation = 'all_reduce', algorithm = 'tree', size = 5000 }]\n",
        ),
        (
            "shift",
            9_008_142,
            "run = { seed = 4500000, stop = '50us' }\n\
             topology = { kind = 'parking_lot', switches = 2, hosts_per_switch = 1, rate = '800Gbps', delay = '250ns' }\n\
             transport = { kind = 'uec', uec_control = 'both' }\n\
             traffic = [{ kind = 'poisson', sizes = 'fb_hadoop', load = 0.7100000000000001, duration = '30000ns' }]\n",
        ),
        (
            "sums",
            9_008_495,
            "run = { stop = '500us' }\n\
             topology = { kind = 'dragonfly', hosts_per_switch = 1, rate = '10Gbps', fabric_rate = '8Gbps', delay = '1ns' }\n\
             transport = { kind = 'paced', mtu = 1 }\n\
             traffic = [{ kind = 'flow', src = 0, dst = 1, size = 5000 }]\n",
        ),
        (
            // Timers that had just gone off were farther ahead than in the known period, and were put forward.
            "skips",
            11_440,
            "run = { stop = '3ms' }\n\
             topology = { kind = 'star', hosts = 6, rate = '40Gbps', delay = '100ns' }\n\
             congestion_control = { algorithm = 'swift' }\n\
             wire = { profile = 'rocev2_ipv6' }\n\
             traffic = [{ kind = 'collective', operation = 'all_to_all', size = 2000000, iterations = 2 }]\n",
        ),
        (
            "effective",
            558_830,
            "run = { stop = '1ns' }\n\
             topology = { kind = 'star', hosts = 1, rate = '800Gbps', delay = '1ns' }\n\
             switch = { ecn_kmax = 2000000000000000 }\n",
        ),
    ];

    #[test]
    fn what_broke_once_holds() {
        let bench = Bench::new();
        for &(name, seed, text) in ONCE_BROKEN {
            let relation = Relation::named(name).expect("a relation");
            let document = Document::parse(text).expect("TOML");
            let context = Context { bench: &bench, seed, hpcc: None };
            assert!(matches!(relation.check(&document, &context), Verdict::Holds), "{name}, {seed}");
        }
    }
}
