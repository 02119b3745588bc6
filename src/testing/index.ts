/**
 * Test utilities for extensions: `import { … } from 'posthorn/testing'`, for any test runner. Not part of the service.
 */
export { blobStoreConformance } from './blob-checks.js';
export type { BlobStoreUnderTest } from './blob-checks.js';
export { Client, until } from './client.js';
export type { Access, ApiAnswer } from './client.js';
export type { ConformanceCheck } from './conformance-check.js';
export { destinationConformance } from './destination-conformance.js';
export type { DestinationConformance } from './destination-conformance.js';
export type {
  BrokenDraft,
  DestinationDraft,
  DestinationUnderTest,
  PosthornUnderTest,
  ReceivedMessage,
} from './destination-under-test.js';
export { authenticatorConformance, listenerConformance, policyConformance } from './door-checks.js';
export type {
  AuthenticatorUnderTest,
  ListenerUnderTest,
  MessageDraft,
  PolicyUnderTest,
  RefusedToken,
  TargetUnderTest,
} from './door-checks.js';
export { presetConformance } from './preset-checks.js';
export type { PresetUnderTest, ProviderRequest } from './preset-checks.js';
export { retryPolicyConformance } from './retry-policy-checks.js';
export type { RetryPolicyUnderTest } from './retry-policy-checks.js';
export { senderConformance } from './sender-checks.js';
export type { SenderUnderTest } from './sender-checks.js';
export { mailTransportConformance } from './transport-checks.js';
export type { MailTransportUnderTest, SubmittedMail } from './transport-checks.js';
export { startPosthorn } from './posthorn.js';
export type { PosthornOptions, RunningPosthorn } from './posthorn.js';
