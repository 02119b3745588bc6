import type { ApiAnswer } from '../support/server.js';
import type { Route } from './openapi-document.js';

/** An entry of the audit log, reduced to the fields that these tests read. */
export interface AuditEntry {
  actor: { kind: string; id: string | null; session: string | null };
  action: string;
  resource_type: string | null;
  resource_id: string | null;
  ip: string | null;
  request_id: string | null;
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
}

interface Call {
  route: Route;
  url: string;
  body: unknown;
  headers: Readonly<Record<string, string>>;
  answer: ApiAnswer;
}

/** Routes that change something without an audit entry, each with the reason. */
export const WITHOUT_ENTRY: Readonly<Record<string, string>> = {
  'POST /v1/send': 'traffic: an event, with its request id',
  'POST /v1/emails': 'traffic',
  'POST /v1/emails/batch': 'traffic',
  'POST /v1/app/{app}/event': 'traffic',
  'POST /v1/pull/{endpoint}/ack': 'traffic: a consumer moves on',
  'POST /v1/providers/ses/notifications': 'what a provider tells of emails: a report, at /v1/reports',
  'POST /v1/destinations/check': 'tries a draft and keeps nothing',
  'POST /v1/app/{app}/endpoints/check': 'tries a draft and keeps nothing',
  'POST /v1/endpoints/{id}/trial': 'tries a draft and keeps nothing',
  'POST /v1/templates/{id}/render': 'renders and keeps nothing',
  'POST /mcp': 'its tools call routes, which have their own',
  'POST /oauth/register': 'reaches nothing until a person grants it: oauth.granted',
  'POST /oauth/device': 'reaches nothing until a person grants it: oauth.granted',
  'POST /oauth/token': 'hands out what was granted: oauth.granted',
};

/** Routes whose audit action is not named after the route, because the change can also happen without this route. */
const BY_WORD: Readonly<Record<string, string>> = {
  'DELETE /v1/session': 'sign-out',
  'POST /oauth/revoke': 'oauth.revoked',
};
/** Actions in the audit log that a rejected call may cause. None of them records a success. */
const OF_REFUSED = new Set(['oauth.code_reused', 'sign-in.failed']);
/** Routes that erase content that was sent or received. The audit log must not keep a copy of this content. */
const REMOVES_CONTENT = new Set(['DELETE /v1/emails/{id}', 'DELETE /v1/events/{id}/payload']);
/** Routes that change a part of a resource, each with the field of the resource that contains the part. */
const PARTS: Readonly<Record<string, string>> = {
  'PATCH /v1/endpoints/{id}/routes/{routeId}': 'routes',
  'DELETE /v1/endpoints/{id}/routes/{routeId}': 'routes',
};

const READS = new Set(['GET', 'HEAD', 'OPTIONS']);
const ID = /^[a-z]+_[0-9A-HJKMNP-TV-Z]{26}$/;
const SECRET_FIELDS =
  /^(?:key|test_key|secret|token|access_token|verifyToken|code_verifier|device_code|authorization|cookie)$/;
const MASKED = '[secret]';

/** Compares every call of a suite with its entries in the audit log. */
export class AuditWitness {
  private readonly calls: Call[] = [];

  saw(call: Call): void {
    this.calls.push(call);
  }

  /** Returns the write routes that no call of the suite has tested. */
  missing(routes: readonly Route[]): string[] {
    const seen = new Set(this.succeeded().map(({ route }) => nameOf(route)));
    return routes
      .filter(({ method }) => !READS.has(method))
      .map(nameOf)
      .filter((name) => !seen.has(name) && !(name in WITHOUT_ENTRY));
  }

  /** Returns the routes that the lists of exceptions name although they no longer exist. */
  stale(routes: readonly Route[]): string[] {
    const names = new Set(routes.map(nameOf));
    return [...Object.keys(WITHOUT_ENTRY), ...Object.keys(BY_WORD), ...REMOVES_CONTENT, ...Object.keys(PARTS)].filter(
      (name) => !names.has(name),
    );
  }

  /** Returns wrong and missing log entries. `ownKey` is the id of the key for calls without an Authorization header. */
  faults(entries: readonly AuditEntry[], ownKey: string): string[] {
    return this.calls
      .filter(({ route }) => !READS.has(route.method))
      .flatMap((call) => {
        const found = entries.filter(({ request_id: id }) => id === call.answer.headers.get('x-request-id'));
        return faultsOf(call, found, ownKey).map(
          (fault) => `${call.answer.status} ${call.route.method} ${call.url}: ${fault}`,
        );
      });
  }

  /** Returns every secret that any call sent or returned. */
  secrets(): string[] {
    return [
      ...new Set(
        this.calls.flatMap(({ route, body, headers, answer }) => {
          // In templates, `key` is the name of a variable, and in topics the name of the topic. Neither is a secret.
          if (/^\/v1\/(?:templates|topics)/.test(route.path)) return secretsIn(headers, false);
          // Below /v1/secrets, `value` is a secret. Below /oauth, `code` is an authorization code. On other routes,
          // these fields are not secret.
          const { value, code } = (fieldsOf(body) as { value?: string; code?: string }) ?? {};
          const own = [
            route.path.startsWith('/v1/secrets') ? value : undefined,
            route.path.startsWith('/oauth/') ? code : undefined,
          ].filter((text) => text !== undefined);
          return [
            ...own,
            ...secretsIn(fieldsOf(body), true),
            ...secretsIn(headers, false),
            ...secretsIn(answer.json, false),
          ];
        }),
      ),
    ];
  }

  private succeeded(): Call[] {
    return this.calls.filter(({ answer }) => answer.status < 300);
  }
}

