// Makes three's shaders smaller. They are text, which passes every minifier whole, and a tenth of the page.

/** Macros that three defines only for what no material of this page has: textures, layers, light from all around, bones, ... */
const NEVER_DEFINED = new Set(
  `
  ALPHAHASH ALPHAMAP ALPHATEST ANISOTROPY ANISOTROPYMAP AOMAP BATCHING BATCHING_COLOR BUMPMAP CLEARCOAT
  CLEARCOATMAP CLEARCOAT_NORMALMAP CLEARCOAT_ROUGHNESSMAP DIFFUSE_ROUGHNESS DIFFUSE_ROUGHNESSMAP DISPERSION
  DISPLACEMENTMAP EMISSIVEMAP ENVMAP FOG GRADIENTMAP IRIDESCENCE IRIDESCENCEMAP IRIDESCENCE_THICKNESSMAP
  LIGHTMAP LIGHT_PROBES LIGHT_PROBES_GRID LOGARITHMIC_DEPTH_BUFFER MAP MATCAP METALNESSMAP MORPHCOLORS
  MORPHNORMALS MORPHTARGETS NORMALMAP NORMALMAP_OBJECTSPACE NORMALMAP_TANGENTSPACE PACKED_NORMALMAP POINTS_UV
  RETROREFLECTION ROUGHNESSMAP SHEEN SHEEN_COLORMAP SHEEN_ROUGHNESSMAP SKINNING SPECULAR SPECULARMAP
  SPECULAR_COLORMAP SPECULAR_INTENSITYMAP TANGENT THICKNESSMAP TRANSMISSION TRANSMISSIONMAP
  `
    .trim()
    .split(/\s+/)
    .map((name) => `USE_${name}`),
);

/** Lights, and planes that cut, of which the page has none. */
const NONE = [
  'CLIPPING_PLANES',
  'LIGHT_PROBE_GRIDS',
  'POINT_LIGHTS',
  'RECT_AREA_LIGHTS',
  'SPOT_LIGHTS',
  'SUN_LIGHTS',
]
  .concat(['POINT_LIGHT_SHADOWS', 'SPOT_LIGHT_COORDS', 'SPOT_LIGHT_SHADOWS', 'SUN_LIGHT_SHADOWS'])
  .map((name) => `NUM_${name} > 0`);

/** Chunks of materials, backgrounds and passes that the page does not have. */
const UNUSED = ['background', 'backgroundCube', 'cube', 'distance', 'equirect', 'linedashed', 'meshmatcap']
  .concat(['meshnormal', 'meshphong', 'meshtoon', 'points', 'sprite'])
  .flatMap((material) => [`${material}_vert`, `${material}_frag`])
  .concat(
    ['lights_phong', 'lights_toon', 'map_particle'].flatMap((chunk) => [
      `${chunk}_fragment`,
      `${chunk}_pars_fragment`,
    ]),
  )
  .concat('tonemapping_pars_fragment');

/** Whether a condition of the preprocessor is false for all that the page shows. */
function isNever(condition: string): boolean {
  const atoms = (term: string) => term.split('&&').map((atom) => atom.replace(/^[\s(]+|[\s)]+$/g, ''));
  const never = (atom: string) =>
    NONE.includes(atom) || NEVER_DEFINED.has(/^defined\s*\(\s*(\w+)$/.exec(atom)?.[1] ?? '');
  return condition.split('||').every((term) => atoms(term).some(never));
}

/** A shader without its indentation and without what stands behind conditions that are never true. */
export function smallerShader(shader: string): string {
  // of each open condition: whether this branch stays, whether a directive of it does, and whether the branches after it go
  const open: { stays: boolean; written: boolean; decided: boolean }[] = [];
  const kept: string[] = [];
  for (const line of shader.split('\n').map((one) => one.trim())) {
    const [, directive = '', condition = ''] =
      /^#\s*(ifdef|ifndef|if|elif|else|endif)\b\s*(.*)$/.exec(line) ?? [];
    const outer = (directive.startsWith('if') ? open : open.slice(0, -1)).every((one) => one.stays);
    const last = open.at(-1);
    let written = open.every((one) => one.stays);
    let text = line;
    if (directive.startsWith('if')) {
      const always = directive === 'ifndef' && NEVER_DEFINED.has(condition);
      const never =
        directive === 'ifdef' ? NEVER_DEFINED.has(condition) : directive === 'if' && isNever(condition);
      written = outer && !always && !never;
      open.push({ stays: !never, written: !always && !never, decided: always });
    } else if (directive !== '') {
      if (last === undefined) throw new Error(`without a condition: ${line}`);
      const never = directive !== 'endif' && (last.decided || (directive === 'elif' && isNever(condition)));
      if (directive === 'elif' && !last.written) text = `#if ${condition}`;
      written = outer && !never && (last.written || directive === 'elif');
      if (directive === 'endif') open.pop();
      else if (directive === 'elif') Object.assign(last, { stays: !never, written: last.written || !never });
      else Object.assign(last, { stays: !last.decided, decided: true });
    }
    if (written && text !== '') kept.push(text);
  }
  if (open.length > 0) throw new Error(`a condition is left open in ${shader}`);
  return kept.join('\n');
}

/** The module of three with smaller shaders. */
export function withSmallerShaders(code: string): string {
  const chunks = /const ShaderChunk = \{([^}]*)\}/.exec(code)?.[1];
  if (chunks === undefined) throw new Error('three has no shader chunks');
  const named = new Map(
    [...chunks.matchAll(/(\w+): ([\w$]+)/g)].map(([, name, variable]) => [variable, name ?? '']),
  );
  const unknown = UNUSED.filter((name) => ![...named.values()].includes(name));
  if (unknown.length > 0) throw new Error(`three has no shader chunks ${unknown.join(', ')}`);
  return code.replace(
    /^(?:const|var) ([\w$]+) = ("(?:[^"\\]|\\.)*");$/gm,
    (whole, variable: string, text: string) => {
      const name = named.get(variable);
      if (name === undefined) return whole;
      const shader = UNUSED.includes(name) ? '' : smallerShader(JSON.parse(text));
      return `const ${variable} = ${JSON.stringify(shader)};`;
    },
  );
}
