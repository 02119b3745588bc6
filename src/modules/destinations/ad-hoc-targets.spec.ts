import { adHocTargetId } from './ad-hoc-targets.js';

describe('adHocTargetId', () => {
  const url = new URL('https://example.com/hook?a=1');

  it('returns a version 8 UUID', () => {
    expect(adHocTargetId(1, url)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('ids never change, because circuits and waiting deliveries depend on them', () => {
    expect(adHocTargetId(1, url)).toBe('807dbff9-4cbb-8fc2-8337-f83fab3fe1d7');
  });

  it('ids differ by environment and by URL', () => {
    const ids = [adHocTargetId(1, url), adHocTargetId(2, url), adHocTargetId(1, new URL('https://example.com/hook'))];

    expect(new Set(ids).size).toBe(3);
  });
});
