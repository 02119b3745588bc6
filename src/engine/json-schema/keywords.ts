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

/** Keywords with schemas that only a `$ref` uses. `definitions` is the name in older drafts. */
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

/** Rejected keywords that name or reference schemas in other ways. Only `$ref` with a JSON pointer is supported. */
export const REFUSED = new Set([
  '$anchor',
  '$dynamicAnchor',
  '$dynamicRef',
  '$recursiveAnchor',
  '$recursiveRef',
  '$vocabulary',
]);
