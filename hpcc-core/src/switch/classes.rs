// SPDX-License-Identifier: MIT OR Apache-2.0
//! The classes of a switch's ports, as text: how each queue is served.

use super::{PRIORITIES, Scheduler, Service};
use crate::settings::FromText;
use crate::units::BitRate;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// How each queue of a port is served. Queue 0, of PFC and control frames, goes ahead of all and is not among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Classes {
    services: [Service; PRIORITIES],
}

/// No quantum is larger, so that sums fit.
pub const MAX_QUANTUM: u32 = 1 << 24;

impl Classes {
    /// Classes by priority, 1 to 7; strict ones in the order of their places, of which each has its own.
    ///
    /// # Errors
    /// The first priority that is none, or is named twice.
    pub fn new(classes: impl IntoIterator<Item = (u8, Service)>) -> Result<Classes, u8> {
        let mut services = [None; PRIORITIES];
        for (priority, service) in classes {
            match services.get_mut(usize::from(priority)) {
                Some(place @ None) if priority > 0 => *place = Some(service),
                _ => return Err(priority),
            }
        }
        Ok(Classes { services: services.map(|service| service.unwrap_or(Service::Leftover)) })
    }

    /// Reads `PRIORITY:QUANTUM` or `PRIORITY:strict`, with commas between; quanta in bytes. Strict ones go ahead of each other in the
    /// order of the list.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn parse(text: &str) -> Result<Classes, String> {
        let mut places = 0..;
        let class = |part: &str| {
            let (priority, service) = part.split_once(':')?;
            let service = match service.trim() {
                "strict" => Service::Strict { place: places.next()? },
                quantum => {
                    Service::Weighted { quantum: quantum.parse().ok().filter(|q| (1..=MAX_QUANTUM).contains(q))? }
                }
            };
            Some((priority.trim().parse().ok()?, service))
        };
        let classes: Option<Vec<(u8, Service)>> = text.split(',').map(class).collect();
        let classes = classes.ok_or_else(|| {
            format!("\"{text}\" is no list of classes; expected such as \"3:3000, 4:1000, 5:strict\"")
        })?;
        Classes::new(classes).map_err(|priority| {
            format!("class {priority} is named twice, or is no priority from 1 to {}", PRIORITIES - 1)
        })
    }

    /// The text that [`Classes::parse`] reads.
    pub fn text(&self) -> String {
        let class = |(priority, service): (usize, &Service)| match *service {
            Service::Strict { place } => Some((place, format!("{priority}:strict"))),
            Service::Weighted { quantum } => Some((0, format!("{priority}:{quantum}"))),
            Service::Leftover => None,
        };
        let mut classes: Vec<(u8, String)> = self.services.iter().enumerate().filter_map(class).collect();
        classes.sort_by_key(|(place, _)| *place);
        classes.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(",")
    }

    /// Whether a priority is sure of some part of every link.
    pub fn has_guaranteed_share(&self, priority: u8) -> bool {
        Scheduler::new(self.services).guaranteed(priority, BitRate::gbps(1), BitRate(0)) > BitRate(0)
    }

    /// The part of each link of which a priority is sure; 1 for one that is sure of nothing, as
    /// [telemetry](super::Scope::Queue) reports it.
    pub fn share(&self, priority: u8) -> f64 {
        let whole = BitRate::gbps(1_000);
        match Scheduler::new(self.services).guaranteed(priority, whole, BitRate(0)) {
            BitRate(0) => 1.0,
            share => share.0 as f64 / whole.0 as f64,
        }
    }

    /// How each queue is served.
    pub fn services(&self) -> [Service; PRIORITIES] {
        self.services
    }
}

/// An empty text stands for no classes.
impl FromText for Option<Classes> {
    fn from_text(text: &str) -> Result<Self, String> {
        if text.trim().is_empty() { Ok(None) } else { Classes::parse(text).map(Some) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Backlog;
    use super::*;

    #[test]
    fn text_leads_to_classes_and_back() {
        let classes = Classes::parse(" 3:3000, 4:1000,5 :strict").expect("a list");
        assert_eq!(classes.services()[3], Service::Weighted { quantum: 3_000 });
        assert_eq!(classes.services()[5], Service::Strict { place: 0 });
        assert_eq!(classes.services()[7], Service::Leftover);
        assert_eq!(classes.text(), "3:3000,4:1000,5:strict");
        assert_eq!(Classes::parse(&classes.text()), Ok(classes));
        let listed = Classes::parse("6:strict,3:3000,5:strict").expect("a list");
        assert_eq!((Classes::parse(&listed.text()), listed.share(6)), (Ok(listed), 1.0));
        assert_eq!([5, 6].map(|priority| listed.has_guaranteed_share(priority)), [false, true]);
    }

    /// However small the quanta of the others are.
    #[test]
    fn queues_without_a_class_take_nothing_from_those_with_one() {
        let classes = Classes::parse("3:3,4:1,5:strict,6:strict").expect("a list");
        let mut scheduler = Scheduler::new(classes.services());
        let backlog = Backlog { heads: [0, 1_000, 1_000, 1_000, 1_000, 0, 0, 1_000], paused: 0 };
        let mut sent = [0; PRIORITIES];
        (0..4_000).filter_map(|_| scheduler.next(&backlog)).for_each(|queue| sent[usize::from(queue)] += 1);
        assert_eq!((sent[1] + sent[2] + sent[7], sent[3] + sent[4]), (0, 4_000));
        assert!((2_998..=3_002).contains(&sent[3]), "{sent:?}");
        assert_eq!(scheduler.guaranteed(4, BitRate::gbps(100), BitRate(0)), BitRate::gbps(25));
        assert_eq!(
            [3, 4, 5, 6, 7].map(|priority| classes.has_guaranteed_share(priority)),
            [true, true, true, false, false]
        );
        assert_eq!([3, 4, 5, 6, 7].map(|priority| classes.share(priority)), [0.75, 0.25, 1.0, 1.0, 1.0]);
    }

    #[test]
    fn what_is_no_list_is_refused() {
        for text in ["", "3", "3:", "3:0", "3:fast", "x:1", "3:16777217", "256:1", "3:1,,4:1"] {
            assert!(Classes::parse(text).expect_err(text).contains("no list of classes"), "{text}");
        }
        for text in ["0:1", "8:1", "3:1,3:2"] {
            assert!(Classes::parse(text).expect_err(text).contains("named twice, or is no priority"), "{text}");
        }
    }
}
