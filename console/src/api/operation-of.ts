/** Part of an OpenAPI document that names operations. */
export interface ApiDocument {
  paths: Readonly<
    Record<string, Readonly<Record<string, { operationId?: string; tags?: readonly string[] } | undefined>>>
  >;
}

/** An operation, and the section of the API reference that describes it. */
export interface DocumentedOperation {
  tag: string;
  operationId: string;
}

/** Returns the operation of a call. If several paths match, the path with the fewest parameters applies. */
export function operationOf(
  { paths }: ApiDocument,
  { method, path }: { method: string; path: string },
): DocumentedOperation | null {
  const [plain = ''] = path.split('?');
  const [match] = Object.keys(paths)
    .filter((template) => matches(template, plain) && paths[template]?.[method.toLowerCase()] !== undefined)
    .sort((a, b) => parametersOf(a) - parametersOf(b));
  const operation = match === undefined ? undefined : paths[match]?.[method.toLowerCase()];
  const [tag] = operation?.tags ?? [];
  return operation?.operationId === undefined || tag === undefined ? null : { tag, operationId: operation.operationId };
}

function matches(template: string, path: string): boolean {
  const [wanted, given] = [template.split('/'), path.split('/')];
  return wanted.length === given.length && wanted.every((part, i) => part.startsWith('{') || part === given[i]);
}

function parametersOf(template: string): number {
  return template.split('{').length;
}
