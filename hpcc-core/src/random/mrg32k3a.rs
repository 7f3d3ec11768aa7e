// SPDX-License-Identifier: MIT OR Apache-2.0
//! The random generator of ns-3: L'Ecuyer's MRG32k3a.

type Vector = [u64; 3];
type Matrix = [Vector; 3];

const M1: u64 = 4_294_967_087;
const M2: u64 = 4_294_944_443;
const A1: Matrix = [[0, 1, 0], [0, 0, 1], [M1 - 810_728, 1_403_580, 0]];
const A2: Matrix = [[0, 1, 0], [0, 0, 1], [M2 - 1_370_589, 0, 527_612]];
const NORM: f64 = 2.328_306_549_295_728e-10;
/// Streams are 2^127 steps apart, substreams 2^76.
const STREAM_STEPS_LOG2: u32 = 127;
const SUBSTREAM_STEPS_LOG2: u32 = 76;

/// One sequence of uniform draws.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mrg32k3a {
    s1: Vector,
    s2: Vector,
}

impl Mrg32k3a {
    /// The sequence that ns-3's `RngStream` has for global seed 1 and this stream and substream.
    pub fn new(stream: u64, substream: u64) -> Self {
        let start = |a: &Matrix, m| {
            let at_stream = apply(&power(&jump(a, STREAM_STEPS_LOG2, m), stream, m), &[1, 1, 1], m);
            apply(&power(&jump(a, SUBSTREAM_STEPS_LOG2, m), substream, m), &at_stream, m)
        };
        Mrg32k3a { s1: start(&A1, M1), s2: start(&A2, M2) }
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

/// Draws in the reference's manner: each opens a new stream and uses its first value.
///
/// The reference does so for every ECN decision and for the identifier of every PFC frame, in the order of
/// events, so that one counter is shared by all switches of a network.
#[derive(Clone, Debug)]
pub struct StreamPerDraw {
    /// Stream states before the jump to the substream, one step per draw.
    base: Mrg32k3a,
    stream: [Matrix; 2],
    substream: [Matrix; 2],
}

impl StreamPerDraw {
    /// The first draw uses `first_stream`.
    pub fn new(first_stream: u64) -> Self {
        StreamPerDraw {
            base: Mrg32k3a::new(first_stream, 0),
            stream: [jump(&A1, STREAM_STEPS_LOG2, M1), jump(&A2, STREAM_STEPS_LOG2, M2)],
            substream: [jump(&A1, SUBSTREAM_STEPS_LOG2, M1), jump(&A2, SUBSTREAM_STEPS_LOG2, M2)],
        }
    }

    /// The next draw, uniform in (0, 1).
    pub fn uniform(&mut self) -> f64 {
        let mut stream = Mrg32k3a {
            s1: apply(&self.substream[0], &self.base.s1, M1),
            s2: apply(&self.substream[1], &self.base.s2, M2),
        };
        self.skip();
        stream.uniform()
    }

    /// Passes over one draw.
    pub fn skip(&mut self) {
        self.base.s1 = apply(&self.stream[0], &self.base.s1, M1);
        self.base.s2 = apply(&self.stream[1], &self.base.s2, M2);
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

fn multiply(a: &Matrix, b: &Matrix, m: u64) -> Matrix {
    let column = |j: usize| [b[0][j], b[1][j], b[2][j]];
    a.map(|row| core::array::from_fn(|j| apply(&[row, [0; 3], [0; 3]], &column(j), m)[0]))
}

/// a^(2^log2_steps).
fn jump(a: &Matrix, log2_steps: u32, m: u64) -> Matrix {
    (0..log2_steps).fold(*a, |square, _| multiply(&square, &square, m))
}

fn power(a: &Matrix, mut exponent: u64, m: u64) -> Matrix {
    let mut result = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
    let mut square = *a;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = multiply(&square, &result, m);
        }
        square = multiply(&square, &square, m);
        exponent >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    // That the values are those of `ns3::RngStream` is tested in the ns-3 suite, beside the original.
    #[test]
    fn draws_are_uniform() {
        let mut rng = Mrg32k3a::new(26, 1);
        let mean = (0..10_000).map(|_| rng.uniform()).sum::<f64>() / 10_000.0;
        assert!((mean - 0.5).abs() < 0.01, "{mean}");
    }

    #[test]
    fn a_stream_per_draw_takes_the_first_value_of_each() {
        let mut draws = StreamPerDraw::new(26);
        assert_eq!(draws.uniform(), Mrg32k3a::new(26, 1).uniform());
        draws.skip();
        assert_eq!(draws.uniform(), Mrg32k3a::new(28, 1).uniform());
    }
}
