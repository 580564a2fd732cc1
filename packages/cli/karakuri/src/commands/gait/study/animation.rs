//! Figs 3.17 and 3.19: the walker from the front and from the side in one picture, four instants of a step and moving.

use std::fmt::{self, Write as _};

use karakuri_gait::compensation::{
    BodyData, GaitMotion, LEFT, Posture, RIGHT, SteadyGait, skeleton,
};

/// Scale of the picture. [px/m]
const SCALE: f64 = 230.0;
/// Size of one view. [px]
const VIEW: [f64; 2] = [230.0, 470.0];
/// Frames per step of the moving picture.
const FRAMES: u32 = 30;
/// Times of the printed frames. [s]
const TIMES: [f64; 4] = [0.0, 0.33, 0.67, 1.0];
/// Distances from the ankle to the ends of the sole, as long as region 1. [m] (2)
const SOLE: [f64; 2] = [-0.1, 0.2];
/// Half the width of a sole. [m]
const HALF_SOLE: f64 = 0.04;

/// View of the observer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum From {
    Front,
    Side,
}

/// Part of the body: a polyline with its colour and width.
struct Part {
    points: Vec<[f64; 3]>,
    color: &'static str,
    width: f64,
}

/// Step of the walker, mirrored in every second one and continued by its length.
struct Walk<'a> {
    body: &'a BodyData,
    motion: &'a GaitMotion,
}

impl Walk<'_> {
    /// Parts of the body, those at the back first. The right side of the even steps is the left of the odd ones, so that
    /// colours stay with limbs.
    fn parts(&self, time: f64, is_mirrored: bool) -> Vec<Part> {
        let posture = self.motion.posture(time);
        let s = skeleton(self.body, &posture);
        let pelvis = s.center[2].position();
        // Centred at the pelvis forward and between the feet sideways, so that it walks on the spot.
        let middle = [pelvis[0], -self.body.lengths.half_pelvis_width, 0.0];
        let place = |p: [f64; 3]| {
            let y = p[1] - middle[1];
            [p[0] - middle[0], if is_mirrored { -y } else { y }, p[2]]
        };
        let colors = ["#0072b2", "#d55e00"];
        let mut parts = Vec::new();
        for side in [RIGHT, LEFT] {
            let color = colors[if is_mirrored { 1 - side } else { side }];
            let sole = self.sole(&posture, side, s.ankle[side].position());
            let leg = [s.ankle[side], s.knee[side], s.hip[side]].map(|p| p.position());
            let forearm = if side == LEFT { 5 } else { 7 };
            let (elbow, fore) = (s.elbow[side].position(), s.center[forearm].position());
            let hand = [0, 1, 2].map(|i| 2.0 * fore[i] - elbow[i]);
            let arm = [s.shoulder[side].position(), elbow, hand];
            for (points, width) in [(sole, 5.0), (leg.to_vec(), 9.0), (arm.to_vec(), 6.0)] {
                parts.push(Part { points: points.into_iter().map(place).collect(), color, width });
            }
        }
        let neck = [0, 1, 2]
            .map(|i| 0.5 * (s.shoulder[LEFT].position()[i] + s.shoulder[RIGHT].position()[i]));
        let waist = s.waist.position();
        let up = [0, 1, 2].map(|i| neck[i] + 0.45 * (neck[i] - waist[i]));
        let lines = [
            (vec![s.hip[LEFT].position(), waist, s.hip[RIGHT].position()], 8.0),
            (vec![waist, neck], 14.0),
            (vec![s.shoulder[LEFT].position(), s.shoulder[RIGHT].position()], 7.0),
            (vec![neck, up], 20.0),
        ];
        for (points, width) in lines {
            let points = points.into_iter().map(place).collect();
            parts.push(Part { points, color: "#555555", width });
        }
        parts
    }

    /// Outline of a sole, pitched as the foot is.
    fn sole(&self, posture: &Posture, side: usize, ankle: [f64; 3]) -> Vec<[f64; 3]> {
        let pitch = if side == RIGHT { posture.foot.value } else { 0.0 };
        let down = self.body.lengths.foot_to_ankle + self.body.lengths.sole_to_foot;
        let (s, c) = pitch.sin_cos();
        let corner = |x: f64, y: f64| {
            [ankle[0] + c * x - s * down, ankle[1] + y, ankle[2] - s * x - c * down]
        };
        let [heel, toe] = SOLE;
        let mut outline: Vec<_> = [(heel, 1.0), (toe, 1.0), (toe, -1.0), (heel, -1.0), (heel, 1.0)]
            .map(|(x, y)| corner(x, y * HALF_SOLE))
            .to_vec();
        outline.push(ankle);
        outline
    }
}

