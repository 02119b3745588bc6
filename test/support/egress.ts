import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { EgressAgentOptions, EgressAnswer, EgressRequest } from '#egress/agent.js';
import { EgressAgent } from '#egress/agent.js';
import { Names } from '#egress/names/names.js';
import { egressPolicy } from '#engine/egress-policy.js';
import type { RawReceiver, RawReceiverOptions, ReceivedRequest } from './raw-receiver.js';
import { rawReceiver } from './raw-receiver.js';

const LOOPBACK = egressPolicy({ allowCidrs: ['127.0.0.0/8'], allowHttp: true });
const pem = (name: string): string => readFileSync(new URL(`./tls/${name}.pem`, import.meta.url), 'utf8');

/** A self-signed certificate for localhost, 127.0.0.1 and ::1, valid until 2120. */
export const TLS = { cert: pem('localhost-cert'), key: pem('localhost-key') };

export const never = (): void => undefined;

const cleanups: (() => Promise<void>)[] = [];

export const onCleanUp = (cleanup: () => Promise<void>): void => void cleanups.push(cleanup);

/** Closes the agents and receivers of a test in reverse order. For `afterEach`. */
export async function cleanUp(): Promise<void> {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
}

/** Returns an agent that may call loopback addresses and plain http. */
export function agentWith(options: Partial<EgressAgentOptions> = {}): EgressAgent {
  const agent = new EgressAgent({ policy: () => LOOPBACK, resolve: new Names({ servers: [] }).resolve, ...options });
  onCleanUp(() => agent.destroy());
  return agent;
}

export async function receiverWith(
  answer?: (socket: Socket, request: ReceivedRequest) => void,
  options?: RawReceiverOptions,
): Promise<RawReceiver> {
  const receiver = await rawReceiver(answer, options);
  onCleanUp(() => receiver.close());
  return receiver;
}

export const to = (receiver: RawReceiver, request: Partial<EgressRequest> = {}): EgressRequest => ({
  method: 'POST',
  url: new URL(`http://127.0.0.1:${receiver.port}/hooks/in?token=s3cret`),
  headers: { 'content-type': 'application/json' },
  body: '{"a":1}',
  timeoutMs: 3000,
  bodyBytesMax: 65_536,
  ...request,
});

export const statusOf = (answer: EgressAnswer): number | string =>
  answer.kind === 'response' ? answer.status : answer.error;
