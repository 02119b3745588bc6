import { deliver } from '../api/mailing.js';
import { deliveryReport, openReportDoor } from '../api/reporting.js';
import { openSql, uuidOf } from '../api/scene.js';
import type { ApiAnswer, PosthornServer } from '../support/server.js';

/** Makes one call and compares it with the OpenAPI document. */
type Call = (
  status: number,
  method: string,
  url: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<ApiAnswer>;
type Until = (url: string, isWanted: (json: ApiAnswer['json']) => boolean) => Promise<void>;

const MESSAGE = [
  'From: Ada <ada@b.example>',
  'To: you@in.example',
  'Subject: With a file',
  'Message-ID: <file@b.example>',
  'MIME-Version: 1.0',
  'Content-Type: multipart/mixed; boundary="=_m"',
  '',
  '--=_m',
  'Content-Type: text/plain',
  '',
  'Here it is.',
  '--=_m',
  'Content-Type: text/csv; name="a.csv"',
  'Content-Disposition: attachment; filename="a.csv"',
  '',
  'a,b',
  '--=_m--',
  '',
].join('\r\n');

export async function callTemplates(call: Call): Promise<void> {
  const { id } = (
    await call(201, 'POST', '/v1/templates', {
      name: 'Order',
      alias: 'order',
      from: 'Shop <shop@simulator.localhost>',
      reply_to: 'support@example.com',
      subject: 'Your order {{order}}',
      html: '<p>Hello {{name}}</p>',
      text: 'Hello {{name}}',
      variables: [
        { key: 'name', type: 'string', fallback_value: 'customer' },
        { key: 'order', type: 'number' },
        { key: 'lines', type: 'list', fallback_value: [{ title: 'Lamp' }] },
      ],
    })
  ).json;
  await call(409, 'POST', '/v1/templates', { name: 'Other', alias: 'order' });
  await call(422, 'POST', '/v1/templates', { name: 'Other', html: '{{' });
  await call(200, 'GET', '/v1/templates/order');
  await call(422, 'POST', '/v1/templates', { name: 'Other', unsubscribe: { topic: 'unknown' } });
  await call(200, 'PATCH', `/v1/templates/${id}`, { subject: null, alias: null, variables: [], unsubscribe: true });
  await call(200, 'POST', `/v1/templates/${id}/restore`, { version: 1 });
  await call(200, 'POST', `/v1/templates/${id}/publish`);
  await call(201, 'POST', `/v1/templates/${id}/duplicate`);
  const page = (await call(200, 'GET', '/v1/templates?limit=1')).json;
  await call(200, 'GET', `/v1/templates?limit=1&cursor=${page.next_cursor}`);
  const versions = (await call(200, 'GET', `/v1/templates/${id}/versions?limit=1`)).json;
  await call(200, 'GET', `/v1/templates/${id}/versions?limit=1&cursor=${versions.next_cursor}`);
  await call(200, 'GET', `/v1/templates/${id}/versions/2`);
  await call(400, 'GET', `/v1/templates/${id}/versions/x`);
  await call(404, 'GET', `/v1/templates/${id}/versions/7`);
  await call(200, 'POST', `/v1/templates/${id}/render`, { variables: { name: 'Ada' }, version: 1 });
  await call(422, 'POST', `/v1/templates/${id}/render`, { variables: { order: 'one' } });
  const sent = (
    await call(202, 'POST', '/v1/emails', {
      to: 'delivered@simulator.localhost',
      template: { id, variables: { order: 4711 } },
    })
  ).json;
  await call(200, 'GET', `/v1/emails/${sent.id}`);
  await call(422, 'POST', '/v1/emails', { to: 'delivered@simulator.localhost', template: { id } });
  await call(204, 'DELETE', `/v1/templates/${id}`);
  await call(404, 'DELETE', `/v1/templates/${id}`);
}

export async function callEmails(call: Call): Promise<void> {
  const email = {
    from: 'shop@simulator.localhost',
    to: 'delivered@simulator.localhost',
    subject: 'Hello',
    text: 'Hello',
  };
  const { id } = (await call(202, 'POST', '/v1/emails', email)).json;
  await call(422, 'POST', '/v1/emails', { ...email, to: 'nobody' });
  await call(202, 'POST', '/v1/emails/batch', { emails: [email, { ...email, to: 'nobody' }] });
  await call(202, 'POST', '/v1/emails/batch', [{ ...email, to: 'suppressed@simulator.localhost' }]);
  await call(422, 'POST', '/v1/emails/batch', {});
  await call(202, 'POST', '/v1/emails/batch', [email], { 'x-batch-validation': 'strict' });
  await call(422, 'POST', '/v1/emails/batch', [email, { ...email, to: 'nobody' }], { 'x-batch-validation': 'strict' });
  await call(202, 'POST', '/v1/emails/batch', [{ ...email, to: 'nobody' }], { 'x-batch-validation': 'permissive' });
  await call(400, 'POST', '/v1/emails/batch', [email], { 'x-batch-validation': 'loose' });
  const page = (await call(200, 'GET', '/v1/emails?limit=1')).json;
  await call(200, 'GET', `/v1/emails?limit=1&cursor=${page.next_cursor}`);
  await call(200, 'GET', `/v1/emails?limit=1&after=${id}`);
  await call(200, 'GET', `/v1/emails?limit=1&before=${id}`);
  await call(200, 'GET', '/v1/emails?status=bounced');
  await call(200, 'GET', '/v1/emails?status=bounced&tag=campaign:welcome&recipient=nobody@example.org');
  await call(400, 'GET', '/v1/emails?status=nonsense');
  await call(200, 'GET', `/v1/emails/${id}`);
  await call(200, 'GET', `/v1/emails/${id}?content=false`);
  await call(404, 'GET', '/v1/emails/nonsense');
  await call(200, 'GET', `/v1/emails/${id}/replies`);
  await call(404, 'GET', '/v1/emails/nonsense/replies');
  await call(200, 'GET', `/v1/emails/${id}/raw`);
  await call(200, 'GET', '/v1/emails/simulator');
  const rich = (
    await call(202, 'POST', '/v1/emails', {
      ...email,
      html: '<p>Hello</p>',
      attachments: [{ filename: 'a.txt', content: 'aGVsbG8=', content_type: 'text/plain' }],
    })
  ).json.id;
  await call(200, 'GET', `/v1/emails/${rich}/content`);
  await call(200, 'GET', `/v1/emails/${rich}/attachments/0`);
  await call(404, 'GET', `/v1/emails/${rich}/attachments/7`);
  await call(200, 'GET', `/v1/emails/${rich}/attachments/att_0`);
  const listed = (await call(200, 'GET', `/v1/emails/${rich}/attachments`)).json;
  const download = new URL(listed.data[0].download_url);
  await call(200, 'GET', `${download.pathname}${download.search}`);
  await call(404, 'GET', '/v1/email-attachments?token=nonsense');
  await call(400, 'GET', '/v1/email-attachments');
  const { token } = (await call(200, 'GET', `/v1/emails/${rich}/view`)).json;
  await call(200, 'GET', `/v1/mail-views?token=${token}`);
  await call(404, 'GET', '/v1/mail-views?token=nonsense');
  await call(400, 'GET', '/v1/mail-views');
  const [first, second] = [
    await call(202, 'POST', '/v1/emails', { ...email, scheduled_at: 'in 1 hour' }),
    await call(202, 'POST', '/v1/emails', { ...email, scheduled_at: 'in 1 hour' }),
  ];
  await call(200, 'GET', `/v1/emails/${first.json.id}`);
  await call(200, 'GET', '/v1/emails?status=scheduled');
  await call(200, 'PATCH', `/v1/emails/${first.json.id}`, { scheduled_at: 'in 2 hours' });
  await call(422, 'PATCH', `/v1/emails/${first.json.id}`, {});
  await call(409, 'PATCH', `/v1/emails/${id}`, { scheduled_at: 'in 2 hours' });
  await call(204, 'DELETE', `/v1/emails/${first.json.id}`);
  await call(200, 'GET', `/v1/emails/${first.json.id}`);
  await call(200, 'GET', '/v1/emails?status=canceled');
  await call(404, 'DELETE', '/v1/emails/nonsense');
  await call(409, 'DELETE', `/v1/emails/${id}`);
  await call(200, 'POST', `/v1/emails/${second.json.id}/cancel`);
  await call(409, 'POST', `/v1/emails/${id}/cancel`);
  await call(201, 'POST', '/v1/suppressions', { email: 'never@customer.example' });
  await call(409, 'POST', '/v1/suppressions', { email: 'never@customer.example' });
  const emails = ['never@customer.example', 'nor@customer.example'];
  await call(200, 'POST', '/v1/suppressions/batch/add', { emails });
  await call(422, 'POST', '/v1/suppressions/batch/add', { emails: [] });
  await call(200, 'GET', '/v1/suppressions?origin=manual');
  await call(200, 'GET', '/v1/suppressions/never@customer.example');
  await call(204, 'DELETE', '/v1/suppressions/never@customer.example');
}

export async function callTopics(call: Call): Promise<void> {
  const news = { name: 'News', key: 'documented', default_subscription: 'opt_in' };
  const { id } = (await call(201, 'POST', '/v1/topics', news)).json;
  await call(409, 'POST', '/v1/topics', news);
  await call(422, 'POST', '/v1/topics', { name: 'News' });
  await call(201, 'POST', '/v1/topics', { name: 'Offers', description: 'Offers', default_subscription: 'opt_out' });
  const page = (await call(200, 'GET', '/v1/topics?limit=1')).json;
  await call(200, 'GET', `/v1/topics?limit=1&cursor=${page.next_cursor}`);
  await call(200, 'GET', '/v1/topics/documented');
  await call(404, 'GET', '/v1/topics/unknown');
  await call(200, 'PATCH', `/v1/topics/${id}`, { name: 'Product news', description: null });
  await call(422, 'PATCH', `/v1/topics/${id}`, { key: 'other' });
  await call(200, 'PATCH', `/v1/topics/${id}`, { id, name: 'Product letters' });
  await call(422, 'PATCH', `/v1/topics/${id}`, { id: 'other' });
  const at = `/v1/topics/${id}/subscriptions`;
  await call(200, 'GET', `${at}/customer@example.org`);
  await call(400, 'GET', `${at}/nobody`);
  await call(200, 'PUT', `${at}/customer@example.org`, { subscription: 'opt_out' });
  await call(422, 'PUT', `${at}/customer@example.org`, { subscription: 'no' });
  await call(200, 'GET', `${at}?subscription=opt_out`);
  await call(204, 'DELETE', `${at}/customer@example.org`);
  await call(404, 'DELETE', `${at}/customer@example.org`);
  await call(202, 'POST', '/v1/emails', {
    from: 'shop@simulator.localhost',
    to: 'delivered@simulator.localhost',
    subject: 'Hello',
    text: 'Hello {{unsubscribe_url}}',
    unsubscribe: { topic: 'documented' },
  });
  await call(204, 'DELETE', `/v1/topics/${id}`);
}

/** Calls every operation on aliases and on the mail that they receive. */
export async function callInbox(call: Call, until: Until, server: PosthornServer, smtpPort: number): Promise<void> {
  const pull = (await call(201, 'POST', '/v1/destinations', { name: 'Mail', type: 'pull' })).json.id;
  const { id, address } = (
    await call(201, 'POST', '/v1/aliases', {
      kind: 'platform',
      localPart: 'documented',
      destinationIds: [pull],
      allowedSenders: ['@b.example'],
    })
  ).json;
  const other = (
    await call(201, 'POST', '/v1/aliases', { kind: 'platform', localPart: 'another', destinationIds: [pull] })
  ).json;
  await call(409, 'POST', '/v1/aliases', { kind: 'platform', localPart: 'documented', destinationIds: [pull] });
  await call(400, 'POST', '/v1/aliases', { kind: 'platform', localPart: 'postmaster', destinationIds: [pull] });
  const page = (await call(200, 'GET', '/v1/aliases?limit=1')).json;
  await call(200, 'GET', `/v1/aliases?limit=1&cursor=${page.next_cursor}`);
  await call(200, 'GET', `/v1/aliases/${id}`);
  await call(200, 'PATCH', `/v1/aliases/${id}`, {
    maxSizeBytes: 1_000_000,
    forward_to: ['ops@customer.example'],
    auto_reply: { subject: 'We got it', text: 'Thank you.' },
    link_ttl_seconds: 3_600,
  });
  await deliver(smtpPort, address, MESSAGE);
  await deliver(smtpPort, address, MESSAGE.replace('<file@', '<another@').replace('text/plain', 'text/html'));
  await until(
    `/v1/aliases/${id}/messages`,
    (json) => json.data.length === 2 && json.data.every(({ state }: { state: string }) => state !== 'received'),
  );
  const { data: messages } = (await call(200, 'GET', `/v1/aliases/${id}/messages`)).json;
  for (const { id: message } of messages) await call(200, 'GET', `/v1/aliases/${id}/messages/${message}`);
  const at = `/v1/aliases/${encodeURIComponent(address)}/messages/${messages[1].id}`;
  await call(200, 'GET', `${at}/raw`);
  await call(200, 'GET', `${at}/attachments/0`);
  await call(404, 'GET', `${at}/attachments/7`);
  await call(404, 'GET', `${at}/view`);
  await call(200, 'GET', `/v1/aliases/${id}/messages/${messages[0].id}/view`);
  const links = (await call(200, 'POST', `${at}/links`, { expires_in: 60 })).json;
  for (const url of [links.raw_url, links.attachments[0].url])
    await call(200, 'GET', `/v1/mail-files?token=${new URL(url).searchParams.get('token')}`);
  await call(404, 'GET', '/v1/mail-files?token=nonsense');
  await call(200, 'GET', `/v1/aliases/${id}/messages?email_id=evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1`);
  await call(200, 'POST', `/v1/aliases/${id}/replay`, { dry_run: true });
  await deliver(smtpPort, other.address, MESSAGE.replace(/^From:.*\r\n/m, ''));
  await until(`/v1/aliases/${other.id}/messages?state=quarantined`, (json) => json.data.length === 1);
  const [quarantined] = (await call(200, 'GET', `/v1/aliases/${other.id}/messages?state=quarantined`)).json.data;
  await call(200, 'POST', `/v1/aliases/${other.id}/messages/${quarantined.id}/release`);
  await call(409, 'POST', `/v1/aliases/${other.id}/messages/${quarantined.id}/release`);
  await call(204, 'DELETE', `/v1/aliases/${id}`);
}

/**
 * Calls every operation on reports about mail. Notifications of Amazon SES need its certificate and have their own
 * suite.
 */
export async function callReports(call: Call, until: Until, server: PosthornServer): Promise<void> {
  const { id } = (
    await call(202, 'POST', '/v1/emails', {
      from: 'shop@simulator.localhost',
      to: 'delivered@simulator.localhost',
      subject: 'Reported',
      text: 'Hello',
    })
  ).json;
  const [sql, door] = [openSql(server), await openReportDoor(server)];
  const [{ environment } = { environment: 0 }] = await sql.rows<{ environment: number }>(
    'select environment_id as environment from events where id = $1',
    [uuidOf(id)],
  );
  const token = Buffer.alloc(20);
  token.writeUInt32BE(environment);
  Buffer.from(uuidOf(id).replaceAll('-', ''), 'hex').copy(token, 4);
  await door.toReturnPath(
    `b+${token.toString('hex')}@localhost`,
    deliveryReport({ recipient: 'delivered@simulator.localhost' }),
  );
  await door.close();
  await sql.close();
  await until('/v1/reports?limit=1', (json) => json.data.length === 1 && json.data[0].state !== 'waiting');
  const { data: reports } = (await call(200, 'GET', '/v1/reports')).json;
  await call(200, 'GET', `/v1/reports/${reports[0].id}`);
  await call(200, 'GET', `/v1/reports/${reports[0].id}/raw`);
  await call(401, 'POST', '/v1/providers/ses/notifications', { Type: 'Notification' });
}
