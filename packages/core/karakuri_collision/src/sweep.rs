//! First touch of two moving shapes: conservative advancement.
//!
//! At time t the shapes are apart by d along the unit normal n from A to B. A plane square to n between them stays
//! between them until they have closed d, and they close at most at
//! `n·(v_A − v_B) + ‖n × ω_A‖ r_A + ‖n × ω_B‖ r_B`, r the farthest point from the centre of rotation; so time may go
//! on by d over that rate without missing a touch. Repeated until d is the desired gap. [Mirtich 1996] Where they overlap, d is
//! negative, and an overlap along n bounds the depth: the same holds of a desired depth.
//!
//! Limits: exact in one step for shapes that do not turn; a fast spin near grazing contact takes tens of steps.

use karakuri_spatial::{Motion, Pose, UnitQuaternion, Vector3};
use parry3d_f64::bounding_volume::Aabb;

use crate::collider::{ColliderId, Placed};
use crate::convert;
use crate::narrow::Narrow;
use crate::narrow::posed::Posed;
use crate::solid::Solid;

/// Steps after which the time reached is the answer: early, never late.
const MAX_STEPS: usize = 256;
/// Turn up to which a screw's chord is as good: it is off by an eighth of the turn's square, of the lever. [rad]
const STRAIGHT: f64 = 1e-3;

/// A motion at constant velocity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sweep {
    /// Pose `X_WC` of the collider at time zero.
    pub start: Pose,
    /// Angular velocity, and linear velocity of `center`, both constant in world axes. [rad/s; m/s]
    pub velocity: Motion,
    /// The point that moves straight, in the collider's frame; a free body's centre of mass. [m] (3)
    pub center: Vector3,
}

/// A collider and the motion it is swept along.
#[derive(Debug, Clone, Copy)]
pub struct Swept<'a> {
    /// Identifier of the collider.
    pub collider: ColliderId,
    /// Motion of the collider.
    pub sweep: &'a Sweep,
}

/// A touch of two moving colliders.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Impact {
    /// Time from the start of the motions. [s]
    pub time: f64,
    /// Unit vector from A to B, in the world. (3)
    pub normal: Vector3,
    /// Nearest points on A and on B at that time, in the world. [m] (3 each)
    pub points: [Vector3; 2],
    /// Distance left along the normal; negative if the colliders overlap from the start. [m]
    pub gap: f64,
    /// Speed at which the nearest points approach each other. [m/s]
    pub approach: f64,
}

impl Sweep {
    /// Motion of a collider that rests.
    pub fn at_rest(pose: Pose) -> Self {
        Self { start: pose, velocity: Motion::default(), center: Vector3::zeros() }
    }

    /// Motion about the collider's own origin, which moves straight. [rad/s; m/s]
    pub fn new(start: Pose, velocity: Motion) -> Self {
        Self { start, velocity, center: Vector3::zeros() }
    }

    /// Motion from one pose to another in `duration` [s], by the shorter turn about the collider's origin.
    pub fn between(start: &Pose, end: &Pose, duration: f64) -> Self {
        // In world axes: R_end R_startᵀ.
        let turn = end.quaternion() * start.quaternion().inverse();
        let velocity = Motion::new(
            turn.scaled_axis() / duration,
            (end.translation - start.translation) / duration,
        );
        Self::new(*start, velocity)
    }

    /// Motion from one pose to another in `duration` [s] along the screw between them: as of a body on a hinge, not along the
    /// chord.
    pub fn screw(start: &Pose, end: &Pose, duration: f64) -> Self {
        let turn = (end.quaternion() * start.quaternion().inverse()).scaled_axis();
        let angle = turn.norm();
        // The centre of a small turn is far off: ½ θ in the denominator costs its digits.
        if angle < STRAIGHT {
            return Self::between(start, end, duration);
        }
        let axis = turn / angle;
        let displacement = end.translation - start.translation;
        let along = axis * axis.dot(&displacement);
        let across = displacement - along;
        // Centre of the turn θ about a: ½(d + a × d / tan ½θ) from the start, d the displacement across a.
        // On the axis, which the ends of the chord are equally far from.
        let middle = (across + axis.cross(&across) / (0.5 * angle).tan()) * 0.5;
        let center = start.inverse().transform_point(&(start.translation + middle));
        Self { start: *start, velocity: Motion::new(turn / duration, along / duration), center }
    }

