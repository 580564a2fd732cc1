//! COLLADA 1.4 and 1.5: triangles of the visual scene, node transforms and unit applied.
//!
//! `up_axis` is not applied: rviz, Gazebo and `MoveIt` show the coordinates as they are written, and files for ROS are
//! made to look right there.

use std::collections::BTreeMap;
use std::path::Path;

use karakuri_spatial::Vector3;
use nalgebra::{Matrix4, Rotation3, Unit};
use roxmltree::{Document, Node};

use super::error::MeshError;
use crate::Mesh;

/// Depth of nodes, and the number of their instances, beyond which a file contains itself.
const DEPTH_LIMIT: usize = 64;
const INSTANCE_LIMIT: usize = 100_000;

type Result<T> = std::result::Result<T, MeshError>;

pub(super) fn decode(bytes: &[u8], path: &Path) -> Result<Mesh> {
    // Not by `XmlText`, which finds places for messages: nobody mends a mesh by hand.
    let text = std::str::from_utf8(bytes).map_err(|e| damaged(&e.to_string()))?;
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let document = Document::parse(text).map_err(|e| damaged(&e.to_string()))?;
    let root = document.root_element();
    if root.tag_name().name() != "COLLADA" {
        return Err(damaged("the root element is not <COLLADA>"));
    }
    let meter = child(root, "asset")
        .and_then(|asset| child(asset, "unit"))
        .and_then(|unit| unit.attribute("meter"))
        // Metres where the file does not say, by the standard.
        .map_or(Ok(1.0), |m| {
            m.trim().parse::<f64>().map_err(|_| damaged("<unit meter> is not a number"))
        })?;
    let ids = root.descendants().filter_map(|n| Some((n.attribute("id")?, n))).collect();
    let mut reader = Reader { ids, mesh: Mesh::named(path), instances: 0 };
    // Outermost: translations of nodes are in the file's unit, too.
    let unit = Matrix4::new_scaling(meter);
    let scenes: Vec<_> =
        root.descendants().filter(|n| n.has_tag_name_local("visual_scene")).collect();
    for scene in &scenes {
        for node in children(*scene, "node") {
            reader.node(node, &unit, 0)?;
        }
    }
    // Some exporters write geometries alone: taken as they lie, in the file's unit.
    if scenes.is_empty() {
        for geometry in root.descendants().filter(|n| n.has_tag_name_local("geometry")) {
            reader.geometry(geometry, &unit)?;
        }
    }
    Ok(reader.mesh)
}

fn damaged(reason: &str) -> MeshError {
    MeshError::Damaged { format: "DAE", reason: reason.to_owned() }
}

trait LocalName {
    fn has_tag_name_local(&self, name: &str) -> bool;
}

impl LocalName for Node<'_, '_> {
    fn has_tag_name_local(&self, name: &str) -> bool {
        self.is_element() && self.tag_name().name() == name
    }
}

fn children<'a, 'i>(node: Node<'a, 'i>, name: &str) -> impl Iterator<Item = Node<'a, 'i>> {
    node.children().filter(move |n| n.has_tag_name_local(name))
}

fn child<'a, 'i>(node: Node<'a, 'i>, name: &str) -> Option<Node<'a, 'i>> {
    children(node, name).next()
}

fn numbers<T: std::str::FromStr>(node: Node<'_, '_>) -> Result<Vec<T>> {
    node.text()
        .unwrap_or_default()
        .split_whitespace()
        .map(|word| word.parse().map_err(|_| damaged(&format!("`{word}` is not a number"))))
        .collect()
}

struct Reader<'a, 'i> {
    ids: BTreeMap<&'a str, Node<'a, 'i>>,
    mesh: Mesh,
    instances: usize,
}

impl<'a, 'i> Reader<'a, 'i> {
    fn by_url(&self, url: Option<&str>) -> Result<Node<'a, 'i>> {
        let url = url.unwrap_or_default();
        // References within the file only; others name files that nobody asked for.
        let id = url.strip_prefix('#').unwrap_or(url);
        self.ids.get(id).copied().ok_or_else(|| damaged(&format!("`{url}` does not exist")))
    }

