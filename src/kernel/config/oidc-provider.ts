import { type Scope, SCOPES } from '../tenant.js';
import { ConfigError } from './config-values.js';

/** The algorithms that an ID token may be signed with: no `none`, and none with a shared secret, for which anybody could take the public key. */
export const SIGNING_ALGORITHMS: ReadonlySet<string> = new Set([
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
]);

/** The identity provider that people of this installation sign in with (OpenID Connect). */
export interface OidcProvider {
  /** As the provider's ID tokens name it. */
  issuer: string;
  clientId: string;
  /** Null for a public client. Secret. */
  clientSecret: string | null;
  groupsClaim: string;
  /** Which group makes which role; `*` is everybody. Empty when only members come in. */
  roles: readonly (readonly [group: string, role: Scope])[];
  /** Domains of addresses that come in, in lower case; empty for all. */
  domains: readonly string[];
  /** Whether an address counts that the provider does not say is verified: some never say so, and their administrators set the addresses. */
  trustsEmail: boolean;
  /** The algorithms that our client is registered with at the provider; empty for all of `SIGNING_ALGORITHMS` that the provider lists. */
  signingAlgorithms: readonly string[];
  /** The slug of the organization that the provider belongs to, which newcomers join; null for the installation's provider, whose newcomers join the first organization. */
  organization: string | null;
}

/** The variables as they are written. */
export interface OidcVariables {
  issuer: URL | null;
  clientId: string | null;
  clientSecret: string | null;
  groupsClaim: string | null;
  roles: readonly string[];
  domains: readonly string[];
  trustsEmail: boolean;
  signingAlgorithms: readonly string[];
  organization: string | null;
}

/** Checks the variables of OIDC together. Throws `ConfigError`. */
export function readOidc({
  issuer,
  clientId,
  clientSecret,
  groupsClaim,
  roles,
  domains,
  trustsEmail,
  signingAlgorithms,
  organization,
}: OidcVariables): OidcProvider | null {
  if (issuer === null) {
    if (clientId !== null) throw new ConfigError('OIDC_CLIENT_ID goes with OIDC_ISSUER: set both, or neither.');
    return null;
  }
  if (clientId === null) throw new ConfigError('OIDC_ISSUER needs OIDC_CLIENT_ID, as the provider calls this service.');
  if (issuer.search !== '' || issuer.hash !== '' || issuer.username !== '')
    throw new ConfigError('OIDC_ISSUER must be a URL without credentials, query and fragment.');
  return {
    // As it is written in the provider's document: no slash that is not there.
    issuer: issuer.pathname === '/' ? issuer.origin : issuer.href,
    clientId,
    clientSecret,
    groupsClaim: groupsClaim ?? 'groups',
    roles: roles.map(readRole),
    domains: domains.map((domain) => domain.toLowerCase().replace(/^@/, '')),
    trustsEmail,
    signingAlgorithms,
    organization,
  };
}

/**
 * The rule of an installation with several organizations: its provider lets in addresses of listed domains alone. Without the list it could claim
 * the address of any member of any organization.
 */
export const DOMAINS_REQUIRED =
  'OIDC_DOMAINS is required with OIDC_ISSUER where there is more than one organization: list the domains whose addresses the identity provider vouches for.';

/** Returns true if a provider may only be used while there is one organization. */
export function lacksDomains(provider: OidcProvider | null): boolean {
  return provider !== null && provider.domains.length === 0;
}

function readRole(entry: string): readonly [string, Scope] {
  const at = entry.lastIndexOf('=');
  const role = SCOPES.find((scope) => scope === entry.slice(at + 1).trim());
  if (at < 1 || role === undefined)
    throw new ConfigError(
      'OIDC_ROLES must be group=role pairs with commas between them, the roles read, write or admin: admins=admin,developers=write,*=read.',
    );
  return [entry.slice(0, at).trim(), role];
}
