import { faded } from './colours';

describe('faded', () => {
  it.each([
    ['rgb(10, 88, 181)', 'rgb(10 88 181 / 13%)'],
    ['rgb(10 88 181)', 'rgb(10 88 181 / 13%)'],
    ['rgba(10, 88, 181, 0.5)', 'rgb(10 88 181 / 13%)'],
    ['color(srgb 0 0 0)', 'color(srgb 0 0 0)'],
    ['', ''],
  ])('%j: %j', (colour, expected) => {
    expect(faded(colour, 13)).toBe(expected);
  });
});
