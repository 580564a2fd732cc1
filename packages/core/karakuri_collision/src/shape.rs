//! Shapes of colliders, centred on their own frames.

use std::sync::Arc;

use karakuri_spatial::{Matrix3, Pose, Vector3};
use nalgebra::Rotation3;
use parry3d_f64::math::Vec3;
use parry3d_f64::shape::SharedShape;

use crate::convert;
use crate::ellipsoid::Ellipsoid;
use crate::hull::Hull;
use crate::mass_distribution;
use crate::solid::Solid;
use crate::surface::Surface;

/// A shape of a collider.
#[derive(Debug, Clone, PartialEq)]
pub enum ColliderShape {
    /// Cuboid with its edges along x, y and z.
    Box {
        /// Half of each edge. [m] (3)
        half_extents: Vector3,
    },
    /// Ball about the origin.
    Sphere {
        /// Radius of the ball. [m]
        radius: f64,
    },
    /// Cylinder along z.
    Cylinder {
        /// Radius of the cylinder. [m]
        radius: f64,
        /// Half of the length. [m]
        half_length: f64,
    },
    /// Cylinder along z with half-balls at its ends.
    Capsule {
        /// Radius of the cylinder and of its ends. [m]
        radius: f64,
        /// Half of the cylindrical part. [m]
        half_length: f64,
    },
    /// Ellipsoid with its axes along x, y and z.
    Ellipsoid {
        /// Half of each axis. [m] (3)
        semi_axes: Vector3,
    },
    /// Half-space below the plane z = 0.
    HalfSpace,
    /// Convex hull of points. [m] (n × 3)
    ConvexHull {
        /// Points to be enclosed. [m] (n × 3)
        points: Vec<Vector3>,
    },
    /// Triangles, one-sided; for colliders that do not move. [m]
    Triangles {
        /// Corners of the triangles. [m] (n × 3)
        vertices: Vec<Vector3>,
        /// Corner indices. (m × 3)
        triangles: Vec<[u32; 3]>,
    },
}

/// Why a shape cannot collide.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ShapeError {
    /// A size is zero, negative or not finite.
    #[error("{what} is {value} m; it must be positive")]
    Size {
        /// Name of the size.
        what: &'static str,
        /// Value of the size. [m]
        value: f64,
    },
    /// The points span no volume.
    #[error(
        "the convex hull of {n_points} points has no volume; give at least four points that are not in one plane"
    )]
    Flat {
        /// Number of points given.
        n_points: usize,
    },
    /// Convex parts are asked to be nearer to a mesh than can be seen.
    #[error("`tolerance: {tolerance}` is below 0.1 % of the mesh's size; write {:.5} or more", (1e5 * least).ceil() * 1e-5)]
    Tolerance {
        /// Tolerance that is asked for. [m]
        tolerance: f64,
        /// Least tolerance of this mesh. [m]
        least: f64,
    },
    /// Convex parts do not come near enough to a mesh.
    #[error(
        "{n_parts} convex parts are up to {:.3} mm beside the mesh; write `tolerance: {:.4}` or more, or a simpler mesh",
        1e3 * deviation, (1e4 * deviation).ceil() * 1e-4
    )]
    Deviation {
        /// Number of the parts.
        n_parts: usize,
        /// Their farthest distance from the mesh. [m]
        deviation: f64,
        /// Largest distance that is allowed. [m]
        tolerance: f64,
    },
    /// A vertex is NaN or infinite.
    #[error("vertex {vertex} is not finite; export the mesh again")]
    NotFinite {
        /// Index of the first such vertex.
        vertex: usize,
    },
    /// The triangles cannot form a mesh.
    #[error("the mesh of {n_triangles} triangles is not usable: {why}")]
    Mesh {
        /// Number of triangles given.
        n_triangles: usize,
        /// Fault of the mesh.
        why: String,
    },
}

/// A shape as parry has it, with the pose of parry's frame in ours (parry's cylinders lie along y).
pub(crate) struct Built {
    pub(crate) solid: Solid,
    pub(crate) shape: SharedShape,
    pub(crate) frame: Pose,
}

