//! Meshes as unions of convex parts that stand no farther beside the mesh than a tolerance.
//!
//! A part is the convex hull of the solid within a convex cell. The first cell is all of space; the part that stands farthest
//! beside the mesh is cut in two by a plane, until none stands farther than the tolerance. Planes are tried where the mesh is
//! concave: those of faces beside concave edges, the tangent plane where the part is farthest from the mesh, and the three axes'
//! there and through the middle of the part; the one whose two hulls have the least volume together is taken. At last parts are
//! joined where their common hull is within the tolerance. The search is the greedy one of [Wei 2022], with the distance in
//! place of their measure of concavity.
//!
//! Together the parts cover the solid, so they are never inside of it; a cavity without an opening is filled. Equal meshes give
//! equal parts. Takes up to seconds: decompose once and keep the parts.

use std::collections::BTreeMap;

use karakuri_spatial::Vector3;

use crate::bounds::Bounds;
use crate::shape::{ColliderShape, ShapeError};
use crate::surface::Surface;

mod cell;
mod excess;

use cell::{Part, Plane};
use excess::Solid;

/// Version of the search for parts: it changes with the search, so that kept parts are not mistaken for new ones.
pub const DECOMPOSITION: &str = "planes-1";

/// Tolerance where none is asked for, as a part of the mesh's size (the diagonal of its box).
const TOLERANCE: f64 = 0.005;
/// Least tolerance, as a part of the mesh's size: nearer distances are not seen within seconds.
const LEAST_TOLERANCE: f64 = 0.001;
/// Most parts where no tolerance is asked for: a link with more touches as slowly as its mesh would.
const MOST_PARTS: usize = 32;
/// Most parts of a mesh at all.
const MOST_PARTS_ASKED: usize = 128;
/// Concave edges whose planes are tried, those nearest to where the part is farthest from the mesh. Four miss the
/// better cut of a comb's corner; sixteen find none that eight do not.
const EDGES_TRIED: usize = 8;
/// Cosine of the angle across an edge above which it is not concave. (0.6°)
const FLAT: f64 = 1.0 - 5e-5;
/// Weight of the difference of two volumes beside their sum, as in [Mamou 2016]: the two halves of a ring fill no less than
/// the ring, and only their halves do.
const BALANCE: f64 = 0.05;
/// Volume of joined parts over their volumes apart, at most; the distance decides what is below. [-]
const JOINED_VOLUME: f64 = 1.2;

/// Convex parts of a mesh, and their distance from it.
#[derive(Debug, Clone, PartialEq)]
pub struct Decomposition {
    /// Parts, each the hull of points. [m] (n × 3 each)
    pub parts: Vec<Vec<Vector3>>,
    /// Farthest distance of the parts' surface from the mesh; what is below half the tolerance may be missed. [m]
    pub deviation: f64,
}

/// An edge of the mesh at which it is concave.
#[derive(Debug, Clone, Copy)]
struct ConcaveEdge {
    ends: [Vector3; 2],
    normals: [Vector3; 2],
}

