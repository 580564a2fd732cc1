//! Contact points of this step, each with the memory of its counterpart in the last.

use karakuri_collision::{ContactPoint, Manifold};
use karakuri_spatial::{Vector3, tangent_frame};

use super::{Contact, Contacts};
use crate::state::State;
use crate::state::body::Body;
use crate::state::collider::prescribed_velocity_at;
use crate::state::materials::Surface;
use crate::state::mover::Mover;

/// A point that lost its feature is taken for the same if it moved less than this. [m]
// Shorter: fast contacts lose their impulse and begin from zero; longer: neighbours on a fine mesh take each other's.
const SAME_POINT: f64 = 2e-3;

/// Fills `active` with the points of the step's manifolds, each with the memory of its counterpart in `previous`.
pub(crate) fn match_contacts(state: &State, all: &mut Contacts) {
    let State { attachments, materials, .. } = state;
    let Contacts { active: contacts, previous, counterparts, .. } = all;
    let mut previous = previous.as_slice();
    contacts.clear();
    for of_pair in state.collision.manifolds().chunk_by(|m, n| (m.a, m.b) == (n.a, n.b)) {
        let pair = (of_pair[0].a, of_pair[0].b);
        let (Some(a), Some(b)) = (&attachments[pair.0.0], &attachments[pair.1.0]) else {
            continue;
        };
        let surface = materials.between(a, b);
        // Both lists are sorted by pair, so each is walked once.
        let of_earlier_pairs = previous.iter().take_while(|c| (c.a, c.b) < pair).count();
        previous = &previous[of_earlier_pairs..];
        let known;
        (known, previous) =
            previous.split_at(previous.iter().take_while(|c| (c.a, c.b) == pair).count());
        // Nothing slips where v_A + belt_A = v_B + belt_B: this is v_B − v_A.
        let belts = a.surface_velocity - b.surface_velocity;
        if are_still(of_pair, known) {
            let first = contacts.len();
            keep(known, surface, &belts, contacts);
            for contact in &mut contacts[first..] {
                // The present velocity of the surface: it may change while its pose does not.
                contact.carried = prescribed_velocity_at(a, b, &contact.position);
            }
            continue;
        }
        counterparts.clear();
        for point in of_pair.iter().flat_map(Manifold::points) {
            let found = counterpart(point, of_pair, known, counterparts);
            counterparts.push(found);
        }
        let mut later = counterparts.as_slice();
        for manifold in of_pair {
            let own;
            (own, later) = later.split_at(manifold.points().len());
            let first_of_patch = contacts.len();
            let normal = manifold.normal;
            let tangential = |v: Vector3| v - normal * normal.dot(&v);
            let belt_velocity = tangential(belts);
            let tangents = tangent_frame(&normal);
            // Written where they stay: copies of so many numbers would cost as much as the matching.
            contacts.extend(manifold.points().iter().zip(own).map(|(point, counterpart)| {
                let memory = counterpart.map(|i| &known[i]);
                let arm = arm_to(&point.position, [a.mover, b.mover], &state.bodies);
                Contact {
                    a: pair.0,
                    b: pair.1,
                    movers: [a.mover, b.mover],
                    feature: point.feature,
                    position: point.position,
                    normal,
                    tangents,
                    gap: point.gap,
                    sharers: manifold.points().len(),
                    surface,
                    belt_velocity,
                    carried: prescribed_velocity_at(a, b, &point.position),
                    impulse: memory.map_or_else(Vector3::zeros, |c| c.impulse),
                    moment: memory.map_or_else(Vector3::zeros, |c| c.moment),
                    // On the plane of this step: along the normal a drift would push or pull.
                    drift: memory.map_or_else(Vector3::zeros, |c| tangential(c.drift)),
                    sticks: memory.is_some_and(|c| c.sticks),
                    slip_speed: memory.map_or(0.0, |c| c.slip_speed),
                    turn: memory.map_or(0.0, |c| (c.normal - normal).norm()),
                    warm_start: memory.map_or(0.0, |c| c.impulse.amax()),
                    struck: false,
                    unsettled: memory.is_some_and(|c| c.unsettled),
                    arm,
                    advance: memory.and_then(|c| c.advance_to(point, &normal, &arm)),
                    halfway: None,
                    made: None,
                }
            }));
            make_drifts_rigid(&mut contacts[first_of_patch..]);
        }
    }
}