impl ColliderShape {
    /// Checks the sizes and builds parry's shape.
    pub(crate) fn build(&self) -> Result<Built, ShapeError> {
        let positive = |what, value: f64| {
            if value > 0.0 && value.is_finite() {
                Ok(value)
            } else {
                Err(ShapeError::Size { what, value })
            }
        };
        // A quarter turn about x takes parry's y to our z.
        let along_z = Pose::new(
            *Rotation3::from_axis_angle(&Vector3::x_axis(), core::f64::consts::FRAC_PI_2).matrix(),
            Vector3::zeros(),
        );
        let plain = |solid, shape| Built { solid, shape, frame: Pose::IDENTITY };
        Ok(match self {
            Self::Box { half_extents } => {
                for &half in half_extents {
                    positive("half extent", half)?;
                }
                let shape = SharedShape::cuboid(half_extents.x, half_extents.y, half_extents.z);
                plain(Solid::Box { half_extents: *half_extents }, shape)
            }
            Self::Sphere { radius } => {
                let radius = positive("radius", *radius)?;
                plain(Solid::Sphere { radius }, SharedShape::ball(radius))
            }
            Self::Cylinder { radius, half_length } => {
                let half_length = positive("half length", *half_length)?;
                let radius = positive("radius", *radius)?;
                Built {
                    solid: Solid::Cylinder { radius, half_length },
                    shape: SharedShape::cylinder(half_length, radius),
                    frame: along_z,
                }
            }
            Self::Capsule { radius, half_length } => {
                let half_length = positive("half length", *half_length)?;
                let radius = positive("radius", *radius)?;
                let shape = SharedShape::capsule_z(half_length, radius);
                plain(Solid::Capsule { radius, half_length }, shape)
            }
            Self::Ellipsoid { semi_axes } => {
                for &half in semi_axes {
                    positive("half axis", half)?;
                }
                let shape = SharedShape::new(Ellipsoid { semi_axes: *semi_axes });
                plain(Solid::Ellipsoid { semi_axes: *semi_axes }, shape)
            }
            Self::HalfSpace => plain(Solid::HalfSpace, SharedShape::halfspace(Vec3::Z)),
            Self::ConvexHull { points } => {
                check_finite(points)?;
                let flat = || ShapeError::Flat { n_points: points.len() };
                if points.len() < 4 || !has_volume(points) {
                    return Err(flat());
                }
                let (hull, shape) = Hull::around(points).ok_or_else(flat)?;
                plain(Solid::Hull(Arc::new(hull)), shape)
            }
            Self::Triangles { vertices, triangles } => build_mesh(vertices, triangles)?,
        })
    }

    /// Mass properties of the solid shape at unit mass: centre of mass [m] (3) and inertia about it [m²] (3×3).
    /// Zero for half-spaces and meshes that are not closed.
    ///
    /// # Errors
    /// When the shape cannot be built: a size that is not positive, points in one plane, a vertex that is not finite,
    /// a damaged mesh.
    pub fn unit_inertia(&self) -> Result<(Vector3, Matrix3), ShapeError> {
        let built = self.build()?;
        if let Some(found) = mass_distribution::of_surface(built.shape.as_ref()) {
            return Ok(found);
        }
        let properties = built.shape.mass_properties(1.0);
        let mass = properties.mass();
        if mass.is_nan() || mass <= 0.0 || !mass.is_finite() {
            return Ok((Vector3::zeros(), Matrix3::zeros()));
        }
        let m = properties.reconstruct_inertia_matrix();
        let columns = [m.x_axis, m.y_axis, m.z_axis].map(convert::from_vector);
        // From parry's axes to ours, per unit of mass.
        // Axes of a tensor: R I Rᵀ.
        let R = built.frame.rotation;
        let inertia = R * Matrix3::from_columns(&columns) * R.transpose() / mass;
        Ok((built.frame.transform_point(&convert::from_vector(properties.local_com)), inertia))
    }
}

/// Whether points span three dimensions, to a millionth of their extent.
fn has_volume(points: &[Vector3]) -> bool {
    let mean = points.iter().sum::<Vector3>() / points.len() as f64;
    let scatter =
        points.iter().fold(Matrix3::zeros(), |s, p| s + (p - mean) * (p - mean).transpose());
    let spread = scatter.symmetric_eigenvalues();
    // Scatter is in squared lengths: 1e-12 is the millionth squared.
    scatter.iter().all(|x| x.is_finite()) && spread.min() > 1e-12 * spread.max()
}

fn check_finite(points: &[Vector3]) -> Result<(), ShapeError> {
    let bad = |p: &Vector3| !p.iter().all(|x| x.is_finite());
    points.iter().position(bad).map_or(Ok(()), |vertex| Err(ShapeError::NotFinite { vertex }))
}

fn build_mesh(vertices: &[Vector3], triangles: &[[u32; 3]]) -> Result<Built, ShapeError> {
    let mesh = |why: String| ShapeError::Mesh { n_triangles: triangles.len(), why };
    check_finite(vertices)?;
    if let Some(t) = triangles.iter().flatten().find(|&&i| i as usize >= vertices.len()) {
        return Err(mesh(format!("corner {t} is not among its {} vertices", vertices.len())));
    }
    // Indices are checked, so the surface may index without a guard.
    let surface = Surface::new(vertices, triangles);
    if surface.triangles.is_empty() {
        return Err(mesh(
            "none has an area; give triangles with three different corners".to_owned(),
        ));
    }
    let corners = surface.vertices.iter().map(convert::vector).collect();
    let shape = SharedShape::trimesh(corners, surface.triangles.clone())
        .map_err(|e| mesh(e.to_string()))?;
    Ok(Built { solid: Solid::Triangles(Arc::new(surface)), shape, frame: Pose::IDENTITY })
}
