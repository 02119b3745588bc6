import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { DynamicModule, Type } from '@nestjs/common';
import { getMetadataArgsStorage } from 'typeorm';
import { declarationOf, type ExtensionDeclaration, type ExtensionModule } from './extension/declaration.js';
import type { Role } from './kernel/config.js';

/** An extension that was found and is in order. */
export interface LoadedExtension extends Required<ExtensionDeclaration> {
  /** What the application imports, for a process of this role. */
  imported: (role: Role) => Type | DynamicModule;
}

const NAME = /^[a-z][a-z0-9]{0,29}$/;
const PARTS = new Set(['name', 'entities', 'migrations']);

/**
 * Loads the Nest modules that EXTENSIONS names: packages, or files relative to the working directory. Each exports its
 * module class as default.
 * @throws Error of one line that names the extension, when it cannot be loaded or is not in order.
 */
export async function loadExtensions(names: readonly string[]): Promise<LoadedExtension[]> {
  const loaded = await Promise.all(names.map(async (name) => inOrder(name, await moduleOf(name))));
  const seen = new Map<string, string>();
  for (const [index, { name }] of loaded.entries()) {
    const specifier = names[index] ?? '';
    const other = seen.get(name);
    if (other !== undefined) throw new Error(`EXTENSIONS names two extensions called ${name}: ${other} and ${specifier}. Remove one.`);
    seen.set(name, specifier);
  }
  return loaded;
}

async function moduleOf(name: string): Promise<ExtensionModule> {
  const specifier = /^\.{0,2}\//.test(name) ? pathToFileURL(path.resolve(name)).href : name;
  const loaded = (await import(specifier).catch((error: Error) => {
    throw new Error(`EXTENSIONS names ${name}, which cannot be loaded: ${error.message}`);
  })) as { default?: unknown };
  if (!isClass(loaded.default)) throw new Error(`EXTENSIONS names ${name}, which has no Nest module as its default export.`);
  return loaded.default as ExtensionModule;
}

/**
 * An extension whose declaration is in order. A module that declares nothing is known by its class: it has routes,
 * adapters or guards, and no tables.
 * @throws Error of one line.
 */
export function inOrder(specifier: string, module: ExtensionModule): LoadedExtension {
  const declaration = declarationOf(module);
  const fault = declaration === null ? null : faultOf(declaration);
  if (fault !== null) throw new Error(`EXTENSIONS names ${specifier}, whose @Extension is wrong: ${fault}`);
  const { name = module.name, entities = [], migrations = [] } = declaration ?? {};
  return { name, entities, migrations, imported: (role) => module.for?.(role) ?? module };
}

function faultOf(declaration: ExtensionDeclaration): string | null {
  const unknown = Object.keys(declaration).find((part) => !PARTS.has(part));
  if (unknown !== undefined) return `${unknown} is not known; there are ${[...PARTS].join(', ')}.`;
  const { name, entities = [], migrations = [] } = declaration;
  if (typeof name !== 'string' || !NAME.test(name)) return 'name is 1 to 30 lower-case letters and digits, and begins with a letter.';
  if (!Array.isArray(entities) || !entities.every(isClass)) return 'entities is a list of classes.';
  if (!Array.isArray(migrations) || !migrations.every(isClass)) return 'migrations is a list of classes.';
  return tableFault(name, entities) ?? migrationFault(name, migrations);
}

/** The prefix is what keeps an extension's tables apart from ours of any later release. */
function tableFault(name: string, entities: readonly Type[]): string | null {
  for (const entity of entities) {
    const table = getMetadataArgsStorage().tables.find(({ target }) => target === entity)?.name;
    if (table === undefined) return `${entity.name} is no entity: it needs @Entity('${name}_…').`;
    if (!table.startsWith(`${name}_`)) return `the table ${table} of ${entity.name} must begin with ${name}_.`;
  }
  return null;
}

function migrationFault(name: string, migrations: readonly Type[]): string | null {
  const expected = new RegExp(`^${name}(\\w*\\D)?\\d{13}$`, 'i');
  const wrong = migrations.find((migration) => !expected.test(migration.name));
  if (wrong === undefined) return null;
  const example = `${name.charAt(0).toUpperCase()}${name.slice(1)}Tables1732500000000`;
  return `the migration ${wrong.name} must be called like ${example}: the extension's name, what it makes, 13 digits of time.`;
}

function isClass(value: unknown): value is Type {
  return typeof value === 'function' && typeof value.prototype === 'object';
}