/// Convex parts of a mesh, which stand at most `tolerance` beside it; `None`: 0.5 % of its size, or what 32 parts
/// give. [m]
///
/// # Errors
/// When a vertex is not finite, the triangles form no mesh, no part has a volume, the tolerance is below 0.1 % of the
/// mesh's size, or 128 parts do not reach it.
pub fn decompose(
    vertices: &[Vector3],
    triangles: &[[u32; 3]],
    tolerance: Option<f64>,
) -> Result<Decomposition, ShapeError> {
    let mesh =
        ColliderShape::Triangles { vertices: vertices.to_vec(), triangles: triangles.to_vec() };
    // For its checks only: they are those of a collider of triangles.
    mesh.build()?;
    let surface = turned_outward(&Surface::new(vertices, triangles));
    let Bounds { lower, upper } = surface.bounds;
    let size = (upper - lower).norm();
    let most = tolerance.map_or(MOST_PARTS, |_| MOST_PARTS_ASKED);
    let allowed = tolerance.unwrap_or(TOLERANCE * size);
    let least = LEAST_TOLERANCE * size;
    if let Some(tolerance) = tolerance.filter(|tolerance| *tolerance < least) {
        return Err(ShapeError::Tolerance { tolerance, least });
    }
    let solid = Solid::new(&surface)?;
    let edges = concave_edges(&surface);
    let mut parts = vec![Part::whole(&surface)];
    parts[0].measure(&solid, allowed);
    // The part that stands farthest beside the mesh is cut, until none stands farther than allowed.
    while parts.len() < most {
        let farther = |part: &Part| part.excess() > allowed && !part.is_final;
        let worst = (0..parts.len()).filter(|&i| farther(&parts[i]));
        let Some(worst) = worst.max_by(|&i, &j| parts[i].excess().total_cmp(&parts[j].excess()))
        else {
            break;
        };
        if let Some(halves) = best_cut(&parts[worst], &edges, &solid) {
            let [mut kept, mut added] = halves;
            kept.measure(&solid, allowed);
            added.measure(&solid, allowed);
            parts[worst] = kept;
            parts.push(added);
        } else {
            parts[worst].is_final = true;
        }
    }
    // A tolerance that is asked for is kept or refused; the default is a best effort within its number of parts.
    let deviation = parts.iter().map(Part::excess).fold(0.0, f64::max);
    if let Some(tolerance) = tolerance.filter(|tolerance| deviation > *tolerance) {
        return Err(ShapeError::Deviation { n_parts: parts.len(), deviation, tolerance });
    }
    // Joined at the end: a plane that resolves one concave place also cuts what was convex elsewhere.
    join(&mut parts, &solid, allowed);
    let deviation = parts.iter().map(Part::excess).fold(0.0, f64::max);
    // Slivers that a plane leaves at the surface have no volume, and nothing rests on them.
    let parts: Vec<Vec<Vector3>> = parts
        .into_iter()
        .map(Part::into_points)
        .filter(|points| ColliderShape::ConvexHull { points: points.clone() }.build().is_ok())
        .collect();
    if parts.is_empty() {
        return Err(ShapeError::Flat { n_points: vertices.len() });
    }
    Ok(Decomposition { parts, deviation })
}

/// A surface with its normals outward, where neighbours disagree or the mesh is inside out, as files of other programs are.
fn turned_outward(surface: &Surface) -> Surface {
    let mut owners: BTreeMap<[u32; 2], Vec<usize>> = BTreeMap::new();
    for (i, t) in surface.triangles.iter().enumerate() {
        for k in 0..3 {
            let [p, q] = [t[k], t[(k + 1) % 3]];
            owners.entry([p.min(q), p.max(q)]).or_default().push(i);
        }
    }
    let mut turned = surface.triangles.clone();
    let mut seen = vec![false; turned.len()];
    for seed in 0..turned.len() {
        let mut piece = Vec::new();
        let mut open = vec![seed];
        while let Some(i) = open.pop() {
            if core::mem::replace(&mut seen[i], true) {
                continue;
            }
            piece.push(i);
            let t = turned[i];
            for [p, q] in [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]] {
                // Borders, and edges of three faces or more, tell nothing about orientation.
                let Some([a, b]) = owners.get(&[p.min(q), p.max(q)]).map(Vec::as_slice) else {
                    continue;
                };
                let other = if *a == i { *b } else { *a };
                // A neighbour that has the common edge in the same direction is turned.
                let has = |t: &[u32; 3]| (0..3).any(|k| [t[k], t[(k + 1) % 3]] == [p, q]);
                if !seen[other] && has(&turned[other]) {
                    turned[other].swap(1, 2);
                }
                open.push(other);
            }
        }
        // Six times the volume between the piece and the origin: negative where the piece is inside out.
        let cone = |&i: &usize| {
            let [a, b, c] = turned[i].map(|i| surface.vertices[i as usize]);
            a.dot(&b.cross(&c))
        };
        if piece.iter().map(cone).sum::<f64>() < 0.0 {
            for i in piece {
                turned[i].swap(1, 2);
            }
        }
    }
    Surface::new(&surface.vertices, &turned)
}

