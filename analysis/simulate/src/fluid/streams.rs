// SPDX-License-Identifier: GPL-2.0-only
//! Streams and links: what is known of one.

/// A link that a stream takes, and how much of it a unit of its rate takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Use {
    pub link: u32,
    pub share: f32,
    /// Its place in the link's list.
    pub place: u32,
}

impl Use {
    pub fn new(link: u32, share: f32) -> Use {
        Use { link, share, place: 0 }
    }
}

/// What a stream takes, and may take.
#[derive(Clone, Debug, Default)]
pub struct StreamDemand {
    /// Links of its data, then those of its answers.
    pub uses: Box<[Use]>,
    /// How many of them are of its data.
    pub data: u32,
    /// The most that it takes if it is alone, in bytes/ns.
    pub most: f64,
    /// Its class, 0 to 7.
    pub class: u8,
}

#[derive(Debug, Default)]
pub struct Stream {
    pub course: StreamDemand,
    /// In bytes/ns.
    pub rate: f64,
    /// Bytes that were left at a time in ns; and when it began with them.
    pub left: f64,
    pub since: u64,
    pub begun: u64,
    /// Which crew it is in, and the number of its rate.
    pub crew: u32,
    pub version: u32,
    pub is_active: bool,
    /// The search that has seen it last.
    pub seen: u32,
}

#[derive(Debug, Default)]
pub struct Link {
    /// In bytes/ns.
    pub capacity: f64,
    /// Of it, what answers take; and what they took when rates were found last.
    pub answers: f64,
    pub known_answers: f64,
    /// What all of its streams would take if each were alone.
    pub demand: f64,
    /// Streams, each with the place of the link among its own.
    pub streams: Vec<(u32, u16)>,
    pub is_changed: bool,
    pub is_touched: bool,
    pub seen: u32,
    /// Its number in the problem at hand.
    pub number: u32,
    /// Whether a host sends by it.
    pub is_host: bool,
    /// Streams under way, by class, where classes are told apart.
    pub by_class: Option<Box<[u32; 8]>>,
}

impl Link {
    /// Whether it could be full. Otherwise it bounds nobody, and nobody is in another's way.
    pub fn could_be_full(&self) -> bool {
        self.demand > (self.capacity - self.answers) * (1.0 + 1e-9)
    }

    /// How many times as much as it has its streams would take.
    pub fn crowding(&self) -> f64 {
        self.demand / (self.capacity - self.answers).max(f64::MIN_POSITIVE)
    }

    /// The tier of a stream of a class, and the rate that it gets here if all take what they can.
    pub fn fair(&self, classes: Option<&[Class; 8]>, class: u8) -> Class {
        let class = usize::from(class);
        let Some((classes, count)) = classes.zip(self.by_class.as_ref()) else {
            return Class { tier: IN_TURN, weight: self.capacity / self.streams.len().max(1) as f64 };
        };
        let Class { tier, weight } = classes[class];
        let others = classes.iter().zip(count.iter()).filter(|(other, count)| other.tier == tier && **count > 0);
        let of_tier = others.fold(0.0, |sum, (other, _)| sum + other.weight).max(weight);
        Class { tier, weight: self.capacity * weight / of_tier / f64::from(count[class].max(1)) }
    }
}

/// The tier of what is served in turn; strict classes go before.
pub const IN_TURN: u8 = 8;

/// How links tell classes apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Class {
    pub tier: u8,
    /// Its part of a link, beside others of its tier.
    pub weight: f64,
}

/// When a stream has sent all, in ns; nothing if it never has.
pub fn end_of(stream: &Stream) -> Option<u64> {
    let time = stream.left.max(0.0) / stream.rate;
    (stream.rate > 0.0 && time < 1e18).then(|| stream.since + (time + 0.5) as u64)
}
