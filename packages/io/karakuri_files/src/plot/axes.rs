//! Axes of a panel: their range, grid and numbers; decades of a logarithmic axis, names of rows, phases above.

use std::ops::Range;

use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::{
    AXES, Area, Dash, GRID, GUIDE_DASHES, Guide, GuideAt, Panel, PlotError, Series, TEXT, failed,
    font, width_of,
};

/// Margins around the axes, below for the numbers and the name, left for the same. [px]
const MARGIN: u32 = 8;
const BELOW: u32 = 42;
const LEFT: u32 = 72;
/// Height of a row of names of phases, and width of one of their letters. [px]
const NAMES: u32 = 15;
const SMALL_LETTER: f64 = 7.2;
/// Largest number of decades that have a number each.
const DECADES_NAMED: i32 = 9;

type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// Line across a panel: its ends, and its dashes.
type Dashes = ([(f64, f64); 2], Dash);

/// Axes of a panel, which are drawn first and place all else.
pub(super) struct Axes<'a> {
    panel: &'a Panel,
    x: Range<f64>,
    y: Range<f64>,
    left: u32,
}

impl Panel {
    /// Axes around all data and guides.
    pub(super) fn axes(&self) -> Axes<'_> {
        let guides =
            |of: fn(GuideAt) -> Option<f64>| self.guides.iter().filter_map(move |g| of(g.at));
        let on_x = guides(|at| if let GuideAt::X(x) = at { Some(x) } else { None });
        let on_y = guides(|at| if let GuideAt::Y(y) = at { Some(y) } else { None });
        let extent = |axis| self.series.iter().flat_map(move |s: &Series| s.extent(axis));
        let scaled = |axis: usize, v: f64| if self.log[axis] { v.log10() } else { v };
        let x = if self.log[0] {
            decades(extent(0).chain(on_x).map(|v| scaled(0, v)))
        } else {
            range(extent(0), 0.0)
        };
        let y = if !self.rows.is_empty() {
            // Rows count from the top; there are no more of them than a picture has pixels.
            u16::try_from(self.rows.len()).map_or(1e5, f64::from) - 0.5..-0.5
        } else if self.log[1] {
            decades(extent(1).chain(on_y).map(|v| scaled(1, v)))
        } else {
            range(extent(1).chain(on_y), 0.05)
        };
        let left = LEFT.max(width_of(self.rows.iter().map(String::as_str)) + 2 * MARGIN);
        Axes { panel: self, x, y, left: left.min(AXES / 2) }
    }

    /// Height of the names of phases above the axes. [px]
    pub(super) fn names_height(&self) -> u32 {
        let rows = self.axes().phases().iter().map(|(_, _, row)| row + 1).max().unwrap_or(0);
        rows * NAMES
    }
}

impl<'p> Axes<'p> {
    /// Coordinates at which a point is drawn: logarithms on a logarithmic axis.
    pub(super) fn place(&self, x: f64, y: f64) -> (f64, f64) {
        let scaled = |axis: usize, v: f64| if self.panel.log[axis] { v.log10() } else { v };
        (scaled(0, x), scaled(1, y))
    }

    /// Ends and dashes of a guide, the n-th of the levels if it is one; `None` outside of the axes.
    pub(super) fn guide(&self, guide: &Guide, n: usize) -> Option<Dashes> {
        let first = GUIDE_DASHES[0];
        match guide.at {
            GuideAt::Y(level) => {
                let (_, y) = self.place(1.0, level);
                let dash = GUIDE_DASHES[n % GUIDE_DASHES.len()];
                y.is_finite().then_some(([(self.x.start, y), (self.x.end, y)], dash))
            }
            GuideAt::X(instant) => {
                let (x, _) = self.place(instant, 1.0);
                let inside = (self.x.start..=self.x.end).contains(&x);
                inside.then_some(([(x, self.y.start), (x, self.y.end)], first))
            }
        }
    }

