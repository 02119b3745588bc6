import { DiscoveryService } from '@nestjs/core';
import type { GenericSchemeName, GenericSettings } from '#engine/inbound/generic.js';
import type { ReceivedRequest } from '#engine/inbound/request.js';
import type { ResponseSettings } from '#engine/inbound/response.js';
import type { Recipe } from '#engine/inbound/source.js';

/**
 * Marks a provider of an inbound preset: `@InboundPreset() class AcmePreset extends ProviderPreset`, in any module. Two
 * presets with one id make the start fail.
 */
export const InboundPreset = DiscoveryService.createDecorator();

/**
 * A preset for endpoints that receive from one webhook provider. It has either a `verification`, or a `verify` method.
 * An invalid preset makes the start fail.
 */
export abstract class ProviderPreset {
  /** Value for the `preset` field of an endpoint: lower-case letters, digits and `-`. */
  abstract readonly id: string;
  /** Name of the provider. */
  abstract readonly title: string;
  /** Tells the user what to enter as the endpoint's secret, in the terms of the provider's console. */
  abstract readonly secret: string;
  /** How the provider retries when the answer is not 2xx. */
  abstract readonly retries: string;

  /** How the provider signs, as in `verification` of an endpoint. Null if `verify` decides. */
  readonly verification: GenericSchemeName | null = null;
  /** Where the provider differs from the defaults, as in `verificationConfig` of an endpoint. */
  readonly verificationConfig: GenericSettings = {};

  /** For `verify`: headers that authenticate by themselves, such as tokens. They are hidden like `authorization`. */
  readonly secretHeaders: readonly string[] = [];

  /** Where to read the event type. The first recipe whose parts are all present is used, joined by dots. */
  readonly eventType: readonly Recipe[] = [[{ member: 'type' }]];
  /** Where to read the id that the provider repeats when it retries. Empty if there is none. */
  readonly providerId: readonly Recipe[] = [];
  /** Methods of the provider's unsigned, empty checks of the URL. They get 200 and create no event. */
  readonly urlCheck: readonly ('GET' | 'HEAD')[] = [];
  /** Default response of the endpoint, as in its `response`. Null for the global default. */
  readonly response: ResponseSettings | null = null;
  /** A sample event. `{{id}}`, `{{secret}}`, `{{seconds}}`, `{{millis}}` and `{{iso}}` are filled in. */
  readonly sample: { headers: Readonly<Record<string, string>>; body: string } = {
    headers: { 'content-type': 'application/json' },
    body: '{"type":"posthorn.test","id":"{{id}}"}',
  };

  /**
   * Returns whether the sender proves that it knows one of the secrets, newest first. Compare in constant time. Must
   * finish within two seconds. If it throws, takes longer or returns no boolean, the request gets 503 and is not
   * accepted, so that the provider sends it again.
   */
  verify?(request: ReceivedRequest, secrets: readonly string[], nowMs: number): boolean | Promise<boolean>;
}
