import type { LookupAddress } from 'node:dns';
import { connect, isIP, type LookupFunction, type Socket, type TcpNetConnectOpts } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { EgressPolicy } from '#engine/egress-policy.js';
import { addressRefusal, originRefusal } from '#engine/egress-policy.js';
import { LookupFailed } from './names/lookup-failed.js';
import { codeOf } from './names/name-servers.js';

/** All addresses of a name. A rejection, or an empty list, is a DNS failure. */
export type Resolver = (hostname: string) => Promise<readonly { address: string; family: number }[]>;

export interface ConnectorOptions {
  /** Asked at every connect, so that a change of policy holds for the next connection. */
  policy: () => EgressPolicy;
  resolve: Resolver;
  /** Covers look-up, TCP and TLS. */
  connectTimeoutMs: number;
  /** Trusted certificate authorities in PEM, instead of Node's own. */
  ca?: string | Buffer | readonly (string | Buffer)[];
}

/** The policy refuses this connection; no packet was sent to it. */
export class EgressBlocked extends Error {
  readonly code = 'EGRESS_BLOCKED';
}

/** Where a connection goes, as a URL has it, but an IPv6 address without its brackets. */
export interface DialOrigin {
  protocol: string;
  hostname: string;
  /** Empty for that of the protocol. */
  port: string;
}

/** Opens a connection. Answers once, after the call has returned: with an error or an open socket. */
export type Connect = (
  dialOrigin: DialOrigin,
  opened: (...answer: [error: Error, socket: null] | [error: null, socket: Socket]) => void,
) => void;

/**
 * What opens a socket only to an address the policy lets through. The address that was
 * checked is the one dialled: there is no second resolution in between for a rebinding name to use.
 */
export function createConnector(options: ConnectorOptions): Connect {
  const sessions = new Map<string, Buffer>();
  return (origin, opened) => {
    // Also the whole check of an IP literal, for which Node never calls the look-up.
    const refusal = originRefusal(origin, options.policy());
    if (refusal !== null) return queueMicrotask(() => opened(new EgressBlocked(refusal), null));
    const isSecure = origin.protocol === 'https:';
    const to = socketOptions(origin, options);
    const socket = isSecure ? openSecure(to, options, sessions) : connect(to);
    let isAnswered = false;
    const late = setTimeout(() => socket.destroy(failed('ETIMEDOUT')), options.connectTimeoutMs);
    const answer = (error: Error | null): void => {
      clearTimeout(late);
      if (isAnswered) return;
      isAnswered = true;
      if (error === null) opened(null, socket);
      else opened(error, null);
    };
    socket.setKeepAlive(true, KEEP_ALIVE_MS).setNoDelay(true);
    // Whatever becomes of it, there is an answer: who waits for it holds one of the origin's places.
    socket
      .once(isSecure ? 'secureConnect' : 'connect', () => answer(null))
      .on('error', answer)
      .once('close', () => answer(failed('ECONNRESET')));
  };
}

const failed = (code: string): Error => Object.assign(new Error(code), { code });

const KEEP_ALIVE_MS = 60_000;
/** TLS sessions that are remembered, so that the next connection to the same server needs no whole handshake. */
const SESSIONS_MAX = 1_000;

function socketOptions({ protocol, hostname, port }: DialOrigin, options: ConnectorOptions): TcpNetConnectOpts {
  const number = port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
  return {
    host: hostname,
    port: number,
    // It is not told the port, which the policy needs.
    lookup: checkedLookup(options, number),
    autoSelectFamily: true,
    // Node's 250 ms would give up on every address of a far-away receiver but the last.
    autoSelectFamilyAttemptTimeout: 1000,
  };
}

function openSecure(to: TcpNetConnectOpts, { ca }: ConnectorOptions, sessions: Map<string, Buffer>): Socket {
  const { host = '', port } = to;
  const key = `${host}:${port}`;
  const session = sessions.get(key);
  const socket = connectTls({
    ...to,
    // No name of an address (RFC 6066, section 3): it is verified all the same.
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(session === undefined ? {} : { session }),
    ...(ca === undefined ? {} : { ca: typeof ca === 'string' || Buffer.isBuffer(ca) ? ca : [...ca] }),
    ALPNProtocols: ['http/1.1'],
    // Said out loud, because NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment would turn the default off.
    rejectUnauthorized: true,
  });
  return socket.on('session', (next) => {
    sessions.delete(key);
    const [oldest] = sessions.keys();
    if (sessions.size >= SESSIONS_MAX && oldest !== undefined) sessions.delete(oldest);
    sessions.set(key, next);
  });
}

/** Node asks for all addresses of a name, because of `autoSelectFamily`, and dials those it is given. */
export function checkedLookup(
  { policy, resolve }: Pick<ConnectorOptions, 'policy' | 'resolve'>,
  port: number,
): LookupFunction {
  return (hostname, _options, callback) => {
    resolve(hostname)
      .then(
        (addresses) => check(hostname, addresses, port, policy()),
        (error: unknown) => {
          throw error instanceof LookupFailed ? error : new LookupFailed(codeOf(error));
        },
      )
      .then(
        (checked) => callback(null, checked),
        (error: Error) => callback(error, []),
      );
  };
}

/** One refused address refuses the name: a set of public and private addresses is how rebinding looks. */
function check(
  hostname: string,
  addresses: readonly { address: string }[],
  port: number,
  policy: EgressPolicy,
): LookupAddress[] {
  if (addresses.length === 0) throw new LookupFailed('ENODATA');
  const checked: LookupAddress[] = [];
  let refusal: string | null = null;
  for (const { address } of addresses) {
    const family = isIP(address) === 6 ? 6 : 4;
    const refused = addressRefusal(address, family, port, policy);
    if (refused === null) checked.push({ address, family });
    else refusal ??= refused;
  }
  if (refusal === null) return checked;
  const mixed = checked.length > 0 ? MIXED_SET : '';
  throw new EgressBlocked(`${hostname} was resolved and refused.${mixed} ${refusal}`);
}

const MIXED_SET = ' One of its addresses is refused, and with it the name, since the others may be a disguise.';
