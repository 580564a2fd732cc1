// The bodies of a stage as three objects: one group a body, in the order of frames.

import {
  BufferAttribute,
  type BufferGeometry,
  Color,
  EdgesGeometry,
  Group,
  LineBasicMaterial,
  LineSegments,
  type Material,
  Mesh,
  MeshLambertMaterial,
  MeshStandardMaterial,
  Object3D,
} from 'three';
import { mergeGeometries } from 'three/addons/utils/BufferGeometryUtils.js';
import { BODY_STRIDE } from '../session/frames';
import type { Place } from '../session/place';
import type { ShapeDescription, Stage } from '../wire/wire';
import { type Detail, type Meshes, primitive } from './shapes';

/** How a figure looks: as it is, or as a ghost of one colour. */
export interface Look {
  ghost?: { color: number; opacity: number };
}

/** Difference of poses below which a ghost would only tint what it stands for. [m, -] */
const APART = 2e-3;
const HIGHLIGHT = new Color(0x3b82c4);

export class Figures {
  readonly root = new Group();
  private readonly bodies: Group[] = [];
  private readonly materials: Material[] = [];
  /** Opaque primitives of each body in its frame, which a processor draws as one. */
  private readonly pieces = new Map<Object3D, BufferGeometry[]>();
  private highlighted: number | null = null;

  /** `changed` is told when a mesh has come; `failed` of one that has not. */
  constructor(
    stage: Stage,
    private readonly meshes: Meshes,
    private readonly detail: Detail,
    private readonly look: Look,
    private readonly changed: () => void,
    private readonly failed: (error: unknown) => void,
  ) {
    for (const robot of stage.robots) {
      const first = this.bodies.length;
      for (const _ of robot.bodies) this.addBody();
      for (const visual of robot.visuals) {
        const parent = visual.body === null ? this.root : this.bodies[first + visual.body];
        if (parent) this.addShape(parent, visual.shape, visual.pose, visual.color);
      }
    }
    if (!look.ghost) {
      for (const object of stage.objects) this.addShape(this.addBody(), object.shape, IDENTITY, object.color);
    }
    this.mergePieces();
  }

  /** Puts the bodies where a row has them. */
  place(row: Float32Array): void {
    this.bodies.forEach((body, i) => {
      const at = i * BODY_STRIDE;
      body.position.fromArray(row, at);
      body.quaternion.fromArray(row, at + 3);
    });
  }

  /** Puts the bodies where a row has them, without those that another figure has at the same place. */
  placeWhereApart(row: Float32Array, other: Figures): void {
    this.place(row);
    for (const root of [this.root, other.root]) root.updateMatrixWorld();
    this.bodies.forEach((body, i) => {
      const there = other.bodies[i]?.matrixWorld.elements ?? [];
      body.visible = body.matrixWorld.elements.some((x, k) => Math.abs(x - (there[k] ?? 0)) > APART);
    });
  }

  /** The index of the body that an object belongs to. */
  bodyOf(object: Object3D): number | null {
    for (let o: Object3D | null = object; o; o = o.parent) {
      const index = this.bodies.indexOf(o as Group);
      if (index >= 0) return index;
    }
    return null;
  }

  body(index: number): Group | undefined {
    return this.bodies[index];
  }

  /** Shows one body in the colour of the highlight. */
  highlight(index: number | null): void {
    if (index === this.highlighted) return;
    this.tint(this.highlighted, 0);
    this.tint(index, 0.55);
    this.highlighted = index;
  }

  dispose(): void {
    this.root.removeFromParent();
    for (const material of this.materials) material.dispose();
    this.root.traverse((object) => {
      // geometry of loaded meshes is shared, and stays with `Meshes`
      if (object instanceof Mesh && !object.userData.shared) object.geometry.dispose();
      if (object instanceof LineSegments) object.geometry.dispose();
    });
  }

  private tint(index: number | null, strength: number): void {
    if (index === null) return;
    for (const shape of this.bodies[index]?.children ?? []) {
      if (shape instanceof Mesh && 'emissive' in shape.material) {
        shape.material.emissive.copy(HIGHLIGHT);
        shape.material.emissiveIntensity = strength;
      }
    }
  }

