//! Plots as SVG, of the program and of the documents: panels one below the other, each with its axes, units and legend.
//! Colours, dashes, letters and sizes of all plots are set in this file.

mod axes;

use std::path::Path;

use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use serde::Deserialize;

use crate::{WriteError, write_atomic};

/// Width of the axes with their labels, least height of a panel and of one with a logarithmic axis, height of the title. [px]
const AXES: u32 = 770;
const PANEL: u32 = 260;
const DECADES: u32 = 380;
const TITLE: u32 = 44;
/// Least and largest width of the legend, height of its row, width of its sample with the gaps around it. [px]
const LEGEND: std::ops::RangeInclusive<u32> = 190..=420;
const ROW: u32 = 20;
const SAMPLE: u32 = 46;
/// Upper bound of a letter's mean width over a name. [px]
const LETTER: u32 = 8;
/// Radius of a dot. [px]
const DOT: i32 = 3;
/// Points of a line after thinning: two per pixel are all that can be seen.
const POINTS: usize = 2000;
/// Colours that people with colour blindness can distinguish. [Okabe and Ito 2008]
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

/// Length of a dash and of the gap behind it. [px]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Dash(u32, u32);

/// Dashes of the second and third series of one colour.
const DASHES: [Dash; 2] = [Dash(10, 5), Dash(3, 4)];
/// Number of series with distinct looks: each has a colour and a dash of its own.
pub const DISTINCT_SERIES: usize = COLORS.len() * (1 + DASHES.len());
const TEXT: RGBColor = RGBColor(40, 40, 40);
const GRID: RGBColor = RGBColor(228, 228, 228);
/// Grey of limits, desired values and phases, which are not data.
const GUIDE: RGBColor = RGBColor(120, 120, 120);
const GUIDE_DASHES: [Dash; 4] = [Dash(6, 4), Dash(2, 3), Dash(14, 4), Dash(9, 2)];

/// Figure of panels with axes.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plot {
    /// Title above all panels.
    #[serde(default)]
    pub title: String,
    /// Panels from top to bottom.
    pub panels: Vec<Panel>,
}

/// Panel with one pair of axes.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Panel {
    /// Horizontal axis with its unit, such as `time [s]`.
    pub x_label: String,
    /// Vertical axis with its unit, such as `torque [N·m]`.
    #[serde(default)]
    pub y_label: String,
    /// Series, in the order of the legend.
    pub series: Vec<Series>,
    /// Limits, desired values, starts of phases.
    #[serde(default)]
    pub guides: Vec<Guide>,
    /// Whether the horizontal and the vertical axis are logarithmic: only positive values are drawn.
    #[serde(default)]
    pub log: [bool; 2],
    /// Names of the vertical positions 0, 1, 2, from the top, in place of numbers.
    #[serde(default)]
    pub rows: Vec<String>,
}

/// Straight line across a panel, which belongs to none of its series.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Guide {
    /// Name, in the legend for a level, above the line for an instant.
    pub name: String,
    /// Position of the line: `x: 1.5` or `y: 15`.
    #[serde(flatten)]
    pub at: GuideAt,
}

/// Axis of a [`Guide`], and its position there.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GuideAt {
    /// A vertical line, such as the start of a phase.
    X(f64),
    /// A horizontal line, such as a limit or a desired value.
    Y(f64),
}

/// Series of points: a line, dots or a region.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// Points `(x, y)`; a line breaks where one is not finite.
    pub points: Vec<(f64, f64)>,
    /// Style of the points.
    #[serde(default)]
    pub style: Style,
}

/// Style of points.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Style {
    /// Points joined by lines.
    #[default]
    Line,
    /// One dot per point.
    Dots,
    /// One ring per point, for data from elsewhere.
    Rings,
    /// One cross per point, for desired values.
    Crosses,
    /// Points joined by lines, with a dot each.
    LineDots,
    /// Points joined by thin lines, with a ring each.
    LineRings,
    /// A filled rectangle of this width and height around each point, such as of a grid: together a region.
    Cells([f64; 2]),
}

