import { setTimeout as rest } from 'node:timers/promises';
import { redirectOf } from '../client/errors.js';
import { CommandFailure, EXIT } from './failure.js';

/** Response to a device authorization request (RFC 8628, section 3.2). */
export interface DeviceCode {
  device_code: string;
  user_code: string;
  verification_uri: string;
  verification_uri_complete?: string;
  expires_in: number;
  interval?: number;
}

/** Response after the user's approval (RFC 6749, section 5.1). */
export interface Token {
  access_token: string;
  scope?: string;
  expires_in?: number;
}

interface Metadata {
  device_authorization_endpoint?: string;
  token_endpoint?: string;
  revocation_endpoint?: string;
  registration_endpoint?: string;
}

/** Client id that the service accepts without registration. */
export const CLIENT_ID = 'posthorn-cli';
const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
const INTERVAL_SECONDS = 5;
const SLOWER_SECONDS = 5;

/** Device grant with one service. Uses the addresses in the service's metadata, or else its default paths. */
export class DeviceGrant {
  private constructor(
    private readonly metadata: Required<
      Pick<
        Metadata,
        'device_authorization_endpoint' | 'token_endpoint' | 'revocation_endpoint' | 'registration_endpoint'
      >
    >,
  ) {}

  static async request(url: string): Promise<DeviceGrant> {
    const response = await request(`${url}/.well-known/oauth-authorization-server`);
    const said = response.ok ? ((await response.json().catch(() => ({}))) as Metadata) : {};
    // Tokens are sent only to the service's own origin, even if the metadata names another origin.
    const own = (given: string | undefined, path: string): string =>
      given !== undefined && URL.canParse(given) && new URL(given).origin === new URL(url).origin ? given : url + path;
    return new DeviceGrant({
      device_authorization_endpoint: own(said.device_authorization_endpoint, '/oauth/device'),
      token_endpoint: own(said.token_endpoint, '/oauth/token'),
      revocation_endpoint: own(said.revocation_endpoint, '/oauth/revoke'),
      registration_endpoint: own(said.registration_endpoint, '/oauth/register'),
    });
  }

  /** Requests a device code. If the service rejects the built-in client id, registers a client first. */
  async begin(scope: string, deviceName: string): Promise<{ clientId: string; code: DeviceCode }> {
    const first = await form(this.metadata.device_authorization_endpoint, {
      client_id: CLIENT_ID,
      scope,
      device_name: deviceName,
    });
    if (first.status === 200) return { clientId: CLIENT_ID, code: this.codeIn(first.body) };
    if (first.status === 404)
      throw new CommandFailure('This service has no device login. Create a key, and run `posthorn login --with-key`.');
    if (first.body['error'] !== 'invalid_client') throw refused(first.body, 'The login was rejected');
    const clientId = await this.register(scope);
    const second = await form(this.metadata.device_authorization_endpoint, {
      client_id: clientId,
      scope,
      device_name: deviceName,
    });
    if (second.status !== 200) throw refused(second.body, 'The login was rejected');
    return { clientId, code: this.codeIn(second.body) };
  }

  /**
   * Polls until the user has approved or denied the login, at the interval that the service requests. Continues after
   * network errors.
   */
  async wait(clientId: string, { device_code, expires_in, interval = INTERVAL_SECONDS }: DeviceCode): Promise<Token> {
    const untilMs = performance.now() + expires_in * 1_000;
    let everySeconds = interval;
    for (;;) {
      await rest(everySeconds * 1_000);
      if (performance.now() >= untilMs)
        throw new CommandFailure(
          'The login was not approved in time. Run `posthorn login` again.',
          EXIT.unauthenticated,
        );
      const answer = await form(this.metadata.token_endpoint, {
        grant_type: DEVICE_GRANT,
        device_code,
        client_id: clientId,
      }).catch(() => null);
      // RFC 8628, section 3.5: poll less often after a connection error.
      if (answer === null || answer.status === 429) everySeconds = Math.min(everySeconds * 2, 60);
      else if (answer.status === 200 && typeof answer.body['access_token'] === 'string')
        return answer.body as unknown as Token;
      else if (answer.body['error'] === 'slow_down') everySeconds += SLOWER_SECONDS * Math.min(1, interval);
      else if (answer.status < 500 && answer.body['error'] !== 'authorization_pending') throw denied(answer.body);
    }
  }

  /** Revokes a token. The response is 200 whether or not the token was still valid (RFC 7009). */
  async revoke(token: string, clientId = CLIENT_ID): Promise<void> {
    const { status, body } = await form(this.metadata.revocation_endpoint, { token, client_id: clientId });
    if (status !== 200) throw refused(body, 'The key was not revoked');
  }

  /**
   * Returns the device code in a response. Validates the response, because a captive portal or a proxy may also return
   * 200.
   */
  private codeIn(body: Record<string, unknown>): DeviceCode {
    const { device_code: deviceCode, user_code: userCode, verification_uri: page } = body;
    if ([deviceCode, userCode, page].every((value) => typeof value === 'string')) return body as unknown as DeviceCode;
    throw new CommandFailure(
      `${new URL(this.metadata.device_authorization_endpoint).origin} does not respond like Posthorn. Is this the URL of the service?`,
    );
  }

  private async register(scope: string): Promise<string> {
    const response = await request(this.metadata.registration_endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        client_name: 'Posthorn command line',
        redirect_uris: ['http://127.0.0.1/'],
        grant_types: ['authorization_code', DEVICE_GRANT],
        scope,
        token_endpoint_auth_method: 'none',
      }),
    });
    const body = (await response.json().catch(() => ({}))) as Record<string, unknown>;
    if (typeof body['client_id'] !== 'string') throw refused(body, 'The command line could not be registered');
    return body['client_id'];
  }
}

async function form(
  url: string,
  fields: Record<string, string>,
): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await request(url, { method: 'POST', body: new URLSearchParams(fields) });
  return { status: response.status, body: (await response.json().catch(() => ({}))) as Record<string, unknown> };
}

async function request(url: string, init: RequestInit = {}): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(30_000) });
  } catch (error) {
    const { cause } = error as Error;
    throw new CommandFailure(
      `${new URL(url).origin} could not be reached: ${cause instanceof Error ? cause.message : (error as Error).message}`,
      EXIT.unreachable,
    );
  }
  const redirect = redirectOf(url, response);
  if (redirect !== null) throw new CommandFailure(redirect.message);
  return response;
}

function denied(body: Record<string, unknown>): CommandFailure {
  if (body['error'] === 'access_denied') return new CommandFailure('The login was denied.', EXIT.unauthenticated);
  if (body['error'] === 'expired_token')
    return new CommandFailure('The login was not approved in time. Run `posthorn login` again.', EXIT.unauthenticated);
  return refused(body, 'The login failed');
}

function refused(body: Record<string, unknown>, what: string): CommandFailure {
  const said = body['error_description'] ?? body['error'];
  return new CommandFailure(`${what}${typeof said === 'string' ? `: ${said}` : '.'}`, EXIT.unauthenticated);
}
