import { SQSClient } from '@aws-sdk/client-sqs';
import type { EgressAgent } from '#egress/agent.js';
import { outsideOfLambda, sdkSettings } from '#egress/aws-sdk.js';
import type { QueueSettings } from './settings.js';

const LIMITS = { timeoutMs: 15_000, answerBytesMax: 256 * 1024 };

/** The AWS SDK's client of one queue, which makes one attempt. */
export function queueClient({ endpoint, ...account }: Pick<QueueSettings, 'endpoint' | 'region' | 'credentials'>, agent: EgressAgent): SQSClient {
  return outsideOfLambda(new SQSClient({
    ...sdkSettings(account, agent, LIMITS),
    endpoint,
    maxAttempts: 1,
    // The request's signature covers the body, and a mismatch would come after the queue has taken the messages.
    md5: false,
  }));
}