    /// Names of phases, their starts from the left of the picture [px], and rows such that none hides another.
    pub(super) fn phases(&self) -> Vec<(&'p str, f64, u32)> {
        let width = f64::from(AXES - self.left - 2 * MARGIN);
        let mut ends: Vec<f64> = Vec::new();
        let mut placed = Vec::new();
        for guide in &self.panel.guides {
            let (GuideAt::X(_), Some(([(x, _), _], _))) = (guide.at, self.guide(guide, 0)) else {
                continue;
            };
            let letters = u16::try_from(guide.name.chars().count()).unwrap_or(u16::MAX);
            let length = f64::from(letters) * SMALL_LETTER;
            let line = f64::from(self.left + MARGIN)
                + (x - self.x.start) / (self.x.end - self.x.start) * width;
            let begin = line.min(f64::from(AXES) - length).max(0.0);
            let free = ends.iter().position(|end| *end <= begin).unwrap_or(ends.len());
            if free == ends.len() {
                ends.push(0.0);
            }
            ends[free] = begin + length;
            placed.push((guide.name.as_str(), begin, u32::try_from(free).unwrap_or(u32::MAX)));
        }
        placed
    }

    /// Draws axes, grid, numbers and the names of rows and phases.
    pub(super) fn draw<'a, 'b>(&self, plot: &'a Area<'b>) -> Result<Chart<'a, 'b>, PlotError> {
        let names = self.panel.names_height();
        let mut builder = ChartBuilder::on(plot);
        builder
            .margin(MARGIN)
            .margin_top(MARGIN + names)
            .x_label_area_size(BELOW)
            .y_label_area_size(self.left);
        let (x, y) = (&self.x, &self.y);
        let mut chart = builder.build_cartesian_2d(x.clone(), y.clone()).map_err(failed)?;
        let [own_x, own_y] = self.own_numbers();
        let mut mesh = chart.configure_mesh();
        mesh.light_line_style(TRANSPARENT)
            .bold_line_style(GRID)
            .axis_style(TEXT.mix(0.6))
            .x_labels(if own_x.is_empty() { 9 } else { 0 })
            .y_labels(if own_y.is_empty() { 6 } else { 0 })
            .x_label_formatter(&|v| tick(*v, x.end - x.start))
            .y_label_formatter(&|v| tick(*v, y.end - y.start))
            .label_style(font(15))
            .axis_desc_style(font(16))
            .x_desc(&self.panel.x_label)
            .y_desc(&self.panel.y_label)
            .draw()
            .map_err(failed)?;
        let (across, down) = plot.get_pixel_range();
        for (axis, numbers) in [own_x, own_y].into_iter().enumerate() {
            for (at, label) in numbers {
                let ends = if axis == 0 {
                    [(at, y.start), (at, y.end)]
                } else {
                    [(x.start, at), (x.end, at)]
                };
                let line = PathElement::new(ends.to_vec(), GRID.stroke_width(1));
                chart.draw_series([line]).map_err(failed)?;
                let foot =
                    if axis == 0 { (at, y.start.max(y.end).min(y.start)) } else { (x.start, at) };
                let (px, py) = chart.backend_coord(&foot);
                let (px, py) = (px - across.start, py - down.start);
                let (place, anchor) = if axis == 0 {
                    ((px, py + 8), Pos::new(HPos::Center, VPos::Top))
                } else {
                    ((px - 8, py), Pos::new(HPos::Right, VPos::Center))
                };
                plot.draw(&Text::new(label, place, font(15).pos(anchor))).map_err(failed)?;
            }
        }
        for (name, begin, row) in self.phases() {
            // Beside the upper end of the line; the lowest row is the first.
            let top = i32::try_from(MARGIN + names - (row + 1) * NAMES).map_err(failed)?;
            #[expect(clippy::cast_possible_truncation, reason = "a pixel of the picture")]
            let label = Text::new(name.to_owned(), (begin.round() as i32, top), font(12));
            plot.draw(&label).map_err(failed)?;
        }
        Ok(chart)
    }

    /// Positions and labels along both axes that are not round numbers: decades, and rows.
    fn own_numbers(&self) -> [Vec<(f64, String)>; 2] {
        let marks = |axis: usize, range: &Range<f64>| {
            if self.panel.log[axis] { decade_marks(range) } else { Vec::new() }
        };
        let rows = self.panel.rows.iter().enumerate();
        let rows = rows.map(|(i, name)| (u16::try_from(i).map_or(0.0, f64::from), name.clone()));
        let y = if self.panel.rows.is_empty() { marks(1, &self.y) } else { rows.collect() };
        [marks(0, &self.x), y]
    }
}

