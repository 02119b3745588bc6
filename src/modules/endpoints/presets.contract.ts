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
 * A preset for endpoints that receive requests from one webhook provider. A preset needs either `verification` or a
 * `verify` method. Posthorn does not start if a preset is invalid.
 */
export abstract class ProviderPreset {
  /** Value for the `preset` field of an endpoint: lower-case letters, digits and `-`. */
  abstract readonly id: string;
  /** Name of the provider. */
  abstract readonly title: string;
  /** Text that explains which secret the endpoint needs, in the terms of the provider's console. */
  abstract readonly secret: string;
  /** Text that describes how the provider retries after a response other than 2xx. */
  abstract readonly retries: string;

  /**
   * Scheme with which the provider signs: a value of an endpoint's `verification`. Null if `verify` verifies requests.
   */
  readonly verification: GenericSchemeName | null = null;
  /** Verification settings that differ from the defaults: fields of an endpoint's `verificationConfig`. */
  readonly verificationConfig: GenericSettings = {};

  /**
   * Headers that contain a credential, such as a token. They are hidden like `authorization`. Used only with `verify`.
   */
  readonly secretHeaders: readonly string[] = [];

  /**
   * Recipes that derive the event type from a request. The first recipe whose parts are all present applies. Its parts
   * are joined with dots.
   */
  readonly eventType: readonly Recipe[] = [[{ member: 'type' }]];
  /** Recipes that derive the id that the provider repeats when it retries. Empty if the provider sends no such id. */
  readonly providerId: readonly Recipe[] = [];
  /**
   * Methods of the unsigned, empty requests with which the provider checks the URL. They get 200 and create no event.
   */
  readonly urlCheck: readonly ('GET' | 'HEAD')[] = [];
  /** Response settings of endpoints that set no `response`. Null for the default response (200). */
  readonly response: ResponseSettings | null = null;
  /** A sample event. Posthorn replaces `{{id}}`, `{{secret}}`, `{{seconds}}`, `{{millis}}` and `{{iso}}`. */
  readonly sample: { headers: Readonly<Record<string, string>>; body: string } = {
    headers: { 'content-type': 'application/json' },
    body: '{"type":"posthorn.test","id":"{{id}}"}',
  };

  /**
   * Returns whether the request proves that its sender has one of the secrets (newest first). Must compare in constant
   * time, and finish within two seconds. If this method throws, takes longer or does not return a boolean, the request
   * is rejected with 503, so that the provider sends it again.
   */
  verify?(request: ReceivedRequest, secrets: readonly string[], nowMs: number): boolean | Promise<boolean>;
}
