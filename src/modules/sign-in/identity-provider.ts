import { Injectable } from '@nestjs/common';
import type { Configuration, ServerMetadata } from 'openid-client';
import { Clock } from '#kernel/clock.js';
import { Config } from '#kernel/config/config.js';
import { type OidcProvider, SIGNING_ALGORITHMS } from '#kernel/config/oidc-provider.js';
import type { Scope } from '#kernel/tenant.js';
import { SCOPES } from '#kernel/tenant.js';
import { ProviderAway, ProviderFetch } from './provider-fetch.js';

const DOCUMENT_KEPT_MS = 3_600_000;
const GROUPS_MAX = 1_000;

export interface PendingSignIn {
  state: string;
  nonce: string;
  verifier: string;
}

export interface ProvidedPerson {
  /** Email address in lower case. */
  email: string;
  name: string;
  /** Role derived from the person's groups; null if no group has a role. */
  role: Scope | null;
}

/** Error: the provider rejected the sign-in, or its response cannot be trusted. The person sees the message. */
export class NotProvided extends Error {}

/**
 * OpenID Connect with authorization code, PKCE, state and nonce. The metadata is downloaded once per hour. The keys are
 * downloaded on every sign-in, so a rotated or withdrawn key takes effect immediately.
 */
@Injectable()
export class IdentityProvider {
  private known: { server: ServerMetadata; untilMs: number } | null = null;

  constructor(
    private readonly config: Config,
    private readonly door: ProviderFetch,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns the URL for the browser, and the state to keep until `complete` is called. Throws `ProviderAway` if the
   * provider is unavailable.
   */
  async begin(provider: OidcProvider): Promise<{ url: URL; pending: PendingSignIn }> {
    const { buildAuthorizationUrl, calculatePKCECodeChallenge, randomNonce, randomPKCECodeVerifier, randomState } =
      await client();
    const configuration = await this.configuration(provider);
    const pending = { state: randomState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier() };
    const url = buildAuthorizationUrl(configuration, {
      redirect_uri: this.redirectUri,
      scope: 'openid email profile',
      state: pending.state,
      nonce: pending.nonce,
      code_challenge: await calculatePKCECodeChallenge(pending.verifier),
      code_challenge_method: 'S256',
    });
    return { url, pending };
  }

  /**
   * Completes a sign-in and returns the person. Throws `ProviderAway` if the provider is unavailable, and `NotProvided`
   * if the sign-in is rejected.
   */
  async complete(
    provider: OidcProvider,
    query: string,
    { state, nonce, verifier }: PendingSignIn,
  ): Promise<ProvidedPerson> {
    const { authorizationCodeGrant, fetchUserInfo } = await client();
    const configuration = await this.configuration(provider);
    const url = new URL(`${this.redirectUri}${query === '' ? '' : `?${query}`}`);
    try {
      const tokens = await authorizationCodeGrant(configuration, url, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      });
      const claims: Readonly<Record<string, unknown>> & { sub: string } = tokens.claims() ?? { sub: '' };
      const isWhole =
        typeof claims['email'] === 'string' &&
        claims['email_verified'] !== undefined &&
        (provider.roles.length === 0 || claims[provider.groupsClaim] !== undefined);
      const more =
        isWhole || configuration.serverMetadata().userinfo_endpoint === undefined
          ? {}
          : await fetchUserInfo(configuration, tokens.access_token, claims.sub);
      return personOf(joined(claims, more), provider);
    } catch (error) {
      if (error instanceof NotProvided) throw error;
      throw awayIn(error) ?? refusalOf(error);
    }
  }

  private get redirectUri(): string {
    return `${this.config.baseUrl}/signin/oidc/callback`;
  }

  /**
   * Returns a configuration of the OpenID Connect client that has no cached keys. The client verifies the signatures of
   * all tokens, even of those that it received directly from the provider.
   */
  private async configuration(provider: OidcProvider): Promise<Configuration> {
    const { allowInsecureRequests, ClientSecretPost, Configuration, customFetch, enableNonRepudiationChecks, None } =
      await client();
    const { issuer, clientId, clientSecret } = provider;
    const configuration = new Configuration(
      await this.server(provider),
      clientId,
      undefined,
      clientSecret === null ? None() : ClientSecretPost(clientSecret),
    );
    Object.assign(configuration, { [customFetch]: this.door.fetch });
    enableNonRepudiationChecks(configuration);
    // An http issuer is possible only if the operator configured it and EGRESS_ALLOW_HTTP permits http.
    if (issuer.startsWith('http:')) allowInsecureRequests(configuration);
    return configuration;
  }

  private async server(provider: OidcProvider): Promise<ServerMetadata> {
    const nowMs = this.clock.nowMs();
    if (this.known !== null && this.known.untilMs > nowMs) return this.known.server;
    const { issuer, clientId } = provider;
    const { allowInsecureRequests, customFetch, discovery } = await client();
    try {
      const options = {
        [customFetch]: this.door.fetch,
        ...(issuer.startsWith('http:') && { execute: [allowInsecureRequests] }),
      };
      const server = pinned(
        (await discovery(new URL(issuer), clientId, undefined, undefined, options)).serverMetadata(),
        provider,
      );
      this.known = { server, untilMs: nowMs + DOCUMENT_KEPT_MS };
      return server;
    } catch (error) {
      throw (
        awayIn(error) ??
        new ProviderAway(
          `The metadata of ${issuer} is invalid: ${error instanceof Error ? error.message : String(error)}`,
        )
      );
    }
  }
}

