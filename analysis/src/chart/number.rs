// SPDX-License-Identifier: GPL-2.0-only
//! Numbers as the page holds them.

/// A number with four significant digits: as many as a chart can show, and fewer bytes.
pub fn short(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    let digits = (3 - value.abs().log10().floor() as i32).clamp(-15, 15);
    let scale = 10f64.powi(digits.abs());
    if digits >= 0 { (value * scale).round() / scale } else { (value / scale).round() * scale }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_four_digits() {
        assert_eq!([12_345.6, 0.000_123_456, -9.87654, 0.0].map(short), [12_350.0, 0.000_123_5, -9.877, 0.0]);
        assert_eq!(short(f64::NAN), 0.0);
    }
}
