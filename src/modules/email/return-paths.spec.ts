import { createHash } from 'node:crypto';
import { ReturnPaths } from './return-paths.js';

const ID = '019abc00-1111-2222-3333-444455556666';
const paths = (secret = 'one'): ReturnPaths => new ReturnPaths({ derived: (use) => createHash('sha256').update(secret + use).digest() });

describe('ReturnPaths', () => {
  it('names an email in 58 characters, and reads it back in any case', () => {
    const local = paths().of(4711, ID);

    expect(local).toMatch(/^b\+[0-9a-f]{56}$/);
    expect(paths().read(local)).toEqual({ environmentId: 4711, emailId: ID });
    expect(paths().read(local.toUpperCase())).toEqual({ environmentId: 4711, emailId: ID });
  });

  it('reads nothing that was changed, shortened, or signed by another installation', () => {
    const local = paths().of(4711, ID);
    const changed = [...local.slice(2)].map((digit, i) => `b+${local.slice(2, 2 + i)}${digit === '0' ? '1' : '0'}${local.slice(3 + i)}`);

    expect(changed.map((each) => paths().read(each)).filter((read) => read !== null)).toEqual([]);
    expect([local.slice(0, -2), `${local}00`, local.slice(2), '', 'postmaster', paths('two').of(4711, ID)].map((each) => paths().read(each))).toEqual(Array(6).fill(null));
  });
});
