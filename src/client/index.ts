// Exports of `posthorn/client`. They load no code of the service.
export { PosthornClient, type ClientOptions } from './client.js';
export { PosthornConnectionError, PosthornError, PosthornTimeoutError, type PosthornErrorType } from './errors.js';
export type { components, operations, paths } from './openapi.js';
export type { StreamedAttempt, StreamedDelivery, StreamedEvent, StreamMessage, StreamOptions } from './stream.js';
export { type VerifiedWebhook, type VerifyOptions, WebhookVerificationError, WebhookVerifier } from './webhook.js';
