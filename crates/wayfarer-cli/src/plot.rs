//! A line plot as one SVG file that needs nothing else. Both axes are linear and begin at zero, so that nothing looks steeper than it is.

use std::fmt::Write as _;

/// One line of a plot.
pub(crate) struct Line {
    /// What the legend calls it.
    pub(crate) name: String,
    pub(crate) points: Vec<(f64, f64)>,
    /// The ends of the interval at each point; empty where the points are exact.
    pub(crate) band: Vec<(f64, f64)>,
}

/// A plot to be drawn.
pub(crate) struct Plot {
    pub(crate) title: String,
    /// What the axes show: across, up.
    pub(crate) axes: (String, String),
    pub(crate) lines: Vec<Line>,
}

const SIZE: (f64, f64) = (760.0, 460.0);
const LEFT: f64 = 80.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 48.0;
const BOTTOM: f64 = 60.0;

/// Blue, orange, green, purple of about the same lightness, told apart by people who see no red.
const COLOURS: [&str; 4] = ["#0072b2", "#d55e00", "#009e73", "#7b4fa3"];

/// More points than this cannot be seen.
const SHOWN: usize = 500;

impl Plot {
    /// The plot as a file.
    pub(crate) fn svg(&self) -> String {
        let points = || self.lines.iter().flat_map(|line| line.points.iter().zip(highs(line)));
        let across = Scale::new(points().map(|((x, _), _)| *x), LEFT, SIZE.0 - RIGHT);
        let up = Scale::new(points().map(|((_, y), high)| y.max(high)), SIZE.1 - BOTTOM, TOP);
        let (width, height) = SIZE;
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"13\">\n\
             <title>{title}</title>\n<rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n\
             <text x=\"{LEFT}\" y=\"24\" font-size=\"15\" font-weight=\"bold\">{title}</text>\n",
            title = escape(&self.title)
        );
        self.draw_axes(&mut out, &across, &up);
        for (index, line) in self.lines.iter().enumerate() {
            let colour = COLOURS[index % COLOURS.len()];
            let shown = thinned(line.points.len());
            if !line.band.is_empty() {
                let lower = shown.iter().map(|at| (line.points[*at].0, line.band[*at].0));
                let upper = shown.iter().rev().map(|at| (line.points[*at].0, line.band[*at].1));
                let _ = writeln!(out, "<polygon points=\"{}\" fill=\"{colour}\" fill-opacity=\"0.2\"/>", places(lower.chain(upper), &across, &up));
            }
            let path = places(shown.iter().map(|at| line.points[*at]), &across, &up);
            let _ = writeln!(out, "<polyline points=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" stroke-linejoin=\"round\"/>");
            // The legend stands at the lower right, where curves that rise leave room.
            let y = SIZE.1 - BOTTOM - 14.0 - 20.0 * (self.lines.len() - 1 - index) as f64;
            let x = SIZE.0 - RIGHT - 12.0;
            let _ = writeln!(out, "<text x=\"{}\" y=\"{y}\" text-anchor=\"end\" fill=\"{colour}\">{}</text>", x - 30.0, escape(&line.name));
            let _ = writeln!(out, "<line x1=\"{}\" y1=\"{1}\" x2=\"{x}\" y2=\"{1}\" stroke=\"{colour}\" stroke-width=\"2\"/>", x - 24.0, y - 4.0);
        }
        out.push_str("</svg>\n");
        out
    }

    fn draw_axes(&self, out: &mut String, across: &Scale, up: &Scale) {
        let (right, bottom) = (SIZE.0 - RIGHT, SIZE.1 - BOTTOM);
        for tick in up.ticks() {
            let y = up.place(tick);
            let _ = writeln!(out, "<line x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{right}\" y2=\"{y:.1}\" stroke=\"#dddddd\"/>");
            let _ = writeln!(out, "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>", LEFT - 8.0, y + 4.0, up.text(tick));
        }
        for tick in across.ticks() {
            let x = across.place(tick);
            let _ = writeln!(out, "<line x1=\"{x:.1}\" y1=\"{bottom}\" x2=\"{x:.1}\" y2=\"{}\" stroke=\"black\"/>", bottom + 5.0);
            let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>", bottom + 20.0, across.text(tick));
        }
        let _ = writeln!(out, "<path d=\"M{LEFT} {TOP} V{bottom} H{right}\" fill=\"none\" stroke=\"black\"/>");
        let middle = (LEFT + right) / 2.0;
        let _ = writeln!(out, "<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">{}</text>", SIZE.1 - 16.0, escape(&self.axes.0));
        let middle = (TOP + bottom) / 2.0;
        let _ = writeln!(out, "<text transform=\"translate(18 {middle}) rotate(-90)\" text-anchor=\"middle\">{}</text>", escape(&self.axes.1));
    }
}

