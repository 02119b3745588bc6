import { ANSWER_FAULTS, type AnswerFault } from './answer-faults.js';
import { EgressBlocked } from './dial.js';
import { LookupFailed } from './names/lookup-failed.js';

export type EgressFailure = 'timeout' | 'dns' | 'connection' | 'tls' | 'blocked' | 'protocol';

/** Thrown when Posthorn itself ends an exchange: at the deadline, on the caller's signal, or at shutdown. */
export class ExchangeEnded extends Error {
  /** No stack trace: every timeout creates this error, and capturing a trace that is never read is slow. */
  override stack = undefined;

  constructor(
    readonly failure: EgressFailure,
    detail: string,
  ) {
    super(detail);
  }
}

/** Error for received bytes that are not valid HTTP/1.1. The error message describes the fault. */
export class BadAnswer extends Error {
  /** No stack trace, because only the message is used: the owner of the receiver sees it. */
  override stack = undefined;

  constructor(readonly fault: AnswerFault) {
    super(ANSWER_FAULTS[fault]);
  }
}

export class ConnectionLost extends Error {
  /** No stack trace: every lost connection creates this error, and capturing a trace is slow. */
  override stack = undefined;
}

/** Returns one sentence for the target's owner. Omits messages of Node.js, which may contain internal addresses. */
export function explain(error: Error): { error: EgressFailure; detail: string } {
  if (error instanceof ExchangeEnded) return { error: error.failure, detail: error.message };
  if (error instanceof EgressBlocked) return { error: 'blocked', detail: error.message };
  if (error instanceof LookupFailed) return { error: 'dns', detail: error.message };
  if (error instanceof BadAnswer)
    return { error: 'protocol', detail: `The answer is not valid HTTP/1.1: ${error.message}.` };
  if (error instanceof ConnectionLost)
    return { error: 'connection', detail: 'The receiver closed the connection before the answer was complete.' };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  if (TLS.test(code)) {
    return {
      error: 'tls',
      detail: `The TLS connection failed: ${TLS_REASONS[code] ?? 'the handshake was aborted'} (${code}).`,
    };
  }
  return { error: 'connection', detail: CONNECTION_REASONS[code] ?? `The connection failed (${code}).` };
}

/**
 * Returns whether the server broke the connection, for example by closing a kept-alive connection just before a
 * request.
 */
export function isBrokenConnection(error: Error): boolean {
  return (
    error instanceof ConnectionLost || ('code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE'))
  );
}

const TLS =
  /^(ERR_(TLS|SSL)_|EPROTO$|CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_(CA|PURPOSE)|PATH_LENGTH_)/;

const TLS_REASONS: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate chain ends in a self-signed certificate',
  CERT_HAS_EXPIRED: 'the certificate has expired',
  CERT_NOT_YET_VALID: 'the certificate is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another host name',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'an intermediate certificate is missing',
  UNABLE_TO_GET_ISSUER_CERT: 'an intermediate certificate is missing',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'the issuer of the certificate is not trusted',
};

const CONNECTION_REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'The receiver refused the connection (ECONNREFUSED).',
  ECONNRESET: 'The receiver reset the connection before the answer was complete (ECONNRESET).',
  EPIPE: 'The receiver closed the connection before the request was complete (EPIPE).',
  EHOSTUNREACH: 'There is no route to the receiver (EHOSTUNREACH).',
  ENETUNREACH: 'There is no route to the receiver (ENETUNREACH).',
  ETIMEDOUT: 'The receiver did not accept the connection in time (ETIMEDOUT).',
};
