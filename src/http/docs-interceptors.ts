export interface UiRequest {
  url: string;
  method: string;
  headers: Record<string, string>;
  body?: unknown;
}

export interface UiResponse {
  ok: boolean;
  status: number;
  url: string;
  /** Body of the response. A Blob if its type is not text. */
  text?: unknown;
}

/** An operation as Swagger UI passes it to its sorter: an Immutable.js map. */
export interface UiOperation {
  get(key: 'path' | 'method'): string;
}

/** Globals of the Swagger UI page. `posthornExamples` has the latest ids by kind, newest first. */
interface Page {
  ui?: { layoutActions: { show(what: string[], isShown: boolean): void } };
  localStorage?: { removeItem(key: string): void };
  location?: { hash: string };
  posthornExamples?: Record<string, string[]>;
  posthornDeleting?: string;
}

/* Each function below runs in the browser from its source text alone, so it cannot use names of this module. */

/** Replaces placeholders in a request with the latest ids in earlier responses. Returns the request. */
export function fillInIds(request: UiRequest): UiRequest {
  const page = globalThis as Page;
  const known = page.posthornExamples ?? {};
  // Ids of resources below `/v1/app`, `/v1/emails` or `/v1/aliases` are stored separately for each of these paths. A
  // request below one of them prefers the ids that were stored for it.
  const place = /\/v1\/(app|emails|aliases)\//.exec(request.url)?.[1] ?? '';
  const latest = (kind: string): string | undefined => known[`${place}/${kind}`]?.[0] ?? known[kind]?.[0];
  const filled = (text: string): string =>
    text
      .replace(/\b([a-z]+)_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1\b/g, (example, kind: string) => latest(kind) ?? example)
      .replace('WyIxLjgwMC4wMTlhOWY2NS4wIl0.c2lnbmF0dXJl', (example) => latest('cursor') ?? example)
      .replace(/(mail-views\?token=)\w+\.c2lnbmF0dXJl/, (example, before: string) =>
        latest('view') === undefined ? example : before + latest('view'),
      );
  request.url = filled(request.url);
  if (typeof request.body === 'string') request.body = filled(request.body);
  // The Model Context Protocol requires both media types in `accept`. Swagger UI sends only the selected one.
  if (request.url.endsWith('/mcp')) request.headers['accept'] = 'application/json, text/event-stream';
  page.posthornDeleting = request.method.toUpperCase() === 'DELETE' ? request.url : '';
  return request;
}

/**
 * Stores the ids in a response, and removes the id of a deleted resource. A response with status 200 may be a list. It
 * provides only ids of events, messages, requests and jobs, so that no example uses (or deletes) an arbitrary
 * destination or key from a list.
 */
export function rememberIds(response: UiResponse): UiResponse {
  if (!response.ok) return response;
  const page = globalThis as Page;
  const known = (page.posthornExamples ??= {});
  if (page.posthornDeleting === response.url) {
    const gone = response.url.match(/[a-z]+_[0-9A-HJKMNP-TV-Z]{26}/g)?.at(-1);
    for (const kind of Object.keys(known)) known[kind] = (known[kind] ?? []).filter((id) => id !== gone);
    return response;
  }
  const text = typeof response.text === 'string' ? response.text : '';
  const place = /\/v1\/(app|emails|aliases)\b/.exec(response.url)?.[1] ?? '';
  const fresh: Record<string, string[]> = {};
  const add = (kind: string, value: string): void => void (fresh[kind] ??= []).push(value);
  for (const [, id = '', kind = ''] of text.matchAll(
    /"(?:id|message_id|event_id|replay_id)":\s*"(([a-z]+)_[0-9A-HJKMNP-TV-Z]{26})"/g,
  )) {
    if (response.status === 200 && !/^(evt|msg|req|rpj)$/.test(kind)) continue;
    add(`${place}/${kind}`, id);
    // The ids of an application's endpoints and of inbound endpoints have the same prefix `ep`, but identify different
    // resources.
    if (place !== 'app' || kind !== 'ep') add(kind, id);
    // A message is also available as an event with the same id.
    if (kind === 'msg') add(`${place}/evt`, id);
    if (kind === 'msg') add('evt', id);
  }
  const cursor = /\/v1\/pull\//.test(response.url) ? /"next_cursor":\s*"([^"]+)"/.exec(text)?.[1] : undefined;
  if (cursor !== undefined) add('cursor', cursor);
  const view = /mail-views\?token=([\w.-]+)/.exec(text)?.[1];
  if (view !== undefined) add('view', view);
  // Puts the new ids before the stored ids. Both lists have the newest id first.
  for (const [kind, values] of Object.entries(fresh))
    known[kind] = [...new Set([...values, ...(known[kind] ?? [])])].slice(0, 100);
  return response;
}

/** Sorts deletions to the end, the longest path first. Preserves the order of other operations. */
export function deleteLast(a: UiOperation, b: UiOperation): number {
  const rank = (operation: UiOperation): number =>
    operation.get('method') === 'delete' ? 1000 - operation.get('path').split('/').length : 0;
  return rank(a) - rank(b);
}

/**
 * Opens the first section of operations, unless the URL is a link to an operation, which opens its own section. Removes
 * an API key that old versions stored.
 */
export function openFirst(): void {
  const page = globalThis as Page;
  page.localStorage?.removeItem('authorized');
  if (page.location?.hash.startsWith('#/') !== true)
    page.ui?.layoutActions.show(['operations-tag', 'Destinations'], true);
}
