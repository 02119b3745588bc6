import { type Scope, SCOPES } from '../tenant.js';
import { ConfigError } from './config-values.js';

/** Excludes `none` and algorithms with shared secrets, because attackers could use the public key as the secret. */
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

export interface OidcProvider {
  issuer: string;
  clientId: string;
  /** Secret of the client. Null for a public client. */
  clientSecret: string | null;
  groupsClaim: string;
  /** Groups, each with the role that it grants. `*` matches every user. Empty if only existing members may sign in. */
  roles: readonly (readonly [group: string, role: Scope])[];
  /** Domains of the email addresses that may sign in, in lower case. Empty: all domains. */
  domains: readonly string[];
  /** Whether to accept an address that is not marked as verified. Some providers never mark managed addresses. */
  trustsEmail: boolean;
  /** Accepted signing algorithms. Empty: all of `SIGNING_ALGORITHMS` that the provider lists. */
  signingAlgorithms: readonly string[];
  /**
   * Slug of the organization that owns the provider and that new members join. Null: the installation's provider, whose
   * new members join the first organization.
   */
  organization: string | null;
}

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

/** Validates the OIDC variables together. Throws `ConfigError`. */
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
    if (clientId !== null) throw new ConfigError('OIDC_CLIENT_ID requires OIDC_ISSUER: set both, or neither.');
    return null;
  }
  if (clientId === null)
    throw new ConfigError('OIDC_ISSUER requires OIDC_CLIENT_ID, the id of this service at the provider.');
  if (issuer.search !== '' || issuer.hash !== '' || issuer.username !== '')
    throw new ConfigError('OIDC_ISSUER must be a URL without credentials, query and fragment.');
  return {
    // The issuer must equal the issuer in the provider's discovery document, so no slash is added.
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
 * Error text. Without a list of domains, the provider could sign its users in with the email address of any
 * organization's member.
 */
export const DOMAINS_REQUIRED =
  'OIDC_DOMAINS is required with OIDC_ISSUER where there is more than one organization: list the domains whose addresses the identity provider verifies.';

/**
 * Returns whether a provider has no list of domains. Such a provider is allowed only while there is a single
 * organization.
 */
export function lacksDomains(provider: OidcProvider | null): boolean {
  return provider !== null && provider.domains.length === 0;
}

function readRole(entry: string): readonly [string, Scope] {
  const at = entry.lastIndexOf('=');
  const role = SCOPES.find((scope) => scope === entry.slice(at + 1).trim());
  if (at < 1 || role === undefined)
    throw new ConfigError(
      'OIDC_ROLES must be comma-separated group=role pairs with the roles read, write or admin: admins=admin,developers=write,*=read.',
    );
  return [entry.slice(0, at).trim(), role];
}
