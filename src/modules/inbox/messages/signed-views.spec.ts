import type { Clock } from '#kernel/clock.js';
import { SignedViews } from './signed-views.js';

const SENT = { environmentId: 7, id: '019aa4c0-0000-7000-8000-000000000000', aliasId: null };
const RECEIVED = { ...SENT, aliasId: '019aa4c0-0000-7000-8000-000000000001' };

function at(clock: { nowMs: number }, secret = 'a'): SignedViews {
  return new SignedViews(
    { derived: (purpose) => Buffer.from(purpose + secret) },
    { nowMs: () => clock.nowMs } as Clock,
    { baseUrl: 'https://hooks.example.com/below' },
  );
}

describe('a view of a message', () => {
  it.each([SENT, RECEIVED])('is valid for that one message, on every node, for a minute', (viewed) => {
    const clock = { nowMs: Date.parse('2026-11-21T09:30:00Z') };
    const { token, url, expiresAt } = at(clock).issue(viewed);

    expect([url, expiresAt.toISOString()]).toEqual([
      `https://hooks.example.com/below/v1/mail-views?token=${token}`,
      '2026-11-21T09:31:00.000Z',
    ]);
    expect(token).toMatch(/^[\w-]+\.[\w-]+$/);
    clock.nowMs += 60_000;
    expect(at(clock).read(token)).toEqual(viewed);
    clock.nowMs += 1;
    expect(at(clock).read(token)).toBeNull();
  });

  it('cannot be forged or changed', () => {
    const clock = { nowMs: 0 };
    const { token } = at(clock).issue(SENT);
    const [body = '', mac = ''] = token.split('.');
    const other = Buffer.from(Buffer.from(body, 'base64url').toString().replace('[7,', '[8,')).toString('base64url');

    for (const bad of [
      '',
      '.',
      body,
      `${body}.`,
      `${other}.${mac}`,
      `${body}.${mac}.`,
      `${body}.${'A'.repeat(43)}`,
      `${body}.${mac.slice(0, 40)}`,
      `${token}x`,
    ])
      expect(at(clock).read(bad)).toBeNull();
    expect(at(clock, 'another keyring').read(token)).toBeNull();
  });
});