/// Reason why a plot was not made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlotError {
    /// The drawing library failed.
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
    /// Series drawn as a line through points.
    pub fn new(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.into(), points, style: Style::Line }
    }

    /// Series drawn as dots.
    pub fn dots(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self { style: Style::Dots, ..Self::new(name, points) }
    }

    /// Series drawn as the region of the cells of a grid around points.
    pub fn cells(name: impl Into<String>, points: Vec<(f64, f64)>, size: [f64; 2]) -> Self {
        Self { style: Style::Cells(size), ..Self::new(name, points) }
    }

    /// Half of a cell's width and height.
    fn half_cell(&self) -> [f64; 2] {
        if let Style::Cells(size) = self.style { size.map(|s| 0.5 * s) } else { [0.0; 2] }
    }

    /// Extent along one axis, of cells at both edges.
    fn extent(&self, axis: usize) -> impl Iterator<Item = f64> {
        let half = self.half_cell()[axis];
        let along = move |p: &(f64, f64)| if axis == 0 { p.0 } else { p.1 };
        self.points.iter().map(along).flat_map(move |v| [v - half, v + half])
    }

    /// Cells as rectangles, corner and opposite corner; adjacent ones of a column are one.
    fn rectangles(&self) -> Vec<[(f64, f64); 2]> {
        let [half_width, half_height] = self.half_cell();
        let finite = self.points.iter().filter(|p| p.0.is_finite() && p.1.is_finite());
        let mut points: Vec<(f64, f64)> = finite.copied().collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let same = |a: &(f64, f64), b: &(f64, f64)| {
            (b.0 - a.0).abs() < half_width && (b.1 - a.1).abs() < 3.0 * half_height
        };
        points
            .chunk_by(same)
            .filter_map(|column| column.first().zip(column.last()))
            .map(|(low, high)| {
                let corner = (low.0 - half_width, low.1 - half_height);
                [corner, (high.0 + half_width, high.1 + half_height)]
            })
            .collect()
    }
}

impl Plot {
    /// Draws the figure as SVG text.
    ///
    /// # Errors
    /// When the drawing backend fails.
    pub fn to_svg(&self) -> Result<String, PlotError> {
        let mut text = String::new();
        let heights: Vec<u32> = self.panels.iter().map(Panel::height).collect();
        let height = TITLE + heights.iter().sum::<u32>().max(PANEL);
        let legend = self.panels.iter().map(Panel::legend_width).max().unwrap_or(*LEGEND.start());
        {
            let size = (AXES + legend, height);
            let root = SVGBackend::with_string(&mut text, size).into_drawing_area();
            root.fill(&WHITE).map_err(failed)?;
            let title = Text::new(self.title.clone(), (16, 14), font(24));
            root.draw(&title).map_err(failed)?;
            let (_, mut below) = root.split_vertically(TITLE);
            for (panel, height) in self.panels.iter().zip(heights) {
                let (area, rest) = below.split_vertically(height);
                panel.draw(&area)?;
                below = rest;
            }
            root.present().map_err(failed)?;
        }
        Ok(text)
    }

    /// Writes the figure, whole or not at all.
    ///
    /// # Errors
    /// When the figure cannot be drawn or the file cannot be written.
    pub fn write_svg(&self, path: &Path) -> Result<(), PlotError> {
        Ok(write_atomic(path, self.to_svg()?.as_bytes())?)
    }
}

impl Panel {
    /// Entries of the legend: name, colour, dash and style.
    fn legend(&self) -> impl Iterator<Item = (&str, RGBColor, Option<Dash>, Style)> {
        let series = self.series.iter().enumerate().map(|(i, series)| {
            let dash = (i / COLORS.len()).checked_sub(1).map(|d| DASHES[d % DASHES.len()]);
            (series.name.as_str(), COLORS[i % COLORS.len()], dash, series.style)
        });
        let levels = self.guides.iter().filter(|guide| matches!(guide.at, GuideAt::Y(_)));
        let dashes = GUIDE_DASHES.iter().cycle();
        series.chain(
            levels.zip(dashes).map(|(g, &dash)| (g.name.as_str(), GUIDE, Some(dash), Style::Line)),
        )
    }

    /// Height of the panel, sufficient for its legend, its rows and the names of its phases. [px]
    fn height(&self) -> u32 {
        let pixels = |rows: usize, of: u32| u32::try_from(rows).unwrap_or(1000) * of;
        let legend = pixels(self.legend().count() + 3, ROW);
        let axes = if self.rows.is_empty() {
            if self.log[1] { DECADES } else { PANEL }
        } else {
            pixels(self.rows.len() + 3, ROW)
        };
        legend.max(axes + self.names_height())
    }

