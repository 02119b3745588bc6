import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { dtoSchemas } from '../support/dto-schemas.mjs';

interface Schema {
  description?: unknown;
  example?: unknown;
  properties?: Record<string, unknown>;
  allOf?: unknown[];
}

const root = path.resolve(import.meta.dirname, '../..');
const program = path.join(root, 'test/support/dto-schemas.mjs');

const asJestSeesThem = await dtoSchemas(path.join(root, 'src'));
const asBuilt = JSON.parse(
  execFileSync(process.execPath, [program, path.join(root, 'dist/src')], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  }),
) as typeof asJestSeesThem;

/** Returns the schema without descriptions and examples, which only the build's Swagger plugin adds. */
function withoutTexts(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutTexts);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { description: _description, example: _example, properties, allOf, ...rest } = schema as Schema;
  return {
    ...Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, withoutTexts(value)])),
    ...(properties && { properties: membersWithoutTexts(properties) }),
    ...(allOf?.length === 1 && Object.fromEntries(Object.entries(withoutTexts(allOf[0]) as Schema))),
    ...(allOf && allOf.length > 1 && { allOf: withoutTexts(allOf) }),
  };
}

const membersWithoutTexts = (members: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(members).map(([name, schema]) => [name, withoutTexts(schema)]));

describe('the DTO schemas', () => {
  it('cover the same files in the sources and the build, hundreds of classes', () => {
    expect(Object.keys(asBuilt)).toEqual(Object.keys(asJestSeesThem));
    expect(Object.values(asJestSeesThem).flatMap(Object.keys).length).toBeGreaterThan(250);
  });

  it.each(Object.keys(asJestSeesThem))('of %s are equal in tests and in the build', (file) => {
    expect(membersWithoutTexts(asJestSeesThem[file] as Record<string, unknown>)).toEqual(
      membersWithoutTexts(asBuilt[file] as Record<string, unknown>),
    );
  });
});
