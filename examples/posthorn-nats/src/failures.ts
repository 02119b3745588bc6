import { JetStreamApiCodes, JetStreamApiError } from '@nats-io/jetstream';
import { errors } from '@nats-io/nats-core';
import { type Answer, DialFailed, failureOf, type ProbeReport } from 'posthorn';

/** Report of an error: as the response of a delivery attempt, and as the result of a probe. */
export interface Explained {
  answer: Answer;
  check: NonNullable<ProbeReport['check']>;
  /** Sentence for the owner of the destination. It never contains credentials. */
  detail: string;
  /** The account lacks permission for the operation. */
  isForbidden: boolean;
}

const DETAIL_CHARACTERS_MAX = 300;

/**
 * Explains an error of the dialer, the client or the server. The statuses are HTTP statuses, as in the JetStream API.
 */
export function explain(error: unknown): Explained {
  const chain = causesOf(error);
  const found = <T extends Error>(type: new (...args: never[]) => T): T | undefined =>
    chain.find((cause): cause is T => cause instanceof type);
  if (found(errors.AuthorizationError) || found(errors.UserAuthenticationExpiredError)) {
    return responded(401, 'credentials', 'The server rejected the credentials.');
  }
  const forbidden = found(errors.PermissionViolationError);
  if (forbidden)
    return {
      ...responded(403, 'credentials', `The account has no permission to ${forbidden.operation} ${forbidden.subject}.`),
      isForbidden: true,
    };
  const refused = found(JetStreamApiError);
  const isHomeless =
    found(errors.NoRespondersError) !== undefined || refused?.code === JetStreamApiCodes.StreamNotFound;
  if (isHomeless) return responded(404, 'connectivity', 'No stream stores messages published to this subject.');
  if (refused) return responded(refused.status, 'connectivity', `JetStream rejected the message: ${refused.message}`);
  if (found(errors.InvalidArgumentError))
    return responded(413, 'connectivity', 'The server does not accept messages of this size.');
  return disconnected(chain);
}

/**
 * Searches the error chain from the inside, because the innermost socket error is more specific than the client's
 * error.
 */
function disconnected(chain: readonly Error[]): Explained {
  if (chain.some(({ name }) => name === 'TimeoutError')) return broken('timeout', 'The server did not answer in time.');
  const socket = chain.findLast((cause) => cause instanceof DialFailed || 'code' in cause);
  if (socket) {
    const { failure, message } = failureOf(socket);
    return broken(failure, message);
  }
  const isPlain = chain.some((cause) => cause instanceof errors.ConnectionError && cause.message.includes("'tls'"));
  return isPlain
    ? broken('tls', 'The server does not offer TLS.')
    : broken('connection', 'The connection to the server was interrupted.');
}

function responded(status: number, check: Explained['check'], detail: string): Explained {
  return {
    answer: { kind: 'response', status, retryAfter: null },
    check,
    detail: detail.slice(0, DETAIL_CHARACTERS_MAX),
    isForbidden: false,
  };
}

function broken(error: DialFailed['failure'], detail: string): Explained {
  return { answer: { kind: 'error', error }, check: 'connectivity', detail, isForbidden: false };
}

function causesOf(error: unknown): Error[] {
  const chain: Error[] = [];
  for (let cause = error; cause instanceof Error && chain.length < 5; cause = cause.cause) chain.push(cause);
  return chain;
}
