//! From rules to a plan: programs, lenses and facts. Options and defaults die here.

use std::sync::Arc;

use super::case::{Deed, Group, Judging, Lens, Look, Seen};
use super::name::NamePattern;
use super::place::{Known, Privacy};
use super::plan::{BodyPlan, Facts, HeadPlan, Plan, PlanEntry};
use super::{Direction, Mode, Rule, Target, Within};
use crate::actions::{Action, Redact, plain_text, push_json_string};
use crate::content::json::selector::{Program, ProgramEntry, Purpose, Selector};
use crate::content::json::{Glance, tells};
use crate::pii::{Confidence, Customs, Detector, EntitySet, detector};

impl Plan {
    /// Compiles the rules of all policies of a route, in order, for one direction. At most 65,535 rules.
    pub fn compile(direction: Direction, rules: Vec<Rule>, customs: &Arc<Customs>) -> Self {
        let mut shadows: Vec<Arc<str>> = Vec::new();
        let judging: Vec<Judging> = rules.iter().map(|rule| judging(rule, &mut shadows)).collect();
        let mut makers = Makers { judging: &judging, customs, made: Vec::new() };
        let least = judging.iter().map(Judging::least).min().unwrap_or(Confidence::Likely).min(Confidence::Likely);
        let (program, entries) = compile_program(&rules, Privacy { least, customs });

        let mut body = Gathered::default();
        let mut selected = Gathered::default();
        let (mut query, mut path, mut headers) = (Gathered::default(), Gathered::default(), Gathered::default());
        let mut facts = Facts::default();
        for (n, rule) in (0_u16..).zip(&rules) {
            match &rule.target {
                Target::Select(_) | Target::KeepOnly(_) => {}
                Target::Query(names) => query.named.push((n, names.clone())),
                Target::Headers(names) => headers.named.push((n, names.clone())),
                Target::Detect { within: Within::Select(_), .. } => selected.detect.push(n),
                Target::Detect { within: Within::Query(names), .. } => query.detect_named(n, names),
                Target::Detect { within: Within::Headers(names), .. } => headers.detect_named(n, names),
                Target::Detect { within: Within::Places { body: b, query: q, path: p, headers: h }, .. } => {
                    for (wanted, place) in [(b, &mut body), (b, &mut selected), (q, &mut query), (p, &mut path)] {
                        if *wanted {
                            place.detect.push(n);
                            place.everywhere.push(Seen { rule: n, own: true });
                        }
                    }
                    if !h.is_empty() {
                        headers.detect_named(n, h);
                    }
                }
            }
            if rule.target.reads_body() {
                facts.reads_body = true;
                facts.opens_strings |= judging.get(usize::from(n)).is_some_and(|rule| rule.parses);
                facts.acts_on_body |= rule.mode == Mode::Enforce;
                facts.selects |= rule.mode == Mode::Enforce && rule.target.selects();
                facts.may_block_body |= rule.mode == Mode::Enforce && matches!(rule.action, Action::Block(_));
            }
        }
        super::place::prepare();
        let key_marks = key_marks(&judging, &selected.detect);
        // A key that could equal an edited one must be looked at. Most such keys tell by themselves: `***`, `[REDACTED:…`.
        let keys = key_marks.iter().flatten().any(|mark| !tells(mark.as_bytes()));
        let everywhere = makers.lens(&body);
        let looks = || [&everywhere.enforced, &everywhere.shadow].into_iter().flatten().map(|it| &**it);
        let glance = Glance {
            length: looks().map(Detector::shortest_token).min().unwrap_or(detector::SHORTEST_TOKEN),
            number: looks().map(Detector::shortest_number).min().unwrap_or(detector::SHORTEST_NUMBER),
            keys: keys || looks().any(Detector::reads_wholes),
        };
        Self {
            direction,
            program: Arc::new(program),
            entries,
            body: BodyPlan { everywhere, selected: makers.lens(&selected), key_marks, glance },
            form: makers.head(body),
            query: makers.head(query),
            path: makers.head(path),
            headers: makers.head(headers),
            least,
            judging,
            facts,
            customs: customs.clone(),
            rules,
        }
    }
}

fn judging(rule: &Rule, shadows: &mut Vec<Arc<str>>) -> Judging {
    let group = match rule.mode {
        Mode::Enforce => Group::ENFORCED,
        Mode::Shadow => {
            let at = shadows.iter().position(|name| *name == rule.policy).unwrap_or_else(|| {
                shadows.push(rule.policy.clone());
                shadows.len() - 1
            });
            Group::shadow(at)
        }
    };
    let (look, mut action) = match &rule.target {
        Target::Detect { entities, min_confidence, .. } => {
            (Look::Detect { entities: *entities, least: *min_confidence }, rule.action.clone())
        }
        Target::KeepOnly(_) => (Look::Value, Action::Remove),
        Target::Select(_) | Target::Query(_) | Target::Headers(_) => (Look::Value, rule.action.clone()),
    };
    let is_detect = matches!(look, Look::Detect { .. });
    let in_head = matches!(rule.target, Target::Query(_) | Target::Headers(_));
    // SECURITY: `rules` refuses these; should one come through, the value is hidden rather than let go.
    if is_detect && matches!(action, Action::Remove | Action::Rename(_) | Action::Set(_))
        || in_head && matches!(action, Action::Rename(_))
    {
        action = Action::Redact(Redact::default());
    }
    let deed = match &action {
        Action::Allow => Deed::Allow,
        Action::Log => Deed::Log,
        Action::Block(_) => Deed::Block,
        Action::Rename(_) => Deed::Rename,
        Action::Mask(_) | Action::Redact(Redact { whole: false, .. }) => Deed::Part,
        Action::Remove | Action::Replace(_) | Action::Set(_) | Action::Redact(Redact { whole: true, .. }) => {
            Deed::Whole
        }
    };
    let plain = match &action {
        Action::Replace(json) | Action::Set(json) => plain_text(json),
        Action::Rename(name) => name.clone(),
        Action::Allow | Action::Log | Action::Mask(_) | Action::Redact(_) | Action::Remove | Action::Block(_) => {
            Box::default()
        }
    };
    // SECURITY: `rules` refuses the others; should one come through, the string as a whole is hidden.
    let parses =
        rule.parse && (is_detect || !matches!(deed, Deed::Whole | Deed::Rename)) && rule.target.selects_in_body();
    Judging { look, deed, action, plain, group, parses }
}

