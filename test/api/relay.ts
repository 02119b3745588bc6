import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import type { PosthornServer } from '../support/server.js';
import { until } from './polling.js';
import type { Sql } from './scene.js';
import { WITHIN_MS } from './scene.js';

/** A message that the relay accepted. */
export interface Relayed {
  from: string;
  to: string[];
  raw: string;
}

/** A rejection by the relay: reply code and text. */
export interface RelayRefusal {
  code: number;
  text: string;
}

/**
 * A simulated mail server (relay). It accepts every message for every recipient, unless a test configures a rejection.
 */
export interface Relay {
  readonly url: string;
  readonly port: number;
  readonly taken: readonly Relayed[];
  /** Sets the function that decides on every later recipient: returns a rejection, or null to accept. */
  refuseRecipients(decide: (address: string) => RelayRefusal | null): void;
  /** Delays the reply to each later message until the promise resolves. Null: no delay. */
  holdAnswers(until: (to: readonly string[]) => Promise<void> | null): void;
  /** Sets the function that decides on every later message: returns a rejection, or null to accept. */
  refuseMessages(decide: () => RelayRefusal | null): void;
  took(count: number): Promise<readonly Relayed[]>;
  close(): Promise<void>;
}

export async function startRelay(port = 0): Promise<Relay> {
  const taken: Relayed[] = [];
  let ofRecipient: (address: string) => RelayRefusal | null = () => null;
  let ofMessage: () => RelayRefusal | null = () => null;
  let held: (to: readonly string[]) => Promise<void> | null = () => null;
  const refusal = ({ code, text }: RelayRefusal): Error => Object.assign(new Error(text), { responseCode: code });
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    logger: false,
    closeTimeout: 200,
    onRcptTo: ({ address }, _session, done) => {
      const refused = ofRecipient(address);
      done(refused && refusal(refused));
    },
    onData: (stream, { envelope }, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const refused = ofMessage();
        const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
        const to = envelope.rcptTo.map(({ address }) => address);
        if (refused === null) taken.push({ from, to, raw: Buffer.concat(chunks).toString('latin1') });
        void Promise.resolve(held(to)).then(() => done(refused && refusal(refused)));
      });
    },
  });
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', () => resolve()));
  const bound = (server.server.address() as AddressInfo).port;
  return {
    url: `smtp://127.0.0.1:${bound}?tls=off`,
    port: bound,
    taken,
    holdAnswers: (until) => void (held = until),
    refuseRecipients: (decide) => void (ofRecipient = decide),
    refuseMessages: (decide) => void (ofMessage = decide),
    took: (count) =>
      until(
        async () => taken,
        (all) => all.length >= count,
        WITHIN_MS,
      ),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** Creates a domain and marks it as verified, as a completed domain check does. */
export async function verifyDomain(server: PosthornServer, sql: Sql, host: string, kind = 'email-send'): Promise<void> {
  const answer = await server.api('POST', '/v1/domains', { domain: host, kind });
  if (answer.status !== 201) throw new Error(`The domain was not made: ${answer.text}`);
  await sql.rows(
    `update domains set state = 'verified', is_owner = true, sending_enabled = true, next_check_at = now() + interval '1 day', verified_at = now() where host = $1`,
    [host],
  );
}
