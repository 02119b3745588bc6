import { isIP } from 'node:net';
import type { LookupFunction } from 'node:net';
import type { LookupAddress } from 'node:dns';
import { buildConnector } from 'undici';
import { addressRefusal, originRefusal } from '#engine/egress-policy.js';
import type { EgressPolicy } from '#engine/egress-policy.js';
import { codeOf } from './names/name-servers.js';
import { LookupFailed } from './names/lookup-failed.js';

/** All addresses of a name. A rejection, or an empty list, is a DNS failure. */
export type Resolver = (hostname: string) => Promise<readonly { address: string; family: number }[]>;

export interface ConnectorOptions {
  /** Asked at every connect, so that a change of policy holds for the next connection. */
  policy: () => EgressPolicy;
  resolve: Resolver;
  /** Covers look-up, TCP and TLS; in steps of about half a second. */
  connectTimeoutMs: number;
  /** Trusted certificate authorities in PEM, instead of Node's own. */
  ca?: string | Buffer | readonly (string | Buffer)[];
}

/** The policy refuses this connection; no packet was sent to it. */
export class EgressBlocked extends Error {
  readonly code = 'EGRESS_BLOCKED';
}

/**
 * A connector for undici that opens a socket only to an address the policy lets through. The address that was
 * checked is the one dialled: there is no second resolution in between for a rebinding name to use.
 */
export function createConnector(options: ConnectorOptions): buildConnector.connector {
  // A look-up is not told the port, which the policy needs: one connector (with its TLS sessions) per port.
  const byPort = new Map<number, buildConnector.connector>();
  const connectorFor = (port: number): buildConnector.connector => {
    let connector = byPort.get(port);
    if (connector === undefined) {
      if (byPort.size >= PORTS_MAX) byPort.clear();
      connector = buildConnector(socketOptions(options, checkedLookup(options, port)));
      byPort.set(port, connector);
    }
    return connector;
  };
  return (target, callback) => {
    // Also the whole check of an IP literal, for which Node never calls the look-up.
    const refusal = originRefusal(target, options.policy());
    if (refusal === null) {
      connectorFor(portOf(target))(target, callback);
    } else {
      // Whoever asks expects an answer after the call has returned.
      queueMicrotask(() => callback(new EgressBlocked(refusal), null));
    }
  };
}

const PORTS_MAX = 256;

function socketOptions({ connectTimeoutMs, ca }: ConnectorOptions, lookup: LookupFunction): buildConnector.BuildOptions {
  return {
    lookup,
    timeout: connectTimeoutMs,
    allowH2: false,
    // Said out loud, because NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment would turn the default off.
    rejectUnauthorized: true,
    ...(ca === undefined ? {} : { ca: typeof ca === 'string' || Buffer.isBuffer(ca) ? ca : [...ca] }),
    autoSelectFamily: true,
    // Node's 250 ms would give up on every address of a far-away receiver but the last.
    autoSelectFamilyAttemptTimeout: 1000,
  };
}

function portOf({ port, protocol }: buildConnector.Options): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}

/** Node asks for all addresses of a name, because of `autoSelectFamily`, and dials those it is given. */
export function checkedLookup({ policy, resolve }: Pick<ConnectorOptions, 'policy' | 'resolve'>, port: number): LookupFunction {
  return (hostname, _options, callback) => {
    resolve(hostname)
      .then((addresses) => check(hostname, addresses, port, policy()), (error: unknown) => {
        throw error instanceof LookupFailed ? error : new LookupFailed(codeOf(error));
      })
      .then((checked) => callback(null, checked), (error: Error) => callback(error, []));
  };
}

/** One refused address refuses the name: a set of public and private addresses is how rebinding looks. */
function check(hostname: string, addresses: readonly { address: string }[], port: number, policy: EgressPolicy): LookupAddress[] {
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
