//! Rounds in which the contenders take turns, and a line for each of them: the median of the time this thread got.

use std::hint::black_box;

/// Work on a body; it answers how many bytes came out.
type Work<'w> = dyn FnMut(&[u8]) -> usize + 'w;

/// One way to do the work.
pub struct Contender<'w> {
    name: &'w str,
    is_baseline: bool,
    work: Box<Work<'w>>,
}

impl<'w> Contender<'w> {
    pub fn new(name: &'w str, work: impl FnMut(&[u8]) -> usize + 'w) -> Self {
        Self { name, is_baseline: false, work: Box::new(work) }
    }

    /// What the others are measured against.
    pub fn baseline(name: &'w str, work: impl FnMut(&[u8]) -> usize + 'w) -> Self {
        Self { is_baseline: true, ..Self::new(name, work) }
    }
}

/// Prints as it goes.
pub struct Table {
    /// Seconds that one contender may use in one part.
    patience: f64,
    rounds: usize,
}

/// The least a round takes, so that short bodies are measured in batches.
const ROUND_SECONDS: f64 = 0.005;

impl Table {
    pub fn new(quick: bool) -> Self {
        if quick { Self { patience: 0.2, rounds: 9 } } else { Self { patience: 0.6, rounds: 31 } }
    }

    /// Measures one part. Each round goes through all contenders, so that a machine that slows down slows all of them.
    pub fn measure(&self, part: &str, body: &[u8], mut contenders: Vec<Contender<'_>>) {
        println!("\n{part}");
        // The first run fills caches and allocator; its time says how many runs make a round, and how many rounds are borne.
        let mut plans: Vec<(usize, usize)> = Vec::new();
        for contender in &mut contenders {
            black_box((contender.work)(body));
            let once = time(1, body, contender).max(1e-8);
            let batch = (ROUND_SECONDS / once).ceil().max(1.0);
            let borne = (self.patience / (once * batch)) as usize;
            plans.push((batch as usize, borne.clamp(3, self.rounds)));
        }
        let mut times: Vec<Vec<f64>> = vec![Vec::new(); contenders.len()];
        for round in 0..self.rounds {
            for ((contender, times), (batch, rounds)) in contenders.iter_mut().zip(&mut times).zip(&plans) {
                if round < *rounds {
                    times.push(time(*batch, body, contender));
                }
            }
        }
        let medians: Vec<f64> = times.iter_mut().map(|times| median(times)).collect();
        let baseline = contenders.iter().zip(&medians).find(|(contender, _)| contender.is_baseline);
        for (contender, median) in contenders.iter().zip(&medians) {
            let speed = body.len() as f64 / median / 1e9;
            let ratio = baseline.map_or_else(String::new, |(_, of)| format!("{:9.2} x", of / median));
            println!("  {:40} {} {speed:9.3} GB/s{ratio}", contender.name, duration(*median));
        }
    }
}

/// Seconds for one run.
fn time(batch: usize, body: &[u8], contender: &mut Contender<'_>) -> f64 {
    let begun = cpu_seconds();
    for _ in 0..batch {
        black_box((contender.work)(black_box(body)));
    }
    (cpu_seconds() - begun) / batch as f64
}

/// What this thread got of a core: other work on the machine takes caches away, but no time.
fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_unstable_by(f64::total_cmp);
    times[times.len() / 2]
}

fn duration(seconds: f64) -> String {
    if seconds < 1e-3 { format!("{:9.2} us", seconds * 1e6) } else { format!("{:9.2} ms", seconds * 1e3) }
}
