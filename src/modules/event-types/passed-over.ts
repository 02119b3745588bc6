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
