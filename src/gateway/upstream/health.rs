//! Whether a target is well, by what its health checks say: so many in a row, either way. It refuses to know the clock and
//! what a good answer is.

use crate::rules::HealthCheck;

/// What is known of one target.
#[derive(Debug)]
pub struct Health {
    unhealthy_after: u32,
    healthy_after: u32,
    is_unhealthy: bool,
    /// Answers in a row that contradict it.
    against: u32,
}

impl Health {
    /// A target is well until it has been shown not to be: a start does not wait for checks.
    pub fn new(check: &HealthCheck) -> Self {
        Self {
            unhealthy_after: check.unhealthy_after,
            healthy_after: check.healthy_after,
            is_unhealthy: false,
            against: 0,
        }
    }

    /// Whether it is not well.
    pub fn is_unhealthy(&self) -> bool {
        self.is_unhealthy
    }

    /// Takes in one answer; tells whether that changed what is known.
    pub fn checked(&mut self, is_good: bool) -> bool {
        if is_good != self.is_unhealthy {
            self.against = 0;
            return false;
        }
        self.against += 1;
        let enough = if self.is_unhealthy { self.healthy_after } else { self.unhealthy_after };
        if self.against < enough {
            return false;
        }
        self.is_unhealthy = !self.is_unhealthy;
        self.against = 0;
        true
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// `+` a good answer, `-` a bad one; `u` where it becomes unhealthy, `h` where it becomes healthy.
    fn check(answers: &str, expected: &str) {
        let second = Duration::from_secs(1);
        let mut health = Health::new(&HealthCheck {
            path: "/".into(),
            interval: second,
            timeout: second,
            unhealthy_after: 3,
            healthy_after: 2,
        });
        let told: String = answers
            .chars()
            .map(|answer| match (health.checked(answer == '+'), health.is_unhealthy()) {
                (false, _) => '.',
                (true, true) => 'u',
                (true, false) => 'h',
            })
            .collect();
        assert_eq!(told, expected, "{answers}");
    }

    #[test]
    fn it_changes_after_so_many_in_a_row() {
        check("++--+--+---", "..........u");
        check("---+-++-", "..u...h.");
        check("---++---", "..u.h..u");
        check("------", "..u...");
    }
}
