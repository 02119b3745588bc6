import { jetstream, type PubAck } from '@nats-io/jetstream';
import { headers as natsHeaders, type MsgHdrs, type NatsConnection } from '@nats-io/nats-core';
import {
  Adapter,
  type DeliveryAnswer,
  DestinationAdapter,
  Dialer,
  type Draft,
  type Fault,
  type Outgoing,
  type ProbeReport,
  signatureHeader,
  type Target,
  Withheld,
} from 'posthorn';
import { Connections } from './connections.js';
import { explain, type Explained } from './failures.js';
import { connectThrough, streamsOf } from './gated-connection.js';
import { PublishLog } from './publish-log.js';
import { NATS_PORT, type NatsSettings, readSettings, subjectOf } from './settings.js';

const PROBE_TIMEOUT_MS = 8_000;
/** Event type used as a placeholder when a destination is probed. */
const SAMPLE_EVENT_TYPE = 'posthorn.probe';

/**
 * Publishes to NATS JetStream. A delivery succeeds when a stream has stored the message: the acknowledgment is the
 * response.
 */
@Adapter()
export class NatsAdapter extends DestinationAdapter {
  override readonly type = 'nats';
  override readonly pulled = false;

  constructor(
    private readonly connections: Connections,
    private readonly dialer: Dialer,
    private readonly log: PublishLog,
  ) {
    super();
  }

  override check(draft: Draft): Fault[] {
    const { settings, faults } = readSettings(draft);
    if (faults.length > 0) return faults;
    return settings.servers.flatMap((server) => {
      const refusal = this.dialer.refusal({ ...server, protocolPort: NATS_PORT });
      return refusal === null ? [] : { path: 'config.servers', message: refusal, check: 'connectivity' as const };
    });
  }

  override async probe(draft: Draft): Promise<ProbeReport> {
    const { settings } = readSettings(draft);
    try {
      const { servers } = settings;
      const connection = await connectThrough(this.dialer, {
        servers,
        credentials: draft.credentials,
        timeoutMs: PROBE_TIMEOUT_MS,
      });
      try {
        return await this.findStream(connection, settings);
      } finally {
        await connection.close();
      }
    } catch (error) {
      return reportOf(explain(error));
    }
  }

  override async deliver(outgoing: Outgoing, target: Target): Promise<DeliveryAnswer> {
    const startedAtMs = performance.now();
    const ended = (answer: DeliveryAnswer['answer'], excerpt: string): DeliveryAnswer => ({
      answer,
      durationMs: Math.round(performance.now() - startedAtMs),
      excerpt,
    });
    try {
      const { stream, seq, subject } = await this.publish(outgoing, target);
      return ended(
        { kind: 'response', status: 200, retryAfter: null },
        `Stored in ${stream} as message ${seq} with subject ${subject}.`,
      );
    } catch (error) {
      if (error instanceof Withheld) throw error;
      const { answer, detail } = explain(error);
      return ended(answer, detail);
    }
  }

  private async publish(outgoing: Outgoing, target: Target): Promise<PubAck & { subject: string }> {
    const { settings, faults } = readSettings({ ...target, url: null });
    if (faults[0]) throw new Error(`${faults[0].path}: ${faults[0].message}`);
    const { environmentId, targetId: destinationId, credentials, timeoutMs } = target;
    const subject = subjectOf(settings.subject, outgoing.eventType);
    const owner = { environmentId, destinationId, servers: settings.servers, credentials };
    const stored = this.connections.use(owner, async (connection) => {
      // Checks again whether the delivery may begin, because opening the connection may have taken some time.
      if (!outgoing.mayBegin()) throw new Withheld();
      const acknowledgement = await jetstream(connection, { timeout: timeoutMs }).publish(subject, outgoing.body, {
        headers: headersOf(outgoing, target),
        timeout: timeoutMs,
        ...(settings.stream === null ? {} : { expect: { streamName: settings.stream } }),
      });
      this.log.note({
        environmentId,
        stream: acknowledgement.stream,
        subject,
        bytes: Buffer.byteLength(outgoing.body),
        atMs: outgoing.atMs,
      });
      return { ...acknowledgement, subject };
    });
    return within(timeoutMs, stored);
  }

  /** Checks whether a stream stores messages with the subject. Some accounts have no permission to look up streams. */
  private async findStream(connection: NatsConnection, { stream, subject }: NatsSettings): Promise<ProbeReport> {
    try {
      const { streams } = await streamsOf(connection, PROBE_TIMEOUT_MS / 2);
      const name = stream ?? (await streams.find(subjectOf(subject, SAMPLE_EVENT_TYPE)));
      await streams.info(name);
      return { ok: true, detail: `The stream ${name} stores the delivered messages.` };
    } catch (error) {
      const explained = explain(error);
      if (explained.isForbidden)
        return {
          ok: true,
          detail: 'The server can be reached, but the account has no permission to look up the stream.',
        };
      return reportOf(explained);
    }
  }
}

/**
 * Returns the headers of the message. Posthorn's headers override the caller's. `Nats-Msg-Id` lets a stream drop a
 * message that is published again because its acknowledgment was lost. The id includes the destination, because two
 * destinations may publish to one stream. A replay has no `Nats-Msg-Id`, since it must be stored again.
 */
export function headersOf(
  outgoing: Outgoing,
  target: Pick<Target, 'headers' | 'targetId' | 'signingKeys' | 'privateKeys'>,
): MsgHdrs {
  const { webhookId, eventType, body, replayed, traceparent } = outgoing;
  const timestampSeconds = Math.floor(outgoing.atMs / 1000);
  const fields: Record<string, string> = { 'content-type': 'application/json', ...target.headers, ...outgoing.headers };
  // These headers are commands to the server. A caller must not be able to purge or expire messages.
  for (const name of Object.keys(fields)) if (name.toLowerCase().startsWith('nats-')) delete fields[name];
  fields['webhook-id'] = webhookId;
  fields['webhook-event-type'] = eventType;
  fields['webhook-timestamp'] = String(timestampSeconds);
  fields['webhook-signature'] = signatureHeader(
    target.signingKeys,
    webhookId,
    timestampSeconds,
    body,
    target.privateKeys,
  );
  if (replayed) fields['webhook-replayed'] = 'true';
  else fields['Nats-Msg-Id'] = `${webhookId}:${target.targetId}`;
  if (traceparent !== null) fields['traceparent'] = traceparent;
  const headers = natsHeaders();
  for (const [name, value] of Object.entries(fields)) headers.set(name, value);
  return headers;
}

function reportOf({ check, detail }: Explained): ProbeReport {
  return { ok: false, check, detail };
}

/** Rejects after `timeoutMs`. The work itself continues in the background until its own timeout. */
async function within<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Late()), timeoutMs);
  });
  work.catch(() => undefined);
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** Error with the same name as the timeout error of the NATS client. `explain` recognizes timeouts by this name. */
class Late extends Error {
  override readonly name = 'TimeoutError';
}
