import { compileFilter } from '#engine/conditions/condition.js';
import { channelFault, patternFault } from '#engine/subscription.js';
import type { Fault } from '#kernel/errors.js';
import type { DeliverySettings } from '#modules/destinations/contract.js';
import type { EndpointColumns } from './application-endpoints.store.js';
import { uidFault } from './application-reference.js';
import { metadataFaults } from './metadata.js';

/** Fields of an endpoint and its subscription. Omitted fields keep their values; null removes a value. */
export interface EndpointFields {
  uid?: string | null;
  description?: string | null;
  event_types?: string[] | null;
  channels?: string[] | null;
  filter?: Record<string, unknown> | null;
  metadata?: Record<string, string> | null;
}

const DELIVERY_SETTINGS = [
  'headers',
  'retry',
  'rate_limit',
  'timeout_ms',
  'concurrency',
  'asymmetric',
  'legacy_signature',
] as const satisfies readonly (keyof DeliverySettings)[];

export function deliverySettingsOf(asked: DeliverySettings): DeliverySettings {
  return Object.fromEntries(
    DELIVERY_SETTINGS.filter((name) => asked[name] !== undefined).map((name) => [name, asked[name]]),
  );
}

/**
 * Returns a fault for each delivery setting of an endpoint that uses a destination of the environment, because this
 * destination has its own settings.
 */
export function foreignSettingsFaults(settings: DeliverySettings): Fault[] {
  return Object.keys(settings).map((path) => ({
    path,
    message: 'belongs to the destination: change it there, or use a url',
  }));
}

export function fieldFaults({ uid, event_types: eventTypes, channels, filter, metadata }: EndpointFields): Fault[] {
  const compiled = filter && compileFilter(filter, 'filter');
  const uidMessage = typeof uid === 'string' ? uidFault(uid, 'ep') : null;
  return [
    ...(uidMessage === null ? [] : [{ path: 'uid', message: uidMessage }]),
    ...listFaults('event_types', eventTypes ?? [], patternFault),
    ...listFaults('channels', channels ?? [], channelFault),
    ...(compiled && 'faults' in compiled ? compiled.faults : []),
    ...(metadata ? metadataFaults(metadata) : []),
  ];
}

/** Returns the columns that the fields change. Removes duplicate event types and channels. */
export function fieldColumns({
  uid,
  description,
  event_types: eventTypes,
  channels,
  filter,
  metadata,
}: EndpointFields): EndpointColumns {
  return {
    ...(uid !== undefined && { uid }),
    ...(description !== undefined && { description: description ?? '' }),
    ...(eventTypes !== undefined && { eventTypes: [...new Set(eventTypes)] }),
    ...(channels !== undefined && { channels: [...new Set(channels)] }),
    ...(filter !== undefined && { filter }),
    ...(metadata !== undefined && { metadata: metadata ?? {} }),
  };
}

function listFaults(path: string, texts: readonly string[], fault: (text: string) => string | null): Fault[] {
  return texts.flatMap((text, i) => {
    const message = fault(text);
    return message === null ? [] : [{ path: `${path}.${i}`, message }];
  });
}
