import { EgressAgent } from '#egress/agent.js';
import { EgressGate } from '#egress/gate.js';
import type { UrlVerdict } from '#engine/egress-policy.js';
import type { Fault } from '#kernel/errors.js';
import {
  Adapter,
  type DeliveryAnswer,
  DestinationAdapter,
  type Draft,
  type Outgoing,
  type ProbeReport,
  type Target,
} from '#modules/destinations/contract.js';
import { OwnHost } from './own-host.js';
import { messageOf } from './sqs/message.js';
import { Queue } from './sqs/queue.js';
import { Queues } from './sqs/queues.js';
import { queueSettings, settingsFaults } from './sqs/settings.js';

const PROBE_TIMEOUT_MS = 10_000;

/** Sends messages to an Amazon SQS queue, or to a compatible server. Ignores the destination's URL. */
@Adapter()
export class SqsAdapter extends DestinationAdapter {
  override readonly type = 'sqs';
  override readonly pulled = false;

  constructor(
    private readonly agent: EgressAgent,
    private readonly gate: EgressGate,
    private readonly ownHost: OwnHost,
    private readonly queues: Queues,
  ) {
    super();
  }

  override check(draft: Draft): Fault[] {
    return settingsFaults(draft, (url) => this.admit(url));
  }

  override async probe(draft: Draft): Promise<ProbeReport> {
    const settings = queueSettings(draft);
    if (settings === null) return { ok: false, check: 'schema', detail: 'The settings are incomplete.' };
    // The probe uses its own queue client, so that unsaved settings are not cached.
    const found = await new Queue(settings, this.agent).attributes(PROBE_TIMEOUT_MS);
    if ('fault' in found)
      return {
        ok: false,
        check: found.fault.isCredentials ? 'credentials' : 'connectivity',
        detail: found.fault.detail,
      };
    return report(found.attributes, settings.isFifo);
  }

  override async deliver(outgoing: Outgoing, target: Target): Promise<DeliveryAnswer> {
    const queue = this.queues.forTarget(target);
    if (queue === null)
      return {
        answer: { kind: 'error', error: 'protocol' },
        durationMs: 0,
        excerpt: 'The settings of the destination are incomplete.',
      };
    const message = messageOf(outgoing, target, queue.settings);
    if ('refusal' in message)
      return { answer: { kind: 'error', error: 'refused' }, durationMs: 0, excerpt: message.refusal };
    return queue.add(message, target.timeoutMs);
  }

  private admit(url: string): UrlVerdict {
    return this.ownHost.is(url)
      ? {
          ok: false,
          reason: 'The URL is on this service itself, which would cause a loop. Use the URL of a queue.',
          check: 'connectivity',
        }
      : this.gate.check(url);
  }
}

/** Reports whether a queue is usable: it must have an ARN, and the name of a FIFO queue must end in `.fifo`. */
function report(
  { QueueArn: arn, FifoQueue, MaximumMessageSize: bytesMax }: Partial<Record<string, string>>,
  isFifoByName: boolean,
): ProbeReport {
  if (arn === undefined)
    return {
      ok: false,
      check: 'connectivity',
      detail: 'The server responded, but not as an SQS queue: the response has no QueueArn.',
    };
  const isFifo = FifoQueue === 'true';
  if (isFifo && !isFifoByName)
    return {
      ok: false,
      check: 'connectivity',
      detail: 'The queue is a FIFO queue, but its URL does not end in .fifo.',
    };
  if (!isFifo && isFifoByName)
    return { ok: false, check: 'connectivity', detail: 'The URL ends in .fifo, but the queue is not a FIFO queue.' };
  const size = bytesMax === undefined ? '' : ` It accepts messages of up to ${bytesMax} bytes.`;
  return { ok: true, detail: `The ${isFifo ? 'FIFO' : 'standard'} queue answered.${size}` };
}
