import { asPage, cookieOf } from '../api/sessions.js';
import { PlainBrowser } from '../api/signing-in.js';
import type { ApiAnswer, PosthornServer } from '../support/server.js';

/** Makes one call and compares it with the OpenAPI document. */
type Call = (
  status: number,
  method: string,
  url: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<ApiAnswer>;

/** Calls every operation on members, sessions and the audit log, and provokes their errors. */
export async function callAccess(call: Call, server: PosthornServer): Promise<void> {
  const { id } = (await call(201, 'POST', '/v1/members', { email: 'Ada@customer.example', name: 'Ada', role: 'admin' }))
    .json;
  await call(201, 'POST', '/v1/members', { email: 'grace@customer.example', role: 'read' });
  await call(409, 'POST', '/v1/members', { email: 'ada@customer.example', role: 'read' });
  await call(422, 'POST', '/v1/members', { email: 'not an address', role: 'read' });
  const page = (await call(200, 'GET', '/v1/members?limit=1')).json;
  await call(200, 'GET', `/v1/members?limit=1&cursor=${page.next_cursor}`);
  await call(200, 'GET', `/v1/members/${id}`);
  await call(200, 'PATCH', `/v1/members/${page.data[0].id}`, { role: 'write' });
  await call(422, 'PATCH', `/v1/members/${id}`, { email: 'other@customer.example' });
  await call(409, 'DELETE', `/v1/members/${id}`);
  await call(204, 'DELETE', `/v1/members/${page.data[0].id}`);
  for (let i = 0; i < 2; i += 1) await new PlainBrowser(server).post('/signin/key', { key: server.apiKey });
  const sessions = (await call(200, 'GET', '/v1/sessions?limit=1')).json;
  await call(200, 'GET', `/v1/sessions?limit=1&cursor=${sessions.next_cursor}`);
  await call(204, 'DELETE', `/v1/sessions/${sessions.data[0].id}`);
  const ours = asPage(await cookieOf(server), null);
  await call(200, 'GET', '/v1/session', undefined, ours);
  await call(400, 'GET', '/v1/events', undefined, ours);
  await call(404, 'GET', '/v1/session');
  await call(404, 'DELETE', '/v1/session');
  await call(204, 'DELETE', '/v1/session', undefined, ours);
  await call(401, 'GET', '/v1/session', undefined, ours);
  const log = (await call(200, 'GET', '/v1/audit?limit=1')).json;
  await call(200, 'GET', `/v1/audit?limit=1&cursor=${log.next_cursor}`);
  await call(400, 'GET', '/v1/audit?since=yesterday');
  await call(200, 'GET', '/v1/audit/export?format=csv');
  await call(200, 'GET', '/v1/audit/export');
}

export async function callOperator(call: Call, operatorKey: string): Promise<void> {
  const operator = { authorization: `Bearer ${operatorKey}` };
  const { id } = (
    await call(201, 'POST', '/v1/orgs', { slug: 'acme', name: 'Acme', admin: { email: 'ada@acme.example' } }, operator)
  ).json;
  await call(409, 'POST', '/v1/orgs', { slug: 'acme', name: 'Acme', admin: { email: 'ada@acme.example' } }, operator);
  await call(401, 'GET', '/v1/orgs');
  const page = (await call(200, 'GET', '/v1/orgs?limit=1', undefined, operator)).json;
  await call(200, 'GET', `/v1/orgs?limit=1&cursor=${page.next_cursor}`, undefined, operator);
  await call(200, 'GET', `/v1/orgs/${id}`, undefined, operator);
  await call(204, 'DELETE', `/v1/orgs/${id}`, undefined, operator);
  await call(200, 'GET', '/v1/operator/audit', undefined, operator);
}
