import type { OpenAPIObject } from '@nestjs/swagger';

export interface BodyExample {
  summary: string;
  value: Record<string, unknown>;
}

interface SchemaParts {
  $ref?: string;
  required?: string[];
  properties?: Record<string, SchemaParts>;
  allOf?: SchemaParts[];
  example?: unknown;
}

interface Parameter {
  required?: boolean;
  schema?: Record<string, unknown>;
  [field: string]: unknown;
}

const EXAMPLES = new Map<string, Record<string, BodyExample>>();

/** Class decorator that adds complete example bodies by name. Swagger UI uses the first one. */
export function Examples(examples: Record<string, BodyExample>): ClassDecorator {
  return (target) => void EXAMPLES.set(target.name, examples);
}

export function bodyExamples(document: OpenAPIObject, name: string): Record<string, BodyExample> {
  const known = EXAMPLES.get(name);
  if (known) return known;
  const schemas = (document.components?.schemas ?? {}) as Record<string, SchemaParts>;
  const value = requiredOf(schemas, { $ref: `#/components/schemas/${name}` }) as Record<string, unknown>;
  return {
    minimal: { summary: Object.keys(value).length > 0 ? 'Only the required fields' : 'All fields are optional', value },
  };
}

/** Moves an optional parameter's example to the schema's `examples`, because Swagger UI would send an `example`. */
export function unfilled(parameter: Parameter): void {
  const { schema, required } = parameter;
  if (required === true || schema === undefined) return;
  const example = parameter['example'] ?? schema['example'];
  delete parameter['example'];
  delete schema['example'];
  if (example !== undefined) schema['examples'] ??= [example];
}

/** Builds an object of the required fields, each with its own example. */
function requiredOf(schemas: Record<string, SchemaParts>, schema: SchemaParts): unknown {
  const { $ref, allOf, example, properties = {}, required = [] } = schema;
  if (example !== undefined) return example;
  const referred = $ref ?? (allOf?.length === 1 ? allOf[0]?.$ref : undefined);
  if (referred !== undefined) return requiredOf(schemas, schemas[referred.slice(referred.lastIndexOf('/') + 1)] ?? {});
  return Object.fromEntries(required.map((name) => [name, requiredOf(schemas, properties[name] ?? {})]));
}
