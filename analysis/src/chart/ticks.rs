// SPDX-License-Identifier: GPL-2.0-only
//! Round numbers for axes.

/// Multiples of 1, 2 or 5 times a power of ten from `low` to `high`, at most nine of them.
pub fn linear(low: f64, high: f64) -> Vec<f64> {
    let span = high - low;
    if !span.is_finite() || span <= 0.0 {
        return vec![low];
    }
    let rough = span / 8.0;
    let decade = 10f64.powf(rough.log10().floor());
    let factors = [1.0, 2.0, 5.0, 10.0];
    let step = factors.map(|factor| factor * decade).into_iter().find(|step| *step >= rough).unwrap_or(rough);
    let first = (low / step - 1e-9).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    (first..=last).map(|index| index as f64 * step).collect()
}

/// Powers of ten from `low` to `high`, or with their double and fivefold if there are few.
pub fn logarithmic(low: f64, high: f64) -> Vec<f64> {
    let inside = |value: &f64| *value >= low * 0.999 && *value <= high * 1.001;
    let decades = || (low.log10().floor() as i32..=high.log10().ceil() as i32).map(|power| 10f64.powi(power));
    let powers: Vec<f64> = decades().filter(inside).collect();
    if powers.len() >= 3 {
        return powers;
    }
    decades().flat_map(|decade| [decade, 2.0 * decade, 5.0 * decade]).filter(inside).collect()
}

/// A tick's number, with as few digits as it needs.
pub fn label(value: f64) -> String {
    let text = format!("{value:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// A tick's number on a logarithmic axis, where it can be very small.
pub fn short(value: f64) -> String {
    if value >= 1e-3 { label(value) } else { format!("{value:e}") }
}

/// A power of ten, which keeps labels of small shares short: `10⁻⁵`.
pub fn power_of_ten(exponent: i32) -> String {
    let raised = |digit: char| match digit {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        digit => digit.to_digit(10).and_then(|value| char::from_u32(0x2070 + value)).unwrap_or(digit),
    };
    if exponent == 0 {
        "1".to_owned()
    } else {
        format!("10{}", exponent.to_string().chars().map(raised).collect::<String>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_their_labels_short() {
        assert_eq!(linear(0.0, 103.0), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert_eq!(linear(5.0, 5.0), [5.0]);
        assert_eq!(logarithmic(900.0, 2e6), [1e3, 1e4, 1e5, 1e6]);
        assert_eq!(logarithmic(4e5, 2.5e6), [5e5, 1e6, 2e6], "of few powers there are halves");
        assert_eq!([1.0, 1.25, 200.0, -0.0].map(label), ["1", "1.25", "200", "0"]);
        assert_eq!([0, -1, -5, 12].map(power_of_ten), ["1", "10⁻¹", "10⁻⁵", "10¹²"]);
    }
}
