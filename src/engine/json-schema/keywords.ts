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

/** … a list of schemas. */
export const SCHEMA_LIST = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);

/** … schemas by name. */
export const SCHEMA_MAP = new Set(['dependentSchemas', 'patternProperties', 'properties']);

/** … schemas by name that only a `$ref` reaches. `definitions` is what they were called before. */
export const DEFINITIONS = new Set(['$defs', 'definitions']);

/** Keywords that judge a value and hold no schema. */
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

/** Other ways to name a schema. One way is enough, and only that one can be checked for where it leads. */
export const REFUSED = new Set([
  '$anchor',
  '$dynamicAnchor',
  '$dynamicRef',
  '$recursiveAnchor',
  '$recursiveRef',
  '$vocabulary',
]);
