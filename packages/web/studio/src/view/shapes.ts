// Geometry of what the server describes: primitives, and meshes that it sends as ready buffers.

import {
  BoxGeometry,
  BufferAttribute,
  BufferGeometry,
  CapsuleGeometry,
  CylinderGeometry,
  SphereGeometry,
} from 'three';
import type { ShapeDescription } from '../wire/wire';

/** Whether meshes are drawn with few triangles. */
export type Detail = 'fine' | 'coarse';

/** Reads a mesh buffer, docs/studio-wire.md: counts, positions, normals of four bytes, indices. */
export function readMesh(bytes: ArrayBuffer): BufferGeometry {
  const header = new DataView(bytes);
  const nVertices = header.getUint32(0, true);
  const nTriangles = header.getUint32(4, true);
  const positions = 8;
  const normals = positions + 12 * nVertices;
  const indices = normals + 4 * nVertices;
  const geometry = new BufferGeometry();
  geometry.setAttribute(
    'position',
    new BufferAttribute(new Float32Array(bytes, positions, 3 * nVertices), 3),
  );
  // Four bytes a normal keep each aligned; the fourth is not used.
  const four = new Int8Array(bytes, normals, 4 * nVertices);
  const three = new Int8Array(3 * nVertices);
  for (let i = 0; i < nVertices; i++) three.set(four.subarray(4 * i, 4 * i + 3), 3 * i);
  geometry.setAttribute('normal', new BufferAttribute(three, 3, true));
  geometry.setIndex(new BufferAttribute(new Uint32Array(bytes, indices, 3 * nTriangles), 1));
  return geometry;
}

/** Loads meshes by hash, each once. */
export class Meshes {
  private readonly loaded = new Map<string, Promise<BufferGeometry>>();

  constructor(private readonly token: string) {}

  get(hash: string): Promise<BufferGeometry> {
    let mesh = this.loaded.get(hash);
    if (!mesh) {
      mesh = this.load(hash);
      this.loaded.set(hash, mesh);
    }
    return mesh;
  }

  private async load(hash: string): Promise<BufferGeometry> {
    const response = await fetch(`/mesh/${hash}`, { headers: { Authorization: `Bearer ${this.token}` } });
    if (!response.ok) throw new Error(`/mesh/${hash}: ${response.status} ${response.statusText}`);
    return readMesh(await response.arrayBuffer());
  }
}

/** Geometry of a shape in its own frame; a box of no size stands for a mesh until it is loaded. */
export function primitive(shape: ShapeDescription, detail: Detail): BufferGeometry {
  const round = detail === 'fine' ? 32 : 12;
  switch (shape.kind) {
    case 'box':
      return new BoxGeometry(...shape.size);
    case 'sphere':
      return new SphereGeometry(shape.radius, round, round / 2);
    case 'cylinder':
      // three's cylinders and capsules are along y
      return new CylinderGeometry(shape.radius, shape.radius, shape.length, round).rotateX(Math.PI / 2);
    case 'capsule':
      return new CapsuleGeometry(shape.radius, shape.length, round / 4, round).rotateX(Math.PI / 2);
    case 'ellipsoid':
      return new SphereGeometry(1, round, round / 2).scale(...shape.semi_axes);
    case 'mesh':
      return new BoxGeometry(0, 0, 0);
  }
}
