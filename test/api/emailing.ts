import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { until } from './polling.js';
import { expectStatus, WITHIN_MS } from './scene.js';

/** The host of the simulator's addresses, with the platform domain that tests have. */
export const SIMULATOR = 'simulator.localhost';
export const SENDER = `Shop <shop@${SIMULATOR}>`;

/** An email that leaves nothing to be desired. */
export const EMAIL = { from: SENDER, to: `delivered@${SIMULATOR}`, subject: 'Your order', text: 'It is on its way.' };

/** An address of the simulator that nobody else uses. */
let labels = 0;
export const simulated = (role: string): string => `${role}+${(labels += 1)}@${SIMULATOR}`;

/** Sends and returns the email's id. */
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

/** The email as soon as it is in a state. */
export async function emailIn(server: PosthornServer, id: string, status: string): Promise<ApiAnswer['json']> {
  return until(
    () => emailOf(server, id),
    (email) => email.status === status,
    WITHIN_MS,
  );
}

/** The email as soon as it has so many attempts. */
export async function emailAfter(server: PosthornServer, id: string, attempts: number): Promise<ApiAnswer['json']> {
  return until(
    () => emailOf(server, id),
    (email) => email.attempts.length >= attempts,
    WITHIN_MS,
  );
}

/** What was sent, byte for byte. */
export async function rawOf(server: PosthornServer, id: string): Promise<string> {
  return expectStatus(await server.api('GET', `/v1/emails/${id}/raw`), 200).text;
}
