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

/** What one sign-in has to remember until its answer comes. */
export interface PendingSignIn {
  state: string;
  nonce: string;
  verifier: string;
}

/** Who the provider says that somebody is. */
export interface ProvidedPerson {
  /** In lower case. */
  email: string;
  name: string;
  /** What his groups come to; null when none of them has a role here. */
  role: Scope | null;
}

/** The provider said no, or said something that must not be believed. The message is for the person. */
export class NotProvided extends Error {}

/**
 * The company's identity provider: OpenID Connect with the authorization code, PKCE, state and nonce. Its metadata is fetched once an
 * hour, its keys at every sign-in: a key that it rotates counts at once, and so does one that it withdraws.
 */
@Injectable()
export class IdentityProvider {
  private known: { server: ServerMetadata; untilMs: number } | null = null;

  constructor(
    private readonly config: Config,
    private readonly door: ProviderFetch,
    private readonly clock: Clock,
  ) {}

  /** Where the browser goes, and what is to be remembered meanwhile. Throws `ProviderAway`. */
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

  /** Who came back, with the query of the redirect. Throws `ProviderAway` and `NotProvided`. */
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

  /** Returns a client for one sign-in, which has fetched no keys yet. Signatures are verified although the token comes from the provider itself. */
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
    // Only where the operator has configured http, and EGRESS_ALLOW_HTTP lets it out.
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
          `${issuer} does not describe itself as it should: ${error instanceof Error ? error.message : String(error)}`,
        )
      );
    }
  }
}

/** Loaded by the first sign-in that needs it: most installations have no provider, and no start should wait for it. */
function client(): Promise<typeof import('openid-client')> {
  return import('openid-client');
}

/**
 * Returns the provider's metadata with the algorithms alone that tokens and user info may be signed with: those that our client is registered
 * with, or those with a public key among the provider's. Throws for a provider whose signatures cannot be verified.
 */
export function pinned(
  server: ServerMetadata,
  { signingAlgorithms }: Pick<OidcProvider, 'signingAlgorithms'>,
): ServerMetadata {
  // OpenID Connect Discovery, section 3, asks for the list and for RS256 in it.
  const {
    id_token_signing_alg_values_supported: listed = ['RS256'],
    userinfo_signing_alg_values_supported: ofUserInfo = listed,
  } = server;
  const allowed = (names: readonly string[]): string[] =>
    signingAlgorithms.length > 0 ? [...signingAlgorithms] : names.filter((name) => SIGNING_ALGORITHMS.has(name));
  const algorithms = allowed(listed);
  if (server.jwks_uri === undefined || algorithms.length === 0)
    throw new Error('it names no keys, or no algorithm with a public key, that ID tokens are signed with.');
  return {
    ...server,
    id_token_signing_alg_values_supported: algorithms,
    userinfo_signing_alg_values_supported: allowed(ofUserInfo),
  };
}

/** What the ID token says, and what the user info says beside it: that an address is verified counts for that address. */
export function joined(
  claims: Readonly<Record<string, unknown>>,
  more: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const { email_verified: isVerified, ...rest } = more;
  const isSame = claims['email'] === undefined || claims['email'] === more['email'];
  return { ...rest, ...(isSame && isVerified !== undefined && { email_verified: isVerified }), ...claims };
}

/** Throws `NotProvided` for somebody whom nothing is known of, or who is not let in. */
export function personOf(
  claims: Readonly<Record<string, unknown>>,
  { groupsClaim, roles, domains, trustsEmail }: OidcProvider,
): ProvidedPerson {
  const { email: given, email_verified: isVerified, name } = claims;
  if (typeof given !== 'string' || !/^[^\s@]+@[^\s@]+$/.test(given))
    throw new NotProvided(
      "Your company's sign-in does not say your address. Its operator has to let this service see it.",
    );
  // OpenID Connect Core, section 5.1: what is not said to be verified is not. Some say it as a text.
  const isSaid = isVerified !== undefined && isVerified !== null;
  if (isSaid ? isVerified !== true && isVerified !== 'true' : !trustsEmail)
    throw new NotProvided("Your company's sign-in has not verified your address.");
  // ASCII letters alone: U+212A, the sign of Kelvin, is another address than the k that Unicode makes of it in lower case.
  const email = given.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
  const domain = email.slice(email.lastIndexOf('@') + 1);
  if (domains.length > 0 && !domains.includes(domain))
    throw new NotProvided(`Addresses at ${domain} are not let in here.`);
  return {
    email,
    name: typeof name === 'string' && name.trim() !== '' ? name.trim().slice(0, 200) : email,
    role: roleOf(claims[groupsClaim], roles),
  };
}

/** The largest role of any group. */
function roleOf(claim: unknown, roles: OidcProvider['roles']): Scope | null {
  const groups = (Array.isArray(claim) ? claim.slice(0, GROUPS_MAX) : [claim]).filter(
    (group): group is string => typeof group === 'string',
  );
  const held = roles.filter(([group]) => group === '*' || groups.includes(group)).map(([, role]) => role);
  return SCOPES.findLast((scope) => held.includes(scope)) ?? null;
}

/** The client wraps what its `fetch` throws. */
function awayIn(error: unknown): ProviderAway | null {
  for (let each = error; each instanceof Error; each = each.cause) if (each instanceof ProviderAway) return each;
  return null;
}

/** Returns the refusal that the person reads: the provider's own error, or a sentence that does not say how a forged answer was found out. That is the cause, for the log. */
function refusalOf(error: unknown): NotProvided {
  const said =
    error instanceof Error && 'error' in error && typeof error.error === 'string' && /^[a-z_]{1,60}$/.test(error.error)
      ? error.error
      : null;
  if (said === 'access_denied') return new NotProvided("Your company's sign-in was called off. You can try again.");
  return said === null
    ? new NotProvided("The answer of your company's sign-in does not belong to this try. Start again.", {
        cause: error,
      })
    : new NotProvided(`Your company's sign-in refused: ${said}.`);
}
