import type { DiscoveryService } from '@nestjs/core';
import { ConfigError } from './config/config-values.js';

/** Returns the providers that extend `base`, from all modules. Used where several implementations may exist. */
export function providersExtending<T extends object>(
  discovery: DiscoveryService,
  base: abstract new (...args: never[]) => T,
): T[] {
  const instances = discovery.getProviders().map(({ instance }) => instance as unknown);
  return [...new Set(instances.filter((instance): instance is T => instance instanceof base))];
}

/** An extension point with named providers, one of which a setting selects. */
export interface NamedPoint<T> {
  setting: string;
  /** Values of the setting that need no extension. */
  builtIn: readonly string[];
  /** Name of the decorator, for error messages. */
  mark: string;
  decorator: ReturnType<typeof DiscoveryService.createDecorator>;
  base: abstract new (...args: never[]) => T;
}

/** Returns the provider that `extension:NAME` selects. Throws if no provider, or more than one, has this name. */
export function namedProvider<T extends { readonly name: string }>(
  discovery: DiscoveryService,
  { setting, builtIn, mark, decorator, base }: NamedPoint<T>,
  name: string,
): T {
  const known = new Map<string, T>();
  for (const wrapper of discovery.getProviders()) {
    if (discovery.getMetadataByDecorator(decorator, wrapper) === undefined) continue;
    const instance: unknown = wrapper.instance;
    const className = wrapper.name as string;
    if (!(instance instanceof base))
      throw new Error(`${className} is marked ${mark} but does not extend ${base.name}.`);
    if (known.has(instance.name))
      throw new ConfigError(
        `There are two providers for ${setting}=extension:${instance.name}: rename that of ${className}. Known: ${list(builtIn, known)}.`,
      );
    known.set(instance.name, instance);
  }
  const found = known.get(name);
  if (found === undefined)
    throw new ConfigError(`${setting}=extension:${name} names no loaded provider. Known: ${list(builtIn, known)}.`);
  return found;
}

const list = (builtIn: readonly string[], known: ReadonlyMap<string, unknown>): string =>
  [...builtIn, ...[...known.keys()].map((name) => `extension:${name}`)].join(', ');
