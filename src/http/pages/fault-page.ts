import type { ApiError } from '#kernel/errors.js';
import { html } from './html.js';
import type { Page } from './page.js';

export function faultPage({ type, message }: ApiError, requestId: string): Page {
  const title =
    type === 'rate_limited'
      ? 'Too many tries'
      : type === 'internal' || type === 'unavailable'
        ? 'That did not work'
        : 'That is not possible';
  return {
    title,
    body: html`<p class="fault" role="alert">${message}</p><p class="quiet">Request <code>${requestId}</code></p>`,
  };
}