    /// Pose `X_WC` at time `t`. [s]
    pub fn pose_at(&self, t: f64) -> Pose {
        let turn = UnitQuaternion::from_scaled_axis(self.velocity.angular * t);
        let rotation = turn.to_rotation_matrix().matrix() * self.start.rotation;
        let center = self.start.transform_point(&self.center) + self.velocity.linear * t;
        Pose::new(rotation, center - rotation * self.center)
    }

    /// Velocity of the point that is at `p` in the world at time `t`. [m/s] (3)
    fn velocity_at(&self, p: &Vector3, t: f64) -> Vector3 {
        let center = self.start.transform_point(&self.center) + self.velocity.linear * t;
        self.velocity.linear + self.velocity.angular.cross(&(p - center))
    }
}

/// One convex part of a collider.
#[derive(Debug, Clone, Copy)]
enum Part<'a> {
    Solid(&'a Solid),
    /// Triangle in the collider's frame. [m]
    Triangle([Vector3; 3]),
}

impl<'a> Part<'a> {
    fn posed(&self, pose: &Pose, origin: &Vector3) -> Posed<'a> {
        let pose = Pose::new(pose.rotation, pose.translation - origin);
        match self {
            Self::Solid(solid) => Posed::new(solid, pose),
            Self::Triangle(corners) => Posed::triangle(corners.map(|p| pose.transform_point(&p))),
        }
    }

    /// Farthest distance of its surface from a point of the collider. [m]
    fn radius(&self, center: &Vector3) -> f64 {
        match self {
            // A bound by the triangle inequality: it need not be tight, only never too small.
            Self::Solid(solid) => solid.radius() + center.norm(),
            Self::Triangle(corners) => {
                corners.iter().map(|p| (p - center).norm()).fold(0.0, f64::max)
            }
        }
    }
}

/// A collider that is swept.
#[derive(Clone, Copy)]
pub(crate) struct Moving<'a> {
    pub(crate) placed: &'a Placed,
    pub(crate) sweep: &'a Sweep,
}

/// A part of a collider that is swept.
#[derive(Clone, Copy)]
struct MovingPart<'a> {
    part: Part<'a>,
    sweep: &'a Sweep,
}

/// Duration of the search, and the gap that it is for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window {
    /// Duration of the search. [s]
    pub(crate) duration: f64,
    /// Gap that counts as a touch; below 0 a depth. [m]
    pub(crate) touch: f64,
}

/// First time in the window at which the colliders are within `touch` of each other, or overlap by `-touch`, and approach.
pub(crate) fn time_of_impact(
    narrow: &mut Narrow,
    a: Moving,
    b: Moving,
    window: Window,
) -> Option<Impact> {
    use Solid::{HalfSpace, Triangles};
    match (&a.placed.solid, &b.placed.solid) {
        (HalfSpace | Triangles(_), HalfSpace | Triangles(_)) => None,
        (Triangles(_), _) => with_triangles(narrow, a, b, window),
        (_, Triangles(_)) => with_triangles(narrow, b, a, window).map(swapped),
        (solid_a, solid_b) => {
            let a = MovingPart { part: Part::Solid(solid_a), sweep: a.sweep };
            let b = MovingPart { part: Part::Solid(solid_b), sweep: b.sweep };
            advance(narrow, a, b, window)
        }
    }
}

fn swapped(impact: Impact) -> Impact {
    let [a, b] = impact.points;
    Impact { normal: -impact.normal, points: [b, a], ..impact }
}

