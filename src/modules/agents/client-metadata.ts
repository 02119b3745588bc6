import type { OAuthErrorCode } from '#http/oauth-answers.js';
import { redirectFault } from './redirect-uris.js';

/** The metadata that a client provided about itself, unverified. */
export interface OAuthClient {
  id: string;
  name: string;
  uri: string | null;
  /** Redirect addresses. Empty for a client that uses only the device grant. */
  redirectUris: string[];
  grantTypes: ClientGrant[];
  /** True if the client's id is the URL of its metadata, so that its host is known. */
  isDocument: boolean;
}

/** Scope of every API key that is issued for an authorization code. In the device grant, the user chooses the scope. */
export const GRANTED_SCOPE = 'read' as const;

/** Name of the device grant (RFC 8628, section 3.4). */
export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
const CODE_GRANT = 'authorization_code';
export type ClientGrant = typeof CODE_GRANT | typeof DEVICE_GRANT;
export const CLIENT_GRANTS: readonly ClientGrant[] = [CODE_GRANT, DEVICE_GRANT];

const NAME_LENGTH_MAX = 100;
const REDIRECTS_MAX = 10;

/** Validates client metadata (RFC 7591, section 2). Ignores unused fields, and never fetches a URL in them. */
export function clientMetadata(
  given: unknown,
  privateSchemes: readonly string[],
): Pick<OAuthClient, 'name' | 'uri' | 'redirectUris' | 'grantTypes'> | { code: OAuthErrorCode; fault: string } {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    return { code: 'invalid_client_metadata', fault: 'The metadata must be a JSON object.' };
  const {
    redirect_uris: uris,
    client_name: name,
    client_uri: uri,
    token_endpoint_auth_method: method,
    grant_types: grants = [CODE_GRANT],
    response_types: responses,
  } = given as Record<string, unknown>;
  const grantTypes = CLIENT_GRANTS.filter((grant) => Array.isArray(grants) && grants.includes(grant));
  if (grantTypes.length === 0)
    return { code: 'invalid_client_metadata', fault: `grant_types must contain ${CLIENT_GRANTS.join(' or ')}.` };
  const takesCodes = grantTypes.includes(CODE_GRANT);
  const redirects = uris === undefined && !takesCodes ? [] : uris;
  if (!Array.isArray(redirects) || (takesCodes && redirects.length < 1) || redirects.length > REDIRECTS_MAX)
    return { code: 'invalid_redirect_uri', fault: `redirect_uris must have 1 to ${REDIRECTS_MAX} entries.` };
  for (const one of redirects) {
    const fault = redirectFault(one, privateSchemes);
    if (fault !== null) return { code: 'invalid_redirect_uri', fault };
  }
  if (method !== undefined && method !== 'none')
    return {
      code: 'invalid_client_metadata',
      fault: 'Only public clients are registered: token_endpoint_auth_method must be none.',
    };
  if (takesCodes && responses !== undefined && !(Array.isArray(responses) && responses.includes('code')))
    return { code: 'invalid_client_metadata', fault: 'response_types must contain code.' };
  if (name !== undefined && (typeof name !== 'string' || name.length > NAME_LENGTH_MAX))
    return {
      code: 'invalid_client_metadata',
      fault: `client_name must be a text of at most ${NAME_LENGTH_MAX} characters.`,
    };
  return {
    name: plain(name) || 'An application without a name',
    uri: typeof uri === 'string' && /^https?:\/\//.test(uri) && uri.length <= 500 ? uri : null,
    redirectUris: redirects as string[],
    grantTypes,
  };
}

/**
 * Removes invisible, direction-changing and line-breaking characters from a name, because users identify a client by
 * its name.
 */
function plain(name: unknown): string {
  return typeof name === 'string' ? name.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '').trim() : '';
}