/// Range of powers of ten around the values, or to the next round numbers where they are close; one decade at least.
fn decades(powers: impl Iterator<Item = f64>) -> Range<f64> {
    let rough = range(powers, 0.0);
    let (low, high) = (rough.start, rough.end);
    // Beyond 1.5 decades the ends are whole powers of ten; below, they are 1, 2 or 5 times one.
    if high - low > 1.5 {
        let (low, high) = ((low + 1e-9).floor(), (high - 1e-9).ceil());
        return low..high;
    }
    let steps = [1.0_f64, 2.0, 5.0].map(f64::log10);
    let around = |v: f64| {
        let whole = v.floor();
        [whole - 1.0, whole, whole + 1.0].into_iter().flat_map(move |d| steps.map(|s| d + s))
    };
    let below = around(low).filter(|v| *v <= low + 1e-9).fold(f64::NEG_INFINITY, f64::max);
    let above = around(high).filter(|v| *v >= high - 1e-9).fold(f64::INFINITY, f64::min);
    if above - below < 1e-6 { below..below + 1.0 } else { below..above }
}

/// Labels along a logarithmic axis: 1, 2, 5 over few decades, else every decade or every n-th.
fn decade_marks(range: &Range<f64>) -> Vec<(f64, String)> {
    #[expect(clippy::cast_possible_truncation, reason = "powers of ten of a double")]
    let (low, high) = ((range.start - 1e-9).ceil() as i32, (range.end + 1e-9).floor() as i32);
    if range.end - range.start > 3.0 {
        let step = usize::try_from((high - low).div_euclid(DECADES_NAMED) + 1).unwrap_or(1);
        return (low..=high).step_by(step).map(|n| (f64::from(n), power(n))).collect();
    }
    let inside = |(v, _): &(f64, String)| (range.start - 1e-9..=range.end + 1e-9).contains(v);
    let label = |n: i32, m: u8| match n {
        0.. if n < 6 => format!("{}", f64::from(m) * 10.0_f64.powi(n)),
        -4..0 => format!("{:.*}", n.unsigned_abs() as usize, f64::from(m) * 10.0_f64.powi(n)),
        _ if m == 1 => power(n),
        _ => format!("{m}·{}", power(n)),
    };
    (low - 1..=high)
        .flat_map(|n| [1, 2, 5].map(|m| (f64::from(n) + f64::from(m).log10(), label(n, m))))
        .filter(inside)
        .collect()
}

/// Text of a power of ten with its exponent raised.
fn power(exponent: i32) -> String {
    const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let digits = exponent.unsigned_abs().to_string();
    let raised = digits.chars().filter_map(|c| RAISED.get(c.to_digit(10)? as usize));
    let sign = if exponent < 0 { "⁻" } else { "" };
    format!("10{sign}{}", raised.collect::<String>())
}

/// Largest value shown: larger ones are of a run that diverged, and their ticks have no meaning in double precision.
const LARGEST: f64 = 1e100;

/// Range from the least to the greatest finite value, with a margin; never empty.
fn range(values: impl Iterator<Item = f64>, margin: f64) -> std::ops::Range<f64> {
    let (low, high) = values
        .filter(|v| v.is_finite())
        .map(|v| v.clamp(-LARGEST, LARGEST))
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    if low > high {
        return 0.0..1.0;
    }
    // A constant is shown in the middle; differences below rounding count as none.
    let least = 1e-9 * low.abs().max(high.abs()).max(1e-3);
    let extra = if high - low < least { low.abs().max(1.0) * 0.5 } else { margin * (high - low) };
    low - extra..high + extra
}

/// Label of a tick with as many decimals as the range needs.
fn tick(value: f64, span: f64) -> String {
    if !(1e-4..1e5).contains(&span) {
        return format!("{value:.1e}").replace('-', "\u{2212}");
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
    // U+2212 is as wide as a plus; a hyphen in front of a number is hardly seen.
    format!("{value:.decimals$}").replace('-', "\u{2212}")
}