/// First impact with the triangles that the other shape can reach.
fn with_triangles(
    narrow: &mut Narrow,
    mesh: Moving,
    other: Moving,
    window: Window,
) -> Option<Impact> {
    let triangles = mesh.placed.parry.as_trimesh()?;
    let part = Part::Solid(&other.placed.solid);
    let near = reachable(mesh, other, window, part.radius(&other.sweep.center));
    let mut first: Option<Impact> = None;
    for index in triangles.bvh().intersect_aabb(&near) {
        let t = triangles.triangle(index);
        let corners = Part::Triangle([t.a, t.b, t.c].map(convert::from_vector));
        // Later triangles are searched up to the first impact known.
        let left = Window { duration: first.map_or(window.duration, |f| f.time), ..window };
        let triangle = MovingPart { part: corners, sweep: mesh.sweep };
        let solid = MovingPart { part, sweep: other.sweep };
        if let Some(impact) = advance(narrow, triangle, solid, left)
            && first.is_none_or(|first| impact.time < first.time)
        {
            first = Some(impact);
        }
    }
    first
}

/// Box in the mesh's start frame around all that a ball of `radius` about the other's centre meets on its displacement.
fn reachable(mesh: Moving, other: Moving, window: Window, radius: f64) -> Aabb {
    let Window { duration, touch } = window;
    let center = |t: f64| {
        let p = other.sweep.start.transform_point(&other.sweep.center)
            + other.sweep.velocity.linear * t;
        mesh.sweep.start.inverse().transform_point(&p)
    };
    let (p, q) = (center(0.0), center(duration));
    // A mesh that moves meets more by as much as any point within reach of its motion moves.
    let own = &mesh.sweep.velocity;
    let arm = (p - mesh.sweep.center).norm().max((q - mesh.sweep.center).norm()) + radius;
    let travel = (own.linear.norm() + own.angular.norm() * arm) * duration;
    let grown = Vector3::repeat(radius + touch.max(0.0) + travel);
    Aabb::new(convert::vector(&(p.inf(&q) - grown)), convert::vector(&(p.sup(&q) + grown)))
}

fn advance(
    narrow: &mut Narrow,
    MovingPart { part: part_a, sweep: sweep_a }: MovingPart,
    MovingPart { part: part_b, sweep: sweep_b }: MovingPart,
    Window { duration, touch }: Window,
) -> Option<Impact> {
    // One origin for all times, so that distances of different times agree.
    let origin = sweep_a.start.translation;
    let spin = |part: &Part, sweep: &Sweep, n: &Vector3| {
        // A half-space's radius is infinite: 0 · ∞ would be NaN.
        let turning = n.cross(&sweep.velocity.angular).norm();
        if turning > 0.0 { turning * part.radius(&sweep.center) } else { 0.0 }
    };
    let mut time = 0.0;
    for step in 1..=MAX_STEPS {
        let A = part_a.posed(&sweep_a.pose_at(time), &origin);
        let B = part_b.posed(&sweep_b.pose_at(time), &origin);
        let near = narrow.separation(&A, &B, f64::INFINITY)?;
        let points = near.points.map(|p| p + origin);
        let normal = near.normal;
        let speed_b = sweep_b.velocity_at(&points[1], time);
        let approach = normal.dot(&(sweep_a.velocity_at(&points[0], time) - speed_b));
        let impact = Impact { time, normal, points, gap: near.gap, approach };
        // What separates is no impact, or an overlap at the start could never be left.
        if (near.gap <= touch && approach > 0.0) || step == MAX_STEPS {
            return Some(impact);
        }
        // Largest approach velocity μ = n·(v_A − v_B) + ‖n × ω_A‖ r_A + ‖n × ω_B‖ r_B.
        let rate = normal.dot(&(sweep_a.velocity.linear - sweep_b.velocity.linear))
            + spin(&part_a, sweep_a, &normal)
            + spin(&part_b, sweep_b, &normal);
        // Moving apart or past each other: the plane between them stays.
        if rate <= 0.0 {
            return None;
        }
        // The gap between the supports holds whatever the precision of the nearest points.
        let free = A.gap_along(&B, &normal);
        // Time advances by d/μ, with d measured to `slack` beyond the desired gap.
        // Advancing to the gap itself takes ever shorter steps: half of it, or a tenth of a depth, is near enough.
        let slack = if touch > 0.0 { 0.5 * touch } else { -0.1 * touch };
        time += (free - (touch - slack)).max(slack) / rate;
        if time > duration {
            return None;
        }
    }
    None
}
