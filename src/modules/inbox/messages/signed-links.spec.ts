import type { Clock } from '#kernel/clock.js';
import { SignedLinks } from './signed-links.js';
import { SignedViews } from './signed-views.js';

const MESSAGE = {
  environmentId: 7,
  id: '019aa4c0-0000-7000-8000-000000000000',
  aliasId: '019aa4c0-0000-7000-8000-000000000001',
};
const dependencies = (clock: { nowMs: number }, secret = 'a') =>
  [
    { derived: (purpose: string) => Buffer.from(purpose + secret) },
    { nowMs: () => clock.nowMs } as Clock,
    { baseUrl: 'https://hooks.example.com/below' },
  ] as const;
const tokenOf = (url: string): string => new URL(url).searchParams.get('token') as string;

describe('SignedLinks', () => {
  it('a link opens one part of one message, on every node, until it expires', () => {
    const clock = { nowMs: Date.parse('2026-11-21T09:30:00Z') };
    const links = new SignedLinks(...dependencies(clock)).issue(MESSAGE, 3_600);

    expect(links.raw).toMatch(/^https:\/\/hooks\.example\.com\/below\/v1\/mail-files\?token=[\w-]+\.[\w-]+$/);
    expect(links.expiresAt?.toISOString()).toBe('2026-11-21T10:30:00.000Z');
    clock.nowMs += 3_600_000;
    const other = new SignedLinks(...dependencies(clock));
    expect(other.read(tokenOf(links.raw))).toEqual({ ...MESSAGE, part: 'raw' });
    expect(other.read(tokenOf(links.attachment(3)))).toEqual({ ...MESSAGE, part: 3 });
    clock.nowMs += 1;
    expect(other.read(tokenOf(links.raw))).toBeNull();
  });

  it('a changed token, one of another installation, and one for a view open nothing', () => {
    const clock = { nowMs: Date.now() };
    const links = new SignedLinks(...dependencies(clock));
    const token = tokenOf(links.issue(MESSAGE, 60).raw);
    const [body = '', mac = ''] = token.split('.');
    const changed = Buffer.from(body, 'base64url').toString().replace('"raw"', '0');

    for (const wrong of [
      `${Buffer.from(changed).toString('base64url')}.${mac}`,
      body,
      `${token}.x`,
      '',
      tokenOf(new SignedLinks(...dependencies(clock, 'b')).issue(MESSAGE, 60).raw),
      new SignedViews(...dependencies(clock)).issue(MESSAGE).token,
    ])
      expect(links.read(wrong)).toBeNull();
  });
});
