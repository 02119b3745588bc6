import { answered, type Api, type Environment, payloadOf } from '../api/client';
import { readObject } from '../kit/json/read-json';
import { textOf } from '../kit/json/text-of';
import { t } from '../kit/messages/t';

/**
 * Sends an event again, to all its original targets (`destination` is null) or to one destination. A destination that
 * the event was not sent to gets a copy as a new event, because the API replays only to original targets. All tries for
 * an event must use the same `key`.
 */
export async function replayTo(
  api: Api,
  environment: Environment,
  id: string,
  destination: string | null,
  key: string,
): Promise<void> {
  const params = { path: { id }, header: { 'Idempotency-Key': key } };
  if (destination === null) {
    await answered(api.POST('/v1/events/{id}/replay', { params }));
    return;
  }
  const event = await answered(api.GET('/v1/events/{id}', { params: { path: { id } } }));
  if (event.deliveries.some((each) => each.destination === destination)) {
    await answered(
      /^https?:/.test(destination)
        ? api.POST('/v1/events/{id}/replay', { params })
        : api.POST('/v1/events/{id}/replay', { params, body: { destinations: [destination] } }),
    );
    return;
  }
  const text = textOf((await payloadOf(environment, id)).bytes);
  if (text === null || !isObject(text)) throw new Error(t('replay-to.not-object'));
  const body = copyTextOf(destination, event, text);
  await answered(
    api.POST('/v1/send', {
      params: { header: { 'Idempotency-Key': key } },
      // The payload is sent as text, so that its numbers keep every digit.
      body: {} as never,
      bodySerializer: () => body,
      headers: { 'content-type': 'application/json' },
    }),
  );
}

/** Returns the request that sends a copy of an event. Contains the payload character for character. */
export function copyTextOf(
  destination: string,
  { event_type, headers }: { event_type: string; headers: Readonly<Record<string, string>> },
  payload: string,
): string {
  return `${JSON.stringify({ destination, event_type, headers }).slice(0, -1)},"payload":${payload}}`;
}

/** Returns whether a text is a JSON object. A number that cannot be stored exactly is no error here. */
export function isObject(text: string): boolean {
  const { value, fault } = readObject(text, 'no object');
  return fault === null ? value !== null : fault.number !== undefined && text.trimStart().startsWith('{');
}
