import { brandVariables, contrast, readable, rgbOf } from './brand';
import { fontFamily, FONTS } from './fonts';

const GROUNDS = { light: '#f3f5f8', dark: '#252b33' } as const;

describe('readable', () => {
  it.each(['#ffff00', '#ffffff', '#000000', '#0a58b5', '#ff0000', '#00ff88', '#808080', '#123456'])(
    '%s becomes readable in both schemes, and so does text on it',
    (accent) => {
      for (const scheme of ['light', 'dark'] as const) {
        const tones = readable(accent, scheme);
        expect(contrast(rgbOf(tones.accent), rgbOf(GROUNDS[scheme]))).toBeGreaterThanOrEqual(4.5);
        expect(contrast(rgbOf(tones.accent), rgbOf(tones.onAccent))).toBeGreaterThanOrEqual(4.5);
      }
    },
  );

  it('a readable colour stays unchanged', () => {
    expect(readable('#0a58b5', 'light').accent).toBe('#0a58b5');
  });
});

describe('contrast', () => {
  it('equals the contrast ratio of WCAG', () => {
    expect(contrast([0, 0, 0], [255, 255, 255])).toBeCloseTo(21, 5);
    expect(contrast(rgbOf('#777777'), [255, 255, 255])).toBeCloseTo(4.48, 2);
  });
});

describe('brandVariables', () => {
  const NONE = { accent: null, radius: null, font: null };

  it('returns colors for both schemes, radii and the fonts of a name', () => {
    expect(brandVariables({ accent: '#0a58b5', radius: 24, font: 'serif' })).toMatchObject({
      '--accent': expect.stringMatching(/^light-dark\(#0a58b5, #[0-9a-f]{6}\)$/),
      '--radius': '24px',
      '--radius-md': '12px',
      '--font': expect.stringMatching(/, serif$/),
    });
    expect(brandVariables(NONE)).toEqual({});
  });

  it.each([
    { accent: 'red; background: url(//evil.example)' },
    { accent: '#0a58b5;--x:1' },
    { accent: '#fff' },
    { radius: 25 },
    { radius: -1 },
    { radius: 1.5 },
    { radius: '1px; color: red' as unknown as number },
    { font: 'Comic Sans' },
    { font: "x'; background: url(//evil.example); '" },
    { font: 'url(//evil.example/x.woff2)' },
    { font: 'constructor' },
    { font: '__proto__' },
    { font: '' },
  ])('returns no variables for %j', (hostile) => {
    expect(brandVariables({ ...NONE, ...hostile })).toEqual({});
  });
});

describe('fontFamily', () => {
  it.each(FONTS)('%s ends with a generic family and loads nothing', (name) => {
    expect(fontFamily(name)).toMatch(/(sans-serif|serif|monospace)$/);
    expect(fontFamily(name)).not.toMatch(/url|[;{}()"]/);
  });
});
