import { connect, type Socket } from 'node:net';
import { Injectable } from '@nestjs/common';
import { type EgressPolicy, originRefusal } from '#engine/egress-policy.js';
import { checkedLookup, EgressBlocked } from './dial.js';
import { type EgressFailure, ExchangeEnded, explain } from './failure.js';
import { EgressGate } from './gate.js';
import { Names } from './names/names.js';

export interface DialTarget {
  hostname: string;
  port: number;
  /** Whether the client will use TLS. Connections in plain text are rejected unless EGRESS_ALLOW_HTTP=true. */
  isEncrypted: boolean;
  /** Default port of the target's protocol. Allowed for this connection, even if webhooks must not use it. */
  protocolPort?: number;
}

export interface DialOptions {
  /** Time limit for DNS lookup and connect together. */
  timeoutMs: number;
}

/** Thrown when a connection failed or ended. `detail` is a sentence for the owner of the target. */
export class DialFailed extends Error {
  constructor(
    readonly failure: EgressFailure,
    detail: string,
  ) {
    super(detail);
  }
}

/** The outgoing client for protocols other than HTTP: opens TCP connections to addresses that the policy allows. */
@Injectable()
export class Dialer {
  constructor(
    private readonly gate: EgressGate,
    private readonly names: Names,
  ) {}

  /** Returns null if the policy allows the target, otherwise the reason. Does not resolve the name. */
  refusal(target: DialTarget): string | null {
    return refusalOf(target, policyFor(target, this.gate.policy()));
  }

  /**
   * Opens a TCP socket to exactly the address that was checked. The caller encrypts, verifies the certificate for
   * `hostname`, and calls `open` again to reconnect. Rejects with `DialFailed`.
   */
  open(target: DialTarget, { timeoutMs }: DialOptions): Promise<Socket> {
    const policy = (): EgressPolicy => policyFor(target, this.gate.policy());
    const refusal = refusalOf(target, policy());
    if (refusal !== null) return Promise.reject(failureOf(new EgressBlocked(refusal)));
    const { hostname, port } = target;
    return new Promise((resolve, reject) => {
      const lookup = checkedLookup({ policy, resolve: this.names.resolve }, port);
      const socket = connect({
        host: hostname,
        port,
        lookup,
        noDelay: true,
        autoSelectFamily: true,
        autoSelectFamilyAttemptTimeout: 1000,
      });
      const end = (error: Error): void => {
        clearTimeout(late);
        socket.destroy();
        reject(failureOf(error));
      };
      const late = setTimeout(() => end(TOO_LATE), timeoutMs);
      socket.once('error', end).once('connect', () => {
        clearTimeout(late);
        socket.off('error', end);
        resolve(socket);
      });
    });
  }
}

const TOO_LATE = new ExchangeEnded('timeout', 'The receiver did not accept the connection in time.');
const PLAIN_TEXT = 'Use TLS: connections in plain text are disabled unless the operator sets EGRESS_ALLOW_HTTP=true.';

function refusalOf({ hostname, port, isEncrypted }: DialTarget, policy: EgressPolicy): string | null {
  if (!isEncrypted && !policy.allowHttp) return PLAIN_TEXT;
  // Passes the scheme `https:`, which the policy always allows, so that only the host and the port are checked.
  return originRefusal({ protocol: 'https:', hostname, port: String(port) }, policy);
}

function policyFor({ protocolPort }: DialTarget, policy: EgressPolicy): EgressPolicy {
  return protocolPort === undefined ? policy : { ...policy, protocolPort };
}

/** Translates a socket error, including TLS errors, into a sentence that reveals nothing about Posthorn's network. */
export function failureOf(error: Error): DialFailed {
  if (error instanceof DialFailed) return error;
  const { error: failure, detail } = explain(error);
  return new DialFailed(failure, detail);
}
