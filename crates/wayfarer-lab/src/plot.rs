//! A line plot, drawn by the plotting library `plotters` as one self-contained SVG.

use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, Ranged, ValueFormatter};
use plotters::prelude::*;
use serde::{Deserialize, Serialize};

/// A plot to be drawn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Plot {
    /// Its title.
    pub title: String,
    /// The label of the horizontal axis.
    pub across: String,
    /// The label of the vertical axis.
    pub up: String,
    /// Whether the axes are logarithmic: across, up. Linear ones begin at zero, so that nothing looks steeper than it is.
    pub log: (bool, bool),
    /// The lines.
    pub lines: Vec<Line>,
}

/// One line of a plot.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// Its name in the legend.
    pub name: String,
    /// Its points.
    pub points: Vec<(f64, f64)>,
    /// The ends of the interval at each point; empty if the points are exact.
    pub band: Vec<(f64, f64)>,
}

impl Line {
    /// A line without intervals, thinned to as many points as can be seen.
    pub fn new(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Line {
        let points: Vec<(f64, f64)> = points.into_iter().collect();
        Line { name: name.into(), points: thinned(points.len()).into_iter().map(|at| points[at]).collect(), band: Vec::new() }
    }
}

/// Small in relation to its letters, so that they can be read at the width of a phone.
const SIZE: (u32, u32) = (480, 340);
const LEGEND: u32 = 22;

/// Blue, orange, green, purple, sky, rust of about the same lightness, distinguishable without seeing red.
const COLOURS: [RGBColor; 6] =
    [RGBColor(0, 114, 178), RGBColor(213, 94, 0), RGBColor(0, 158, 115), RGBColor(123, 79, 163), RGBColor(86, 180, 233), RGBColor(160, 120, 0)];

/// Dashes beside the colours, so that lines can be told apart in grey; the first is solid.
const DASHES: [&str; 6] = ["", "9 4", "2 3", "9 3 2 3", "5 2", "14 3 2 3 2 3"];

/// Lines with at most this many points show them as dots.
const DOTS: usize = 12;

/// More points than this cannot be seen.
const SHOWN: usize = 240;

impl Plot {
    /// The plot as SVG text.
    pub fn svg(&self) -> String {
        let mut out = String::new();
        let rows = self.legend();
        let size = (SIZE.0, SIZE.1 + LEGEND * rows.len() as u32);
        let drawn = {
            let root = SVGBackend::with_string(&mut out, size).into_drawing_area();
            self.draw(&root, &rows).and_then(|()| root.present().map_err(|error| error.to_string()))
        };
        match drawn {
            Ok(()) => dashed(&out),
            // Drawing into memory does not fail; if it did, the page would still say what is missing.
            Err(error) => {
                format!("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 480 40\"><text x=\"8\" y=\"24\">{}</text></svg>", escape(&error))
            }
        }
    }

    /// The same plot without its title, for a page that shows the title itself.
    pub(crate) fn untitled(&self) -> Plot {
        Plot { title: String::new(), ..self.clone() }
    }

    fn draw(&self, root: &DrawingArea<SVGBackend, Shift>, rows: &[Vec<usize>]) -> Result<(), String> {
        root.fill(&WHITE).map_err(|error| error.to_string())?;
        let (upper, lower) = root.split_vertically(SIZE.1);
        let (across, up) = (
            Axis::new(self.values(|(x, _), _| vec![*x]), self.log.0),
            Axis::new(self.values(|(_, y), band| [*y, band.0, band.1].to_vec()), self.log.1),
        );
        match (across, up) {
            (Axis::Linear(x), Axis::Linear(y)) => self.chart(&upper, x, y),
            (Axis::Log(x), Axis::Linear(y)) => self.chart(&upper, x.log_scale(), y),
            (Axis::Linear(x), Axis::Log(y)) => self.chart(&upper, x, y.log_scale()),
            (Axis::Log(x), Axis::Log(y)) => self.chart(&upper, x.log_scale(), y.log_scale()),
        }?;
        for (row, lines) in rows.iter().enumerate() {
            let (y, mut x) = (row as i32 * LEGEND as i32 + 4, 64);
            for line in lines {
                let colour = COLOURS[line % COLOURS.len()];
                let stroke = PathElement::new(vec![(x, y + 7), (x + 20, y + 7)], colour.stroke_width(3));
                lower.draw(&stroke).map_err(|error| error.to_string())?;
                let name = Text::new(self.lines[*line].name.clone(), (x + 26, y), ("sans-serif", 17).into_font());
                lower.draw(&name).map_err(|error| error.to_string())?;
                x += entry_width(&self.lines[*line].name);
            }
        }
        Ok(())
    }

