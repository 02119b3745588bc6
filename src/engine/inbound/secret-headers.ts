import { secretParameters } from './query.js';
import type { Scheme } from './scheme.js';

/** Names of headers (see `secretHeaders`) and query parameters (see `namesOf`) that hold credentials. */
export interface CredentialNames {
  headers: ReadonlySet<string>;
  parameters: ReadonlySet<string>;
}

/** Returns the names of the scheme's credentials. */
export function credentialNames(scheme: Scheme): CredentialNames {
  return { headers: secretHeaders(scheme), parameters: secretParameters(scheme) };
}

/**
 * Returns the union of two sets of credential names: those of a stored request and those of its endpoint. They differ
 * if the endpoint's scheme has changed since.
 */
export function joinedNames(one: CredentialNames, other: CredentialNames): CredentialNames {
  return {
    headers: new Set([...one.headers, ...other.headers]),
    parameters: new Set([...one.parameters, ...other.parameters]),
  };
}

/**
 * Returns the names of headers with credentials, in lower case and with `-` for `_`, because CGI and WSGI map both to
 * one variable. Only callers with the scope `write` can see these headers. Only destinations of the type `mirror` get
 * them.
 */
export function secretHeaders(scheme: Scheme): ReadonlySet<string> {
  const names = new Set(['authorization', 'proxy-authorization', 'cookie']);
  // A token that contains the hash of the body is not a secret, because it authenticates no request with another body.
  const isBearer = scheme.kind === 'shared-jwt' && scheme.bodyHashClaim === null;
  if (scheme.kind === 'token' || scheme.kind === 'jwt' || isBearer) names.add(scheme.header);
  if (scheme.kind === 'code') for (const name of scheme.secretHeaders) names.add(name);
  return new Set([...names].map((name) => name.toLowerCase().replaceAll('_', '-')));
}
