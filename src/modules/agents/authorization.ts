import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { oauthError, type OAuthErrorCode } from '#http/oauth-answers.js';
import type { AuditOrigin } from '#kernel/audit.js';
import { Config } from '#kernel/config/config.js';
import { Database } from '#kernel/database/database.js';
import { type KeyGranter } from '#modules/auth/granted-keys.contract.js';
import { GrantedKeys } from '#modules/auth/keys/granted-keys.js';
import { GRANTED_SCOPE, type OAuthClient } from './client-metadata.js';
import { type Approval, GrantAudit } from './grant-audit.js';
import { GrantNotice } from './grant-notice.js';
import { OAuthClients } from './oauth-clients.js';
import { OAuthCodesStore, type TakenCode } from './oauth-codes.store.js';
import { isRegistered, redirectFault, redirectTo } from './redirect-uris.js';

const CODE_SECONDS = 60;
const STATE_LENGTH_MAX = 1_000;

/** Form of `scope` (RFC 6749, section 3.3). Its value is ignored: every client gets `GRANTED_SCOPE`. */
const SCOPE_FORM = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

export interface AuthorizationRequest {
  client: OAuthClient;
  redirectUri: string;
  state: string | null;
  codeChallenge: string;
}

/**
 * Result of validating a request: a question for the user, an error for the client, or an error that only the user
 * sees.
 */
export type ReadRequest =
  | { kind: 'asked'; request: AuthorizationRequest }
  | { kind: 'refused'; client: OAuthClient; location: string; message: string }
  | { kind: 'unsafe'; message: string };

export interface IssuedToken {
  text: string;
  scope: string;
  lifetimeSeconds: number;
}

export interface ConsentGiven {
  environmentId: number;
  lifetimeSeconds: number;
  grantedBy: string;
  granter: KeyGranter;
  /** The approver and their IP address, for the audit log. */
  approval: Approval;
}

/** The OAuth code grant (RFC 6749, section 4.1), with PKCE (RFC 7636), `iss` (RFC 9207) and `resource` (RFC 8707). */
@Injectable()
export class Authorization {
  constructor(
    private readonly clients: OAuthClients,
    private readonly codes: OAuthCodesStore,
    private readonly keys: GrantedKeys,
    private readonly audit: GrantAudit,
    private readonly notice: GrantNotice,
    private readonly database: Database,
    private readonly config: Config,
  ) {}

  /**
   * Validates an OAuth request. Errors found before the redirect address is verified are shown to the user and not
   * redirected.
   */
  async read(given: Readonly<Record<string, unknown>>): Promise<ReadRequest> {
    const { client_id: clientId, redirect_uri: redirectUri } = given;
    if (typeof clientId !== 'string' || typeof redirectUri !== 'string')
      return unsafe('The client_id or the redirect_uri is missing, or is given twice.');
    const client = await this.clients.find(clientId);
    if (typeof client === 'string') return unsafe(client);
    if (!client.grantTypes.includes('authorization_code'))
      return unsafe('The application did not register for the authorization code grant.');
    if (!isRegistered(redirectUri, client.redirectUris))
      return unsafe('The application requests a redirect to an address that it did not register.');
    // The registration checks the address too. Clients that an older version of Posthorn registered may have an address
    // that was not checked.
    if (redirectFault(redirectUri, this.config.oauthRedirectSchemes) !== null)
      return unsafe('The application requests a redirect to an address that is not allowed.');
    const state =
      typeof given['state'] === 'string' && given['state'].length <= STATE_LENGTH_MAX ? given['state'] : null;
    const fault = this.faultOf(given);
    if (fault !== null)
      return { kind: 'refused', client, location: this.refusal({ redirectUri, state }, ...fault), message: fault[1] };
    return { kind: 'asked', request: { client, redirectUri, state, codeChallenge: given['code_challenge'] as string } };
  }

  refusal(
    { redirectUri, state }: Pick<AuthorizationRequest, 'redirectUri' | 'state'>,
    error: OAuthErrorCode,
    description: string,
  ): string {
    return redirectTo(redirectUri, { error, error_description: description, state, iss: this.config.baseUrl });
  }

  /**
   * Approves the request. Returns an authorization code that is bound to the whole request and to the choices of the
   * user.
   */
  async approve(
    { client, redirectUri, state, codeChallenge }: AuthorizationRequest,
    { approval, ...given }: ConsentGiven,
  ): Promise<string> {
    const code = randomBytes(32).toString('base64url');
    await this.database.transaction(async () => {
      await this.clients.approve(client.id);
      await this.codes.add(
        sha256(code),
        { ...given, clientId: client.id, clientName: client.name, redirectUri, codeChallenge },
        CODE_SECONDS,
      );
      await this.audit.granted(approval, given.environmentId, {
        client_id: client.id,
        client_name: client.name,
        redirect_uri: redirectUri,
        scope: GRANTED_SCOPE,
        lifetime_seconds: given.lifetimeSeconds,
      });
    });
    return redirectTo(redirectUri, { code, state, iss: this.config.baseUrl });
  }

