import { type JsonFault, readObject } from '../kit/json/read-json';

export const KINDS = ['destination', 'application', 'url', 'endpoint'] as const;
export type Kind = (typeof KINDS)[number];

/** An event to send, as the form edits it. */
export interface SendDraft {
  kind: Kind;
  /** Id of the destination, application or endpoint, an application's uid, or a URL. */
  target: string;
  eventType: string;
  /** Payload as JSON text, or the body of a provider's request. Empty for the provider's sample. */
  payload: string;
}

export const NEW_EVENT: SendDraft = {
  kind: 'destination',
  target: '',
  eventType: 'invoice.paid',
  payload: '{\n  "id": "in_1",\n  "amount": 4200\n}',
};

/** Search parameters of the page. */
export interface SendSearch {
  to?: string;
}

/** Reads the target from the address. */
export function readSend(search: Record<string, unknown>): SendSearch {
  const { to } = search;
  return typeof to === 'string' && to !== '' && to.length <= 2_048 ? { to } : {};
}

/** Returns the kind of a target from its id. Any other text is an application's uid or a URL. */
export function kindOf(target: string): Kind {
  if (target.startsWith('dst_')) return 'destination';
  if (target.startsWith('ep_')) return 'endpoint';
  return /^https?:\/\//.test(target) ? 'url' : 'application';
}

/** Returns the error in the payload. A provider's request may have any body. */
export function payloadFaultOf({ kind, payload }: SendDraft, complaint: string): JsonFault | null {
  if (kind === 'endpoint') return null;
  const { value, fault } = readObject(payload, complaint);
  if (fault === null) return value === null ? { line: 1, message: complaint } : null;
  // The payload is sent as text, so a number keeps every digit.
  return fault.number === undefined ? fault : null;
}

/** Returns the request body as JSON text. Contains the payload character for character. */
export function requestTextOf({ kind, target, eventType, payload }: SendDraft): string {
  if (kind === 'endpoint') return JSON.stringify({ ...(payload.trim() !== '' && { body: payload }) });
  const fields = { ...(kind !== 'application' && { destination: target.trim() }), event_type: eventType.trim() };
  return `${JSON.stringify(fields).slice(0, -1)},"payload":${payload.trim()}}`;
}
