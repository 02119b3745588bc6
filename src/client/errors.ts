/** What went wrong, in the words of the API: https://…/docs has the table. More may come. */
export type PosthornErrorType =
  | 'bad_request'
  | 'unauthenticated'
  | 'insufficient_scope'
  | 'not_found'
  | 'method_not_allowed'
  | 'conflict'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'validation_failed'
  | 'rate_limited'
  | 'not_implemented'
  | 'internal';

/** An answer of the service that is no success, with what its envelope says. */
export class PosthornError extends Error {
  override readonly name: string = 'PosthornError';

  constructor(
    /** HTTP status. */
    readonly status: number,
    readonly type: PosthornErrorType | (string & {}),
    message: string,
    /** For whoever runs the service: it stands in its logs. Null when something in between answered. */
    readonly requestId: string | null,
    readonly details: Readonly<Record<string, unknown>> = {},
    /** How long to wait before the next try; null when the answer does not say. */
    readonly retryAfterSeconds: number | null = null,
  ) {
    super(message);
  }
}

/** No answer: the service was not reached, or the connection broke. What was sent may have been accepted all the same. */
export class PosthornConnectionError extends Error {
  override readonly name: string = 'PosthornConnectionError';
}

/** No answer in time. */
export class PosthornTimeoutError extends PosthornConnectionError {
  override readonly name: string = 'PosthornTimeoutError';
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Of errors that this client finds itself: the answer is not one of Posthorn's. */
export const UNEXPECTED_ANSWER = 'unexpected_answer';

/** Returns the error of a redirect, which is never followed: the API has none, and the key would go along. Null for any other answer. */
export function redirectOf(asked: string, response: Response): PosthornError | null {
  // Runtimes that hide redirects answer with status 0.
  if (!REDIRECTS.has(response.status) && response.type !== 'opaqueredirect') return null;
  const location = response.headers.get('location');
  const leadsTo = location !== null && URL.canParse(location, asked) ? ` to ${originOf(new URL(location, asked))}` : '';
  return unexpected(asked, response, `with a redirect${leadsTo}, which is not followed`);
}

/** Returns the error of a success that is not what the API answers: of a proxy, a sign-in page of a network, or another service. */
export function unexpected(asked: string, { status, headers }: Response, how: string): PosthornError {
  return new PosthornError(
    status,
    UNEXPECTED_ANSWER,
    `${new URL(asked).origin} answered ${how}. Is this the URL of the service, and does nothing stand in between?`,
    headers.get('x-request-id'),
  );
}

const originOf = ({ origin, protocol }: URL): string => (origin === 'null' ? protocol : origin);

/** The error of an answer that is no success. Reads its body. */
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

/** Seconds, or a date (RFC 9110, section 10.2.3). */
export function retryAfterOf(headers: Headers): number | null {
  const value = headers.get('retry-after');
  if (value === null) return null;
  if (/^\d+$/.test(value)) return Number(value);
  const atMs = Date.parse(value);
  return Number.isNaN(atMs) ? null : Math.max(0, Math.ceil((atMs - Date.now()) / 1_000));
}
