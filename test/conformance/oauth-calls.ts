import { authorizePath, browserOf, CALLBACK, codeFor, pkce } from '../api/oauth.js';
import type { ApiAnswer, PosthornServer } from '../support/server.js';

/** Makes one call and compares it with the OpenAPI document. */
type Call = (
  status: number,
  method: string,
  url: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<ApiAnswer>;

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

/** Calls every operation that agents use, including sign-in, and provokes the errors of these operations. */
export async function callAgents(
  call: Call,
  page: (url: string, cookie: string) => Promise<void>,
  server: PosthornServer,
): Promise<void> {
  const form = (fields: Record<string, string>): string => new URLSearchParams(fields).toString();
  await call(200, 'GET', '/.well-known/oauth-protected-resource');
  await call(200, 'GET', '/.well-known/oauth-protected-resource/mcp');
  await call(200, 'GET', '/.well-known/oauth-authorization-server');
  const clientId = (
    await call(201, 'POST', '/oauth/register', { client_name: 'An assistant', redirect_uris: [CALLBACK] })
  ).json.client_id as string;
  await call(400, 'POST', '/oauth/register', { redirect_uris: ['http://client.example.com/'] });
  const { verifier, challenge } = pkce();
  const person = await browserOf(server);
  await page(authorizePath(clientId, challenge), person.cookie);
  const code = await codeFor(person, clientId, challenge);
  const exchange = {
    grant_type: 'authorization_code',
    client_id: clientId,
    redirect_uri: CALLBACK,
    code,
    code_verifier: verifier,
  };
  const token = (await call(200, 'POST', '/oauth/token', form(exchange), FORM)).json.access_token as string;
  await call(200, 'POST', '/oauth/revoke', form({ token }), FORM);
  await call(400, 'POST', '/oauth/token', form(exchange), FORM);
  await call(401, 'POST', '/oauth/token', form({ ...exchange, client_secret: 'x' }), FORM);
  await call(200, 'POST', '/oauth/device', form({ client_id: 'posthorn-cli' }), FORM);
  await call(401, 'POST', '/oauth/device', form({ client_id: 'nobody' }), FORM);
  const accept = { accept: 'application/json, text/event-stream' };
  const discover = {
    jsonrpc: '2.0',
    id: 1,
    method: 'server/discover',
    params: {
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': {},
      },
    },
  };
  await call(200, 'POST', '/mcp', discover, {
    ...accept,
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'server/discover',
  });
  await call(401, 'POST', '/mcp', discover, { ...accept, authorization: '' });
}