/// The two parts that the best plane makes of one; `None` if no plane has something on both sides.
fn best_cut(part: &Part, edges: &[ConcaveEdge], solid: &Solid) -> Option<[Part; 2]> {
    let mut best: Option<(f64, [Part; 2])> = None;
    for plane in planes_to_try(part, edges) {
        let Some(halves) = part.cut(&plane, solid) else { continue };
        let [a, b] = [halves[0].volume(), halves[1].volume()];
        // The volume of both hulls, and a little of their difference.
        let score = a + b + BALANCE * (a - b).abs();
        if best.as_ref().is_none_or(|(least, _)| score < *least) {
            best = Some((score, halves));
        }
    }
    best.map(|(_, halves)| halves)
}

fn planes_to_try(part: &Part, edges: &[ConcaveEdge]) -> Vec<Plane> {
    let Some([at, on]) = part.farthest() else { return Vec::new() };
    let mut near: Vec<(f64, &ConcaveEdge)> = edges
        .iter()
        .filter(|edge| part.reaches(&edge.ends))
        .map(|edge| (distance_to_segment(&on, &edge.ends), edge))
        .collect();
    near.sort_by(|a, b| a.0.total_cmp(&b.0));
    near.truncate(EDGES_TRIED);
    // Either face's plane puts the concave edge on the boundary of both parts, which bars at right angles need.
    let beside = near
        .iter()
        .flat_map(|(_, edge)| edge.normals.map(|normal| Plane::through(&edge.ends[0], normal)));
    let tangent = (at - on).try_normalize(0.0).map(|normal| Plane::through(&on, normal));
    // Planes through the middle halve what is symmetric, such as a ring.
    let axes = [on, part.middle()].into_iter().flat_map(|through| {
        [Vector3::x(), Vector3::y(), Vector3::z()].map(|axis| Plane::through(&through, axis))
    });
    beside.chain(tangent).chain(axes).collect()
}

fn distance_to_segment(point: &Vector3, [a, b]: &[Vector3; 2]) -> f64 {
    let along = b - a;
    let part = (point - a).dot(&along) / along.norm_squared();
    (a + along * part.clamp(0.0, 1.0) - point).norm()
}

fn concave_edges(surface: &Surface) -> Vec<ConcaveEdge> {
    let mut owners: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    for (i, t) in (0u32..).zip(&surface.triangles) {
        owners.extend([0, 1, 2].map(|k| ((t[k], t[(k + 1) % 3]), i)));
    }
    let mut edges = Vec::new();
    for (&(p, q), &one) in owners.iter().filter(|((p, q), _)| p < q) {
        let Some(&other) = owners.get(&(q, p)) else { continue };
        let ends = [p, q].map(|i| surface.vertices[i as usize]);
        let normals = [one, other].map(|i| surface.face(i).normal);
        // Outward of the first face across the edge; the other face rises in this direction where the edge is concave.
        let outward = (ends[1] - ends[0]).cross(&normals[0]);
        if normals[1].dot(&outward) < 0.0 && normals[0].dot(&normals[1]) < FLAT {
            edges.push(ConcaveEdge { ends, normals });
        }
    }
    edges
}

/// Joins parts whose common hull stands no farther beside the mesh than is allowed, as long as there are any.
fn join(parts: &mut Vec<Part>, solid: &Solid, allowed: f64) {
    let mut first = 0;
    while first < parts.len() {
        let found = (first + 1..parts.len()).find_map(|second| {
            let mut joined = parts[first].joined(&parts[second])?;
            let apart = parts[first].volume() + parts[second].volume();
            // The volume is known, the distance takes a search over the faces: the cheaper test first.
            if joined.volume() > JOINED_VOLUME * apart {
                return None;
            }
            joined.measure(solid, allowed);
            (joined.excess() <= allowed).then_some((second, joined))
        });
        if let Some((second, joined)) = found {
            parts[first] = joined;
            parts.remove(second);
            // What did not join either half may join both.
            first = 0;
        } else {
            first += 1;
        }
    }
}