/// Points of a polyline on the picture.
fn on_picture(points: &[[f64; 3]], from: From, left: f64) -> Result<String, fmt::Error> {
    let mut text = String::new();
    for p in points {
        // From the front its left is on the right; from its right side it walks to the right.
        let across = if from == From::Front { p[1] } else { p[0] };
        let (x, y) = (left + 0.5 * VIEW[0] + SCALE * across, VIEW[1] - 25.0 - SCALE * p[2]);
        write!(text, "{x:.1},{y:.1} ")?;
    }
    Ok(text.trim_end().to_owned())
}

fn head(views: usize, title: &str) -> String {
    let (width, height) = (VIEW[0] * views as f64, VIEW[1] + 30.0);
    format!(
        "<svg width=\"{width}\" height=\"{height}\" viewBox=\"0 -30 {width} {height}\" xmlns=\"http://www.w3.org/2000/svg\" \
         font-family=\"Helvetica, Arial, sans-serif\" font-size=\"15\" fill=\"#282828\">\n\
         <rect x=\"0\" y=\"-30\" width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n\
         <text x=\"12\" y=\"-10\" font-size=\"18\">{title}</text>\n\
         <line x1=\"0\" y1=\"{y}\" x2=\"{width}\" y2=\"{y}\" stroke=\"#999999\" stroke-width=\"2\"/>\n",
        y = VIEW[1] - 25.0 + 3.0
    )
}

fn open(part: &Part, points: &str) -> String {
    format!(
        "<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" stroke-linecap=\"round\" stroke-linejoin=\"round\" points=\"{points}\"",
        part.color, part.width
    )
}

const VIEWS: [(From, &str); 2] = [(From::Front, "front"), (From::Side, "side")];

/// Strip of four instants of a step, front and side each.
pub(super) fn strip(
    title: &str,
    body: &BodyData,
    motion: &GaitMotion,
) -> Result<String, fmt::Error> {
    let walk = Walk { body, motion };
    let mut text = head(2 * TIMES.len(), title);
    for (i, time) in TIMES.into_iter().enumerate() {
        for (k, (from, name)) in VIEWS.into_iter().enumerate() {
            let left = VIEW[0] * (2 * i + k) as f64;
            for part in walk.parts(time, false) {
                writeln!(text, "{}/>", open(&part, &on_picture(&part.points, from, left)?))?;
            }
            let (x, y) = (left + 12.0, VIEW[1] - 6.0);
            writeln!(text, "<text x=\"{x}\" y=\"{y}\">{name}, {time:.2} s</text>")?;
        }
    }
    Ok(text + "</svg>\n")
}

/// Animation of two steps, front and side, for ever.
pub(super) fn moving(
    title: &str,
    body: &BodyData,
    motion: &GaitMotion,
) -> Result<String, fmt::Error> {
    let walk = Walk { body, motion };
    let mut text = head(2, title);
    let frames: Vec<Vec<Part>> = (0..2 * FRAMES)
        .map(|frame| {
            let time = SteadyGait::DURATION * f64::from(frame % FRAMES) / f64::from(FRAMES);
            let mut parts = walk.parts(time, frame >= FRAMES);
            // A limb keeps its place among the parts when left and right change.
            if frame >= FRAMES {
                let (right, left) = parts.split_at_mut(3);
                right.swap_with_slice(&mut left[..3]);
            }
            parts
        })
        .collect();
    for (k, (from, name)) in VIEWS.into_iter().enumerate() {
        let left = VIEW[0] * k as f64;
        for (i, first) in frames[0].iter().enumerate() {
            let points = |parts: &Vec<Part>| on_picture(&parts[i].points, from, left);
            let values: Vec<String> = frames.iter().map(points).collect::<Result<_, _>>()?;
            let duration = 2.0 * SteadyGait::DURATION;
            writeln!(
                text,
                "{}><animate attributeName=\"points\" dur=\"{duration}s\" repeatCount=\"indefinite\" calcMode=\"discrete\" values=\"{}\"/></polyline>",
                open(first, &values[0]),
                values.join(";")
            )?;
        }
        let (x, y) = (left + 12.0, VIEW[1] - 6.0);
        writeln!(text, "<text x=\"{x}\" y=\"{y}\">{name}</text>")?;
    }
    Ok(text + "</svg>\n")
}
