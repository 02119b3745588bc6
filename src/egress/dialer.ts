import { connect, type Socket } from 'node:net';
import { Injectable } from '@nestjs/common';
import { type EgressPolicy, originRefusal } from '#engine/egress-policy.js';
import { checkedLookup, EgressBlocked } from './dial.js';
import { type EgressFailure, ExchangeEnded, explain } from './failure.js';
import { EgressGate } from './gate.js';
import { Names } from './names/names.js';

/** Where a connection of another protocol than HTTP goes. */
export interface DialTarget {
  hostname: string;
  port: number;
  /** Whether the protocol will encrypt it; plain text is refused unless the operator sets EGRESS_ALLOW_HTTP=true. */
  isEncrypted: boolean;
  /** The port that belongs to the protocol that will be spoken: open to it, though closed to webhooks. */
  protocolPort?: number;
}

export interface DialOptions {
  /** Covers look-up and connect. */
  timeoutMs: number;
}

/** Why there is no connection, or none any more, with a sentence for the owner of the target. */
export class DialFailed extends Error {
  constructor(
    readonly failure: EgressFailure,
    detail: string,
  ) {
    super(detail);
  }
}

/** The door out for protocols other than HTTP: TCP connections to addresses that the policy lets through. */
@Injectable()
export class Dialer {
  constructor(
    private readonly gate: EgressGate,
    private readonly names: Names,
  ) {}

  /** Why a target may not be dialled, as far as can be said without resolving its name; null when it may. */
  refusal(target: DialTarget): string | null {
    return refusalOf(target, policyFor(target, this.gate.policy()));
  }

  /**
   * A connected socket, as TCP: a client encrypts it itself, with `hostname` as the name to verify. The address that was
   * checked is the one dialled. A client that connects again must come here again. Rejects with `DialFailed`.
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
const PLAIN_TEXT = 'Use TLS: connections in plain text are off unless the operator sets EGRESS_ALLOW_HTTP=true.';

function refusalOf({ hostname, port, isEncrypted }: DialTarget, policy: EgressPolicy): string | null {
  if (!isEncrypted && !policy.allowHttp) return PLAIN_TEXT;
  // What is left of the policy is about the host and the port; `https:` is the scheme that it has no objection to.
  return originRefusal({ protocol: 'https:', hostname, port: String(port) }, policy);
}

function policyFor({ protocolPort }: DialTarget, policy: EgressPolicy): EgressPolicy {
  return protocolPort === undefined ? policy : { ...policy, protocolPort };
}

/** What an error of a socket was, of its TLS too, in words that show nothing of our network. */
export function failureOf(error: Error): DialFailed {
  if (error instanceof DialFailed) return error;
  const { error: failure, detail } = explain(error);
  return new DialFailed(failure, detail);
}
