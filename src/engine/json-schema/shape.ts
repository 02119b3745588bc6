import type { ErrorObject } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { type Fault, isObject } from '#engine/conditions/faults.js';
import { Budget } from './budget.js';
import { jsonFaults } from './json-faults.js';
import { isUnique } from './unique-items.js';
import { valueFaults } from './value-faults.js';

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

export function shapeFaults(schema: unknown): Fault[] {
  if (!isObject(schema)) return [{ path: '', message: 'must be an object' }];
  const measures = jsonFaults(schema);
  if (measures.length > 0) return measures;
  const dialect = dialectFaults(schema);
  return dialect.length > 0 ? dialect : metaFaults(schema);
}

function dialectFaults({ $schema: dialect }: Record<string, unknown>): Fault[] {
  if (dialect === undefined || (typeof dialect === 'string' && dialect.replace(/#$/, '') === DIALECT)) return [];
  const message =
    `must be ${DIALECT} or left out: other drafts are not supported. Draft 7 becomes 2020-12 by moving \`definitions\` to ` +
    '`$defs`, lists in `items` to `prefixItems`, and `dependencies` to `dependentRequired` or `dependentSchemas`';
  return [{ path: '$schema', message }];
}

/** Maximum work of validating a schema against the meta-schema, enough for a schema of 64 KB. */
const META_UNITS_MAX = 5_000_000;

/**
 * Maximum size of a schema for which all faults are reported. For a larger schema, only the first fault is reported.
 */
const EXPLAINED_BYTES_MAX = 8 * 1024;

const budget = new Budget();
let engines: { quick: Ajv2020; thorough: Ajv2020 } | null = null;

/** Validates a schema against the meta-schema of draft 2020-12, which is compiled on first use. */
function metaFaults(schema: unknown): Fault[] {
  engines ??= { quick: metaEngine(false), thorough: metaEngine(true) };
  const engine = Buffer.byteLength(JSON.stringify(schema)) > EXPLAINED_BYTES_MAX ? engines.quick : engines.thorough;
  budget.refill(META_UNITS_MAX);
  return engine.validate(DIALECT, schema) ? [] : valueFaults(engine.errors as ErrorObject[]);
}

function metaEngine(allErrors: boolean): Ajv2020 {
  const ajv = new Ajv2020({ allErrors, strict: false, validateFormats: false, logger: false });
  uniqueItemsOf(ajv, budget);
  return ajv;
}

/** Replaces Ajv's `uniqueItems`, which compares every pair of items, by a keyword with linear time. */
export function uniqueItemsOf(ajv: Ajv2020, budget: Budget): void {
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    errors: false,
    compile: (isAsked: boolean) => (list: unknown[]) => !isAsked || isUnique(list, budget),
  });
}
