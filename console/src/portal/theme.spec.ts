import { contrast, readable, rgbOf } from './theme';

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
