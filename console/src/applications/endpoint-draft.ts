import {
  deliveryChangesOf,
  type DeliveryDraft,
  deliveryDraftOf,
  deliveryFaultOf,
} from '../kit/delivery/delivery-draft';
import { type JsonFault, readObject, writeJson } from '../kit/json/read-json';
import { readTypes } from './application-filters';
import type { OwnEndpoint } from './application-queries';

/** Settings of an application's endpoint, as the form edits them. */
export interface EndpointDraft {
  url: string;
  uid: string;
  description: string;
  types: string[];
  /** Channels, separated by commas or line breaks. */
  channels: string;
  /** Condition as JSON text. Empty for no condition. */
  filter: string;
  /** Null for an endpoint that delivers to a destination, because the settings of the destination apply. */
  delivery: DeliveryDraft | null;
}

export const NEW_ENDPOINT: EndpointDraft = {
  url: '',
  uid: '',
  description: '',
  types: [],
  channels: '',
  filter: '',
  delivery: null,
};

export function endpointDraftOf(of: OwnEndpoint): EndpointDraft {
  const { headers, retry, timeout_ms: timeoutMs } = of;
  const hasSettings = of.url !== null && headers !== undefined && retry !== undefined && timeoutMs !== undefined;
  return {
    url: of.url ?? '',
    uid: of.uid ?? '',
    description: of.description,
    types: [...of.event_types],
    channels: of.channels.join('\n'),
    filter: of.filter === null ? '' : writeJson(of.filter),
    delivery: hasSettings
      ? deliveryDraftOf({
          headers,
          retry,
          timeout_ms: timeoutMs,
          rate_limit: of.rate_limit ?? null,
          concurrency: of.concurrency ?? null,
          asymmetric: of.asymmetric ?? false,
          legacy_signature: of.legacy_signature ?? null,
        })
      : null,
  };
}

/** Returns the changed settings in the format of the API, or the error in the filter. */
export function endpointChangesOf(
  draft: EndpointDraft,
  before: EndpointDraft,
  complaint: string,
): { changes: Record<string, unknown>; filterFault: JsonFault | null; isWrong: boolean } {
  const { value: filter, fault: filterFault } = readObject(draft.filter, complaint);
  const isWrong = filterFault !== null || (draft.delivery !== null && deliveryFaultOf(draft.delivery) !== null);
  if (isWrong) return { changes: {}, filterFault, isWrong };
  const changes = {
    ...(draft.url.trim() !== before.url && { url: draft.url.trim() }),
    ...(draft.uid.trim() !== before.uid && { uid: draft.uid.trim() || null }),
    ...(draft.description !== before.description && { description: draft.description }),
    ...(draft.types.join() !== before.types.join() && { event_types: draft.types }),
    ...(draft.channels !== before.channels && { channels: readTypes(draft.channels) }),
    ...(draft.filter !== before.filter && { filter }),
    ...(draft.delivery !== null && before.delivery !== null && deliveryChangesOf(draft.delivery, before.delivery)),
  };
  return { changes, filterFault, isWrong };
}