/// Lever arm from the centre of mass of the one body that moves at a point; zero where both sides may move. [m] (3)
fn arm_to(point: &Vector3, movers: [Mover; 2], bodies: &[Option<Body>]) -> Vector3 {
    let ([Mover::Fixed, Mover::Body(i)] | [Mover::Body(i), Mover::Fixed]) = movers else {
        return Vector3::zeros();
    };
    bodies[i].as_ref().map_or_else(Vector3::zeros, |body| point - body.pose.translation)
}

/// Whether a pair's manifolds are those that its `known` contacts came from.
fn are_still(of_pair: &[Manifold], known: &[Contact]) -> bool {
    let mut points = of_pair.iter().flat_map(|m| m.points().iter().map(move |p| (m.normal, p)));
    // Equal bits, as nothing moved; anything less is matched point by point.
    let same = |c: &Contact| {
        points.next().is_some_and(|(normal, point)| {
            (c.feature, c.position, c.normal) == (point.feature, point.position, normal)
        })
    };
    of_pair.iter().all(|m| m.kept) && known.iter().all(same) && points.next().is_none()
}

/// Adds the known contacts of a pair of which neither side moved.
fn keep(known: &[Contact], surface: Surface, belts: &Vector3, contacts: &mut Vec<Contact>) {
    for patch in known.chunk_by(|c, d| c.normal == d.normal) {
        let normal = patch[0].normal;
        let belt_velocity = belts - normal * normal.dot(belts);
        let first = contacts.len();
        contacts.extend(patch.iter().map(|c| {
            let warm_start = c.impulse.amax();
            Contact { surface, belt_velocity, turn: 0.0, warm_start, ..*c }
        }));
        // A patch that sticks at all points slips as one, and its drifts were rigid before.
        if !patch.iter().all(|c| c.sticks) {
            make_drifts_rigid(&mut contacts[first..]);
        }
    }
}

/// Replaces the drifts of a patch by the shift and turn in its plane that fit best those of its sticking points.
///
/// Two rigid surfaces can undo no other drift: points that began to stick at different times would ask for the
/// impossible, and press against each other up to the cone without end.
fn make_drifts_rigid(patch: &mut [Contact]) {
    let sticking = |c: &&Contact| c.sticks;
    let n = patch.iter().filter(sticking).count();
    if n == 0 {
        return;
    }
    let normal = patch[0].normal;
    let mean = |of: fn(&Contact) -> Vector3| {
        patch.iter().filter(sticking).map(of).sum::<Vector3>() / n as f64
    };
    let (center, shift) = (mean(|c| c.position), mean(|c| c.drift));
    // Least squares about the centre: the turn is `Σ l·d/Σ l²` with the levers `l = n × r` and the drifts `d`.
    let across = |c: &Contact| normal.cross(&(c.position - center));
    let (mut moment, mut inertia) = (0.0, 0.0);
    for c in patch.iter().filter(sticking) {
        let lever = across(c);
        moment += lever.dot(&c.drift);
        inertia += lever.norm_squared();
    }
    // A single point has no lever to turn by.
    let turn = if inertia > 0.0 { moment / inertia } else { 0.0 };
    for c in patch.iter_mut() {
        // Also where it does not stick: its row must not ask for what the others forbid.
        c.drift = shift + normal.cross(&(c.position - center)) * turn;
    }
}

/// Index of the `known` contact of the pair that a point continues: the one of its feature, else the nearest one whose
/// feature is gone and that no earlier point of the pair continues already.
fn counterpart(
    point: &ContactPoint,
    of_pair: &[Manifold],
    known: &[Contact],
    taken: &[Option<usize>],
) -> Option<usize> {
    // A feature names the same material corner, which may move farther than its neighbours are apart.
    if let Some(same) = known.iter().position(|c| c.feature == point.feature) {
        return Some(same);
    }
    // A contact whose own feature is still there belongs to that point.
    let lives =
        |c: &Contact| of_pair.iter().any(|m| m.points().iter().any(|p| p.feature == c.feature));
    let mut nearest = (SAME_POINT * SAME_POINT, None);
    for (i, c) in known.iter().enumerate() {
        let distance = (c.position - point.position).norm_squared();
        if distance < nearest.0 && !taken.contains(&Some(i)) && !lives(c) {
            nearest = (distance, Some(i));
        }
    }
    nearest.1
}
