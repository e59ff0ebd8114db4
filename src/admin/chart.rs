//! Charts as SVG, drawn on the server: lines with gaps where nothing was measured, stacked bars, and beside each a
//! sentence and a table that say the same. The plot stretches; its labels are HTML, so they stay readable at any width.
//! Pure; it refuses to know what is drawn.

use std::fmt::Write;

use askama::Template;

/// The plot's own units, stretched by the page.
const WIDTH: f64 = 600.0;
const HEIGHT: f64 = 140.0;

/// A drawn chart.
#[derive(Debug, Template)]
#[template(path = "chart.html")]
pub(super) struct Chart {
    id: &'static str,
    title: &'static str,
    /// What the chart says, in words.
    summary: String,
    shapes: Vec<Shape>,
    legend: Vec<(String, usize)>,
    /// Labels of the vertical axis, from the top.
    scale: [String; 3],
    /// Labels of the horizontal axis, from the left.
    times: Vec<String>,
    /// Invisible columns that show their text on pointing.
    columns: Vec<Column>,
    head: Vec<String>,
    rows: Vec<(String, Vec<String>)>,
    width: f64,
    height: f64,
}

/// A path with the number of its series, which gives colour and dashes.
#[derive(Debug)]
struct Shape {
    d: String,
    series: usize,
    filled: bool,
}

#[derive(Debug)]
struct Column {
    x: f64,
    width: f64,
    text: String,
}

/// One curve, or one layer of the bars.
pub(super) struct Series {
    /// Its name in legend and table.
    pub(super) name: String,
    /// One value per moment; `None` where nothing was measured.
    pub(super) values: Vec<Option<f64>>,
}

/// How the series are drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// The first one filled, the others as lines above it.
    Area,
    /// All as lines.
    Lines,
    /// On top of each other.
    Bars,
}

/// What is to be drawn.
pub(super) struct Plan<'a> {
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    pub(super) summary: String,
    pub(super) style: Style,
    pub(super) series: Vec<Series>,
    /// When each moment ended: `12 s ago`. The newest last.
    pub(super) moments: Vec<String>,
    /// How many moments fit: the newest stands at the right edge.
    pub(super) room: usize,
    /// Labels of the horizontal axis.
    pub(super) times: Vec<String>,
    /// How a value is written.
    pub(super) format: &'a dyn Fn(f64) -> String,
}

impl Plan<'_> {
    pub(super) fn draw(self) -> Chart {
        let highest = self.highest();
        let top = nice(highest);
        let room = self.room.max(self.moments.len()).max(1);
        let step = WIDTH / room as f64;
        let first = room - self.moments.len();
        let x = |moment: usize| (first + moment) as f64 * step;
        let y = |value: f64| HEIGHT - value / top * HEIGHT;
        let shapes = match self.style {
            Style::Bars => self.bars(step, &x, &y),
            Style::Area | Style::Lines => self.lines(&|moment| x(moment) + step / 2.0, &y),
        };
        let write = |value: Option<f64>| value.map_or_else(|| super::format::NOTHING.to_owned(), self.format);
        let mut columns = Vec::with_capacity(self.moments.len());
        let mut rows = Vec::with_capacity(self.moments.len());
        for (moment, when) in self.moments.iter().enumerate() {
            let values: Vec<String> =
                self.series.iter().map(|series| write(series.values.get(moment).copied().flatten())).collect();
            let mut text = when.clone();
            for (series, value) in self.series.iter().zip(&values) {
                // Writing to a string cannot fail.
                write!(text, "\n{}: {value}", series.name).ok();
            }
            columns.push(Column { x: x(moment), width: step, text });
            rows.push((when.clone(), values));
        }
        rows.reverse();
        let legend = self.series.iter().enumerate().map(|(position, series)| (series.name.clone(), position));
        Chart {
            id: self.id,
            title: self.title,
            shapes,
            legend: legend.collect(),
            // An empty chart has no scale: invented numbers would look measured.
            scale: [top, top / 2.0, 0.0]
                .map(|value| if highest > 0.0 { short(&(self.format)(value)) } else { String::new() }),
            columns,
            head: self.series.iter().map(|series| series.name.clone()).collect(),
            rows,
            summary: self.summary,
            times: self.times,
            width: WIDTH,
            height: HEIGHT,
        }
    }

    fn highest(&self) -> f64 {
        let stacked = self.style == Style::Bars;
        (0..self.moments.len())
            .map(|moment| {
                let values = self.series.iter().filter_map(|series| series.values.get(moment).copied().flatten());
                if stacked { values.sum() } else { values.fold(0.0, f64::max) }
            })
            .fold(0.0, f64::max)
    }

    fn lines(&self, x: &dyn Fn(usize) -> f64, y: &dyn Fn(f64) -> f64) -> Vec<Shape> {
        let mut shapes = Vec::new();
        for (position, series) in self.series.iter().enumerate() {
            // A curve along the ground says nothing and covers the others.
            if position > 0 && series.values.iter().flatten().all(|value| *value <= 0.0) {
                continue;
            }
            let runs = runs(&series.values);
            if position == 0 && self.style == Style::Area {
                let mut d = String::new();
                for run in &runs {
                    let (Some((from, _)), Some((to, _))) = (run.first(), run.last()) else { continue };
                    write!(d, "{}L{:.1} {HEIGHT}L{:.1} {HEIGHT}Z", path(run, x, y), x(*to), x(*from)).ok();
                }
                shapes.push(Shape { d, series: position, filled: true });
            }
            let d = runs.iter().map(|run| path(run, x, y)).collect();
            shapes.push(Shape { d, series: position, filled: false });
        }
        shapes
    }

    fn bars(&self, step: f64, x: &dyn Fn(usize) -> f64, y: &dyn Fn(f64) -> f64) -> Vec<Shape> {
        let mut base = vec![0.0; self.moments.len()];
        let mut shapes = Vec::new();
        for (position, series) in self.series.iter().enumerate() {
            let mut d = String::new();
            for (moment, (base, value)) in base.iter_mut().zip(&series.values).enumerate() {
                let Some(value) = value.filter(|value| *value > 0.0) else { continue };
                let (left, low, high) = (x(moment) + step * 0.12, y(*base), y(*base + value));
                write!(d, "M{left:.1} {low:.1}V{high:.1}h{:.1}V{low:.1}Z", step * 0.76).ok();
                *base += value;
            }
            shapes.push(Shape { d, series: position, filled: true });
        }
        shapes
    }
}

