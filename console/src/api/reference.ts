import { SERVICE } from './client';
import { type ApiDocument, type DocumentedOperation, operationOf } from './operation-of';

let loading: Promise<ApiDocument> | null = null;

/** Returns the API's OpenAPI document. Loads it once. After a failure, the next call tries again. */
export function apiDocument(): Promise<ApiDocument> {
  loading ??= fetch(`${SERVICE}openapi.json`, { credentials: 'same-origin' })
    .then((response) => response.json() as Promise<ApiDocument>)
    .catch((error: unknown) => {
      loading = null;
      throw error;
    });
  return loading;
}

/** Returns the URL of a section of the API reference. */
export function sectionReference(tag: string): string {
  return `${SERVICE}docs#/${encodeURIComponent(tag)}`;
}

/** Returns the URL of the operation that a call used, or of the whole API reference if the operation is unknown. */
export function callReference(document: ApiDocument | undefined, call: { method: string; path: string }): string {
  const found = document === undefined ? null : operationOf(document, call);
  return found === null ? `${SERVICE}docs` : operationReference(found);
}

function operationReference({ tag, operationId }: DocumentedOperation): string {
  return `${sectionReference(tag)}/${encodeURIComponent(operationId)}`;
}