    fn chart<X, Y>(&self, area: &DrawingArea<SVGBackend, Shift>, x: X, y: Y) -> Result<(), String>
    where
        X: AsRangedCoord<Value = f64>,
        Y: AsRangedCoord<Value = f64>,
        X::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
        Y::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
    {
        let text = |error: DrawingAreaErrorKind<_>| format!("{error}");
        let mut builder = ChartBuilder::on(area);
        if !self.title.is_empty() {
            // Bold letters are about 0.58 as wide as high.
            let fitting = f64::from(SIZE.0 - 16) / (0.58 * self.title.chars().count() as f64);
            builder.caption(&self.title, ("sans-serif", fitting.min(20.0)).into_font().style(FontStyle::Bold));
        }
        let mut chart = builder.margin(8).margin_right(20).x_label_area_size(48).y_label_area_size(70).build_cartesian_2d(x, y).map_err(text)?;
        let tick = |value: &f64| tick(*value);
        let faint = RGBColor(221, 221, 221);
        let mut mesh = chart.configure_mesh();
        mesh.disable_x_mesh().bold_line_style(faint).light_line_style(TRANSPARENT).x_desc(&self.across).y_desc(&self.up);
        mesh.x_labels(6).y_labels(6).x_label_formatter(&tick).y_label_formatter(&tick);
        mesh.label_style(("sans-serif", 16)).axis_desc_style(("sans-serif", 17)).draw().map_err(text)?;
        // All lines have dots, or none: a reader would look for a meaning.
        let dotted = self.lines.iter().all(|line| line.points.len() <= DOTS);
        for (index, line) in self.lines.iter().enumerate() {
            let colour = COLOURS[index % COLOURS.len()];
            let shown = thinned(line.points.len());
            let keeps = |(x, y): &(f64, f64)| x.is_finite() && y.is_finite() && !(self.log.0 && *x <= 0.0) && !(self.log.1 && *y <= 0.0);
            if line.band.len() == line.points.len() && !line.band.is_empty() {
                let lower = shown.iter().map(|at| (line.points[*at].0, line.band[*at].0));
                let around: Vec<(f64, f64)> =
                    lower.chain(shown.iter().rev().map(|at| (line.points[*at].0, line.band[*at].1))).filter(&keeps).collect();
                chart.draw_series([Polygon::new(around, colour.mix(0.2))]).map_err(text)?;
            }
            let points: Vec<(f64, f64)> = shown.iter().map(|at| line.points[*at]).filter(&keeps).collect();
            if dotted {
                chart.draw_series(points.iter().map(|point| Circle::new(*point, 3, colour.filled()))).map_err(text)?;
            }
            chart.draw_series(LineSeries::new(points, colour.stroke_width(2))).map_err(text)?;
        }
        Ok(())
    }

    /// All finite values along an axis.
    fn values(&self, of: impl Fn(&(f64, f64), (f64, f64)) -> Vec<f64>) -> Vec<f64> {
        let lines = self.lines.iter().flat_map(|line| {
            line.points.iter().enumerate().map(move |(at, point)| (point, line.band.get(at).copied().unwrap_or((point.1, point.1))))
        });
        lines.flat_map(|(point, band)| of(point, band)).filter(|value| value.is_finite()).collect()
    }

