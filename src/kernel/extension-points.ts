import type { DiscoveryService } from '@nestjs/core';

/** Providers of all modules that extend a class, for extension points with any number of implementations. */
export function providersExtending<T extends object>(
  discovery: DiscoveryService,
  base: abstract new (...args: never[]) => T,
): T[] {
  const instances = discovery.getProviders().map(({ instance }) => instance as unknown);
  return [...new Set(instances.filter((instance): instance is T => instance instanceof base))];
}
