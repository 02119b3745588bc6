import type { DynamicModule, Type } from '@nestjs/common';
import type { MigrationInterface } from 'typeorm';
import type { Role } from '#kernel/config/config.js';

/** Declaration of an extension in addition to its Nest module. */
export interface ExtensionDeclaration {
  /** Name in lower case, which is also the prefix of its tables: `nats` has `nats_subject_hours`. */
  name: string;
  /** Entities of its tables, for `Database.manager()`. */
  entities?: readonly Type[];
  /**
   * Migrations in the order of their timestamps. Each class name begins with the extension's name and ends with the
   * timestamp.
   */
  migrations?: readonly Type<MigrationInterface>[];
}

/**
 * Allowed forms of the default export: the module itself, or a class with `for(role)`, which returns the module for a
 * process's role.
 */
export type ExtensionModule = Type & { for?: (role: Role) => DynamicModule };

const DECLARATION = Symbol.for('posthorn:extension');

/**
 * Decorates the class of an extension's Nest module, which is its default export. Declares the extension's name and
 * tables.
 */
export function Extension(declaration: ExtensionDeclaration): ClassDecorator {
  return (target) => Reflect.defineMetadata(DECLARATION, declaration, target);
}

/** Returns the `@Extension` declaration of a module, or null if it has none. */
export function declarationOf(module: Type): ExtensionDeclaration | null {
  return (Reflect.getOwnMetadata(DECLARATION, module) as ExtensionDeclaration | undefined) ?? null;
}
