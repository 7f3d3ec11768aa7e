// SPDX-License-Identifier: GPL-2.0-only
//! Requests to a model that serves: when they come, and how many tokens they have.

use crate::error::InputError;
use crate::generate::{Random, exponential};
use hpcc_core::units::Nanos;
use std::path::Path;

/// Most requests of a job.
pub const MOST: u32 = 100_000;
/// Most tokens of a prompt, or of an answer.
pub const MOST_TOKENS: u64 = 10_000_000;

/// A request, and the replicas that serve it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// When it comes, after the begin of the job.
    pub arrival: Nanos,
    /// Tokens of its prompt, at least 1.
    pub prompt: u64,
    /// Tokens of its answer, at least 1.
    pub output: u64,
    /// The replica that passes its prompt, and the one that makes its answer.
    pub prefill: u32,
    /// Of those that decode; without any the one that passes the prompt has made all of the answer, a token.
    pub decode: Option<u32>,
}

impl Request {
    /// The marks of its first token, and of its last, by its number.
    pub fn marks(number: u32) -> [u32; 2] {
        [2 * number, 2 * number + 1]
    }
}

/// Requests as a Poisson process brings them: so many a second.
pub fn poisson(count: u32, rate: f64, (prompt, output): (u64, u64), random: &mut Random) -> Vec<Request> {
    let mut now = 0.0;
    let next = |_| {
        now += exponential(random) * 1e9 / rate;
        let arrival = Nanos(now as u64).min(Nanos::LONGEST);
        Request { arrival, prompt, output, prefill: 0, decode: None }
    };
    (0..count).map(next).collect()
}

/// Requests of a file: a line for each with its time in seconds, tokens of its prompt, and tokens of its answer, in the order of
/// times; the first line may name the columns.
///
/// # Errors
/// What is wrong, with its line.
pub fn read(path: &Path) -> Result<Vec<Request>, InputError> {
    let text = crate::text::read(path)?;
    let wrong = |line: usize, message: String| InputError::new(path, Some(line as u32 + 1), message);
    let mut requests: Vec<Request> = Vec::new();
    for (line, words) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let words: Vec<&str> = words.split(',').map(str::trim).collect();
        let [time, prompt, output] = words[..] else {
            let message = format!(
                "there are {} columns; expected a time in seconds, tokens of the prompt and of the answer",
                words.len()
            );
            return Err(wrong(line, message));
        };
        // A head has names alone.
        if line == 0 && words.iter().all(|word| word.starts_with(|first: char| first.is_alphabetic())) {
            continue;
        }
        let seconds: Option<f64> = time.parse().ok().filter(|seconds| (0.0..=1e9).contains(seconds));
        let seconds =
            seconds.ok_or_else(|| wrong(line, format!("\"{time}\" is no time; expected seconds such as 1.5")))?;
        let tokens = |word: &str| {
            let count = word.parse().ok().filter(|count| (1..=MOST_TOKENS).contains(count));
            count.ok_or_else(|| {
                wrong(line, format!("\"{word}\" is no number of tokens; expected one from 1 to {MOST_TOKENS}"))
            })
        };
        let arrival = Nanos((seconds * 1e9).round() as u64).min(Nanos::LONGEST);
        if requests.last().is_some_and(|last| last.arrival > arrival) {
            return Err(wrong(line, format!("{time} is before the time of the line above; expected ascending times")));
        }
        if requests.len() as u32 == MOST {
            return Err(wrong(line, format!("there are more than {MOST} requests; expected at most as many")));
        }
        requests.push(Request { arrival, prompt: tokens(prompt)?, output: tokens(output)?, prefill: 0, decode: None });
    }
    if requests.is_empty() {
        return Err(InputError::new(path, None, "there are no requests; expected a line for each"));
    }
    Ok(requests)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> Result<Vec<Request>, String> {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("a.csv");
        std::fs::write(&path, text).expect("written");
        read(&path).map_err(|error| error.to_string())
    }

    #[test]
    fn a_file_has_a_request_a_line() {
        let request =
            |arrival, prompt, output| Request { arrival: Nanos(arrival), prompt, output, prefill: 0, decode: None };
        let expected = vec![request(0, 100, 1), request(1_500_000_000, 20, 300)];
        assert_eq!(file("time_s,prompt,output\n0,100,1\n1.5, 20, 300\n"), Ok(expected));
    }

    #[test]
    fn a_wrong_line_is_named() {
        for (text, told) in [
            ("0,100\n", "1: there are 2 columns"),
            ("0,100,1\nx,100,1\n", "2: \"x\" is no time"),
            ("0,0,1\n", "1: \"0\" is no number of tokens"),
            ("0,1,-1\n", "1: \"-1\" is no number of tokens"),
            ("1,1,1\n0.5,1,1\n", "2: 0.5 is before"),
            ("nan,1,1\n", "1: \"nan\" is no time"),
            ("O.5,1,1\n1,1,1\n", "1: \"O.5\" is no time"),
            ("0,1,1\ninf,1,1\n", "2: \"inf\" is no time"),
            ("time,prompt,output\n", "there are no requests"),
        ] {
            let wrong = file(text).expect_err(text);
            assert!(wrong.contains(told), "{text:?}: {wrong}");
        }
    }

    /// A mean of 1 / rate, and a variance of its square.
    #[test]
    fn requests_come_as_a_poisson_process() {
        let requests = poisson(20_000, 1_000.0, (1, 1), &mut crate::generate::random(7, "a", 0));
        let gaps: Vec<f64> = requests.windows(2).map(|two| (two[1].arrival - two[0].arrival).0 as f64 / 1e6).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((mean - 1.0).abs() < 0.03 && (variance - 1.0).abs() < 0.06, "{mean}, {variance}");
    }
}
