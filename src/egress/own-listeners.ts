import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';

interface Listener {
  address: string;
  port: number;
}

/**
 * Returns the listeners for `egressPolicy`. A listener that is bound to a wildcard (`0.0.0.0`, `::`) or to a name is
 * reachable at every local interface. Call again to include interfaces that appeared later.
 */
export function ownListeners(bound: readonly Listener[]): Listener[] {
  const local = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .map(({ address }) => address);
  return bound.flatMap((listener) => {
    const { address, port } = listener;
    const isSpecific = isIP(address) !== 0 && address !== '0.0.0.0' && address !== '::';
    return isSpecific ? [listener] : local.map((each) => ({ address: each, port }));
  });
}
