/** Error types of the API; https://…/docs has the table. More types may be added. */
export type PosthornErrorType =
  | 'bad_request'
  | 'unauthenticated'
  | 'insufficient_scope'
  | 'forbidden'
  | 'not_found'
  | 'method_not_allowed'
  | 'conflict'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'validation_failed'
  | 'rate_limited'
  | 'not_implemented'
  | 'internal';

/** An error response of the service, with the fields of its envelope. */
export class PosthornError extends Error {
  override readonly name: string = 'PosthornError';

  constructor(
    readonly status: number,
    readonly type: PosthornErrorType | (string & {}),
    message: string,
    /** Id of the request in the logs of the service. Null if an intermediary sent the response. */
    readonly requestId: string | null,
    readonly details: Readonly<Record<string, unknown>> = {},
    /** Number of seconds to wait before the next attempt; null if the response does not say. */
    readonly retryAfterSeconds: number | null = null,
  ) {
    super(message);
  }
}

/** No response arrived: the service is unreachable, or the connection broke. The request may have been accepted. */
export class PosthornConnectionError extends Error {
  override readonly name: string = 'PosthornConnectionError';
}

export class PosthornTimeoutError extends PosthornConnectionError {
  override readonly name: string = 'PosthornTimeoutError';
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Error code for a response that does not come from Posthorn. Set only by this client. */
export const UNEXPECTED_ANSWER = 'unexpected_answer';

/** Returns an error for a redirect, else null. The API has no redirects, and following one would send the key. */
export function redirectOf(asked: string, response: Response): PosthornError | null {
  // Some runtimes report a redirect that was not followed as an `opaqueredirect` with status 0.
  if (!REDIRECTS.has(response.status) && response.type !== 'opaqueredirect') return null;
  const location = response.headers.get('location');
  const leadsTo = location !== null && URL.canParse(location, asked) ? ` to ${originOf(new URL(location, asked))}` : '';
  return unexpected(asked, response, `with a redirect${leadsTo}, which is not followed`);
}

/** Returns the error for a success status from a proxy, captive portal or other server that is not the API. */
export function unexpected(asked: string, { status, headers }: Response, how: string): PosthornError {
  return new PosthornError(
    status,
    UNEXPECTED_ANSWER,
    `${new URL(asked).origin} answered ${how}. Is this the URL of the service, and is there a proxy in between?`,
    headers.get('x-request-id'),
  );
}

const originOf = ({ origin, protocol }: URL): string => (origin === 'null' ? protocol : origin);

export async function errorOf(response: Response): Promise<PosthornError> {
  const text = await response.text().catch(() => '');
  const { type, message, request_id: requestId, details } = envelopeOf(text);
  const said = message ?? `The service answered ${response.status}${text === '' ? '' : `: ${text.slice(0, 200)}`}`;
  return new PosthornError(
    response.status,
    type ?? 'internal',
    said,
    requestId ?? response.headers.get('x-request-id'),
    details ?? {},
    retryAfterOf(response.headers),
  );
}

interface Envelope {
  type?: string;
  message?: string;
  request_id?: string;
  details?: Record<string, unknown>;
}

function envelopeOf(text: string): Envelope {
  try {
    return (JSON.parse(text) as { error?: Envelope }).error ?? {};
  } catch {
    return {};
  }
}

/** Parses the `Retry-After` header, which is a number of seconds or a date (RFC 9110, section 10.2.3). */
export function retryAfterOf(headers: Headers): number | null {
  const value = headers.get('retry-after');
  if (value === null) return null;
  if (/^\d+$/.test(value)) return Number(value);
  const atMs = Date.parse(value);
  return Number.isNaN(atMs) ? null : Math.max(0, Math.ceil((atMs - Date.now()) / 1_000));
}
