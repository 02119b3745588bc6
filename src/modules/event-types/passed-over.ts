/** Parts of an OpenAPI document that nothing is imported from. */
export const PASSED_OVER: ReadonlySet<string> = new Set([
  'openapi',
  'info',
  'jsonSchemaDialect',
  'servers',
  'paths',
  'security',
  'tags',
  'externalDocs',
]);