fn compile_program(rules: &[Rule], privacy: Privacy<'_>) -> (Program, Vec<PlanEntry>) {
    let mut program = Vec::new();
    let mut entries = Vec::new();
    let mut add = |rule, purpose, selectors: &[Selector], member| {
        let place = match selectors {
            // What such an entry hits is everything else.
            _ if purpose == Purpose::KeepOnly => None,
            [one] => Known::of(one, privacy),
            _ => None,
        };
        program.push(ProgramEntry { purpose, selectors: selectors.to_vec() });
        entries.push(PlanEntry { rule, member, place });
    };
    for (n, rule) in (0_u16..).zip(rules) {
        match (&rule.target, &rule.action) {
            (Target::Select(selectors), Action::Set(json)) => {
                // One entry each: the engine tells which member is missing by the entry.
                for selector in selectors {
                    let member = selector.definite_name().map(|name| {
                        let mut text = Vec::new();
                        push_json_string(name, &mut text);
                        text.push(b':');
                        text.extend_from_slice(json.as_bytes());
                        (name.into(), text.into_boxed_slice())
                    });
                    let purpose = if member.is_some() { Purpose::Ensure } else { Purpose::Value };
                    add(n, purpose, std::slice::from_ref(selector), member);
                }
            }
            // A shadow policy renames nothing, so nothing can collide.
            (Target::Select(selectors), Action::Rename(_)) if rule.mode == Mode::Shadow => {
                add(n, Purpose::Key, selectors, None);
            }
            (Target::Select(selectors), Action::Rename(name)) => {
                add(n, Purpose::RenameTo(name.to_string()), selectors, None);
            }
            (Target::Select(selectors) | Target::Detect { within: Within::Select(selectors), .. }, _) => {
                add(n, Purpose::Value, selectors, None);
            }
            (Target::KeepOnly(selectors), _) => add(n, Purpose::KeepOnly, selectors, None),
            (Target::Query(_) | Target::Headers(_) | Target::Detect { .. }, _) => {}
        }
    }
    (Program::compile(&program), entries)
}

/// What a key must hold to be able to equal an edited key.
fn key_marks(judging: &[Judging], detect: &[u16]) -> Option<Vec<Box<str>>> {
    let mut marks: Vec<Box<str>> = Vec::new();
    for rule in detect.iter().filter_map(|n| judging.get(usize::from(*n))).filter(|rule| rule.is_enforced()) {
        match &rule.action {
            Action::Mask(mask) => marks.push(mask.with.to_string().into()),
            Action::Redact(redact) => marks.push(redact.with.clone().unwrap_or_else(|| "[REDACTED:".into())),
            Action::Replace(_) => marks.push(rule.plain.clone()),
            Action::Allow | Action::Log | Action::Block(_) | Action::Remove | Action::Rename(_) | Action::Set(_) => {}
        }
    }
    (!marks.is_empty()).then_some(marks)
}

/// What looks at one place, while it is gathered.
#[derive(Debug, Default)]
struct Gathered {
    everywhere: Vec<Seen>,
    named: Vec<(u16, Vec<NamePattern>)>,
    detect: Vec<u16>,
}

impl Gathered {
    fn detect_named(&mut self, rule: u16, names: &[NamePattern]) {
        self.detect.push(rule);
        self.named.push((rule, names.to_vec()));
    }
}

/// Makes lenses; equal detectors are made once.
struct Makers<'a> {
    judging: &'a [Judging],
    customs: &'a Arc<Customs>,
    made: Vec<(EntitySet, Arc<Detector>)>,
}

impl Makers<'_> {
    // SECURITY: enforced and shadow rules look through detectors of their own. With one detector over both, a shadow rule's
    // entity could win a span from an enforced rule's, and a policy on trial would open a hole.
    fn lens(&mut self, gathered: &Gathered) -> Lens {
        let union = |enforced: bool| {
            let looks = gathered.detect.iter().filter_map(|n| self.judging.get(usize::from(*n)));
            looks
                .filter(|rule| rule.is_enforced() == enforced)
                .fold(EntitySet::EMPTY, |all, rule| all.union(rule.entities()))
        };
        let (enforced, shadow) = (union(true), union(false));
        Lens { seen: gathered.everywhere.clone(), enforced: self.detector(enforced), shadow: self.detector(shadow) }
    }

    fn head(&mut self, gathered: Gathered) -> HeadPlan {
        HeadPlan { lens: self.lens(&gathered), named: gathered.named }
    }

    fn detector(&mut self, entities: EntitySet) -> Option<Arc<Detector>> {
        if entities.is_empty() {
            return None;
        }
        if let Some((_, detector)) = self.made.iter().find(|(made, _)| *made == entities) {
            return Some(detector.clone());
        }
        let detector = Arc::new(Detector::with_customs(entities, self.customs));
        self.made.push((entities, detector.clone()));
        Some(detector)
    }
}
