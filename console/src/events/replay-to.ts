import { answered, type Api, type Environment, payloadOf } from '../api/client';
import { textOf } from '../kit/json/text-of';
import { t } from '../kit/messages/t';
import { copyTextOf, isObject } from './copy-text';

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