    fn node(&mut self, node: Node<'a, 'i>, outer: &Matrix4<f64>, depth: usize) -> Result<()> {
        self.instances += 1;
        // Both limits: nodes that name each other twice grow exponentially long before the depth ends.
        if depth > DEPTH_LIMIT || self.instances > INSTANCE_LIMIT {
            return Err(damaged("its nodes contain themselves"));
        }
        let mut transform = *outer;
        for step in node.children().filter(Node::is_element) {
            // COLLADA applies a node's transforms in the order of the file, each in the axes that those before have made.
            transform *= transform_of(step)?;
        }
        for part in node.children().filter(Node::is_element) {
            match part.tag_name().name() {
                "node" => self.node(part, &transform, depth + 1)?,
                "instance_node" => {
                    let target = self.by_url(part.attribute("url"))?;
                    self.node(target, &transform, depth + 1)?;
                }
                "instance_geometry" => {
                    let geometry = self.by_url(part.attribute("url"))?;
                    self.geometry(geometry, &transform)?;
                }
                "instance_controller" => {
                    let controller = self.by_url(part.attribute("url"))?;
                    // The shape before any bone moves it.
                    if let Some(skin) = child(controller, "skin") {
                        let geometry = self.by_url(skin.attribute("source"))?;
                        self.geometry(geometry, &transform)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn geometry(&mut self, geometry: Node<'a, 'i>, transform: &Matrix4<f64>) -> Result<()> {
        let Some(mesh) = child(geometry, "mesh") else { return Ok(()) };
        for primitive in mesh.children().filter(Node::is_element) {
            let polygons = match primitive.tag_name().name() {
                "triangles" => polygons_of(primitive, &|_| 3)?,
                "polylist" => {
                    let counts: Vec<usize> =
                        child(primitive, "vcount").map_or(Ok(Vec::new()), numbers)?;
                    polygons_of(primitive, &|i| counts.get(i).copied().unwrap_or(0))?
                }
                // Each `<p>` is one polygon, or one fan of triangles, which are laid alike.
                "polygons" | "trifans" => polygons_of(primitive, &|_| usize::MAX)?,
                "tristrips" => {
                    let strips = polygons_of(primitive, &|_| usize::MAX)?;
                    strips.iter().flat_map(|strip| triangles_of(strip)).collect()
                }
                // Lines have no sides.
                _ => continue,
            };
            self.add(mesh, primitive, &polygons, transform)?;
        }
        Ok(())
    }

    /// Adds fans of triangles, over the positions that the primitive's VERTEX input names.
    fn add(
        &mut self,
        mesh: Node<'a, 'i>,
        primitive: Node<'a, 'i>,
        polygons: &[Vec<usize>],
        transform: &Matrix4<f64>,
    ) -> Result<()> {
        let positions = self.positions(mesh, primitive)?;
        // All primitives go into one mesh; their indices begin where its vertices ended.
        let first = self.mesh.vertices.len();
        for p in &positions {
            let point = transform.transform_point(&(*p).into());
            self.mesh.vertices.push(point.coords.into());
        }
        // A mirrored polygon has its corners exchanged, so that outside stays outside.
        let mirrored = transform.fixed_view::<3, 3>(0, 0).determinant() < 0.0;
        for polygon in polygons {
            if polygon.iter().any(|&i| i >= positions.len()) {
                return Err(damaged("a polygon names a vertex that does not exist"));
            }
            let corner = |i: usize| u32::try_from(first + polygon[i]).unwrap_or(u32::MAX);
            // A fan about the first corner: right for convex polygons, which exporters write.
            for i in 2..polygon.len() {
                let (b, c) = if mirrored { (i, i - 1) } else { (i - 1, i) };
                self.mesh.triangles.push([corner(0), corner(b), corner(c)]);
            }
        }
        Ok(())
    }

    fn positions(&self, mesh: Node<'a, 'i>, primitive: Node<'a, 'i>) -> Result<Vec<[f64; 3]>> {
        let input = |of: Node<'a, 'i>, semantic: &str| {
            children(of, "input").find(|n| n.attribute("semantic") == Some(semantic))
        };
        let vertices = input(primitive, "VERTEX")
            .map(|n| self.by_url(n.attribute("source")))
            .transpose()?
            // A mesh has one <vertices> by the standard, whatever its primitives leave out.
            .or_else(|| child(mesh, "vertices"))
            .ok_or_else(|| damaged("a mesh has no vertices"))?;
        let position =
            input(vertices, "POSITION").ok_or_else(|| damaged("vertices have no positions"))?;
        let source = self.by_url(position.attribute("source"))?;
        let array =
            child(source, "float_array").ok_or_else(|| damaged("a source has no numbers"))?;
        let stride = source
            .descendants()
            .find(|n| n.has_tag_name_local("accessor"))
            .and_then(|n| n.attribute("stride")?.parse::<usize>().ok())
            .unwrap_or(3)
            // Further numbers of an entry, as a weight, are skipped.
            .max(3);
        let numbers: Vec<f64> = numbers(array)?;
        Ok(numbers.chunks_exact(stride).map(|c| [c[0], c[1], c[2]]).collect())
    }
}

/// Vertex indices of each polygon of a primitive; `count(i)` corners in the i-th.
fn polygons_of(primitive: Node<'_, '_>, count: &dyn Fn(usize) -> usize) -> Result<Vec<Vec<usize>>> {
    let offset_of = |input: Node<'_, '_>| {
        input.attribute("offset").and_then(|o| o.parse::<usize>().ok()).unwrap_or(0).min(64)
    };
    // Inputs may share an offset, so the largest counts and not their number.
    let stride = children(primitive, "input").map(offset_of).max().unwrap_or(0) + 1;
    let vertex = children(primitive, "input")
        .find(|n| n.attribute("semantic") == Some("VERTEX"))
        .map_or(0, offset_of);
    let mut polygons = Vec::new();
    if child(primitive, "ph").is_some() {
        return Err(damaged("a polygon has a hole; triangulate the mesh"));
    }
    for list in children(primitive, "p") {
        // One index for each input in turn; of these only the positions count here.
        let indices: Vec<usize> = numbers(list)?;
        let corners: Vec<usize> = indices.chunks_exact(stride).map(|c| c[vertex]).collect();
        let mut rest = corners.as_slice();
        while !rest.is_empty() {
            // A count that exceeds what is left, as of `polygons`, takes all of it.
            let n = count(polygons.len()).min(rest.len());
            // A count of zero would never come to an end.
            if n == 0 {
                break;
            }
            let (polygon, after) = rest.split_at(n);
            polygons.push(polygon.to_vec());
            rest = after;
        }
    }
    Ok(polygons)
}

/// Triangles of a strip: each corner from the third on makes one with the two before it.
fn triangles_of(strip: &[usize]) -> impl Iterator<Item = Vec<usize>> {
    // Every second one is taken the other way round, or its outside would be inside.
    let turned =
        |i: usize, t: &[usize]| if i % 2 == 1 { [t[1], t[0], t[2]] } else { [t[0], t[1], t[2]] };
    strip.windows(3).enumerate().map(move |(i, t)| turned(i, t).to_vec())
}

fn transform_of(step: Node<'_, '_>) -> Result<Matrix4<f64>> {
    let tag = step.tag_name().name();
    let n = match tag {
        "matrix" => 16,
        "rotate" => 4,
        "translate" | "scale" => 3,
        _ => return Ok(Matrix4::identity()),
    };
    let v: Vec<f64> = numbers(step)?;
    if v.len() != n {
        return Err(damaged(&format!("<{tag}> has {} numbers, not {n}", v.len())));
    }
    Ok(match tag {
        "matrix" => Matrix4::from_row_slice(&v),
        // COLLADA has degrees. Exporters write a zero axis for no rotation.
        "rotate" => Unit::try_new(Vector3::new(v[0], v[1], v[2]), 1e-12)
            .map_or_else(Matrix4::identity, |axis| {
                Rotation3::from_axis_angle(&axis, v[3].to_radians()).to_homogeneous()
            }),
        "translate" => Matrix4::new_translation(&Vector3::new(v[0], v[1], v[2])),
        _ => Matrix4::new_nonuniform_scaling(&Vector3::new(v[0], v[1], v[2])),
    })
}