/// From values to places on the paper.
struct Scale {
    end: f64,
    step: f64,
    from: f64,
    to: f64,
}

impl Scale {
    /// From zero to a round number at or above the largest value.
    fn new(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Scale {
        let most = values.filter(|value| value.is_finite()).fold(0.0, f64::max);
        let most = if most > 0.0 { most } else { 1.0 };
        let power = 10f64.powf((most / 5.0).log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power).into_iter().find(|step| most / step <= 6.0).unwrap_or(10.0 * power);
        Scale { end: (most / step - 1e-9).ceil().max(1.0) * step, step, from, to }
    }

    fn place(&self, value: f64) -> f64 {
        self.from + value / self.end * (self.to - self.from)
    }

    fn ticks(&self) -> impl Iterator<Item = f64> {
        let (step, count) = (self.step, (self.end / self.step).round() as u32);
        (0..=count).map(move |tick| f64::from(tick) * step)
    }

    /// A tick with the digits that tell it from the next.
    fn text(&self, tick: f64) -> String {
        let digits = (-self.step.log10().floor()).clamp(0.0, 12.0) as usize;
        format!("{tick:.digits$}")
    }
}

fn highs(line: &Line) -> impl Iterator<Item = f64> {
    line.band.iter().map(|(_, high)| *high).chain(std::iter::repeat(0.0))
}

/// Indices spread evenly over so many points, both ends among them.
fn thinned(points: usize) -> Vec<usize> {
    if points <= SHOWN { (0..points).collect() } else { (0..SHOWN).map(|index| index * (points - 1) / (SHOWN - 1)).collect() }
}

fn places(points: impl Iterator<Item = (f64, f64)>, across: &Scale, up: &Scale) -> String {
    points.map(|(x, y)| format!("{:.1},{:.1}", across.place(x), up.place(y.max(0.0)))).collect::<Vec<_>>().join(" ")
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_begin_at_zero_and_end_at_a_round_number() {
        for (most, end, last) in [(26.278, 30.0, "30"), (0.93, 1.0, "1.0"), (6.0, 6.0, "6"), (0.0, 1.0, "1.0"), (1e7, 1e7, "10000000")] {
            let scale = Scale::new([most].into_iter(), 0.0, 100.0);
            assert!((scale.end - end).abs() < 1e-9 * end, "{most}: {}", scale.end);
            assert_eq!(scale.text(scale.ticks().last().unwrap()), last);
            assert_eq!((scale.place(0.0), scale.place(scale.end)), (0.0, 100.0));
        }
    }

    #[test]
    fn long_lines_keep_their_ends_and_names_are_escaped() {
        let shown = thinned(1_000_001);
        assert_eq!((shown.len(), shown[0], shown[SHOWN - 1]), (SHOWN, 0, 1_000_000));
        let line = Line { name: "a<b & \"c\"".to_string(), points: vec![(0.0, 1.0), (4.0, 2.0)], band: vec![(0.5, 1.5), (1.0, 3.0)] };
        let svg = Plot { title: "t".to_string(), axes: ("x".to_string(), "y".to_string()), lines: vec![line] }.svg();
        assert!(svg.contains("a&lt;b &amp; &quot;c&quot;") && svg.contains("<polygon") && svg.matches("<polyline").count() == 1, "{svg}");
    }
}
