import type { PosthornClient } from '../client/index.js';
import { plain } from './terminal.js';

export interface Found {
  result: 'ok' | 'warning' | 'failed';
  message: string;
}

export const ok = (message: string): Found => ({ result: 'ok', message });
export const warning = (message: string): Found => ({ result: 'warning', message });
export const failed = (message: string): Found => ({ result: 'failed', message });

/** Maximum number of destinations to check individually, newest first. */
const DESTINATIONS_MAX = 200;
const AT_ONCE = 8;
const HOUR_MS = 3_600_000;
/** Age above which a due delivery is late. Workers are then missing or too slow. */
const LATE_MS = 60_000;
const VERY_LATE_MS = 300_000;

export function lateness(parts: Readonly<Record<string, unknown>> | undefined): Found {
  const oldestMs = Number((parts?.['storage'] as { oldest_due_age_ms?: unknown } | undefined)?.oldest_due_age_ms ?? 0);
  if (oldestMs < LATE_MS) return ok('Deliveries start on time.');
  const message = `The oldest due delivery has waited for ${Math.round(oldestMs / 1_000)} s. Are enough workers running?`;
  return oldestMs < VERY_LATE_MS ? warning(message) : failed(message);
}

/** Returns the service's BASE_URL and PLATFORM_DOMAIN. */
export async function namesOf(client: PosthornClient): Promise<{ domain: string; baseUrl: string }> {
  const [{ platform_domain: domain }, { issuer: baseUrl }] = await Promise.all([
    client.get('/v1/ingest-domains'),
    client.get('/.well-known/oauth-authorization-server'),
  ]);
  return { domain, baseUrl };
}

/**
 * Warns if PLATFORM_DOMAIN is the host of BASE_URL, because responses of endpoints would then share an origin with the
 * sign-in pages.
 */
export function sharedHost({ domain, baseUrl }: { domain: string; baseUrl: string }): Found[] {
  if (domain === '' || domain === 'localhost' || !URL.canParse(baseUrl)) return [];
  if (domain.toLowerCase() !== new URL(baseUrl).hostname)
    return [ok(`PLATFORM_DOMAIN is ${domain}, and the service's pages are on another host.`)];
  return [
    warning(
      `PLATFORM_DOMAIN is the host of BASE_URL, so endpoint responses come from the origin where people sign in. Use a separate host for one of them.`,
    ),
  ];
}

/** Returns findings about circuit breakers, disabled destinations, and dead letters of the last hour. */
export async function destinationsFound(client: PosthornClient, now: Date): Promise<Found[]> {
  const found: Found[] = [];
  const ids: string[] = [];
  let others = 0;
  for await (const { id } of client.all('/v1/destinations', { params: { query: { limit: 100 } } })) {
    if (ids.length < DESTINATIONS_MAX) ids.push(id);
    else others += 1;
  }
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    found.push(
      ...(await Promise.all(ids.slice(from, from + AT_ONCE).map((id) => destinationFound(client, id, now)))).flat(),
    );
  }
  if (others > 0) found.push(warning(`${others} older destinations were not checked.`));
  return found.some(({ result }) => result !== 'ok')
    ? found
    : [ok(ids.length === 0 ? 'There are none.' : 'All destinations are reachable and take deliveries.'), ...found];
}

async function destinationFound(client: PosthornClient, id: string, now: Date): Promise<Found[]> {
  const {
    name,
    validation,
    status,
    disabled_reason: reason,
    circuit,
  } = await client.get('/v1/destinations/{id}', { params: { path: { id } } });
  const what = `${plain(name)} (${id})`;
  if (status === 'disabled')
    return [
      warning(
        `${what} is disabled: ${plain(reason)}. \`PATCH /v1/destinations/${id}\` with {"status":"active"} enables it.`,
      ),
    ];
  const found: Found[] = [];
  if (circuit.state !== 'closed')
    found.push(
      failed(
        `The circuit of ${what} has been ${circuit.state.replace('_', '-')} since ${circuit.opened_at ?? 'a while'}: deliveries wait until a probe succeeds.`,
      ),
    );
  if (validation === 'stale' || validation === 'invalid')
    found.push(warning(`${what} is ${validation}: \`posthorn destinations get ${id}\` shows details.`));
  const since = new Date(now.getTime() - HOUR_MS).toISOString();
  const { data } = await client.get('/v1/metrics', { params: { query: { key: id, window: '1m', since } } });
  const dead = data.reduce((sum, { dlq }) => sum + dlq, 0);
  if (dead > 0)
    found.push(
      failed(
        `${dead} deliveries to ${what} became dead letters within the last hour: \`posthorn events --status dlq --destination ${id}\`.`,
      ),
    );
  return found;
}

export async function applicationsFound(client: PosthornClient): Promise<Found[]> {
  const { data } = await client.get('/v1/metrics/applications', { params: { query: { limit: 5 } } });
  const dying = data.filter(({ dlq, failed: ended }) => dlq + ended > 0);
  if (dying.length === 0) return [ok('No application had failed deliveries within the last day.')];
  return dying.map(({ name, application, dlq, failed: ended }) =>
    warning(`${plain(name)} (${application}): ${dlq + ended} deliveries failed within the last day.`),
  );
}
