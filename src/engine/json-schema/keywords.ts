/** Keywords of draft 2020-12 whose value is a schema. */
export const SCHEMA = new Set([
  'additionalProperties',
  'contains',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
]);

/** Keywords whose value is a list of schemas. */
export const SCHEMA_LIST = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);

/** Keywords whose value maps names to schemas. */
export const SCHEMA_MAP = new Set(['dependentSchemas', 'patternProperties', 'properties']);

/** Keywords that map names to schemas which only a `$ref` reaches. `definitions` is the name in older drafts. */
export const DEFINITIONS = new Set(['$defs', 'definitions']);

/** Keywords that constrain a value and contain no schema. */
export const PLAIN = new Set([
  'const',
  'dependentRequired',
  'enum',
  'exclusiveMaximum',
  'exclusiveMinimum',
  'maxContains',
  'maxItems',
  'maxLength',
  'maxProperties',
  'maximum',
  'minContains',
  'minItems',
  'minLength',
  'minProperties',
  'minimum',
  'multipleOf',
  'pattern',
  'required',
  'type',
  'uniqueItems',
]);

/**
 * Other ways to name a schema. They are rejected, because only `$ref` with a JSON pointer can be checked for its
 * target.
 */
export const REFUSED = new Set([
  '$anchor',
  '$dynamicAnchor',
  '$dynamicRef',
  '$recursiveAnchor',
  '$recursiveRef',
  '$vocabulary',
]);
