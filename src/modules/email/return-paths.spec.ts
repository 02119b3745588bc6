import { createHash, createHmac } from 'node:crypto';
import { ReturnPaths } from './return-paths.js';

const ID = '019abc00-1111-2222-3333-444455556666';
const derived = (use: string, secret = 'one'): Buffer =>
  createHash('sha256')
    .update(secret + use)
    .digest();
const paths = (secret = 'one'): ReturnPaths => new ReturnPaths({ derived: (use) => derived(use, secret) });

/** Returns a return path in the format of older versions, which does not contain recipients. */
function ofEmail(environmentId: number): string {
  const named = Buffer.concat([
    Buffer.from([0, 0, environmentId >> 8, environmentId & 255]),
    Buffer.from(ID.replaceAll('-', ''), 'hex'),
  ]);
  const mac = createHmac('sha256', derived('posthorn return paths v1')).update(named).digest().subarray(0, 8);
  return `b+${Buffer.concat([named, mac]).toString('hex')}`;
}

describe('ReturnPaths', () => {
  it('encodes an email and its recipients in 59 characters, and decodes them in any case', () => {
    const local = paths().addressFor(4711, ID, [0, 7, 8, 49]);

    expect(local).toMatch(/^b\+r[a-z2-7]{56}$/);
    expect(paths().read(local)).toEqual({ environmentId: 4711, emailId: ID, places: [0, 7, 8, 49] });
    expect(paths().read(local.toUpperCase())).toEqual({ environmentId: 4711, emailId: ID, places: [0, 7, 8, 49] });
  });

  it('is different for each envelope', () => {
    expect(new Set([[0], [1], [0, 1], []].map((places) => paths().addressFor(4711, ID, places))).size).toBe(4);
  });

  it('decodes paths of older builds, which name no recipients', () => {
    expect(paths().read(ofEmail(4711))).toEqual({ environmentId: 4711, emailId: ID, places: null });
    expect(paths().read(ofEmail(4711).toUpperCase())).toEqual({ environmentId: 4711, emailId: ID, places: null });
  });

  it.each([
    ['with recipients', paths().addressFor(4711, ID, [1])],
    ['without recipients', ofEmail(4711)],
  ])('rejects a modified path: %s', (_which, local) => {
    const start = local.startsWith('b+r') ? 3 : 2;
    const changed = [...local.slice(start)].map(
      (digit, i) => `${local.slice(0, start + i)}${digit === '2' ? '3' : '2'}${local.slice(start + i + 1)}`,
    );

    expect(changed.map((each) => paths().read(each)).filter((read) => read !== null)).toEqual([]);
  });

  it('rejects a path that was shortened, lengthened, or signed by another installation', () => {
    const local = paths().addressFor(4711, ID, [0]);

    expect(
      [
        local.slice(0, -2),
        `${local}aa`,
        local.slice(2),
        local.replace('b+r', 'b+'),
        '',
        'postmaster',
        paths('two').addressFor(4711, ID, [0]),
      ].map((each) => paths().read(each)),
    ).toEqual(Array(7).fill(null));
  });
});
