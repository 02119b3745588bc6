import assert from 'node:assert/strict';
import { type Access, Client, until } from './client.js';
import type { ConformanceCheck } from './conformance-check.js';

export interface SubmittedMail {
  raw: string;
  recipients: readonly string[];
}

/** A transport, and the server that it submits to. The service runs with `EMAIL_TRANSPORT=extension:NAME`. */
export interface MailTransportUnderTest {
  service(): Promise<Access> | Access;
  /** An address at a verified domain. */
  sender: string;
  /** Returns all messages that the server has received, in order. */
  received(): readonly SubmittedMail[];
  /** Sets whether the server accepts messages, rejects them permanently, or rejects them temporarily. */
  answer(how: 'accept' | 'refuse' | 'defer'): void;
  /** `stopServer` makes the server refuse connections. `startServer` starts it again at the same address. */
  stopServer(): Promise<void>;
  startServer(): Promise<void>;
}

type Json = Record<string, unknown>;

export function mailTransportConformance(subject: MailTransportUnderTest): ConformanceCheck[] {
  const client = async (): Promise<Client> => new Client(await subject.service());
  const send = async (to: string[]): Promise<string> => {
    const email = { from: subject.sender, to, subject: 'Conformance', text: 'A message.' };
    return (await (await client()).expect(202, 'POST', '/v1/emails', email))['id'] as string;
  };
  const emailOf = async (id: string): Promise<Json> => (await client()).expect(200, 'GET', `/v1/emails/${id}`);
  const inStatus = (id: string, ...expected: string[]): Promise<Json> =>
    until(
      () => emailOf(id),
      ({ status }) => expected.includes(status as string),
    );
  const attempted = (id: string): Promise<Json> =>
    until(
      () => emailOf(id),
      ({ attempts }) => (attempts as unknown[]).length > 0,
    );
  const rawOf = async (id: string): Promise<string> =>
    (await (await client()).call('GET', `/v1/emails/${id}/raw`)).text;
  return [
    {
      name: 'an email is submitted unchanged, for all its recipients',
      run: async () => {
        const to = ['ann@conformance.example', 'bob@conformance.example'];
        const id = await send(to);
        await inStatus(id, 'delivered', 'sending');
        await attempted(id);
        const raw = await rawOf(id);
        const mails = subject.received().filter((mail) => mail.raw === raw);
        assert.deepEqual(mails.flatMap(({ recipients }) => recipients).sort(), to);
      },
    },
    {
      name: 'a permanent refusal ends the email',
      run: async () => {
        subject.answer('refuse');
        const id = await send(['cleo@conformance.example']);
        await inStatus(id, 'failed', 'bounced').finally(() => subject.answer('accept'));
      },
    },
    {
      name: 'a temporary refusal does not end the email',
      run: async () => {
        subject.answer('defer');
        const id = await send(['dan@conformance.example']);
        const { status } = await attempted(id).finally(() => subject.answer('accept'));
        assert.equal(status, 'sending');
      },
    },
    {
      name: 'an email that is sent while the server is down is not lost',
      run: async () => {
        await subject.stopServer();
        const id = await send(['eve@conformance.example']);
        const { status } = await attempted(id).finally(() => subject.startServer());
        assert.equal(status, 'sending');
        const resent = await (await client()).call('POST', `/v1/events/${id}/replay`, {});
        if (resent.status < 300) await inStatus(id, 'delivered', 'sending');
      },
    },
  ];
}
