import { existsSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { DynamicModule, Type } from '@nestjs/common';
import { getMetadataArgsStorage } from 'typeorm';
import type { Role } from '#kernel/config/config.js';
import { declarationOf, type ExtensionDeclaration, type ExtensionModule } from '../extension/declaration.js';
import { packageOf, secondCopy } from './framework-copies.js';
import { shareTransformerMetadata } from './transformer-metadata.js';

export interface LoadedExtension extends Required<ExtensionDeclaration> {
  specifier: string;
  /** Directory of the extension's code, with links resolved and a trailing slash. Null if the code is not a file. */
  directory: string | null;
  /**
   * Returns the extension's module for a role.
   *
   * @throws Error with one line that names the extension.
   */
  imported: (role: Role) => Type | DynamicModule;
}

const MODULE_PARTS = ['imports', 'providers', 'controllers', 'exports'];
const INJECTABLE = '__injectable__';
const CONTROLLER = '__controller__';

const NAME = /^[a-z][a-z0-9]{0,29}$/;
const PARTS = new Set(['name', 'entities', 'migrations']);

/**
 * Loads the Nest modules that EXTENSIONS names: packages, or files relative to the working directory. Each extension
 * has its module as default export: a class, or a dynamic module.
 * @throws Error with one line that names the extension, if it cannot be loaded or is invalid.
 */
export async function loadExtensions(names: readonly string[]): Promise<LoadedExtension[]> {
  const loaded = await Promise.all(names.map(async (name) => inOrder(name, await moduleOf(name), directoryOf(name))));
  const seen = new Map<string, string>();
  for (const [index, { name }] of loaded.entries()) {
    const specifier = names[index] ?? '';
    const other = seen.get(name);
    if (other !== undefined)
      throw new Error(`EXTENSIONS names two extensions called ${name}: ${other} and ${specifier}. Remove one.`);
    seen.set(name, specifier);
  }
  return loaded;
}

async function moduleOf(name: string): Promise<ExtensionModule | DynamicModule> {
  const loaded = (await load(name).catch((error: Error) => {
    throw new Error(`EXTENSIONS names ${name}, which cannot be loaded: ${error.message.split('\n', 1)[0]}`);
  })) as { default?: unknown };
  const fault = moduleFault(loaded.default);
  if (fault !== null)
    throw new Error(`EXTENSIONS names ${name}, which has no Nest module as its default export: ${fault}`);
  return loaded.default as ExtensionModule | DynamicModule;
}

/** Returns why an export is not a valid extension, or null. Nest would silently accept a class without metadata. */
function moduleFault(exported: unknown): string | null {
  if (exported === undefined) return 'it exports no default. Write `export default class …` after @Module.';
  if (isDynamicModule(exported)) return null;
  if (!isClass(exported)) return 'its default export is neither a class nor a dynamic module.';
  const { name } = exported;
  if (
    declarationOf(exported) !== null ||
    factoryOf(exported) !== null ||
    MODULE_PARTS.some((part) => Reflect.hasOwnMetadata(part, exported))
  )
    return null;
  if (Reflect.hasOwnMetadata(CONTROLLER, exported))
    return `${name} is a controller. Export the module that lists it under controllers.`;
  if (Reflect.hasOwnMetadata(INJECTABLE, exported))
    return `${name} is a provider. Export the module that lists it under providers.`;
  return `${name} carries neither @Extension nor a non-empty @Module.`;
}

/** Returns the URL of a file relative to the working directory, or of a package as resolved from this file. */
function urlOf(name: string): string {
  return /^\.{0,2}\//.test(name) ? pathToFileURL(path.resolve(name)).href : import.meta.resolve(name);
}

/** Returns the folder of the extension's package, or the folder of its file if the package is Posthorn itself. */
function directoryOf(name: string): string | null {
  const url = urlOf(name);
  if (!url.startsWith('file:')) return null;
  const file = realpathSync(fileURLToPath(url));
  const directory = packageOf(file);
  const isOurs = directory === packageOf(fileURLToPath(import.meta.url));
  return `${isOurs || directory === path.parse(directory).root ? path.dirname(file) : directory}${path.sep}`;
}

async function load(name: string): Promise<unknown> {
  const url = urlOf(name);
  const file = url.startsWith('file:') ? fileURLToPath(url) : '';
  // If the file does not exist, the import below reports it.
  const copy = existsSync(file) ? secondCopy(file) : null;
  if (copy !== null) {
    throw new Error(
      `${copy.by === null ? 'it' : `its dependency ${copy.by}`} brings a second copy of ${copy.name} (${copy.directory}). ` +
        'Name it under peerDependencies instead of dependencies, remove that copy, and install again; ' +
        'or start the Posthorn that is installed next to the extension: `npx posthorn` in its folder.',
    );
  }
  if (file !== '') shareTransformerMetadata(file);
  return import(url);
}

/**
 * Checks the declaration of an extension and returns the extension. An undeclared extension is named after its class.
 * It can have routes, adapters and guards, but no tables.
 *
 * @throws Error with one line if the declaration is invalid.
 */
export function inOrder(
  specifier: string,
  exported: ExtensionModule | DynamicModule,
  directory: string | null = null,
): LoadedExtension {
  const module: ExtensionModule = 'module' in exported ? exported.module : exported;
  const declaration = declarationOf(module);
  const fault = declaration === null ? null : faultOf(declaration);
  if (fault !== null) throw new Error(`EXTENSIONS names ${specifier}, whose @Extension is wrong: ${fault}`);
  const { name = module.name, entities = [], migrations = [] } = declaration ?? {};
  const byRole = new Map<Role, DynamicModule>();
  const factory = 'module' in exported ? null : factoryOf(module);
  const imported = (role: Role): Type | DynamicModule => {
    if (factory === null) return exported;
    const dynamic = byRole.get(role) ?? made(specifier, factory, role, module);
    byRole.set(role, dynamic);
    return dynamic;
  };
  return { name, specifier, directory, entities, migrations, imported };
}

const FACTORIES = ['register', 'forRoot'] as const;

/** Returns the name of the static method that makes the dynamic module, or null for a module without one. */
function factoryOf(module: ExtensionModule): (typeof FACTORIES)[number] | null {
  return FACTORIES.find((name) => typeof module[name] === 'function') ?? null;
}

function made(
  specifier: string,
  factory: (typeof FACTORIES)[number],
  role: Role,
  module: ExtensionModule,
): DynamicModule {
  const wrong = (why: string): Error =>
    new Error(`EXTENSIONS names ${specifier}, whose ${module.name}.${factory}('${role}') ${why}`);
  let given: unknown;
  try {
    given = module[factory]?.(role);
  } catch (error) {
    throw wrong(`failed: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!isDynamicModule(given)) throw wrong(`does not return a dynamic module: \`{ module: ${module.name}, … }\`.`);
  return given;
}

function faultOf(declaration: ExtensionDeclaration): string | null {
  const unknown = Object.keys(declaration).find((part) => !PARTS.has(part));
  if (unknown !== undefined) return `${unknown} is not a known property. Known: ${[...PARTS].join(', ')}.`;
  const { name, entities = [], migrations = [] } = declaration;
  if (typeof name !== 'string' || !NAME.test(name))
    return 'name must be 1 to 30 lower-case letters and digits, and begin with a letter.';
  if (!Array.isArray(entities) || !entities.every(isClass)) return 'entities must be a list of classes.';
  if (!Array.isArray(migrations) || !migrations.every(isClass)) return 'migrations must be a list of classes.';
  return tableFault(name, entities) ?? migrationFault(name, migrations);
}

/** Returns the fault of a table whose name lacks the extension's prefix, which separates it from Posthorn's tables. */
function tableFault(name: string, entities: readonly Type[]): string | null {
  for (const entity of entities) {
    const table = getMetadataArgsStorage().tables.find(({ target }) => target === entity)?.name;
    if (table === undefined) return `${entity.name} is not an entity: it needs @Entity('${name}_…').`;
    if (!table.startsWith(`${name}_`)) return `the name of table ${table} of ${entity.name} must begin with ${name}_.`;
  }
  return null;
}

function migrationFault(name: string, migrations: readonly Type[]): string | null {
  const expected = new RegExp(`^${name}(\\w*\\D)?\\d{13}$`, 'i');
  const wrong = migrations.find((migration) => !expected.test(migration.name));
  if (wrong === undefined) return null;
  const example = `${name.charAt(0).toUpperCase()}${name.slice(1)}Tables1732500000000`;
  return `the migration ${wrong.name} must have a name like ${example}: the extension's name, what it creates, and a timestamp of 13 digits.`;
}

function isDynamicModule(value: unknown): value is DynamicModule {
  return typeof value === 'object' && value !== null && isClass((value as Partial<DynamicModule>).module);
}

function isClass(value: unknown): value is Type {
  return typeof value === 'function' && typeof value.prototype === 'object';
}
