import type { SQSClient } from '@aws-sdk/client-sqs';
import type { EgressAgent } from '#egress/agent.js';
import { outsideOfLambda, sdkSettings } from '#egress/aws-sdk.js';
import type { QueueSettings } from './settings.js';

const LIMITS = { timeoutMs: 15_000, answerBytesMax: 256 * 1024 };

export type Sdk = typeof import('@aws-sdk/client-sqs');

/** Creates an SQS client without SDK retries. Loads the SDK on first use: most installations have no queue. */
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
      // Turns off the MD5 check of responses. It would report a mismatch only after the queue has stored the messages,
      // and the request's signature already covers the body.
      md5: false,
    }),
  );
  return { sdk, client };
}
