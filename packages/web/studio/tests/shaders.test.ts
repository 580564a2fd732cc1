import { expect, it } from 'vitest';
import { smallerShader } from '../shaders';

it('drops what stands behind conditions that are never true', () => {
  expect(smallerShader('a\n#ifdef USE_MAP\n\tb\n#else\n\tc\n#endif\nd')).toBe('a\nc\nd');
  expect(smallerShader('#ifndef USE_MAP\n\tb\n#else\n\tc\n#endif')).toBe('b');
  expect(smallerShader('#if defined( USE_MAP ) || defined( USE_FOG )\nb\n#endif')).toBe('');
  expect(smallerShader('#if ( NUM_POINT_LIGHTS > 0 ) && defined( RE_Direct )\nb\n#endif')).toBe('');
  expect(smallerShader('#ifdef USE_MAP\n#ifdef X\nb\n#else\nc\n#endif\n#else\nd\n#endif')).toBe('d');
});

it('keeps what may be true', () => {
  const whole = '#if defined( USE_MAP ) || defined( X )\na\n#elif defined( Y )\nb\n#else\nc\n#endif';
  expect(smallerShader(whole)).toBe(whole);
  expect(smallerShader('#ifdef X\n#ifdef USE_MAP\na\n#endif\nb\n#endif')).toBe('#ifdef X\nb\n#endif');
});

it('keeps the other branches of a condition that has one too few', () => {
  expect(smallerShader('#if defined( USE_MAP )\na\n#elif defined( X )\nb\n#else\nc\n#endif')).toBe(
    '#if defined( X )\nb\n#else\nc\n#endif',
  );
  expect(smallerShader('#ifdef X\na\n#elif defined( USE_MAP )\nb\n#else\nc\n#endif')).toBe(
    '#ifdef X\na\n#else\nc\n#endif',
  );
  expect(smallerShader('#ifdef USE_MAP\na\n#elif defined( USE_FOG )\nb\n#else\nc\n#endif')).toBe('c');
});
