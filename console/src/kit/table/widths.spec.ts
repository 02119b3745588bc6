import { clampWidth, readWidths, shrinkWidths, WIDTH_MAX_PX, WIDTH_MIN_PX } from './widths';

describe('widths of columns', () => {
  it.each([
    [120.4, 120],
    [3, WIDTH_MIN_PX],
    [-40, WIDTH_MIN_PX],
    [99_999, WIDTH_MAX_PX],
  ])('%d px becomes %d px', (px, clamped) => {
    expect(clampWidth(px)).toBe(clamped);
  });

  it.each<[widths: number[], excessPx: number, shrunk: number[]]>([
    [[264, 164], 0, [264, 164]],
    [[264, 164], 150, [164, 114]],
    [[264, 64], 100, [164, 64]],
    [[264, 164], 9_999, [WIDTH_MIN_PX, WIDTH_MIN_PX]],
    [[WIDTH_MIN_PX], 50, [WIDTH_MIN_PX]],
    [[], 50, []],
  ])('%j without %d px becomes %j', (widths, excessPx, shrunk) => {
    expect(shrinkWidths(widths, excessPx)).toEqual(shrunk);
  });

  it.each<[stored: unknown, read: object]>([
    [undefined, {}],
    ['keys', {}],
    [{ keys: { name: 200 } }, { keys: { name: 200 } }],
    [{ keys: { name: 1, prefix: '200', scope: null }, events: {} }, { keys: { name: WIDTH_MIN_PX } }],
    [{ keys: null, events: 7 }, {}],
  ])('stored %j is read as %j', (stored, read) => {
    expect(readWidths(stored)).toEqual(read);
  });
});
