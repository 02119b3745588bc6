import type { SendMessageBatchRequestEntry } from '@aws-sdk/client-sqs';
import type { EgressAgent } from '#egress/agent.js';
import { memoizeAsync } from '#kernel/concurrency/memoize-async.js';
import type { DeliveryAnswer } from '#modules/destinations/contract.js';
import { Batcher } from './batcher.js';
import { queueClient } from './client.js';
import { entryFault, type QueueFault, requestFault } from './faults.js';
import { BYTES_MAX, type QueueMessage } from './message.js';
import type { QueueSettings } from './settings.js';

/** Maximum number of entries in a `SendMessageBatch` request. */
const ENTRIES_MAX = 10;
/** Linger time: the maximum wait for further messages. Deliveries that start together arrive 1 to 2 ms apart. */
const LINGER_MS = 4;
const OK = 200;

interface Pending {
  message: QueueMessage;
  bytes: number;
  startedAt: number;
  /** Deadline on the monotonic clock (`performance.now()`). */
  deadlineAt: number;
}

type Said = Pick<DeliveryAnswer, 'answer' | 'excerpt'>;

export class Queue {
  private readonly open: () => ReturnType<typeof queueClient>;
  private readonly batcher: Batcher<Pending, DeliveryAnswer>;

  constructor(
    readonly settings: QueueSettings,
    agent: EgressAgent,
  ) {
    this.open = memoizeAsync(() => queueClient(settings, agent));
    const limits = { entriesMax: ENTRIES_MAX, bytesMax: BYTES_MAX, lingerMs: LINGER_MS, isOrdered: settings.isFifo };
    this.batcher = new Batcher(limits, (batch) => this.send(batch));
  }

  /** Batches messages that arrive within the linger time. Resolves within `timeoutMs` and never rejects. */
  add(message: QueueMessage, timeoutMs: number): Promise<DeliveryAnswer> {
    const startedAt = performance.now();
    return this.batcher.add({ message, bytes: message.bytes, startedAt, deadlineAt: startedAt + timeoutMs });
  }

  /** Returns all attributes of the queue, or the reason why they are unavailable. Never rejects. */
  async attributes(
    timeoutMs: number,
  ): Promise<{ attributes: Partial<Record<string, string>> } | { fault: QueueFault }> {
    const { queueUrl, credentials } = this.settings;
    try {
      const { sdk, client } = await this.open();
      const command = new sdk.GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: ['All'] });
      const { Attributes: attributes = {} } = await client.send(command, { requestTimeout: timeoutMs });
      return { attributes };
    } catch (error) {
      return { fault: requestFault(error, credentials) };
    }
  }

  private async send(batch: readonly Pending[]): Promise<DeliveryAnswer[]> {
    const { queueUrl, credentials } = this.settings;
    try {
      const { sdk, client } = await this.open();
      const remainingMs = Math.floor(Math.min(...batch.map(({ deadlineAt }) => deadlineAt)) - performance.now());
      if (remainingMs <= 0) return await this.sendInTime(batch);
      const command = new sdk.SendMessageBatchCommand({
        QueueUrl: queueUrl,
        Entries: batch.map(({ message }, index) => entryOf(message, index)),
      });
      const {
        Successful: taken = [],
        Failed: refused = [],
        $metadata: { httpStatusCode: status = OK },
      } = await client.send(command, { requestTimeout: remainingMs });
      const byId = new Map<string | undefined, Said>();
      for (const { Id: id, MessageId: messageId } of taken)
        byId.set(id, { answer: { kind: 'response', status, retryAfter: null }, excerpt: `MessageId ${messageId}` });
      for (const entry of refused) byId.set(entry.Id, failure(entryFault(entry, credentials)));
      return batch.map((pending, index) => answered(pending, byId.get(String(index)) ?? UNMENTIONED));
    } catch (error) {
      const fault = requestFault(error, credentials);
      // One invalid message may have failed the whole batch. Sends the messages one by one, so that only the invalid
      // one fails.
      return fault.isOfAnEntry && batch.length > 1
        ? this.sendOneByOne(batch)
        : batch.map((pending) => answered(pending, failure(fault)));
    }
  }

  private async sendOneByOne(batch: readonly Pending[]): Promise<DeliveryAnswer[]> {
    const answers: DeliveryAnswer[] = [];
    for (const pending of batch) answers.push(...(await this.send([pending])));
    return answers;
  }

  /** Sends a batch, without messages whose deadline passed while they waited for earlier batches (FIFO queues). */
  private async sendInTime(batch: readonly Pending[]): Promise<DeliveryAnswer[]> {
    const now = performance.now();
    const isInTime = ({ deadlineAt }: Pending): boolean => deadlineAt - now >= 1;
    const inTime = batch.filter(isInTime);
    const answers = inTime.length === 0 ? [] : await this.send(inTime);
    return batch.map((pending) => answers[inTime.indexOf(pending)] ?? answered(pending, TOO_LATE));
  }
}

const UNMENTIONED: Said = {
  answer: { kind: 'error', error: 'protocol' },
  excerpt: 'The response of the queue does not mention this message.',
};
const TOO_LATE: Said = {
  answer: { kind: 'error', error: 'timeout' },
  excerpt: 'Not sent: earlier messages were not answered in time.',
};

function entryOf(
  { body, attributes, groupId, deduplicationId }: QueueMessage,
  index: number,
): SendMessageBatchRequestEntry {
  return {
    Id: String(index),
    MessageBody: body,
    MessageAttributes: attributes,
    MessageGroupId: groupId,
    MessageDeduplicationId: deduplicationId,
  };
}

const failure = ({ answer, detail }: QueueFault): Said => ({ answer, excerpt: detail });

function answered({ startedAt }: Pending, { answer, excerpt }: Said): DeliveryAnswer {
  return { answer, excerpt, durationMs: Math.round(performance.now() - startedAt) };
}
