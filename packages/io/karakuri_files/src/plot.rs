//! Line plots as SVG: panels one below the other over one horizontal axis each, with legend and units.

use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::{WriteError, write_atomic};

/// Width of the picture, height of a panel, room for the title, room for the legend. [px]
const WIDTH: u32 = 960;
const PANEL: u32 = 260;
const TITLE: u32 = 44;
const LEGEND: u32 = 190;
/// Points of a line after thinning: two a pixel are all that one sees.
const POINTS: usize = 2000;
/// Colours that people with colour-blindness tell apart. [Okabe and Ito 2008]
const COLORS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(90, 90, 90),
    RGBColor(160, 140, 0),
];
const TEXT: RGBColor = RGBColor(40, 40, 40);
const GRID: RGBColor = RGBColor(228, 228, 228);

/// A figure.
#[derive(Debug, Clone, Default)]
pub struct Plot {
    /// Above all panels.
    pub title: String,
    /// From top to bottom.
    pub panels: Vec<Panel>,
}

/// One pair of axes.
#[derive(Debug, Clone, Default)]
pub struct Panel {
    /// Horizontal axis with its unit, such as `time [s]`.
    pub x_label: String,
    /// Vertical axis with its unit, such as `torque [N·m]`.
    pub y_label: String,
    /// Lines, in the order of the legend.
    pub series: Vec<Series>,
}

/// A line.
#[derive(Debug, Clone, Default)]
pub struct Series {
    /// In the legend.
    pub name: String,
    /// `(x, y)`; the line breaks where one is not finite.
    pub points: Vec<(f64, f64)>,
}

/// Why there is no plot.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlotError {
    /// The drawing library refuses.
    #[error("cannot draw: {0}")]
    Draw(String),
    /// The file could not be written.
    #[error("{0}")]
    Write(#[from] WriteError),
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

fn failed(error: impl std::fmt::Display) -> PlotError {
    PlotError::Draw(error.to_string())
}

fn font(size: u32) -> TextStyle<'static> {
    ("Helvetica, Arial, sans-serif", size).into_font().color(&TEXT)
}

impl Series {
    /// A line through points.
    pub fn new(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.into(), points }
    }
}

impl Plot {
    /// The figure as SVG text.
    pub fn to_svg(&self) -> Result<String, PlotError> {
        let mut text = String::new();
        let panels = u32::try_from(self.panels.len()).map_err(failed)?;
        let height = TITLE + PANEL * panels.max(1);
        {
            let root = SVGBackend::with_string(&mut text, (WIDTH, height)).into_drawing_area();
            root.fill(&WHITE).map_err(failed)?;
            let title = Text::new(self.title.clone(), (16, 14), font(24));
            root.draw(&title).map_err(failed)?;
            let (_, below) = root.split_vertically(TITLE);
            for (panel, area) in
                self.panels.iter().zip(below.split_evenly((self.panels.len().max(1), 1)))
            {
                panel.draw(&area)?;
            }
            root.present().map_err(failed)?;
        }
        Ok(text)
    }

    /// Writes the figure, whole or not at all.
    pub fn write_svg(&self, path: &Path) -> Result<(), PlotError> {
        Ok(write_atomic(path, self.to_svg()?.as_bytes())?)
    }
}

impl Panel {
    fn draw(&self, area: &Area<'_>) -> Result<(), PlotError> {
        let (plot, legend) = area.split_horizontally(WIDTH - LEGEND);
        let x = range(self.series.iter().flat_map(|s| &s.points).map(|p| p.0), 0.0);
        let y = range(self.series.iter().flat_map(|s| &s.points).map(|p| p.1), 0.05);
        let mut chart = ChartBuilder::on(&plot)
            .margin(8)
            .x_label_area_size(42)
            .y_label_area_size(72)
            .build_cartesian_2d(x.clone(), y.clone())
            .map_err(failed)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(GRID)
            .axis_style(TEXT.mix(0.6))
            .x_labels(9)
            .y_labels(6)
            .x_label_formatter(&|v| tick(*v, x.end - x.start))
            .y_label_formatter(&|v| tick(*v, y.end - y.start))
            .label_style(font(15))
            .axis_desc_style(font(16))
            .x_desc(&self.x_label)
            .y_desc(&self.y_label)
            .draw()
            .map_err(failed)?;
        for (i, series) in self.series.iter().enumerate() {
            let style = COLORS[i % COLORS.len()].stroke_width(2);
            for piece in series.points.split(|p| !(p.0.is_finite() && p.1.is_finite())) {
                chart.draw_series(LineSeries::new(thin(piece), style)).map_err(failed)?;
            }
        }
        self.draw_legend(&legend)
    }

