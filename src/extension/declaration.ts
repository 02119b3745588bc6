import type { DynamicModule, Type } from '@nestjs/common';
import type { MigrationInterface } from 'typeorm';
import type { Role } from '#kernel/config/config.js';

export interface ExtensionDeclaration {
  /**
   * Name in lower case. Also the prefix of the extension's tables: the extension `nats` may have a table
   * `nats_subject_hours`.
   */
  name: string;
  /** Entities of the extension's tables, for `Database.manager()`. */
  entities?: readonly Type[];
  /** Migrations, ordered by timestamp. Class names begin with the extension's name and end with the timestamp. */
  migrations?: readonly Type<MigrationInterface>[];
}

/**
 * An extension's module, or a class whose static `register(role)` or `forRoot(role)` returns the module for the role of
 * a process.
 */
export type ExtensionModule = Type & {
  register?: (role: Role) => DynamicModule;
  forRoot?: (role: Role) => DynamicModule;
};

const DECLARATION = Symbol.for('posthorn:extension');

/** Decorates an extension's Nest module, which is its default export. Declares its name and tables. */
export function Extension(declaration: ExtensionDeclaration): ClassDecorator {
  return (target) => Reflect.defineMetadata(DECLARATION, declaration, target);
}

export function declarationOf(module: Type): ExtensionDeclaration | null {
  return (Reflect.getOwnMetadata(DECLARATION, module) as ExtensionDeclaration | undefined) ?? null;
}
