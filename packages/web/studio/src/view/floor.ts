// The floor: a grid that fades into the background, and the shadow of what stands on it.

import { Color, Group, Mesh, PlaneGeometry, ShaderMaterial, ShadowMaterial } from 'three';

const VERTEX = `
varying vec2 place;
void main() {
  place = (modelMatrix * vec4(position, 1.0)).xy;
  gl_Position = projectionMatrix * viewMatrix * vec4(place, 0.0, 1.0);
}`;

/** Lines of one screen pixel at two spacings; the fine ones vanish where they would lie too close. */
const FRAGMENT = `
varying vec2 place;
uniform vec3 color;
uniform float spacing;
uniform float reach;
float lines(float step) {
  vec2 at = place / step;
  vec2 width = fwidth(at);
  vec2 near = abs(fract(at - 0.5) - 0.5) / width;
  float line = 1.0 - min(min(near.x, near.y), 1.0);
  return line * (1.0 - smoothstep(0.2, 0.5, max(width.x, width.y)));
}
void main() {
  float fade = 1.0 - smoothstep(0.25, 1.0, length(place) / reach);
  float axis = 1.0 - min(min(abs(place.x / fwidth(place.x)), abs(place.y / fwidth(place.y))), 1.0);
  float strength = max(max(0.22 * lines(spacing), 0.5 * lines(5.0 * spacing)), 0.8 * axis);
  gl_FragColor = vec4(color, strength * fade);
}`;

export class Floor {
  readonly root = new Group();
  private readonly grid: ShaderMaterial;
  private readonly shadow: Mesh;
  private readonly lines = new Color();

  /** `size` is about the height of the robot. [m] */
  constructor(size: number) {
    const reach = 6 * size;
    const spacing = 10 ** Math.floor(Math.log10(size));
    this.grid = new ShaderMaterial({
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      transparent: true,
      depthWrite: false,
      uniforms: { color: { value: this.lines }, spacing: { value: spacing / 2 }, reach: { value: reach } },
    });
    this.root.add(new Mesh(new PlaneGeometry(2 * reach, 2 * reach), this.grid));
    this.shadow = new Mesh(new PlaneGeometry(2 * reach, 2 * reach), new ShadowMaterial({ opacity: 0.28 }));
    this.shadow.receiveShadow = true;
    this.shadow.position.z = -0.0002;
    this.root.add(this.shadow);
    this.root.renderOrder = -1;
  }

  color(lines: string): void {
    this.lines.set(lines);
  }

  shadows(on: boolean): void {
    this.shadow.visible = on;
  }
}
