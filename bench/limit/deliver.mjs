import { createHmac, createSecretKey } from 'node:crypto';
import { Pool } from 'undici';

/** Number of pooled connections. A few dozen are fastest: with 200, undici loses a tenth of its rate. */
const CONNECTIONS = 32;

/** Sends one POST with undici and handles its response, without creating closures. */
class Delivery {
  #startedAt = performance.now();
  #statusCode = 0;

  /** @param {Buffer} id @param {(outcome: import('./store.mjs').Outcome) => void} onOutcome */
  constructor(id, onOutcome) {
    this.id = id;
    this.onOutcome = onOutcome;
  }

  onConnect() {}

  /** @param {number} statusCode */
  onHeaders(statusCode) {
    this.#statusCode = statusCode;
    return true;
  }

  onData() {
    return true;
  }

  onComplete() {
    this.onOutcome({
      id: this.id,
      statusCode: this.#statusCode,
      durationMs: Math.round(performance.now() - this.#startedAt),
    });
  }

  onError() {
    this.#statusCode = 0;
    this.onComplete();
  }
}

/**
 * Returns a function that sends signed POSTs (Standard Webhooks, `v1`) over pooled connections to one URL.
 *
 * @param {string} targetUrl @param {Buffer} secret @param {(outcome: import('./store.mjs').Outcome) => void} onOutcome
 * @returns {(id: Buffer, webhookId: string, body: string) => void}
 */
export function deliverer(targetUrl, secret, onOutcome) {
  const { origin, pathname: path } = new URL(targetUrl);
  const pool = new Pool(origin, { connections: CONNECTIONS, pipelining: 1 });
  const key = createSecretKey(secret);
  return (id, webhookId, body) => {
    const timestamp = String(Math.floor(Date.now() / 1000));
    const signature = createHmac('sha256', key).update(`${webhookId}.${timestamp}.${body}`).digest('base64');
    const signed = ['webhook-id', webhookId, 'webhook-timestamp', timestamp, 'webhook-signature', `v1,${signature}`];
    const headers = ['content-type', 'application/json', ...signed];
    pool.dispatch({ method: 'POST', path, headers, body }, new Delivery(id, onOutcome));
  };
}
