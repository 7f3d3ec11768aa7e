// SPDX-License-Identifier: MIT OR Apache-2.0
//! The random generator of ns-3: L'Ecuyer's MRG32k3a.

type Vector = [u64; 3];
type Matrix = [Vector; 3];

const M1: u64 = 4_294_967_087;
const M2: u64 = 4_294_944_443;
const A1: Matrix = [[0, 1, 0], [0, 0, 1], [M1 - 810_728, 1_403_580, 0]];
const A2: Matrix = [[0, 1, 0], [0, 0, 1], [M2 - 1_370_589, 0, 527_612]];
const NORM: f64 = 2.328_306_549_295_728e-10;
/// Jumps to the next streams, which are 2^127 steps apart, and to the next substreams, 2^76: entry k passes over 2^k of
/// them. Computed by the compiler, for every node of a network has a generator.
static STREAMS: [Jumps; 2] = [jumps(&A1, 127, M1), jumps(&A2, 127, M2)];
static SUBSTREAMS: [Jumps; 2] = [jumps(&A1, 76, M1), jumps(&A2, 76, M2)];

type Jumps = [Matrix; 64];

/// One sequence of uniform draws.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mrg32k3a {
    s1: Vector,
    s2: Vector,
}

impl Mrg32k3a {
    /// The sequence that ns-3's `RngStream` has for global seed 1 and this stream and substream.
    pub fn new(stream: u64, substream: u64) -> Self {
        Self::seeded(1, stream, substream)
    }

    /// The sequence for another global seed; seeds from 1 to 4294944442 give different ones.
    pub fn seeded(seed: u32, stream: u64, substream: u64) -> Self {
        let start = |index: usize, m: u64| {
            // A state of zeros gives zeros for ever.
            let at_seed = [(u64::from(seed) % m).max(1); 3];
            let at_stream = pass(&STREAMS[index], stream, at_seed, m);
            pass(&SUBSTREAMS[index], substream, at_stream, m)
        };
        Mrg32k3a { s1: start(0, M1), s2: start(1, M2) }
    }

    /// The next draw, uniform in (0, 1).
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        let p1 = combine(1_403_580, self.s1[1], 810_728, self.s1[0], M1);
        self.s1 = [self.s1[1], self.s1[2], p1];
        let p2 = combine(527_612, self.s2[2], 1_370_589, self.s2[0], M2);
        self.s2 = [self.s2[1], self.s2[2], p2];
        let difference = if p1 > p2 { p1 - p2 } else { p1 + M1 - p2 };
        difference as f64 * NORM
    }
}

/// Draws in the 2019 simulator's manner: each opens a new stream and uses its first value.
///
/// The 2019 simulator does so for every ECN decision and for the identifier of every PFC frame, in the order of
/// events, so that one counter is shared by all switches of a network.
#[derive(Clone, Debug)]
pub struct StreamPerDraw {
    /// Stream states before the jump to the substream, one step per draw.
    base: Mrg32k3a,
}

impl StreamPerDraw {
    /// The first draw uses `first_stream` of a global seed.
    pub fn new(seed: u32, first_stream: u64) -> Self {
        StreamPerDraw { base: Mrg32k3a::seeded(seed, first_stream, 0) }
    }

    /// The next draw, uniform in (0, 1).
    pub fn uniform(&mut self) -> f64 {
        let mut stream = Mrg32k3a {
            s1: apply(&SUBSTREAMS[0][0], &self.base.s1, M1),
            s2: apply(&SUBSTREAMS[1][0], &self.base.s2, M2),
        };
        self.skip();
        stream.uniform()
    }

    /// Passes over one draw.
    pub fn skip(&mut self) {
        self.base.s1 = apply(&STREAMS[0][0], &self.base.s1, M1);
        self.base.s2 = apply(&STREAMS[1][0], &self.base.s2, M2);
    }
}

/// `(a * x - b * y) mod m`.
#[inline]
fn combine(a: i64, x: u64, b: i64, y: u64, m: u64) -> u64 {
    (a * x as i64 - b * y as i64).rem_euclid(m as i64) as u64
}

fn apply(a: &Matrix, v: &Vector, m: u64) -> Vector {
    // Each product is below 2^64, their sum may not be: reduce the products first.
    a.map(|row| (row[0] * v[0] % m + row[1] * v[1] % m + row[2] * v[2] % m) % m)
}

/// Passes over so many jumps.
fn pass(jumps: &Jumps, count: u64, start: Vector, m: u64) -> Vector {
    let taken = jumps.iter().enumerate().filter(|(bit, _)| count >> bit & 1 == 1);
    taken.fold(start, |at, (_, jump)| apply(jump, &at, m))
}

/// a * a; with loops, for the compiler runs nothing else.
const fn square(a: &Matrix, m: u64) -> Matrix {
    let mut result = [[0; 3]; 3];
    let mut at = 0;
    while at < 9 {
        let (row, column) = (at / 3, at % 3);
        let products = [a[row][0] * a[0][column], a[row][1] * a[1][column], a[row][2] * a[2][column]];
        result[row][column] = (products[0] % m + products[1] % m + products[2] % m) % m;
        at += 1;
    }
    result
}

/// a^(2^(log2_steps + k)) for each k.
const fn jumps(a: &Matrix, log2_steps: usize, m: u64) -> Jumps {
    let mut jumps = [*a; 64];
    let mut power = *a;
    let mut squared = 0;
    while squared < log2_steps + 64 {
        if squared >= log2_steps {
            jumps[squared - log2_steps] = power;
        }
        power = square(&power, m);
        squared += 1;
    }
    jumps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_seed_is_another_sequence() {
        let first = |seed| Mrg32k3a::seeded(seed, 26, 1).uniform();
        assert_eq!(first(1), Mrg32k3a::new(26, 1).uniform());
        assert_ne!(first(1), first(2));
        assert_eq!(StreamPerDraw::new(2, 26).uniform(), first(2));
        assert!(first(0) > 0.0 && first(u32::MAX) > 0.0);
    }

    #[test]
    fn a_stream_per_draw_takes_the_first_value_of_each() {
        let mut draws = StreamPerDraw::new(1, 26);
        assert_eq!(draws.uniform(), Mrg32k3a::new(26, 1).uniform());
        draws.skip();
        assert_eq!(draws.uniform(), Mrg32k3a::new(28, 1).uniform());
    }
}
