import type { SQSClient } from '@aws-sdk/client-sqs';
import type { EgressAgent } from '#egress/agent.js';
import { outsideOfLambda, sdkSettings } from '#egress/aws-sdk.js';
import type { QueueSettings } from './settings.js';

const LIMITS = { timeoutMs: 15_000, answerBytesMax: 256 * 1024 };

/** The AWS SDK's own code, as far as it is needed for a queue. */
export type Sdk = typeof import('@aws-sdk/client-sqs');

/** The AWS SDK's client of one queue, which makes one attempt. The SDK is loaded with the first one: most installations have none. */
export async function queueClient(
  { endpoint, ...account }: Pick<QueueSettings, 'endpoint' | 'region' | 'credentials'>,
  agent: EgressAgent,
): Promise<{ sdk: Sdk; client: SQSClient }> {
  const sdk = await import('@aws-sdk/client-sqs');
  const client = outsideOfLambda(
    new sdk.SQSClient({
      ...sdkSettings(account, agent, LIMITS),
      endpoint,
      maxAttempts: 1,
      // The request's signature covers the body, and a mismatch would come after the queue has taken the messages.
      md5: false,
    }),
  );
  return { sdk, client };
}