    /// The lines in each row of the legend.
    fn legend(&self) -> Vec<Vec<usize>> {
        let mut rows: Vec<Vec<usize>> = Vec::new();
        let mut room = 0;
        for (index, line) in self.lines.iter().enumerate() {
            let width = entry_width(&line.name);
            match rows.last_mut() {
                Some(row) if width <= room => row.push(index),
                _ => {
                    rows.push(vec![index]);
                    room = SIZE.0 as i32 - 64;
                }
            }
            room -= width;
        }
        rows
    }

    /// A description of the plot for screen readers.
    pub fn words(&self) -> String {
        let lines: Vec<String> = self
            .lines
            .iter()
            .filter_map(|line| {
                let ((first_x, first_y), (last_x, last_y)) = (line.points.first()?, line.points.last()?);
                Some(format!("{} from {} at {} to {} at {}", line.name, tick(*first_y), tick(*first_x), tick(*last_y), tick(*last_x)))
            })
            .collect();
        format!("{}: {} against {}. {}", self.title, self.up, self.across, lines.join("; "))
    }
}

/// The drawing with the dashes of each colour.
fn dashed(svg: &str) -> String {
    let mut out = svg.to_string();
    for (RGBColor(red, green, blue), dash) in COLOURS.iter().zip(DASHES).skip(1) {
        let stroke = format!("stroke=\"#{red:02X}{green:02X}{blue:02X}\"");
        out = out.replace(&stroke, &format!("{stroke} stroke-dasharray=\"{dash}\""));
    }
    out
}

/// A logarithmic range that holds at least two powers of ten, because only they have labels.
fn readable(least: f64, most: f64) -> std::ops::Range<f64> {
    let powers = |least: f64, most: f64| most.log10().floor() - least.log10().ceil() + 1.0;
    let down = if powers(least, most) < 2.0 { 10f64.powf(least.log10().floor()) } else { least };
    let up = if powers(down, most) < 2.0 { 10f64.powf(most.log10().ceil()) } else { most };
    down..up
}

/// The range of an axis.
enum Axis {
    Linear(std::ops::Range<f64>),
    Log(std::ops::Range<f64>),
}

impl Axis {
    fn new(values: Vec<f64>, log: bool) -> Axis {
        let most = values.iter().copied().fold(0.0, f64::max);
        let least = values.iter().copied().filter(|value| *value > 0.0).fold(f64::INFINITY, f64::min);
        match log && least.is_finite() {
            true => Axis::Log(readable(least, if most > least { most } else { least * 10.0 })),
            false => Axis::Linear(0.0..if most > 0.0 { most * 1.02 } else { 1.0 }),
        }
    }
}

/// The approximate width of an entry of the legend.
fn entry_width(name: &str) -> i32 {
    44 + 8 * name.chars().count() as i32
}

/// A number at an axis: short, without trailing zeros.
fn tick(value: f64) -> String {
    let size = value.abs();
    let short = |value: f64| {
        let text = format!("{value:.3}");
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    };
    match size {
        _ if size >= 1e6 => format!("{}M", short(value / 1e6)),
        _ if size >= 1e4 => format!("{}k", short(value / 1e3)),
        _ if size == 0.0 || size >= 1e-3 => short(value),
        _ => format!("{value:.0e}"),
    }
}

/// At most [`SHOWN`] indices spread evenly over the points, both ends among them.
fn thinned(points: usize) -> Vec<usize> {
    if points <= SHOWN { (0..points).collect() } else { (0..SHOWN).map(|index| index * (points - 1) / (SHOWN - 1)).collect() }
}

/// Escapes text for HTML or SVG.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(log: (bool, bool)) -> Plot {
        let line = Line { name: "a<b & \"c\"".to_string(), points: vec![(0.0, 1.0), (4.0, 2.0)], band: vec![(0.5, 1.5), (1.0, 3.0)] };
        Plot { title: "t".to_string(), across: "x".to_string(), up: "y".to_string(), log, lines: vec![line] }
    }

    #[test]
    fn a_logarithmic_axis_has_two_labels_at_least() {
        assert_eq!(readable(1.07, 10.2), 1.0..10.2);
        assert_eq!(readable(25.0, 4_106.0), 25.0..4_106.0);
        assert_eq!(readable(2.0, 7.0), 1.0..10.0);
    }

    #[test]
    fn lines_bands_and_names_are_drawn() {
        for log in [(false, false), (true, false), (false, true), (true, true)] {
            let svg = plot(log).svg();
            assert!(svg.starts_with("<svg") && svg.contains("a&lt;b &amp; ") && svg.contains("<polyline") && !svg.contains("NaN"), "{svg}");
        }
        assert!(plot((false, false)).svg().contains("<polygon"));
        assert!(Plot::default().svg().starts_with("<svg"));
    }

    /// The vertical extent of the curve in an SVG, in pixels from its highest to its lowest point.
    fn extent(svg: &str) -> f64 {
        let curve = svg.lines().find(|line| line.starts_with("<polyline") && line.contains("stroke-width=\"2\"")).unwrap();
        let points = curve.split("points=\"").nth(1).unwrap().split('"').next().unwrap();
        let heights = points.split_whitespace().map(|point| point.split(',').nth(1).unwrap().parse::<f64>().unwrap());
        let (low, high) = heights.fold((f64::INFINITY, 0.0_f64), |(low, high), at| (low.min(at), high.max(at)));
        high - low
    }

    #[test]
    fn a_line_without_a_band_fills_the_height() {
        // The horizontal values are a thousand times as large: they must not widen the vertical axis.
        let line = Line::new("l", (0..=10).map(|at| (1000.0 * f64::from(at), f64::from(at))));
        for log in [(false, false), (true, false)] {
            let svg = Plot { log, lines: vec![line.clone()], ..Plot::default() }.svg();
            assert!(extent(&svg) > 0.75 * f64::from(SIZE.1) - 36.0, "{} in {svg}", extent(&svg));
        }
    }

    #[test]
    fn lines_differ_in_more_than_colour() {
        let lines: Vec<Line> = (0..6).map(|at| Line::new(format!("l{at}"), [(0.0, f64::from(at)), (1.0, 9.0)])).collect();
        let svg = Plot { lines, ..Plot::default() }.svg();
        assert!(
            DASHES[1..].iter().all(|dash| svg.matches(&format!("stroke-dasharray=\"{dash}\"")).count() >= 2),
            "in the plot and in the legend: {svg}"
        );
    }

    #[test]
    fn either_all_lines_have_dots_or_none() {
        let line = |points: u32| Line::new("l", (0..points).map(|at| (f64::from(at), f64::from(at))));
        let dots = |lines: Vec<Line>| Plot { lines, ..Plot::default() }.svg().matches("<circle").count();
        assert_eq!((dots(vec![line(3), line(12)]), dots(vec![line(3), line(13)])), (15, 0));
    }

    #[test]
    fn a_long_title_fits() {
        let size = |title: &str| {
            let svg = Plot { title: title.to_string(), ..Plot::default() }.svg();
            svg.split("font-size=\"").nth(1).unwrap().split('"').next().unwrap().parse::<f64>().unwrap()
        };
        assert!(size("short") > size(&"a title as long as this ".repeat(3)));
    }

    #[test]
    fn long_lines_keep_their_ends() {
        let shown = thinned(1_000_001);
        assert_eq!((shown.len(), shown[0], shown[SHOWN - 1]), (SHOWN, 0, 1_000_000));
    }

    #[test]
    fn ticks_are_short() {
        for (value, text) in [(0.0, "0"), (0.25, "0.25"), (1500.0, "1500"), (20_000.0, "20k"), (2.5e6, "2.5M"), (1e-5, "1e-5")] {
            assert_eq!(tick(value), text);
        }
    }
}
