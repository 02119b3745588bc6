import { DiscoveryService } from '@nestjs/core';
import type { GenericSchemeName, GenericSettings } from '#engine/inbound/generic.js';
import type { ReceivedRequest } from '#engine/inbound/request.js';
import type { ResponseSettings } from '#engine/inbound/response.js';
import type { Recipe } from '#engine/inbound/source.js';

/**
 * Marks the class of an inbound preset: `@InboundPreset() class AcmePreset extends ProviderPreset`, in any module.
 * Posthorn does not start if two presets have the same id.
 */
export const InboundPreset = DiscoveryService.createDecorator();

/**
 * A preset for endpoints that receive from one webhook provider. A preset has either a `verification`, or a `verify`
 * method. Posthorn does not start if a preset is invalid.
 */
export abstract class ProviderPreset {
  /** Value for the `preset` field of an endpoint: lower-case letters, digits and `-`. */
  abstract readonly id: string;
  /** Name of the provider. */
  abstract readonly title: string;
  /** Text that tells the user which secret to enter for the endpoint, in the terms of the provider's console. */
  abstract readonly secret: string;
  /** Text that describes how the provider retries after a response other than 2xx. */
  abstract readonly retries: string;

  /** Scheme with which the provider signs, as in an endpoint's `verification`. Null if `verify` checks requests. */
  readonly verification: GenericSchemeName | null = null;
  /** Settings in which the provider's scheme differs from the defaults, as in an endpoint's `verificationConfig`. */
  readonly verificationConfig: GenericSettings = {};

  /** For `verify`: headers that contain a credential, such as a token. They are hidden like `authorization`. */
  readonly secretHeaders: readonly string[] = [];

  /** Recipes for the event type. The first recipe whose parts are all in the request applies. Dots join the parts. */
  readonly eventType: readonly Recipe[] = [[{ member: 'type' }]];
  /** Recipes for the id that the provider repeats when it retries. Empty if the provider sends no such id. */
  readonly providerId: readonly Recipe[] = [];
  /** Methods of unsigned, empty requests by which the provider checks the URL. They get 200 and create no event. */
  readonly urlCheck: readonly ('GET' | 'HEAD')[] = [];
  /** Default response of the endpoint, as in its `response`. Null for the global default. */
  readonly response: ResponseSettings | null = null;
  /** A sample event. `{{id}}`, `{{secret}}`, `{{seconds}}`, `{{millis}}` and `{{iso}}` are filled in. */
  readonly sample: { headers: Readonly<Record<string, string>>; body: string } = {
    headers: { 'content-type': 'application/json' },
    body: '{"type":"posthorn.test","id":"{{id}}"}',
  };

  /**
   * Returns whether the sender proves that it knows one of the secrets, newest first. Must compare in constant time,
   * and finish within two seconds. If this method throws, takes longer or returns no boolean, the request gets 503 and
   * is not accepted, so that the provider sends it again.
   */
  verify?(request: ReceivedRequest, secrets: readonly string[], nowMs: number): boolean | Promise<boolean>;
}
