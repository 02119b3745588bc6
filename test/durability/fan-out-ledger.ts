import { showId } from '../../src/kernel/ids.js';
import type { Scene } from './scene.js';
import { query } from './storage.js';

/** A stored message. It may exist although its sender got no answer. */
export interface StoredMessage {
  id: string;
  /** Number that the test wrote into the payload. Null if events are stored without their message. */
  n: number | null;
  fanout: number;
  /** The endpoint of each event of the message, or null for the event of a message without subscribers. */
  endpoints: (string | null)[];
}

export interface ListedEvent {
  message_id: string;
  endpoint: string | null;
  status: string;
}

const AT_ONCE = 16;
/**
 * SQL for messages with the endpoints of their events. A message without subscribers has one event, whose id is the
 * message's id.
 */
const MESSAGES = `
  select coalesce(m.id, e.message_id) as id, substring(m.payload from '"n":([0-9]+)')::int as n, coalesce(m.fanout, 0)::int as fanout,
         coalesce(json_agg(case when e.id <> e.message_id then e.target_id end) filter (where e.id is not null), '[]') as endpoints
  from messages m full join (select * from events where message_id is not null) e
    on e.environment_id = m.environment_id and e.message_id = m.id
  group by m.id, e.message_id, m.payload, m.fanout`;

export async function storedMessages(url: string): Promise<StoredMessage[]> {
  const rows = await query<StoredMessage>(url, MESSAGES);
  return rows.map(({ id, endpoints, ...row }) => ({
    ...row,
    id: showId('msg', id),
    endpoints: endpoints.map((endpoint) => endpoint && showId('ep', endpoint)),
  }));
}

/** Returns the answer of `GET /v1/events?message_id=` for each message. */
export async function listedEvents(
  scene: Scene,
  api: string,
  messages: readonly StoredMessage[],
): Promise<Map<string, ListedEvent[]>> {
  const left = [...messages];
  const found = new Map<string, ListedEvent[]>();
  const worker = async (): Promise<void> => {
    for (let message = left.pop(); message; message = left.pop()) {
      const { data } = (await scene.call(api, 'GET', `/v1/events?limit=100&message_id=${message.id}`)) as {
        data: ListedEvent[];
      };
      found.set(message.id, data);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return found;
}
