import { useQuery } from '@tanstack/react-query';
import { answered, type Api, type EventItem, type Schemas } from '../api/client';
import { keptAcrossChoices } from '../api/kept-data';
import type { PickerOption } from '../kit/form/Picker';
import { useSigned } from '../session/session';
import { type Kind, requestTextOf, type SendDraft } from './send-draft';

const OFFERED = 10;
const STALE_MS = 30_000;
const SOON_MS = 1_000;
const LATER_MS = 5_000;
/** Maximum number of a message's deliveries that the page shows. */
const SHOWN = 20;

/** Result of sending an event. */
export type Accepted =
  /** A single event. `id` is null if a provider's request was answered without being stored. */
  | { kind: 'event'; id: string | null; answer: Schemas['EndpointTested'] | null }
  /** A message that was sent to several endpoints. */
  | { kind: 'message'; id: string; count: number };

/** Sends the event. The payload keeps every character, because the body is sent as text. */
export async function send(api: Api, draft: SendDraft): Promise<Accepted> {
  const { kind, target } = draft;
  const text = { bodySerializer: () => requestTextOf(draft), headers: { 'content-type': 'application/json' } };
  const body = {} as never;
  if (kind === 'endpoint') {
    const answer = await answered(
      api.POST('/v1/endpoints/{id}/test', { params: { path: { id: target } }, body, ...text }),
    );
    return { kind: 'event', id: answer.event_id, answer };
  }
  if (kind === 'application') {
    const { message_id: id, fanout } = await answered(
      api.POST('/v1/app/{app}/event', { params: { path: { app: target.trim() } }, body, ...text }),
    );
    return { kind: 'message', id, count: fanout };
  }
  const { message_id: id } = await answered(api.POST('/v1/send', { body, ...text }));
  return { kind: 'event', id, answer: null };
}

/** Queries targets of a kind whose name begins with the text. */
export function useTargets(kind: Kind, text: string) {
  const { api, environment } = useSigned();
  const query = { limit: OFFERED, ...(text !== '' && { search: text }) };
  return useQuery({
    ...keptAcrossChoices(['send-targets', kind, environment], text),
    staleTime: STALE_MS,
    enabled: kind !== 'url',
    queryFn: async ({ signal }): Promise<PickerOption[]> => {
      const params = { params: { query }, signal };
      if (kind === 'destination')
        return (await answered(api.GET('/v1/destinations', params))).data.map(({ id, name, url, type }) => ({
          id,
          label: name,
          detail: url ?? type,
        }));
      if (kind === 'application')
        return (await answered(api.GET('/v1/app', params))).data.map(({ id, name, uid }) => ({
          id,
          label: name,
          ...(uid !== null && { detail: uid }),
        }));
      return (await answered(api.GET('/v1/endpoints', params))).data.map(({ id, name, path }) => ({
        id,
        label: name,
        detail: path,
      }));
    },
  });
}

/** Queries the first event types of the catalog. */
export function useEventTypeNames(): readonly string[] {
  const { api, environment } = useSigned();
  const { data } = useQuery({
    queryKey: ['send-event-types', environment],
    staleTime: 0,
    queryFn: ({ signal }) => answered(api.GET('/v1/event-types', { params: { query: { limit: 100 } }, signal })),
  });
  return data?.data.filter(({ archived }) => !archived).map(({ name }) => name) ?? [];
}

/** Queries the example of an event type. Undefined if the type has none. */
export function useExample(name: string): Schemas['EventTypeDetail']['example'] | undefined {
  const { api, environment } = useSigned();
  const names = useEventTypeNames();
  const { data } = useQuery({
    queryKey: ['send-example', environment, name],
    staleTime: STALE_MS,
    retry: false,
    enabled: names.includes(name),
    queryFn: ({ signal }) => answered(api.GET('/v1/event-types/{name}', { params: { path: { name } }, signal })),
  });
  return data?.example ?? undefined;
}

/** Queries a sent event until its status is final. */
export function useSentEvent(id: string | null) {
  const { api, environment } = useSigned();
  return useQuery({
    queryKey: ['event', environment, id],
    enabled: id !== null,
    queryFn: ({ signal }) => answered(api.GET('/v1/events/{id}', { params: { path: { id: id ?? '' } }, signal })),
    refetchInterval: ({ state: { data } }) =>
      data === undefined || (data.status === 'retrying' && data.attempts.length === 0)
        ? SOON_MS
        : data.status === 'retrying'
          ? LATER_MS
          : false,
  });
}

/** Queries the deliveries of a sent message until none is pending. */
export function useSentMessage(id: string | null, count: number) {
  const { api, environment } = useSigned();
  return useQuery({
    queryKey: ['send-message', environment, id],
    enabled: id !== null && count > 0,
    queryFn: async ({ signal }): Promise<EventItem[]> =>
      (await answered(api.GET('/v1/events', { params: { query: { message_id: id ?? '', limit: SHOWN } }, signal })))
        .data,
    refetchInterval: ({ state: { data } }) =>
      data === undefined || data.some(({ status }) => status === 'retrying') ? SOON_MS : false,
  });
}
