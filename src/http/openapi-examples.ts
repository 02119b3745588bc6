import type { OpenAPIObject } from '@nestjs/swagger';

/** An example of a body as OpenAPI has it: what it shows, and the body itself. */
export interface BodyExample {
  summary: string;
  value: Record<string, unknown>;
}

/** What is read of a schema here. */
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

/**
 * Class of a body: whole bodies that can be sent as they are, by name; the first one is what Swagger UI fills in. A body
 * without them is shown with an example of its required fields.
 */
export function Examples(examples: Record<string, BodyExample>): ClassDecorator {
  return (target) => void EXAMPLES.set(target.name, examples);
}

/** The examples of a body's class, for the `examples` of its media type. */
export function bodyExamples(document: OpenAPIObject, name: string): Record<string, BodyExample> {
  const known = EXAMPLES.get(name);
  if (known) return known;
  const schemas = (document.components?.schemas ?? {}) as Record<string, SchemaParts>;
  const value = requiredOf(schemas, { $ref: `#/components/schemas/${name}` }) as Record<string, unknown>;
  return { minimal: { summary: Object.keys(value).length > 0 ? 'What is required' : 'Nothing has to be said', value } };
}

/**
 * The example of an optional parameter, out of the reach of what fills in forms: Swagger UI sends `example` unless it is
 * emptied, and takes no notice of the schema's `examples`.
 */
export function unfilled(parameter: Parameter): void {
  const { schema, required } = parameter;
  if (required === true || schema === undefined) return;
  const example = parameter['example'] ?? schema['example'];
  delete parameter['example'];
  delete schema['example'];
  if (example !== undefined) schema['examples'] ??= [example];
}

/** An object of the required fields, each with its own example. */
function requiredOf(schemas: Record<string, SchemaParts>, schema: SchemaParts): unknown {
  const { $ref, allOf, example, properties = {}, required = [] } = schema;
  if (example !== undefined) return example;
  const referred = $ref ?? (allOf?.length === 1 ? allOf[0]?.$ref : undefined);
  if (referred !== undefined) return requiredOf(schemas, schemas[referred.slice(referred.lastIndexOf('/') + 1)] ?? {});
  return Object.fromEntries(required.map((name) => [name, requiredOf(schemas, properties[name] ?? {})]));
}
