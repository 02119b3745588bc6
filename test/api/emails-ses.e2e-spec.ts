import { CreateEmailIdentityCommand, SESv2Client } from '@aws-sdk/client-sesv2';
import { isMotoInstalled, Moto } from '../support/moto.js';
import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { expectInvalid } from './answers.js';
import { emailAfter, emailIn, rawOf } from './emailing.js';
import { until } from './polling.js';
import { verifyDomain } from './relay.js';
import type { Sql } from './scene.js';
import { expectStatus, openSql, uuidOf, WITHIN_MS } from './scene.js';

const REGION = 'eu-west-1';

interface TakenMessage {
  id: string;
  destinations: string[];
  raw_data: string;
}

(isMotoInstalled() ? describe : describe.skip)('EMAIL_TRANSPORT=ses:', () => {
  let moto: Moto;
  let server: PosthornServer;
  let sql: Sql;

  beforeAll(async () => {
    moto = await Moto.start();
    server = await startServer({
      EMAIL_TRANSPORT: `ses:${REGION}?endpoint=${moto.url}&configuration_set=posthorn`,
      PLATFORM_DOMAIN: 'posthorn.example',
      AWS_ACCESS_KEY_ID: moto.credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: moto.credentials.secretAccessKey,
    });
    sql = openSql(server);
    const ses = new SESv2Client({ region: REGION, endpoint: moto.url, credentials: { ...moto.credentials } });
    await ses.send(new CreateEmailIdentityCommand({ EmailIdentity: 'mail.example.com' }));
    ses.destroy();
    for (const host of ['mail.example.com', 'unknown.example.com']) await verifyDomain(server, sql, host);
  });

  afterAll(async () => {
    await sql?.close();
    await server?.stop();
    await moto?.stop();
  });

  const taken = async (): Promise<TakenMessage[]> =>
    ((await (await fetch(`${moto.url}/moto-api/data.json`)).json()) as { ses: { RawMessage: TakenMessage[] } }).ses
      .RawMessage;

  const send = async (fields: object): Promise<string> =>
    expectStatus(
      await server.api('POST', '/v1/emails', { subject: 'Your order', text: 'It is on its way.', ...fields }),
      202,
    ).json.id as string;

  it('SES gets the message as composed, with all envelope recipients; the email is sent until SES reports more, and its SES id is stored', async () => {
    const id = await send({ from: 'shop@mail.example.com', to: 'a@x.example', bcc: 'hidden@x.example' });

    const email = await emailAfter(server, id, 1);
    const [message] = await until(taken, (all) => all.length > 0, WITHIN_MS);
    expect(message?.destinations).toEqual(expect.arrayContaining(['a@x.example', 'hidden@x.example']));
    expect(message?.raw_data.replaceAll('\r\n', '\n')).toBe((await rawOf(server, id)).replaceAll('\r\n', '\n'));
    expect(email).toMatchObject({
      status: 'sending',
      attempts: [{ status: 200, response_excerpt: `200 ${message?.id}` }],
    });
    expect(email.timeline.map(({ type }: { type: string }) => type)).toEqual(['sent', 'sent']);
    expect(await sql.rows(`select provider_message_id as name from emails where id = '${uuidOf(id)}'`)).toEqual([
      { name: message?.id },
    ]);
  });

  it('Message-ID and Date are not signed, because SES replaces them', async () => {
    const [signature = ''] =
      /^DKIM-Signature:[^]*?\r\n(?! )/.exec(
        await rawOf(server, await send({ from: 'shop@mail.example.com', to: 'b@x.example' })),
      ) ?? [];

    const signed = (/;h=([^;]*);/.exec(signature.replaceAll(/\s/g, ''))?.[1] ?? '').toLowerCase().split(':');
    expect(signed).toEqual(expect.arrayContaining(['from', 'to', 'subject']));
    expect(signed.filter((name) => ['date', 'message-id', 'return-path'].includes(name))).toEqual([]);
  });

  it('a sender that SES does not know is retried, because the operator can register it', async () => {
    const id = await send({ from: 'shop@unknown.example.com', to: 'a@x.example' });

    expect(await emailAfter(server, id, 1)).toMatchObject({
      status: 'sending',
      attempts: [{ status: 400, response_excerpt: expect.stringContaining('authority') }],
    });
  });

  it('422: an address with characters outside ASCII, which SES does not accept', async () => {
    const before = (await taken()).length;

    const answer = await server.api('POST', '/v1/emails', {
      from: 'shop@mail.example.com',
      to: ['a@x.example', 'zoë@x.example'],
      reply_to: 'ирина@x.example',
      subject: 'x',
      text: 'x',
    });

    expect(expectInvalid(answer, 'schema')).toEqual(['to.1', 'reply_to.0']);
    expect(answer.json.error.message).toContain('SMTPUTF8');
    expect((await taken()).length).toBe(before);
    await send({ from: 'zoë@simulator.posthorn.example', to: 'delivered@simulator.posthorn.example' });
  });

  it('the simulator works without SES', async () => {
    const before = (await taken()).length;

    await emailIn(
      server,
      await send({ from: 'shop@simulator.posthorn.example', to: 'bounced@simulator.posthorn.example' }),
      'bounced',
    );

    expect((await taken()).length).toBe(before);
  });
});
