/** What Swagger UI hands to its interceptors of a call. */
export interface UiRequest {
  url: string;
  body?: unknown;
}

export interface UiResponse {
  ok: boolean;
  status: number;
  url: string;
  text?: string;
}

/** The page's own memory: what the ids of the examples stand for by now. */
interface Page {
  ui?: { layoutActions: { show(what: string[], isShown: boolean): void } };
  posthornExamples?: Record<string, string>;
}

/**
 * Runs in the browser, before each call of Swagger UI: the ids of the examples stand for what this page made or looked at
 * last, so that one operation can be tried after the other without copying ids. Self-contained: its text is what is served.
 */
export function fillInIds(request: UiRequest): UiRequest {
  const known = (globalThis as Page).posthornExamples ?? {};
  const place = request.url.includes('/v1/app/') ? 'app/' : '';
  const filled = (text: string): string =>
    text
      .replace(/\b([a-z]+)_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1\b/g, (example, kind: string) => known[place + kind] ?? known[kind] ?? example)
      .replace('WyIxLjgwMC4wMTlhOWY2NS4wIl0.c2lnbmF0dXJl', (example) => known['cursor'] ?? example);
  request.url = filled(request.url);
  if (typeof request.body === 'string') request.body = filled(request.body);
  return request;
}

/**
 * Opens the section of the main job. The others stay closed: with 150 rows to show Swagger UI keeps those alone in the page that are
 * in sight, and forgets what was begun in one that is scrolled away.
 */
export function openFirst(): void {
  (globalThis as Page).ui?.layoutActions.show(['operations-tag', 'Send'], true);
}

/**
 * Runs in the browser, after each call of Swagger UI. Of what was not made by the call only events and requests are
 * remembered: an example must not come to stand for a destination or a key that was merely listed. Self-contained like
 * `fillInIds`.
 */
export function rememberIds(response: UiResponse): UiResponse {
  if (!response.ok || typeof response.text !== 'string') return response;
  const known = ((globalThis as Page).posthornExamples ??= {});
  const isOfApplication = /\/v1\/app\/[^/]+\/endpoints/.test(response.url);
  const fresh: Record<string, string> = {};
  for (const [, , id, kind] of response.text.matchAll(/"(id|message_id|event_id|replay_id)":\s*"(([a-z]+)_[0-9A-HJKMNP-TV-Z]{26})"/g)) {
    if (response.status === 200 && !/^(evt|msg|req|rpj)$/.test(kind as string)) continue;
    const name = kind === 'ep' && isOfApplication ? 'app/ep' : (kind as string);
    // Lists show the newest first.
    fresh[name] ??= id as string;
  }
  // A message that was sent is found as an event by its own id, too.
  if (fresh['msg'] !== undefined) fresh['evt'] ??= fresh['msg'];
  const cursor = /\/v1\/pull\//.test(response.url) ? /"next_cursor":\s*"([^"]+)"/.exec(response.text)?.[1] : undefined;
  if (cursor !== undefined) fresh['cursor'] = cursor;
  Object.assign(known, fresh);
  return response;
}
