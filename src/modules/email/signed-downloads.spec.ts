import { randomBytes } from 'node:crypto';
import type { Clock } from '#kernel/clock.js';
import { lowestIdAt } from '#kernel/ids.js';
import { SignedDownloads } from './signed-downloads.js';

const HOUR_MS = 3_600_000;
const NOW_MS = Date.UTC(2026, 10, 21);
const FILE = { environmentId: 1, id: lowestIdAt(NOW_MS), index: 2 };

describe('SignedDownloads', () => {
  const key = randomBytes(32);
  const at = (nowMs: number, secret = key): SignedDownloads =>
    new SignedDownloads({ derived: () => secret }, { nowMs: () => nowMs } as Clock, {
      baseUrl: 'https://hooks.example.com',
    });
  const tokenOf = (url: string): string => new URL(url).searchParams.get('token') ?? '';

  it('reads the token of its own link for an hour', () => {
    const { url, expiresAt } = at(NOW_MS).issue(FILE);

    expect([url.split('?')[0], expiresAt]).toEqual([
      'https://hooks.example.com/v1/email-attachments',
      new Date(NOW_MS + HOUR_MS),
    ]);
    expect(at(NOW_MS + HOUR_MS).read(tokenOf(url))).toEqual(FILE);
    expect(at(NOW_MS + HOUR_MS + 1).read(tokenOf(url))).toBeNull();
  });

  it('returns null for a token of another key or with another statement', () => {
    const token = tokenOf(at(NOW_MS).issue(FILE).url);
    const other = tokenOf(at(NOW_MS).issue({ ...FILE, index: 3 }).url);

    expect(at(NOW_MS, randomBytes(32)).read(token)).toBeNull();
    expect(at(NOW_MS).read(`${other.split('.')[0]}.${token.split('.')[1]}`)).toBeNull();
    for (const text of ['', '.', 'a.b', `${token}.`, token.slice(0, -2)]) expect(at(NOW_MS).read(text)).toBeNull();
  });
});
