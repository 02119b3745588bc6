import { fileURLToPath } from 'node:url';
import type { DynamicModule, Type } from '@nestjs/common';
import type { INestApplication } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import type { Role } from '#kernel/config/config.js';
import { ConfigError } from '#kernel/config/config.js';
import type { LoadedExtension } from './extensions.js';

/** Thrown when the service cannot start because of an extension's code or classes. */
export class ExtensionFailed extends Error {
  constructor({ name, specifier }: Pick<LoadedExtension, 'name' | 'specifier'>, cause: unknown) {
    super(
      `The extension ${name} (${specifier}) failed: ${(cause instanceof Error ? cause.message : String(cause)).trim().split('\n', 1)[0]}`,
      { cause },
    );
  }
}

/**
 * Returns an `ExtensionFailed` if the stack or a class name in the message belongs to an extension. Otherwise returns
 * the error.
 */
export function blamed(error: unknown, extensions: readonly LoadedExtension[], role: Role): unknown {
  if (error instanceof ExtensionFailed || error instanceof ConfigError || !(error instanceof Error)) return error;
  // Errors in an extension's migrations already contain the extension's name.
  if (extensions.some(({ name }) => error.message.includes(`extension ${name} `))) return error;
  const files = filesOf(error);
  const author =
    extensions.find(({ directory }) => directory !== null && files.some((file) => isIn(directory, file))) ??
    extensions.find((extension) =>
      namesOf(extension, role).some((name) => new RegExp(`\\b${name}\\b`).test(error.message)),
    );
  return author === undefined ? error : new ExtensionFailed(author, error);
}

/**
 * Adds the extension's name to errors from its lifecycle hooks. The stack alone may not identify the extension, for
 * example if a remote server caused the error. Call this after the application is created and before it starts.
 */
export function watchHooks(
  app: Pick<INestApplication, 'get'>,
  extensions: readonly LoadedExtension[],
  role: Role,
): void {
  const modules = [...app.get(ModulesContainer).values()];
  for (const extension of extensions) {
    const classes = new Set(classesOf(rootOf(extension.imported(role))));
    for (const module of modules) {
      for (const { instance } of [...module.providers.values(), ...module.controllers.values()]) {
        if (instance !== null && typeof instance === 'object' && classes.has(instance.constructor as Type))
          watch(instance, extension);
      }
    }
  }
}

/** Adds the extension's name to errors from its provider factories. Call this before the application is created. */
export function watchFactories(extensions: readonly LoadedExtension[], role: Role): void {
  for (const extension of extensions) {
    const failed = (error: unknown): never => {
      throw error instanceof ExtensionFailed ? error : new ExtensionFailed(extension, error);
    };
    for (const provider of partsOf(rootOf(extension.imported(role))).providers) {
      if (isFactory(provider)) provider.useFactory = watchedFactory(provider.useFactory, failed);
    }
  }
}

type Factory = (...given: unknown[]) => unknown;

/** Returns a factory that calls `make` with the same arguments, and passes each error of `make` to `failed`. */
function watchedFactory(make: Factory, failed: (error: unknown) => never): Factory {
  return (...given) => {
    try {
      const made = make(...given);
      return made instanceof Promise ? made.catch(failed) : made;
    } catch (error) {
      return failed(error);
    }
  };
}

/** Returns whether a provider has a factory function that can be replaced by a wrapper. False for a frozen provider. */
function isFactory(given: unknown): given is { useFactory: Factory } {
  if (given === null || typeof given !== 'object') return false;
  const factory = Object.getOwnPropertyDescriptor(given, 'useFactory');
  return factory?.writable === true && typeof factory.value === 'function';
}

type Hooks = Partial<Record<(typeof HOOKS)[number], () => unknown>>;

const HOOKS = ['onModuleInit', 'onApplicationBootstrap'] as const;

function watch(instance: Hooks, extension: LoadedExtension): void {
  for (const hook of HOOKS) {
    const run = instance[hook];
    if (typeof run !== 'function') continue;
    instance[hook] = async () => {
      try {
        await run.call(instance);
      } catch (error) {
        throw new ExtensionFailed(extension, error);
      }
    };
  }
}

function namesOf(extension: LoadedExtension, role: Role): string[] {
  try {
    return [...classesOf(rootOf(extension.imported(role))), ...extension.entities]
      .map(({ name }) => name)
      .filter((name) => /^\w{3,}$/.test(name));
  } catch {
    return [];
  }
}

const rootOf = (imported: Type | DynamicModule): DynamicModule =>
  'module' in imported ? imported : { module: imported };

function classesOf(root: DynamicModule): Type[] {
  const { modules, providers, controllers } = partsOf(root);
  const given = [...providers, ...controllers].map((each) => (each as { useClass?: unknown } | null)?.useClass ?? each);
  return [...modules, ...given.filter(isClass)];
}

interface Parts {
  modules: Type[];
  providers: unknown[];
  controllers: unknown[];
}

/** Returns an extension's own parts. Omits dynamic modules that it only configures, such as `BullModule`. */
function partsOf(root: DynamicModule, parts: Parts = { modules: [], providers: [], controllers: [] }): Parts {
  if (parts.modules.includes(root.module)) return parts;
  const given = (name: 'imports' | 'providers' | 'controllers'): unknown[] => [
    ...((Reflect.getMetadata(name, root.module) as unknown[] | undefined) ?? []),
    ...((root[name] as unknown[] | undefined) ?? []),
  ];
  parts.modules.push(root.module);
  parts.providers.push(...given('providers'));
  parts.controllers.push(...given('controllers'));
  for (const imported of given('imports').filter(isClass)) partsOf({ module: imported }, parts);
  return parts;
}

function isClass(given: unknown): given is Type {
  return typeof given === 'function';
}

function filesOf({ stack = '' }: Error): string[] {
  return [...stack.matchAll(/(?:\(|at |async )((?:file:\/\/)?\/[^\n()]+?):\d+:\d+\)?$/gm)].map(([, file = '']) =>
    file.startsWith('file:') ? fileURLToPath(file) : file,
  );
}

/** Returns whether a file belongs to the directory. Packages installed in it, such as Posthorn, do not belong to it. */
function isIn(directory: string, file: string): boolean {
  return file.startsWith(directory) && !file.slice(directory.length).includes('node_modules/');
}
