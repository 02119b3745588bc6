import type { DynamicModule, Type } from '@nestjs/common';
import type { MigrationInterface } from 'typeorm';
import type { Role } from '#kernel/config/config.js';

/** What an extension brings beside its Nest module. */
export interface ExtensionDeclaration {
  /** In lower case, as its tables begin: `nats` has `nats_subject_hours`. */
  name: string;
  /** Its tables, for `Database.manager()`. */
  entities?: readonly Type[];
  /** Their migrations, in the order of their time stamps. Each class begins with the name and ends with the stamp. */
  migrations?: readonly Type<MigrationInterface>[];
}

/** What may stand behind the default export: the module itself, or `for(role)` that makes it for what a process runs. */
export type ExtensionModule = Type & { for?: (role: Role) => DynamicModule };

const DECLARATION = Symbol.for('posthorn:extension');

/** Class of an extension's Nest module, its default export: names it, and brings its tables. */
export function Extension(declaration: ExtensionDeclaration): ClassDecorator {
  return (target) => Reflect.defineMetadata(DECLARATION, declaration, target);
}

/** What `@Extension` said of a module; null without one. */
export function declarationOf(module: Type): ExtensionDeclaration | null {
  return (Reflect.getOwnMetadata(DECLARATION, module) as ExtensionDeclaration | undefined) ?? null;
}
