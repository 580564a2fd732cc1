//! The farthest of some points along a direction: a tree of boxes, as exact as a look at every point.

use karakuri_spatial::Vector3;

/// Most points of a leaf.
const LEAF: usize = 12;
/// Levels of a tree of 2³² points, and more.
const LEVELS: usize = 40;
/// Rounding of the bound of a box, as a part of what is added up.
const ROUNDING: f64 = 1e-14;

/// Points, sorted into boxes.
#[derive(Debug, Clone)]
pub(super) struct Farthest {
    /// Nodes; a node's first child follows it.
    nodes: Vec<Node>,
    /// Points, leaf by leaf. [m] (n × 3)
    points: Vec<Vector3>,
    /// Their places among the points given. (n)
    places: Vec<u32>,
    /// Largest coordinate. [m]
    reach: f64,
}

#[derive(Debug, Clone, Copy)]
struct Node {
    centre: Vector3,
    half: Vector3,
    /// First point of its run in `points`.
    first: usize,
    len: usize,
    /// Index of the second child; 0 for a leaf.
    second: usize,
}

impl Node {
    /// Bound of the reach of its points along a direction. [m]
    fn bound(&self, direction: &Vector3) -> f64 {
        self.centre.dot(direction) + self.half.dot(&direction.abs())
    }
}

impl Farthest {
    pub(super) fn of(points: &[Vector3]) -> Self {
        let mut places: Vec<u32> = (0u32..).zip(points).map(|(i, _)| i).collect();
        let mut nodes = Vec::new();
        split(points, &mut places, 0, &mut nodes);
        let reach = points.iter().map(Vector3::amax).fold(0.0, f64::max);
        let points = places.iter().map(|&i| points[i as usize]).collect();
        Self { nodes, points, places, reach }
    }

    /// Place and reach of the point farthest along `direction`; of equals the first. [m]
    pub(super) fn along(&self, direction: &Vector3) -> (usize, f64) {
        // A bound is summed in another order than a reach: without slack, rounding could discard a box with an equal point.
        let rounding = ROUNDING * self.reach * direction.abs().sum();
        let mut best = (0, f64::NEG_INFINITY);
        // Fixed size, as queries run within a step, which allocates nothing.
        let mut open = [(0, f64::INFINITY); LEVELS];
        let mut n_open = usize::from(!self.nodes.is_empty());
        while n_open > 0 {
            n_open -= 1;
            let (i, bound) = open[n_open];
            // A box whose bound is below the best reach holds nothing better.
            if bound + rounding < best.1 {
                continue;
            }
            let node = &self.nodes[i];
            if node.second == 0 {
                let run = node.first..node.first + node.len;
                for (p, &place) in self.points[run.clone()].iter().zip(&self.places[run]) {
                    let reach = p.dot(direction);
                    // Of equals the first given, not the first in the tree: the same bits as a look at every point.
                    if reach > best.1 || (reach >= best.1 && place < best.0) {
                        best = (place, reach);
                    }
                }
                continue;
            }
            let child = |i: usize| (i, self.nodes[i].bound(direction));
            let (a, b) = (child(i + 1), child(node.second));
            // The child with the larger bound goes on top, to be searched first.
            let (near, far) = if a.1 >= b.1 { (a, b) } else { (b, a) };
            (open[n_open], open[n_open + 1]) = (far, near);
            n_open += 2;
        }
        (best.0 as usize, best.1)
    }
}

/// Adds the node of some places, of which the first is at `first` of all, and its children: halves along its longest axis.
fn split(points: &[Vector3], places: &mut [u32], first: usize, nodes: &mut Vec<Node>) {
    let (mut lower, mut upper) =
        (Vector3::repeat(f64::INFINITY), Vector3::repeat(f64::NEG_INFINITY));
    for &i in places.iter() {
        (lower, upper) = (lower.inf(&points[i as usize]), upper.sup(&points[i as usize]));
    }
    let (centre, half) = (0.5 * (lower + upper), 0.5 * (upper - lower));
    let this = nodes.len();
    nodes.push(Node { centre, half, first, len: places.len(), second: 0 });
    if places.len() <= LEAF {
        return;
    }
    let axis = half.imax();
    let middle = places.len() / 2;
    // Ties by index make the split unique.
    places.select_nth_unstable_by(middle, |&a, &b| {
        points[a as usize][axis].total_cmp(&points[b as usize][axis]).then(a.cmp(&b))
    });
    let (left, right) = places.split_at_mut(middle);
    split(points, left, first, nodes);
    nodes[this].second = nodes.len();
    split(points, right, first + middle, nodes);
}
