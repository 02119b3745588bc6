import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';

interface Listener {
  address: string;
  port: number;
}

/**
 * The listeners with every address they answer at, for `egressPolicy`: one bound to a wildcard (`0.0.0.0`, `::`) or
 * to a name answers at every local interface. Interfaces that appear later are not in it; ask again to refresh.
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
