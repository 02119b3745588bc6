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

export const SCHEMA_LIST = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);

export const SCHEMA_MAP = new Set(['dependentSchemas', 'patternProperties', 'properties']);

/** Keywords that map names to schemas which only a `$ref` reaches. `definitions` is the name in older drafts. */
export const DEFINITIONS = new Set(['$defs', 'definitions']);

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

/** Keywords that name a schema in other ways. They are rejected: only a `$ref` with a JSON pointer can be checked. */
export const REFUSED = new Set([
  '$anchor',
  '$dynamicAnchor',
  '$dynamicRef',
  '$recursiveAnchor',
  '$recursiveRef',
  '$vocabulary',
]);