    /// Width of the legend, sufficient for the longest name within bounds. [px]
    fn legend_width(&self) -> u32 {
        width_of(self.legend().map(|(name, ..)| name))
            .saturating_add(SAMPLE)
            .clamp(*LEGEND.start(), *LEGEND.end())
    }

    fn draw(&self, area: &Area<'_>) -> Result<(), PlotError> {
        let (plot, legend) = area.split_horizontally(AXES);
        let axes = self.axes();
        let mut chart = axes.draw(&plot)?;
        for (i, guide) in self.guides.iter().enumerate() {
            let level = |g: &&Guide| matches!(g.at, GuideAt::Y(_));
            let n = self.guides.iter().take(i).filter(level).count();
            let Some((ends, dash)) = axes.guide(guide, n) else { continue };
            chart
                .draw_series(dashed(ends.to_vec(), dash, GUIDE.stroke_width(1)))
                .map_err(failed)?;
        }
        for (series, (_, color, dash, style)) in self.series.iter().zip(self.legend()) {
            let points: Vec<(f64, f64)> =
                series.points.iter().map(|&(x, y)| axes.place(x, y)).collect();
            let pieces = || points.split(|p| !(p.0.is_finite() && p.1.is_finite()));
            if let Some(width) = style.line_width() {
                for piece in pieces() {
                    let line = color.stroke_width(width);
                    match dash {
                        Some(dash) => chart.draw_series(dashed(thin(piece), dash, line)),
                        None => chart.draw_series(LineSeries::new(thin(piece), line)),
                    }
                    .map_err(failed)?;
                }
            }
            let places = pieces().flatten();
            match style {
                Style::Line => {}
                Style::Dots | Style::LineDots => {
                    let radius = if style == Style::Dots { DOT + 1 } else { DOT };
                    let dot = |p: &(f64, f64)| Circle::new(*p, radius, color.filled());
                    chart.draw_series(places.map(dot)).map_err(failed)?;
                }
                Style::Rings | Style::LineRings => {
                    let ring = |p: &(f64, f64)| Circle::new(*p, DOT + 1, color.stroke_width(2));
                    chart.draw_series(places.map(ring)).map_err(failed)?;
                }
                Style::Crosses => {
                    let cross = |p: &(f64, f64)| Cross::new(*p, DOT + 2, color.stroke_width(2));
                    chart.draw_series(places.map(cross)).map_err(failed)?;
                }
                Style::Cells(_) => {
                    // A filled rectangle has no outline: with one no seam is seen between neighbours.
                    for look in [color.filled(), color.stroke_width(1)] {
                        let cell = |corners| Rectangle::new(corners, look);
                        let cells = series.rectangles().into_iter().map(cell);
                        chart.draw_series(cells).map_err(failed)?;
                    }
                }
            }
        }
        self.draw_legend(&legend)
    }

    /// Draws the legend beside the axes, where it hides nothing.
    fn draw_legend(&self, area: &Area<'_>) -> Result<(), PlotError> {
        let mut y = 18;
        let letters = (area.dim_in_pixel().0.saturating_sub(SAMPLE) / LETTER) as usize;
        for (name, color, dash, style) in self.legend() {
            if let Some(width) = style.line_width() {
                let (line, thick) = (vec![(8, y), (30, y)], color.stroke_width(width + 1));
                match dash {
                    Some(Dash(length, gap)) => {
                        area.draw(&DashedPathElement::new(line, length, gap, thick))
                    }
                    None => area.draw(&PathElement::new(line, thick)),
                }
                .map_err(failed)?;
            }
            match style {
                Style::Line => Ok(()),
                Style::Dots | Style::LineDots => {
                    area.draw(&Circle::new((19, y), DOT + 1, color.filled()))
                }
                Style::Rings | Style::LineRings => {
                    area.draw(&Circle::new((19, y), DOT + 1, color.stroke_width(2)))
                }
                Style::Crosses => area.draw(&Cross::new((19, y), DOT + 2, color.stroke_width(2))),
                Style::Cells(_) => {
                    area.draw(&Rectangle::new([(8, y - 6), (30, y + 6)], color.filled()))
                }
            }
            .map_err(failed)?;
            let style = font(15).pos(Pos::new(HPos::Left, VPos::Center));
            area.draw(&Text::new(shorten(name, letters), (38, y), style)).map_err(failed)?;
            y += i32::try_from(ROW).map_err(failed)?;
        }
        Ok(())
    }
}

