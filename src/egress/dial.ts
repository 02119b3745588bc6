import type { LookupAddress } from 'node:dns';
import { connect, isIP, type LookupFunction, type Socket, type TcpNetConnectOpts } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { EgressPolicy } from '#engine/egress-policy.js';
import { addressRefusal, originRefusal } from '#engine/egress-policy.js';
import { LookupFailed } from './names/lookup-failed.js';
import { codeOf } from './names/name-servers.js';

/** Resolves all addresses of a name. A rejection or an empty list is treated as a DNS failure. */
export type Resolver = (hostname: string) => Promise<readonly { address: string; family: number }[]>;

export interface ConnectorOptions {
  /** Called for every connection, so that a changed policy applies to the next connection. */
  policy: () => EgressPolicy;
  resolve: Resolver;
  /** Time limit for DNS lookup, TCP and TLS together. */
  connectTimeoutMs: number;
  /** Trusted certificate authorities in PEM, instead of Node.js' own. */
  ca?: string | Buffer | readonly (string | Buffer)[];
}

/** Error for a connection that the egress policy rejects. No packet was sent. */
export class EgressBlocked extends Error {
  readonly code = 'EGRESS_BLOCKED';
}

/** Destination of a connection, in the format of a URL. An IPv6 address has no brackets. */
export interface DialOrigin {
  protocol: string;
  hostname: string;
  /** Empty for the default port of the protocol. */
  port: string;
}

/** Opens a connection. Calls `opened` once, after the call has returned, with an error or an open socket. */
export type Connect = (
  dialOrigin: DialOrigin,
  opened: (...answer: [error: Error, socket: null] | [error: null, socket: Socket]) => void,
) => void;

/**
 * Returns a connector that connects only to checked addresses. Resolves a name once, so DNS rebinding has no effect.
 */
export function createConnector(options: ConnectorOptions): Connect {
  const sessions = new Map<string, Buffer>();
  return (origin, opened) => {
    // For an IP literal this is the only check, because Node.js never calls `lookup` for it.
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
    // Always reports a result: without one, the waiting exchange would occupy a connection slot forever.
    socket
      .once(isSecure ? 'secureConnect' : 'connect', () => answer(null))
      .on('error', answer)
      .once('close', () => answer(failed('ECONNRESET')));
  };
}

const failed = (code: string): Error => Object.assign(new Error(code), { code });

const KEEP_ALIVE_MS = 60_000;
/** Maximum number of cached TLS sessions. A cached session saves a full handshake. */
const SESSIONS_MAX = 1_000;

function socketOptions({ protocol, hostname, port }: DialOrigin, options: ConnectorOptions): TcpNetConnectOpts {
  const number = port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
  return {
    host: hostname,
    port: number,
    // Node.js does not pass the port to `lookup`, but the policy needs the port.
    lookup: checkedLookup(options, number),
    autoSelectFamily: true,
    // Node.js' default of 250 ms is too short for distant receivers: every address but the last would time out.
    autoSelectFamilyAttemptTimeout: 1000,
  };
}

function openSecure(to: TcpNetConnectOpts, { ca }: ConnectorOptions, sessions: Map<string, Buffer>): Socket {
  const { host = '', port } = to;
  const key = `${host}:${port}`;
  const session = sessions.get(key);
  const socket = connectTls({
    ...to,
    // IP addresses are not sent as a server name (RFC 6066, section 3). The certificate is still verified.
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(session === undefined ? {} : { session }),
    ...(ca === undefined ? {} : { ca: typeof ca === 'string' || Buffer.isBuffer(ca) ? ca : [...ca] }),
    ALPNProtocols: ['http/1.1'],
    // Set explicitly, because NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment would disable verification.
    rejectUnauthorized: true,
  });
  return socket.on('session', (next) => {
    sessions.delete(key);
    const [oldest] = sessions.keys();
    if (sessions.size >= SESSIONS_MAX && oldest !== undefined) sessions.delete(oldest);
    sessions.set(key, next);
  });
}

/** Returns a lookup that checks all addresses of a name: Node.js may connect to any of them (`autoSelectFamily`). */
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

/** Returns the addresses. Throws if one is rejected: a mix of public and private addresses indicates DNS rebinding. */
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
  throw new EgressBlocked(`The name ${hostname} was resolved and rejected.${mixed} ${refusal}`);
}

const MIXED_SET =
  ' One of its addresses is not allowed, so the whole name is rejected: the other addresses may be a disguise.';