/// Stretches of moments that follow each other and have values.
fn runs(values: &[Option<f64>]) -> Vec<Vec<(usize, f64)>> {
    let mut runs: Vec<Vec<(usize, f64)>> = vec![Vec::new()];
    for (moment, value) in values.iter().enumerate() {
        match (value, runs.last_mut()) {
            (Some(value), Some(run)) => run.push((moment, *value)),
            (None, Some(run)) if !run.is_empty() => runs.push(Vec::new()),
            (None | Some(_), _) => {}
        }
    }
    runs.retain(|run| !run.is_empty());
    runs
}

fn path(run: &[(usize, f64)], x: &dyn Fn(usize) -> f64, y: &dyn Fn(f64) -> f64) -> String {
    let mut d = String::new();
    for (n, (moment, value)) in run.iter().enumerate() {
        write!(d, "{}{:.1} {:.1}", if n == 0 { 'M' } else { 'L' }, x(*moment), y(*value)).ok();
    }
    if run.len() == 1 {
        // A lone moment would be invisible as a line of no length.
        d.push_str("h0.1");
    }
    d
}

/// The next of 1, 2, 4, 5, 8 times a power of ten: halves of these read well.
fn nice(value: f64) -> f64 {
    if value <= 0.0 || !value.is_finite() {
        return 1.0;
    }
    let power = 10_f64.powf(value.log10().floor());
    let step = [1.0, 2.0, 4.0, 5.0, 8.0, 10.0].into_iter().find(|step| value <= step * power * 1.000_001);
    step.unwrap_or(10.0) * power
}

/// `20.0 ms` as `20 ms`: the scale's values are round.
fn short(label: &str) -> String {
    let (number, unit) = label.split_once(' ').map_or((label, ""), |(number, unit)| (number, unit));
    let number = if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number };
    if unit.is_empty() { number.to_owned() } else { format!("{number} {unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_are_round() {
        for (value, top) in
            [(0.0, 1.0), (0.3, 0.4), (1.0, 1.0), (1.1, 2.0), (43.0, 50.0), (640.0, 800.0), (801.0, 1_000.0)]
        {
            assert!((nice(value) - top).abs() < 1e-9, "{value}: {}", nice(value));
        }
    }

    #[test]
    fn labels_are_short() {
        for (label, shown) in
            [("20.0 ms", "20 ms"), ("0.50", "0.5"), ("100", "100"), ("1,000", "1,000"), ("0 µs", "0 µs")]
        {
            assert_eq!(short(label), shown);
        }
    }

    #[test]
    fn gaps_stay_gaps() {
        let values = [None, Some(1.0), Some(2.0), None, None, Some(3.0)];
        assert_eq!(runs(&values), [vec![(1, 1.0), (2, 2.0)], vec![(5, 3.0)]]);
        assert_eq!(runs(&[None]), Vec::<Vec<(usize, f64)>>::new());
    }

    #[test]
    fn says_the_same_in_table_and_picture() {
        let plan = Plan {
            id: "c",
            title: "T",
            summary: "S".into(),
            style: Style::Bars,
            series: vec![
                Series { name: "a<b".into(), values: vec![Some(1.0), None] },
                Series { name: "c".into(), values: vec![Some(3.0), Some(2.0)] },
            ],
            moments: vec!["2 s ago".into(), "1 s ago".into()],
            room: 4,
            times: vec![],
            format: &|value| format!("{value}"),
        };
        let chart = plan.draw();
        assert_eq!(chart.scale, ["4", "2", "0"]);
        assert_eq!(
            chart.rows,
            [("1 s ago".into(), vec!["–".into(), "2".into()]), ("2 s ago".into(), vec!["1".into(), "3".into()])]
        );
        let html = chart.render().unwrap();
        assert!(html.contains("a&#60;b") && !html.contains("a<b"), "{html}");
    }
}