const nameOf = ({ method, path }: Route): string => `${method} ${path}`;
const actionOf = (route: Route): string =>
  BY_WORD[nameOf(route)] ?? `${route.method} ${route.path.replaceAll(/\{(\w+)\}/g, ':$1')}`;
/** Returns the fields of a body. A form-encoded body is a string. */
const fieldsOf = (body: unknown): unknown =>
  typeof body === 'string' ? Object.fromEntries(new URLSearchParams(body)) : body;

function faultsOf(call: Call, found: readonly AuditEntry[], ownKey: string): string[] {
  const { route, answer } = call;
  const actions = found.map(({ action }) => action);
  if (answer.status >= 400)
    return actions
      .filter((action) => !OF_REFUSED.has(action))
      .map((action) => `was refused, and the log has ${action}`);
  if (nameOf(route) in WITHOUT_ENTRY) return actions.map((action) => `is no business of the log, which has ${action}`);
  const [entry] = found;
  if (entry === undefined || found.length > 1 || entry.action !== actionOf(route))
    return [`has not one entry ${actionOf(route)}, but [${actions.join()}]`];
  return [...whoFaults(call, entry, ownKey), ...targetFaults(call, entry), ...changeFaults(call, entry)];
}

function whoFaults({ route, headers }: Call, { actor, ip }: AuditEntry, ownKey: string): string[] {
  const isRight = (): boolean => {
    if (nameOf(route) === 'POST /oauth/revoke') return actor.kind === 'unknown';
    if (route.path.startsWith('/v1/orgs')) return actor.kind === 'operator' && actor.id === null;
    if (headers['cookie'] !== undefined)
      return actor.kind === 'key' && actor.id === ownKey && /^ses_/.test(actor.session ?? '');
    if (headers['authorization']?.startsWith('Bearer pt_') === true)
      return actor.kind === 'portal' && /^pls_/.test(actor.id ?? '');
    return (
      actor.kind === 'key' &&
      (headers['authorization'] === undefined ? actor.id === ownKey : /^ek_/.test(actor.id ?? ''))
    );
  };
  return [
    ...(isRight() ? [] : [`is somebody else's: ${JSON.stringify(actor)}`]),
    ...(ip === '127.0.0.1' ? [] : [`comes from ${ip}`]),
  ];
}

/** Returns a fault if the entry does not contain the id of the created resource, or of the resource in the path. */
function targetFaults({ route, url, answer }: Call, { resource_id: id, after }: AuditEntry): string[] {
  const made = answer.status === 201 ? ((answer.json.id ?? answer.json.name) as string | undefined) : undefined;
  if (made !== undefined && after?.['made'] === undefined)
    return id === made ? [] : [`made ${made}, and is said to be about ${id}`];
  const words = url.split('?')[0]?.split('/') ?? [];
  // A subscription to a topic has no id, so its audit entry contains the subscriber's address.
  const named = route.path.endsWith('/{address}') ? words.at(-1) : words.findLast((word) => ID.test(word));
  if (named !== undefined) return id === named ? [] : [`is about ${named}, and is said to be about ${id}`];
  const isOwn =
    route.path.includes('{') &&
    !route.path.startsWith('/v1/event-types') &&
    !route.path.includes('/endpoints/{endpoint}/');
  return isOwn && !ID.test(id ?? '') ? [`has no id of its target: ${id}`] : [];
}

function changeFaults({ route, body, answer }: Call, { before, after }: AuditEntry): string[] {
  const name = nameOf(route);
  const shown = JSON.stringify({ before, after });
  const part = PARTS[name];
  if (route.method === 'DELETE') {
    if (REMOVES_CONTENT.has(name))
      return before === null && after === null ? [] : [`copies what was removed: ${shown}`];
    if (name in BY_WORD) return [];
    if (part !== undefined)
      return before?.[part] !== undefined && after?.[part] !== undefined ? [] : [`does not show ${part}: ${shown}`];
    return before !== null && Object.keys(before).length > 0 && after === null
      ? []
      : [`does not show what was removed: ${shown}`];
  }
  if (route.method === 'PATCH' || route.method === 'PUT') {
    if (JSON.stringify(before) === JSON.stringify(after) || before === null || after === null)
      return [`does not show what changed: ${shown}`];
    const asked = part === undefined ? Object.keys(body ?? {}) : [part];
    return route.method === 'PUT' || asked.some((field) => field in before && field in after)
      ? []
      : [`shows none of ${asked.join()}: ${shown}`];
  }
  if (name in BY_WORD) return before === null ? [`does not show what ended: ${shown}`] : [];
  if (answer.status !== 201) return after === null ? [`shows nothing: ${shown}`] : [];
  const made: unknown = answer.json.id ?? answer.json.name;
  return after?.['made'] === made || (before === null && (after?.['id'] ?? after?.['name']) === made)
    ? []
    : [`does not show what was made: ${shown}`];
}

/** Returns the values of secret fields, and of every header that a caller set. */
function secretsIn(value: unknown, isSent: boolean): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) => {
    if (typeof each === 'string')
      return SECRET_FIELDS.test(name) && isMeaningful(each)
        ? [each.replace(/^(?:Bearer |posthorn_session_[0-9a-f]{8}=)/, '')]
        : [];
    const own =
      isSent && name === 'headers'
        ? Object.values(each as Record<string, unknown>)
            .filter((header) => typeof header === 'string')
            .filter(isMeaningful)
        : [];
    return [...own, ...secretsIn(each, isSent)];
  });
}

/** Returns false for ids, for references to secrets, and for strings so short that they also occur by chance. */
const isMeaningful = (text: string): boolean =>
  text.length >= 5 && text !== MASKED && !ID.test(text) && !text.includes('{{');
