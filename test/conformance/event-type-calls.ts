import type { Call } from './portal-calls.js';

export async function callEventTypes(call: Call): Promise<void> {
  const schema = { type: 'object', required: ['amount'], properties: { amount: { type: 'integer' } } };
  await call(201, 'POST', '/v1/event-types', {
    name: 'order/paid',
    description: 'Paid.',
    group: 'Orders',
    schema,
    example: { amount: 1 },
    enforce: true,
  });
  await call(201, 'POST', '/v1/event-types', { name: 'plain' });
  const page = (await call(200, 'GET', '/v1/event-types?limit=1')).json;
  await call(200, 'GET', `/v1/event-types?limit=1&cursor=${page.next_cursor}`);
  await call(200, 'GET', '/v1/event-types?group=Orders&archived=true');
  await call(200, 'GET', '/v1/event-types/order%2Fpaid');
  await call(200, 'PATCH', '/v1/event-types/order%2Fpaid', {
    schema: null,
    example: null,
    enforce: false,
    archived: true,
  });
  await call(200, 'GET', '/v1/event-types/order%2Fpaid/versions?limit=2');
  const spec = { openapi: '3.1.0', webhooks: { plain: { post: { summary: 'Plain' } } } };
  await call(200, 'GET', '/v1/event-types/order%2Fpaid/subscribers?limit=2');
  await call(200, 'POST', '/v1/event-types/import/openapi', { spec, replace_all: true, dry_run: true });
  await call(422, 'POST', '/v1/event-types/import/openapi', { text: 'a' });
  await call(204, 'DELETE', '/v1/event-types/plain');
}
