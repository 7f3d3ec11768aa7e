// SPDX-License-Identifier: MIT OR Apache-2.0
//! The classes of a switch's ports, as text: how each queue is served.

use super::{PRIORITIES, Service};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// How each queue of a port is served. Queue 0, of PFC and control frames, goes ahead of all and is not among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Classes {
    services: [Service; PRIORITIES],
}

/// A queue that no class names gets what the others leave: a byte a turn.
const LEFTOVER: Service = Service::Weighted { quantum: 1 };
/// No quantum is larger, so that sums fit.
pub const MAX_QUANTUM: u32 = 1 << 24;

impl Classes {
    /// Classes by priority, 1 to 7.
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
        Ok(Classes { services: services.map(|service| service.unwrap_or(LEFTOVER)) })
    }

    /// Reads `PRIORITY:QUANTUM` or `PRIORITY:strict`, with commas between; quanta in bytes.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn parse(text: &str) -> Result<Classes, String> {
        let class = |part: &str| {
            let (priority, service) = part.split_once(':')?;
            let service = match service.trim() {
                "strict" => Service::Strict,
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
        let named = self.services.iter().enumerate().filter(|(_, service)| **service != LEFTOVER);
        let class = |(priority, service): (usize, &Service)| match service {
            Service::Strict => format!("{priority}:strict"),
            Service::Weighted { quantum } => format!("{priority}:{quantum}"),
        };
        named.map(class).collect::<Vec<_>>().join(",")
    }

    /// How each queue is served.
    pub fn services(&self) -> [Service; PRIORITIES] {
        self.services
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_leads_to_classes_and_back() {
        let classes = Classes::parse(" 3:3000, 4:1000,5 :strict").expect("a list");
        assert_eq!(classes.services()[3], Service::Weighted { quantum: 3_000 });
        assert_eq!(classes.services()[5], Service::Strict);
        assert_eq!(classes.services()[7], LEFTOVER);
        assert_eq!(classes.text(), "3:3000,4:1000,5:strict");
        assert_eq!(Classes::parse(&classes.text()), Ok(classes));
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
