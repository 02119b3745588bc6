import { networkInterfaces } from 'node:os';
import { ownListeners } from './own-listeners.js';

const local = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .map(({ address }) => address);

describe('ownListeners', () => {
  it.each(['0.0.0.0', '::', 'localhost', ''])('a listener at %j is reachable at every local address', (address) => {
    const listeners = ownListeners([{ address, port: 3000 }]);

    expect(local).toContain('127.0.0.1');
    expect(listeners).toEqual(local.map((each) => ({ address: each, port: 3000 })));
  });

  it('a listener at one address is reachable there', () => {
    expect(
      ownListeners([
        { address: '10.1.2.3', port: 2525 },
        { address: '::1', port: 3000 },
      ]),
    ).toEqual([
      { address: '10.1.2.3', port: 2525 },
      { address: '::1', port: 3000 },
    ]);
  });
});