/** Loads the client on first use, because most installations have no provider and loading it slows down the start. */
function client(): Promise<typeof import('openid-client')> {
  return import('openid-client');
}

/**
 * Returns the provider's metadata, with only those algorithms that may sign tokens and user info. These are the
 * configured `signingAlgorithms` or, if none are configured, the provider's algorithms that use a public key. Throws if
 * the provider has no keys or no such algorithm.
 */
export function pinned(
  server: ServerMetadata,
  { signingAlgorithms }: Pick<OidcProvider, 'signingAlgorithms'>,
): ServerMetadata {
  // OpenID Connect Discovery, section 3, requires providers to publish their signing algorithms, and to support RS256.
  const {
    id_token_signing_alg_values_supported: listed = ['RS256'],
    userinfo_signing_alg_values_supported: ofUserInfo = listed,
  } = server;
  const allowed = (names: readonly string[]): string[] =>
    signingAlgorithms.length > 0 ? [...signingAlgorithms] : names.filter((name) => SIGNING_ALGORITHMS.has(name));
  const algorithms = allowed(listed);
  if (server.jwks_uri === undefined || algorithms.length === 0)
    throw new Error('it has no keys, or no algorithm with a public key for signing ID tokens.');
  return {
    ...server,
    id_token_signing_alg_values_supported: algorithms,
    userinfo_signing_alg_values_supported: allowed(ofUserInfo),
  };
}

/**
 * Merges the claims of an ID token with the claims `more` of the user info endpoint. Claims of the ID token take
 * precedence.
 *
 * `email_verified` applies only to the address from the same source, so it is taken from `more` only if the ID token
 * has the same address or none.
 */
export function joined(
  claims: Readonly<Record<string, unknown>>,
  more: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const { email_verified: isVerified, ...rest } = more;
  const isSame = claims['email'] === undefined || claims['email'] === more['email'];
  return { ...rest, ...(isSame && isVerified !== undefined && { email_verified: isVerified }), ...claims };
}

/** Returns the person that the claims describe. Throws `NotProvided` if the address or a permission is missing. */
export function personOf(
  claims: Readonly<Record<string, unknown>>,
  { groupsClaim, roles, domains, trustsEmail }: OidcProvider,
): ProvidedPerson {
  const { email: given, email_verified: isVerified, name } = claims;
  if (typeof given !== 'string' || !/^[^\s@]+@[^\s@]+$/.test(given))
    throw new NotProvided(
      "Your company's sign-in does not provide your address. Its administrator must grant this service access to it.",
    );
  // An address is verified only if the claim says so (OpenID Connect Core, section 5.1). Some providers send the claim
  // as a string.
  const isSaid = isVerified !== undefined && isVerified !== null;
  if (isSaid ? isVerified !== true && isVerified !== 'true' : !trustsEmail)
    throw new NotProvided("Your company's sign-in has not verified your address.");
  // Lower-cases only ASCII letters, because Unicode rules would turn U+212A (Kelvin sign) into k, which is a different
  // address.
  const email = given.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
  const domain = email.slice(email.lastIndexOf('@') + 1);
  if (domains.length > 0 && !domains.includes(domain))
    throw new NotProvided(`Addresses at ${domain} cannot sign in here.`);
  return {
    email,
    name: typeof name === 'string' && name.trim() !== '' ? name.trim().slice(0, 200) : email,
    role: roleOf(claims[groupsClaim], roles),
  };
}

function roleOf(claim: unknown, roles: OidcProvider['roles']): Scope | null {
  const groups = (Array.isArray(claim) ? claim.slice(0, GROUPS_MAX) : [claim]).filter(
    (group): group is string => typeof group === 'string',
  );
  const held = roles.filter(([group]) => group === '*' || groups.includes(group)).map(([, role]) => role);
  return SCOPES.findLast((scope) => held.includes(scope)) ?? null;
}

/**
 * Returns the `ProviderAway` among the causes of an error, or null. The OpenID Connect client wraps errors of `fetch`.
 */
function awayIn(error: unknown): ProviderAway | null {
  for (let each = error; each instanceof Error; each = each.cause) if (each instanceof ProviderAway) return each;
  return null;
}

/** Returns an error with the provider's own message, or with a text that hides how a forged response was detected. */
function refusalOf(error: unknown): NotProvided {
  const said =
    error instanceof Error && 'error' in error && typeof error.error === 'string' && /^[a-z_]{1,60}$/.test(error.error)
      ? error.error
      : null;
  if (said === 'access_denied') return new NotProvided('The sign-in at your company was canceled. You can try again.');
  return said === null
    ? new NotProvided("The response of your company's sign-in does not belong to this attempt. Start again.", {
        cause: error,
      })
    : new NotProvided(`Your company's sign-in reported an error: ${said}.`);
}