    /// Beside the axes, where it hides nothing.
    fn draw_legend(&self, area: &Area<'_>) -> Result<(), PlotError> {
        let rows = i32::try_from((PANEL - 60) / 20).map_err(failed)?;
        let mut y = 18;
        for (i, series) in self.series.iter().enumerate() {
            if y > rows * 20 {
                let more = format!("and {} more", self.series.len() - i);
                area.draw(&Text::new(more, (8, y), font(15))).map_err(failed)?;
                break;
            }
            let style = COLORS[i % COLORS.len()].stroke_width(3);
            area.draw(&PathElement::new(vec![(8, y), (30, y)], style)).map_err(failed)?;
            let style = font(15).pos(Pos::new(HPos::Left, VPos::Center));
            area.draw(&Text::new(shorten(&series.name), (38, y), style)).map_err(failed)?;
            y += 20;
        }
        Ok(())
    }
}

/// As much as fits beside a panel.
fn shorten(name: &str) -> String {
    const FITS: usize = 20;
    if name.chars().count() <= FITS {
        return name.to_owned();
    }
    name.chars().take(FITS - 1).chain(['…']).collect()
}

/// From the least to the greatest finite value, with a margin; never empty.
fn range(values: impl Iterator<Item = f64>, margin: f64) -> std::ops::Range<f64> {
    let (low, high) = values
        .filter(|v| v.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    if low > high {
        return 0.0..1.0;
    }
    // A constant is shown in the middle; differences below rounding are none.
    let least = 1e-9 * low.abs().max(high.abs()).max(1e-3);
    let extra = if high - low < least { low.abs().max(1.0) * 0.5 } else { margin * (high - low) };
    low - extra..high + extra
}

/// A tick's label with as many decimals as the range asks for.
fn tick(value: f64, span: f64) -> String {
    if !(1e-4..1e5).contains(&span) {
        return format!("{value:.1e}");
    }
    let value = if value.abs() < 1e-9 * span { 0.0 } else { value };
    let decimals = if span >= 10.0 {
        0
    } else if span >= 1.0 {
        1
    } else if span >= 0.1 {
        2
    } else {
        4
    };
    format!("{value:.decimals$}")
}

/// Keeps the extremes of each stretch, so that no peak is lost.
fn thin(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    if points.len() <= POINTS {
        return points.to_vec();
    }
    let stretch = points.len().div_ceil(POINTS / 2);
    let mut kept = Vec::with_capacity(POINTS + 2);
    for part in points.chunks(stretch) {
        let extreme = |sign: f64| {
            (0..part.len()).max_by(|&a, &b| (sign * part[a].1).total_cmp(&(sign * part[b].1)))
        };
        let (Some(low), Some(high)) = (extreme(-1.0), extreme(1.0)) else { continue };
        kept.push(part[low.min(high)]);
        if low != high {
            kept.push(part[low.max(high)]);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sine(n: usize) -> Vec<(f64, f64)> {
        (0..n)
            .map(|i| f64::from(u32::try_from(i).unwrap()) * 1e-3)
            .map(|t| (t, (7.0 * t).sin()))
            .collect()
    }

    #[test]
    fn a_plot_shows_titles_units_and_every_name() {
        let panel = |y: &str| Panel {
            x_label: "time [s]".to_owned(),
            y_label: y.to_owned(),
            series: vec![
                Series::new("shoulder", sine(100_000)),
                Series::new("elbow & <wrist>", vec![(0.0, 1.0), (1.0, f64::NAN), (2.0, 0.0)]),
            ],
        };
        let plot = Plot {
            title: "Tracking".to_owned(),
            panels: vec![panel("position [rad]"), panel("torque [N·m]")],
        };
        let svg = plot.to_svg().unwrap();
        for text in
            ["Tracking", "time [s]", "position [rad]", "torque [N·m]", "shoulder", "&lt;wrist&gt;"]
        {
            assert!(svg.contains(text), "{text}");
        }
        assert!(svg.len() < 300_000, "{} bytes", svg.len());
        assert!(!svg.contains("NaN"));
    }

    #[test]
    fn empty_and_constant_plots_are_drawn() {
        let constant = Series::new("c", vec![(0.0, 5.0), (1.0, 5.0)]);
        let one = Series::new("p", vec![(0.0, 0.0)]);
        for series in [vec![], vec![Series::default()], vec![constant], vec![one]] {
            let plot =
                Plot { title: String::new(), panels: vec![Panel { series, ..Panel::default() }] };
            assert!(plot.to_svg().unwrap().ends_with("</svg>\n"));
        }
        assert!(Plot::default().to_svg().is_ok());
    }

    #[test]
    fn thinning_keeps_the_peaks() {
        let mut points = sine(50_000);
        points[31_234].1 = 9.0;
        points[41_234].1 = -9.0;
        let thinned = thin(&points);
        assert!(thinned.len() <= POINTS + 2, "{}", thinned.len());
        assert!(thinned.contains(&points[31_234]) && thinned.contains(&points[41_234]));
        assert!(thinned.windows(2).all(|w| w[0].0 < w[1].0));
    }
}
