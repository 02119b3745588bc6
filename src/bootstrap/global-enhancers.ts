import type { INestApplication } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import type { Role } from '#kernel/config/config.js';
import { HttpModule } from '../http/http.module.js';
import type { LoadedExtension } from './extensions.js';

/**
 * Tokens of global enhancers, each with the decorator to use instead. A global enhancer would also change Posthorn's
 * routes.
 */
const REPLACEMENTS: Readonly<Record<string, string>> = {
  APP_PIPE: '@UsePipes',
  APP_FILTER: '@UseFilters',
  APP_INTERCEPTOR: '@UseInterceptors',
};

/** Nest appends a unique id to the token of each global enhancer, because a module may have several. */
const TOKEN = /^(APP_(?:PIPE|FILTER|INTERCEPTOR)) \(UUID: /;

type NestModule = ModulesContainer extends Map<string, infer M> ? M : never;

/**
 * Rejects global pipes, filters and interceptors of extensions (ADR 41). They would change requests and responses of
 * Posthorn's own routes: a transforming pipe replaces bodies that are already checked, and a cache returns one tenant's
 * response to another. `APP_GUARD` is allowed, because a guard can only reject a request.
 *
 * Call this after the application was created and before it starts.
 *
 * @throws Error with one line that names the extension, the token and the module.
 */
export function refuseGlobalEnhancers(
  app: Pick<INestApplication, 'get'>,
  extensions: readonly LoadedExtension[],
  role: Role,
): void {
  const modules = [...app.get(ModulesContainer).values()];
  for (const module of modules) {
    const token = module.metatype === HttpModule ? undefined : tokenIn(module);
    if (token === undefined) continue;
    const owner = ownerOf(module, modules, extensions, role);
    const by = owner === undefined ? 'An extension' : `The extension ${owner.name} (${owner.specifier})`;
    throw new Error(
      `${by} provides ${token} in ${module.metatype.name}, which would also apply to Posthorn's routes: ` +
        `use ${REPLACEMENTS[token]} on its own controllers.`,
    );
  }
}

function tokenIn({ providers, injectables }: NestModule): string | undefined {
  const names = [...providers.keys(), ...injectables.keys()].map((key) => (typeof key === 'string' ? key : ''));
  return names.map((name) => TOKEN.exec(name)?.[1]).find((token) => token !== undefined);
}

/** Returns the extension that imports a module. Nest adds global modules to all imports, so they are checked last. */
function ownerOf(
  module: NestModule,
  modules: readonly NestModule[],
  extensions: readonly LoadedExtension[],
  role: Role,
): LoadedExtension | undefined {
  const imports = (extension: LoadedExtension, areGlobalsIncluded: boolean): boolean => {
    const imported = extension.imported(role);
    const root = 'module' in imported ? imported.module : imported;
    const tree = new Set(modules.filter(({ metatype }) => metatype === root));
    for (const each of tree) for (const next of each.imports) if (areGlobalsIncluded || !next.isGlobal) tree.add(next);
    return tree.has(module);
  };
  return (
    extensions.find((extension) => imports(extension, false)) ??
    extensions.find((extension) => imports(extension, true))
  );
}
