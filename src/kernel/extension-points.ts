import type { DiscoveryService } from '@nestjs/core';

/** Returns the providers of all modules that extend a class. For extension points with several implementations. */
export function providersExtending<T extends object>(
  discovery: DiscoveryService,
  base: abstract new (...args: never[]) => T,
): T[] {
  const instances = discovery.getProviders().map(({ instance }) => instance as unknown);
  return [...new Set(instances.filter((instance): instance is T => instance instanceof base))];
}
