import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { until } from './polling.js';
import { expectStatus, WITHIN_MS } from './scene.js';

/** Host of the simulator's addresses, under the platform domain of the tests. */
export const SIMULATOR = 'simulator.localhost';
export const SENDER = `Shop <shop@${SIMULATOR}>`;

/** A complete, valid email. */
export const EMAIL = { from: SENDER, to: `delivered@${SIMULATOR}`, subject: 'Your order', text: 'It is on its way.' };

let labels = 0;
/** Returns a simulator address that no other test uses. */
export const simulated = (role: string): string => `${role}+${(labels += 1)}@${SIMULATOR}`;

export async function sendEmail(
  server: PosthornServer,
  fields: object = {},
  headers: Record<string, string> = {},
): Promise<string> {
  return expectStatus(await server.api('POST', '/v1/emails', { ...EMAIL, ...fields }, headers), 202).json.id as string;
}

export async function emailOf(
  server: PosthornServer,
  id: string,
  headers: Record<string, string> = {},
): Promise<ApiAnswer['json']> {
  return expectStatus(await server.api('GET', `/v1/emails/${id}`, undefined, headers), 200).json;
}

export async function emailIn(server: PosthornServer, id: string, status: string): Promise<ApiAnswer['json']> {
  return until(
    () => emailOf(server, id),
    (email) => email.status === status,
    WITHIN_MS,
  );
}

export async function emailAfter(server: PosthornServer, id: string, attempts: number): Promise<ApiAnswer['json']> {
  return until(
    () => emailOf(server, id),
    (email) => email.attempts.length >= attempts,
    WITHIN_MS,
  );
}

/** Returns the raw message of an email, byte for byte. */
export async function rawOf(server: PosthornServer, id: string): Promise<string> {
  return expectStatus(await server.api('GET', `/v1/emails/${id}/raw`), 200).text;
}
