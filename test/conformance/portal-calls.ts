import type { ApiAnswer } from '../support/server.js';

/** Makes one call and compares it with the OpenAPI document. */
export type Call = (
  status: number,
  method: string,
  url: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<ApiAnswer>;

/** Calls every operation on portals and every operation that a portal token allows, and provokes their errors. */
export async function callPortal(call: Call, receiver: string): Promise<void> {
  await call(200, 'PATCH', '/v1/org', { portal_origins: ['https://app.example.com'] });
  await call(422, 'PATCH', '/v1/org', { portal_origins: ['http://app.example.com'] });
  const app = `/v1/app/${(await call(201, 'POST', '/v1/app', { name: 'A customer with a portal' })).json.id}`;
  const { token } = (
    await call(201, 'POST', `${app}/portal`, {
      theme: { scheme: 'dark', accent: '#0A58B5', font: 'serif' },
      return_url: 'https://app.example.com/',
    })
  ).json;
  await call(201, 'POST', `${app}/portal`);
  await call(201, 'POST', `${app}/portal/preview`);
  await call(422, 'POST', `${app}/portal`, { permissions: ['everything'] });
  await call(404, 'POST', '/v1/app/nobody-has-this/portal', {});
  const page = (await call(200, 'GET', `${app}/portal?limit=1`)).json;
  await call(200, 'GET', `${app}/portal?limit=1&cursor=${page.next_cursor}`);
  await call(200, 'GET', `${app}/portal/${page.data[0].id}`);
  await call(204, 'DELETE', `${app}/portal/${page.data[0].id}`);
  await call(404, 'DELETE', `${app}/portal/${page.data[0].id}`);

  const customer = { authorization: `Bearer ${token}` };
  await call(200, 'GET', '/v1/portal', undefined, customer);
  await call(404, 'GET', '/v1/portal');
  await call(403, 'GET', '/v1/events', undefined, customer);
  await call(201, 'POST', `${app}/endpoints`, { url: `${receiver}/portal` }, customer);
  await call(200, 'POST', `${app}/endpoints/check`, { url: `${receiver}/portal` }, customer);
  const { message_id: message } = (
    await call(202, 'POST', `${app}/event`, { event_type: 'invoice.paid', payload: { amount: 1 } })
  ).json;
  const events = (await call(200, 'GET', `${app}/events?message_id=${message}`, undefined, customer)).json;
  await call(200, 'GET', `${app}/events/${events.data[0].id}`, undefined, customer);
  await call(404, 'GET', `${app}/events/evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1`, undefined, customer);
  await call(204, 'DELETE', `${app}/portal`);
  await call(401, 'GET', '/v1/portal', undefined, customer);
}