impl Style {
    /// Width of the line that joins the points. [px]
    fn line_width(self) -> Option<u32> {
        match self {
            Self::Line | Self::LineDots => Some(2),
            Self::LineRings => Some(1),
            _ => None,
        }
    }
}

/// Upper bound of the width of the longest name. [px]
fn width_of<'a>(names: impl Iterator<Item = &'a str>) -> u32 {
    let longest = names.map(|name| name.chars().count()).max().unwrap_or(0);
    u32::try_from(longest).unwrap_or(u32::MAX / LETTER).saturating_mul(LETTER)
}

type Dashed = DashedPathElement<std::vec::IntoIter<(f64, f64)>, u32>;

fn dashed(points: Vec<(f64, f64)>, Dash(length, gap): Dash, style: ShapeStyle) -> [Dashed; 1] {
    [DashedPathElement::new(points, length, gap, style)]
}

/// Name cut to the number of letters that fit beside a panel.
fn shorten(name: &str, letters: usize) -> String {
    if name.chars().count() <= letters {
        return name.to_owned();
    }
    name.chars().take(letters.saturating_sub(1)).chain(['…']).collect()
}

/// Thins points, but keeps the extremes of each stretch, so that no peak is lost.
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
            guides: vec![
                Guide { name: "upper limit".to_owned(), at: GuideAt::Y(1.5) },
                Guide { name: "LIFT".to_owned(), at: GuideAt::X(20.0) },
            ],
            ..Panel::default()
        };
        let plot = Plot {
            title: "Tracking".to_owned(),
            panels: vec![panel("position [rad]"), panel("torque [N·m]")],
        };
        let svg = plot.to_svg().unwrap();
        for text in [
            "Tracking",
            "time [s]",
            "position [rad]",
            "torque [N·m]",
            "shoulder",
            "&lt;wrist&gt;",
            "upper limit",
            "LIFT",
        ] {
            assert!(svg.contains(text), "{text}");
        }
        assert!(svg.len() < 300_000, "{} bytes", svg.len());
        assert!(!svg.contains("NaN"));
    }

    #[test]
    fn many_series_with_long_names_are_all_in_the_legend() {
        let name = |i: usize| format!("left arm shoulder roll feed-forward {i}");
        let series =
            (0..DISTINCT_SERIES).map(|i| Series::new(name(i), vec![(0.0, 0.0), (1.0, 1.0)]));
        let panel = Panel { series: series.collect(), ..Panel::default() };
        let looks: std::collections::BTreeSet<_> =
            panel.legend().map(|(_, color, dash, _)| (color.0, color.1, color.2, dash)).collect();
        assert_eq!(looks.len(), DISTINCT_SERIES, "each has a look of its own");
        let svg = Plot { title: String::new(), panels: vec![panel] }.to_svg().unwrap();
        for i in 0..DISTINCT_SERIES {
            assert!(svg.contains(&name(i)), "{}", name(i));
        }
    }

    /// Names that begin close to each other stand in rows of their own, and none reaches beyond the axes.
    #[test]
    fn phases_close_to_each_other_can_all_be_read() {
        let phase = |(name, t): (&str, f64)| Guide { name: name.to_owned(), at: GuideAt::X(t) };
        let guides =
            [("LOWER", 7.0), ("HALT", 8.02), ("OPEN", 8.1), ("RETREAT", 8.42), ("END", 9.3)];
        let series = vec![Series::new("force", vec![(0.0, 0.0), (9.3, 10.0)])];
        let panel = Panel { series, guides: guides.map(phase).to_vec(), ..Panel::default() };
        let labels = panel.axes().phases();
        assert_eq!(labels.len(), guides.len());
        let widths = guides.map(|(name, _)| name.len() as f64 * 7.2);
        for (i, (name, begin, row)) in labels.iter().enumerate() {
            assert!(*begin >= 0.0 && begin + widths[i] <= f64::from(AXES), "{name} at {begin}");
            for (j, (other, after, other_row)) in labels.iter().enumerate().skip(i + 1) {
                let apart = begin + widths[i] <= *after || after + widths[j] <= *begin;
                assert!(apart || row != other_row, "{name} over {other}");
            }
        }
        let bare = Panel { guides: vec![], ..panel.clone() };
        assert!(panel.height() > bare.height(), "the axes keep their height");
    }

    #[test]
    fn levels_of_a_panel_differ_in_their_dashes() {
        let level = |i: u32| Guide { name: format!("limit {i}"), at: GuideAt::Y(f64::from(i)) };
        let panel = Panel { guides: (0..4).map(level).collect(), ..Panel::default() };
        let looks: std::collections::BTreeSet<_> =
            panel.legend().map(|(_, _, dash, _)| dash).collect();
        assert_eq!(looks.len(), 4);
    }

    /// Decades with their numbers, and only what is positive; rows by name from the top; read from a description.
    #[test]
    fn a_described_figure_has_decades_and_rows() {
        let text = "\
title: errors
panels:
  - x_label: step [s]
    y_label: error [m]
    log: [true, true]
    series:
      - {name: ours, style: line_dots, points: [[1.0e-4, 1.0e-12], [0.01, 3.0e-5]]}
      - {name: theirs, style: rings, points: [[0.001, 0.0], [0.001, 2.0e-6]]}
    guides: [{name: bar, y: 1.0e-6}, {name: drops, x: 0.002}]
  - x_label: time [µs]
    log: [true, false]
    rows: [first scene, second scene]
    series: [{name: ours, style: dots, points: [[3.0, 0], [17.0, 1]]}]
";
        let plot: Plot = karakuri_model::yaml::read("figure", text).unwrap();
        let axes = plot.panels[0].axes();
        assert_eq!(axes.place(1e-3, 1e-6), (-3.0, -6.0));
        let svg = plot.to_svg().unwrap();
        let shown = |word: &str| svg.contains(&format!("\n{word}\n"));
        for word in ["10⁻¹²", "10⁻⁵", "0.0001", "0.01", "bar", "drops", "first scene", "5", "20"]
        {
            assert!(shown(word), "{word}: {svg}");
        }
        // 0 has no place on a logarithmic axis; a ring each besides the legend's
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        let rings = |svg: &str| svg.matches("<circle").count();
        assert_eq!(rings(&svg), 2 + 1 + 2 + 3, "points and a sample in each legend");
        let height = |word: &str| {
            let tag = &svg[..svg.find(&format!("\n{word}\n")).unwrap()];
            let y = tag.rsplit_once(" y=\"").unwrap().1.split('"').next().unwrap();
            y.parse::<f64>().unwrap()
        };
        assert!(height("first scene") < height("second scene"), "rows are from the top");
        assert!(
            karakuri_model::yaml::read::<Plot>("figure", &text.replace("log:", "logs:")).is_err()
        );
    }

    #[test]
    fn values_near_the_end_of_the_numbers_are_drawn() {
        let series = vec![Series::new("diverged", vec![(0.0, -1e308), (1.0, 1e308)])];
        let plot =
            Plot { title: String::new(), panels: vec![Panel { series, ..Panel::default() }] };
        assert!(plot.to_svg().unwrap().len() < 100_000);
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

    /// A region is filled: columns of cells are one rectangle each, as wide as the grid, with holes left out.
    #[test]
    fn a_region_is_filled_cell_by_cell() {
        let grid = (0..400).map(|i| (f64::from(i / 20), f64::from(i % 20)));
        let ring = |p: &(f64, f64)| {
            let r = (p.0 - 9.5).hypot(p.1 - 9.5);
            (4.0..9.0).contains(&r)
        };
        let points: Vec<(f64, f64)> = grid.filter(ring).collect();
        let series = Series::cells("stable", points.clone(), [1.0, 1.0]);
        let rectangles = series.rectangles();
        let area: f64 = rectangles.iter().map(|[a, b]| (b.0 - a.0) * (b.1 - a.1)).sum();
        assert!((area - points.len() as f64).abs() < 1e-9 && rectangles.len() < 30);
        let dots = Series::dots("chosen", vec![(1.0, 2.0), (3.0, 4.0)]);
        let panel = Panel { series: vec![series, dots], ..Panel::default() };
        let svg = Plot { title: String::new(), panels: vec![panel] }.to_svg().unwrap();
        let [filled, round] = ["<rect", "<circle"].map(|sign| svg.matches(sign).count());
        assert!(filled == 2 + 2 * rectangles.len() && round == 3, "{filled} {round}");
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