  /**
   * Exchanges an authorization code for an API key. All invalid codes get the same error. If a code is used again, the
   * API key that was issued for it is revoked.
   */
  async exchange(form: Readonly<Record<string, string>>, origin: AuditOrigin): Promise<IssuedToken> {
    const { code, client_id: clientId, redirect_uri: redirectUri, code_verifier: verifier, resource } = form;
    if (!code || !clientId || !redirectUri || !verifier)
      throw oauthError('invalid_request', 'Send code, client_id, redirect_uri and code_verifier.');
    if (resource !== undefined && !this.isOurs(resource))
      throw oauthError('invalid_target', `The resource is ${this.config.baseUrl}/mcp.`);
    const hash = sha256(code);
    const issued = await this.database.transaction(async () => {
      const taken = await this.codes.take(hash);
      if (taken === null) return null;
      // If the exchange fails, returns null instead of throwing, so that the transaction still commits the use of the
      // code. Otherwise, the code would stay valid after the wrong client presented it.
      if (taken.wasUsed) await this.revokeReused(taken, origin);
      if (taken.wasUsed || !fits(taken, { clientId, redirectUri, verifier })) return null;
      const grant = {
        environmentId: taken.environmentId,
        scope: GRANTED_SCOPE,
        clientName: taken.clientName,
        grantedBy: taken.grantedBy,
        lifetimeSeconds: taken.lifetimeSeconds,
      };
      const key = await this.keys.issue({ ...grant, clientId, granter: taken.granter });
      if (key === null) return null;
      await this.codes.noteKey(grant.environmentId, hash, key.id);
      return { text: key.text, grant: { ...grant, keyId: key.id, lifetimeSeconds: key.lifetimeSeconds } };
    });
    if (issued === null)
      throw oauthError(
        'invalid_grant',
        'The code is unknown, used or expired, or does not belong to this client, redirect_uri or code_verifier; or the approver no longer has the permission.',
      );
    void this.notice.send(issued.grant);
    return { text: issued.text, scope: issued.grant.scope, lifetimeSeconds: issued.grant.lifetimeSeconds };
  }

  /** Revokes an API key that was granted to a client (RFC 7009). Writes the audit entry in the same transaction. */
  async giveBack(token: string, clientId: string | null, origin: AuditOrigin): Promise<void> {
    await this.database.transaction(async () => {
      const key = await this.keys.revokeText(token, clientId);
      if (key !== null)
        await this.audit.givenBack(
          key.environmentId,
          key.id,
          { client_id: key.clientId, client_name: key.clientName, granted_by: key.grantedBy },
          origin,
        );
    });
  }

  private async revokeReused(
    { environmentId, keyId, clientId, clientName, grantedBy }: TakenCode,
    origin: AuditOrigin,
  ): Promise<void> {
    if (keyId === null || !(await this.keys.revoke(environmentId, keyId))) return;
    await this.audit.reused(
      environmentId,
      keyId,
      { client_id: clientId, client_name: clientName, granted_by: grantedBy },
      origin,
    );
  }

  private faultOf(given: Readonly<Record<string, unknown>>): [OAuthErrorCode, string] | null {
    const repeated = Object.entries(given).find(([name, value]) => typeof value !== 'string' && name !== 'resource');
    if (repeated) return ['invalid_request', `${repeated[0]} is given twice.`];
    const {
      response_type: type,
      code_challenge: challenge,
      code_challenge_method: method,
      scope = '',
      resource,
      state = '',
    } = given;
    if (typeof state === 'string' && state.length > STATE_LENGTH_MAX)
      return ['invalid_request', 'The state is too long.'];
    if (type !== 'code')
      return type === undefined
        ? ['invalid_request', 'The response_type is missing.']
        : ['unsupported_response_type', 'The response_type must be code.'];
    if (method !== 'S256') return ['invalid_request', 'The code_challenge_method must be S256.'];
    if (typeof challenge !== 'string' || !/^[A-Za-z0-9._~-]{43,128}$/.test(challenge))
      return ['invalid_request', 'The code_challenge is missing or malformed.'];
    if (!SCOPE_FORM.test(scope as string)) return ['invalid_scope', 'The scope is malformed.'];
    if (resource !== undefined && !(typeof resource === 'string' && this.isOurs(resource)))
      return ['invalid_target', `The resource must be ${this.config.baseUrl}/mcp.`];
    return null;
  }

  private isOurs(resource: string): boolean {
    return (
      URL.canParse(resource) && new URL(resource).href.replace(/\/$/, '') === new URL(`${this.config.baseUrl}/mcp`).href
    );
  }
}

function fits(taken: TakenCode, given: { clientId: string; redirectUri: string; verifier: string }): boolean {
  const challenge = createHash('sha256').update(given.verifier).digest('base64url');
  const isForm = /^[A-Za-z0-9._~-]{43,128}$/.test(given.verifier);
  return (
    isForm &&
    !taken.isExpired &&
    isSame(taken.clientId, given.clientId) &&
    isSame(taken.redirectUri, given.redirectUri) &&
    isSame(taken.codeChallenge, challenge)
  );
}

/** Returns whether two texts are equal. Compares in constant time. */
function isSame(a: string, b: string): boolean {
  return timingSafeEqual(sha256(a), sha256(b));
}

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

const unsafe = (message: string): ReadRequest => ({ kind: 'unsafe', message });
