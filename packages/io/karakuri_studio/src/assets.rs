//! What the page loads by hash: meshes and sampled motions.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use karakuri_model::Mesh;
use sha2::{Digest as _, Sha256};

use crate::wire::{MeshReference, ShapeDescription, Stage};

/// Largest size of all sampled motions together; the oldest go first. [bytes]
const CLIP_LIMIT: usize = 256 << 20;

/// Buffers by hash, shared between the session and the server.
#[derive(Debug, Clone, Default)]
pub(crate) struct Assets(Arc<Mutex<Stored>>);

#[derive(Debug, Default)]
struct Stored {
    meshes: BTreeMap<String, Arc<Vec<u8>>>,
    /// References of meshes that are in memory, which are kept so that no other takes their address.
    made: Vec<(Arc<Mesh>, MeshReference)>,
    clips: BTreeMap<String, Arc<Vec<u8>>>,
    /// Hashes of the clips, the oldest first.
    clip_order: Vec<String>,
}

impl Assets {
    fn with<T>(&self, f: impl FnOnce(&mut Stored) -> T) -> T {
        // Whoever panicked while it held the lock left whole buffers.
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reference of a mesh, whose buffers, fine and coarse, are made if they are not there yet.
    pub(crate) fn mesh_of(
        &self,
        mesh: &Arc<Mesh>,
        make: impl FnOnce() -> (Vec<u8>, Option<Vec<u8>>),
    ) -> MeshReference {
        let known = |stored: &mut Stored| {
            stored.made.iter().find(|(m, _)| Arc::ptr_eq(m, mesh)).map(|(_, r)| r.clone())
        };
        if let Some(reference) = self.with(known) {
            return reference;
        }
        let (fine, coarse) = make();
        self.with(|stored| {
            let mut add = |bytes: Vec<u8>| {
                let hash = hash(&[&bytes]);
                stored.meshes.entry(hash.clone()).or_insert_with(|| Arc::new(bytes));
                hash
            };
            let fine = add(fine);
            let coarse = coarse.map_or_else(|| fine.clone(), add);
            let reference = MeshReference { fine, n_triangles: 0, coarse };
            stored.made.push((Arc::clone(mesh), reference.clone()));
            reference
        })
    }

    /// Adds rows of a motion; returns their hash.
    pub(crate) fn add_clip(&self, bytes: Vec<u8>) -> String {
        let hash = hash(&[&bytes]);
        self.with(|stored| {
            if !stored.clips.contains_key(&hash) {
                stored.clips.insert(hash.clone(), Arc::new(bytes));
                stored.clip_order.push(hash.clone());
            }
            let size = |stored: &Stored| stored.clips.values().map(|c| c.len()).sum::<usize>();
            while size(stored) > CLIP_LIMIT && stored.clip_order.len() > 1 {
                let oldest = stored.clip_order.remove(0);
                stored.clips.remove(&oldest);
            }
        });
        hash
    }

    /// Mesh of a hash.
    pub(crate) fn mesh(&self, hash: &str) -> Option<Arc<Vec<u8>>> {
        self.with(|stored| stored.meshes.get(hash).cloned())
    }

    /// Sampled motion of a hash.
    pub(crate) fn clip(&self, hash: &str) -> Option<Arc<Vec<u8>>> {
        self.with(|stored| stored.clips.get(hash).cloned())
    }

    /// Forgets the meshes that a stage has not.
    pub(crate) fn keep_meshes(&self, stage: &Stage) {
        let of_robots = stage.robots.iter().flat_map(|r| r.visuals.iter().map(|v| &v.shape));
        let shapes = of_robots.chain(stage.objects.iter().map(|object| &object.shape));
        let used: BTreeSet<&String> = shapes
            .filter_map(|shape| match shape {
                ShapeDescription::Mesh(mesh) => Some([&mesh.fine, &mesh.coarse]),
                _ => None,
            })
            .flatten()
            .collect();
        self.with(|stored| {
            stored.meshes.retain(|hash, _| used.contains(hash));
            stored.made.retain(|(_, reference)| used.contains(&reference.fine));
        });
    }
}

/// SHA-256 of all parts, in hexadecimal digits.
pub(crate) fn hash(parts: &[&[u8]]) -> String {
    let mut sha = Sha256::new();
    for part in parts {
        // The length first: `ab, c` is not `a, bc`.
        sha.update((part.len() as u64).to_le_bytes());
        sha.update(part);
    }
    hexadecimal(&sha.finalize())
}

/// Bytes in hexadecimal digits.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string does not fail.
        let _written = write!(text, "{byte:02x}");
        text
    })
}
