import { JetStreamApiCodes, JetStreamApiError } from '@nats-io/jetstream';
import { errors } from '@nats-io/nats-core';
import { type Answer, DialFailed, failureOf, type ProbeReport } from 'posthorn';

/** What an error means for an attempt and for a probe. */
export interface Explained {
  answer: Answer;
  check: NonNullable<ProbeReport['check']>;
  /** A sentence for the destination's owner; never a credential. */
  detail: string;
  /** The account is not allowed to do it. */
  isForbidden: boolean;
}

const DETAIL_CHARACTERS_MAX = 300;

/** What the dialer, the client or the server said. Statuses are those of JetStream's API, which are HTTP's. */
export function explain(error: unknown): Explained {
  const chain = causesOf(error);
  const found = <T extends Error>(type: new (...args: never[]) => T): T | undefined =>
    chain.find((cause): cause is T => cause instanceof type);
  if (found(errors.AuthorizationError) || found(errors.UserAuthenticationExpiredError)) {
    return responded(401, 'credentials', 'The server refuses the credentials.');
  }
  const forbidden = found(errors.PermissionViolationError);
  if (forbidden)
    return {
      ...responded(403, 'credentials', `The account may not ${forbidden.operation} ${forbidden.subject}.`),
      isForbidden: true,
    };
  const refused = found(JetStreamApiError);
  const isHomeless =
    found(errors.NoRespondersError) !== undefined || refused?.code === JetStreamApiCodes.StreamNotFound;
  if (isHomeless) return responded(404, 'connectivity', 'No stream stores what is published to this subject.');
  if (refused) return responded(refused.status, 'connectivity', `JetStream refused it: ${refused.message}`);
  if (found(errors.InvalidArgumentError))
    return responded(413, 'connectivity', 'The server takes no message of this size.');
  return disconnected(chain);
}

/** The errors of sockets are the innermost ones; what the client makes of them says less. */
function disconnected(chain: readonly Error[]): Explained {
  if (chain.some(({ name }) => name === 'TimeoutError')) return broken('timeout', 'The server did not answer in time.');
  const socket = chain.findLast((cause) => cause instanceof DialFailed || 'code' in cause);
  if (socket) {
    const { failure, message } = failureOf(socket);
    return broken(failure, message);
  }
  const isPlain = chain.some((cause) => cause instanceof errors.ConnectionError && cause.message.includes("'tls'"));
  return isPlain
    ? broken('tls', 'The server offers no TLS.')
    : broken('connection', 'The connection to the server broke off.');
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
