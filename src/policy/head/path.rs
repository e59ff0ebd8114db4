//! The path: detectors look at its segments, decoded one by one. A segment before is the context of the next:
//! `/ssn/123456789`.

use super::percent::{Decoded, push_encoded};
use super::{HeadJudge, Judged};
use crate::pii::Context;
use crate::policy::case::Outcome;
use crate::policy::place::{Place, Spot};
use crate::policy::{Findings, Plan};

/// What an upstream may take for the end of a segment, encoded or not.
const SEPARATORS: [char; 3] = ['/', '\\', '\0'];

impl Plan {
    /// Judges a canonical path (`/a/b%20c`, as it goes upstream). An edit is the new path: as many segments as before, none
    /// of them empty, `.` or `..` if it was not before.
    pub fn judge_path(&self, path: &str, findings: &mut Findings) -> Judged<String> {
        if !self.reads_path() {
            return Judged::Pass;
        }
        let mut judge = HeadJudge::new(self, &self.path, findings);
        let mut out = String::with_capacity(path.len());
        let (mut edited, mut context) = (false, Context::default());
        let (root, rest) = match path.strip_prefix('/') {
            Some(rest) => ("/", rest),
            None => ("", path),
        };
        out.push_str(root);
        for (n, sent) in rest.split('/').enumerate() {
            if n > 0 {
                out.push('/');
            }
            let segment = Decoded::of(sent, false);
            let outcome = judge.anything(&segment.text, context, &Spot::new(Place::Segment(n)));
            if let Outcome::Stop(rule) = outcome {
                return judge.block(rule);
            }
            match judge.segment(outcome, &segment, sent) {
                None => out.push_str(sent),
                Some(new) => {
                    edited = true;
                    out.push_str(&new);
                }
            }
            context = self.customs().under(Context::default(), &segment.text);
        }
        if edited { Judged::Edit(out) } else { Judged::Pass }
    }
}

impl HeadJudge<'_> {
    /// SECURITY: a replacement must not add, empty or climb segments, whatever text a rule puts there.
    fn segment(&self, outcome: Outcome, segment: &Decoded, sent: &str) -> Option<String> {
        let new = self.resent(outcome, segment, sent)?;
        let text = Decoded::of(&new, false).text;
        let separators = |text: &str| text.matches(SEPARATORS).count();
        let tamed = match text.as_str() {
            "" | "." | ".." => "_".into(),
            text if separators(text) > separators(&segment.text) => text.replace(SEPARATORS, "_"),
            _ => return Some(new),
        };
        let mut out = String::new();
        push_encoded(&tamed, &mut out);
        Some(out)
    }
}
