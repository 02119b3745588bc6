import type { DiscoveryService } from '@nestjs/core';

/** The providers of any module that extend a class: how extensions are found at the doors that any number of them may use. */
export function providersExtending<T extends object>(
  discovery: DiscoveryService,
  base: abstract new (...args: never[]) => T,
): T[] {
  const instances = discovery.getProviders().map(({ instance }) => instance as unknown);
  return [...new Set(instances.filter((instance): instance is T => instance instanceof base))];
}