  private addBody(): Group {
    const body = new Group();
    this.bodies.push(body);
    this.root.add(body);
    return body;
  }

  private addShape(parent: Object3D, shape: ShapeDescription, pose: Place, color: number[]): void {
    const geometry = primitive(shape, this.detail);
    if (this.detail === 'coarse' && shape.kind !== 'mesh' && (color[3] ?? 1) === 1) {
      this.addPiece(parent, geometry, pose, color);
      return;
    }
    const mesh = new Mesh(geometry, this.material(color));
    mesh.position.fromArray(pose, 0);
    mesh.quaternion.fromArray(pose, 3);
    mesh.castShadow = !this.look.ghost;
    mesh.receiveShadow = !this.look.ghost;
    parent.add(mesh);
    if (shape.kind === 'mesh') {
      const hash = this.detail === 'fine' ? shape.fine : shape.coarse;
      this.meshes.get(hash).then((geometry) => {
        mesh.geometry.dispose();
        mesh.geometry = geometry;
        mesh.userData.shared = true;
        this.changed();
      }, this.failed);
    } else if (!this.look.ghost && shape.kind === 'box' && this.detail === 'fine') {
      this.addEdges(mesh);
    }
  }

  private addPiece(parent: Object3D, geometry: BufferGeometry, pose: Place, color: number[]): void {
    const place = new Object3D();
    place.position.fromArray(pose, 0);
    place.quaternion.fromArray(pose, 3);
    place.updateMatrix();
    geometry.applyMatrix4(place.matrix);
    const { r, g, b } = colorOf(color);
    const n = geometry.getAttribute('position').count;
    geometry.setAttribute('color', new BufferAttribute(new Float32Array(n * 3), 3));
    for (let i = 0; i < n; i++) geometry.getAttribute('color').setXYZ(i, r, g, b);
    const pieces = this.pieces.get(parent) ?? [];
    pieces.push(geometry);
    this.pieces.set(parent, pieces);
  }

  private mergePieces(): void {
    for (const [parent, pieces] of this.pieces) {
      const material = this.material([1, 1, 1, 1]);
      material.vertexColors = !this.look.ghost;
      const mesh = new Mesh(mergeGeometries(pieces), material);
      mesh.castShadow = mesh.receiveShadow = !this.look.ghost;
      parent.add(mesh);
      for (const piece of pieces) piece.dispose();
    }
    this.pieces.clear();
  }

  /** Edges tell boxes of one colour apart. A processor draws them as slowly as the boxes. */
  private addEdges(mesh: Mesh): void {
    const material = new LineBasicMaterial({ color: 0x000000, transparent: true, opacity: 0.28 });
    this.materials.push(material);
    const edges = new LineSegments(new EdgesGeometry(mesh.geometry), material);
    // a ray hits lines from as far as a metre
    edges.raycast = () => {};
    mesh.add(edges);
  }

  private material(color: number[]): Material {
    const ghost = this.look.ghost;
    const look = ghost && {
      color: ghost.color,
      transparent: true,
      opacity: ghost.opacity,
      depthWrite: false,
    };
    // what a processor draws has no highlights: they cost it half of a frame
    const material =
      this.detail === 'fine'
        ? new MeshStandardMaterial(look ?? { roughness: 0.62, metalness: 0.08 })
        : new MeshLambertMaterial(look);
    if (!ghost) {
      const opacity = color[3] ?? 1;
      material.color.copy(colorOf(color));
      material.transparent = opacity < 1;
      material.opacity = opacity;
    }
    this.materials.push(material);
    return material;
  }
}

/** Colour of red, green and blue as the eye sees them, by default grey. */
function colorOf([r, g, b]: number[]): Color {
  return new Color().setRGB(r ?? 0.7, g ?? 0.7, b ?? 0.7, 'srgb');
}

const IDENTITY: Place = [0, 0, 0, 0, 0, 0, 1];
