import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { AgentTools, apiPath, type ApiObject, readTool } from '#modules/agents/contract.js';
import { cursor, limit, since, until } from '#modules/agents/tool-arguments.contract.js';
import { Clock } from '#kernel/clock.js';

const STATUSES = ['delivered', 'failed', 'retrying', 'dlq'] as const;
const EVENT = 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1';
const WAIT_SECONDS_MAX = 25;
const PAYLOAD_CHARACTERS = 2_000;
const PAYLOAD_PAGE = 6_000;
const ATTEMPTS_SHOWN = 10;

const eventId = z.string().min(1).max(200).describe('An `evt_` id, or the `msg_` id that a send returned.');

const FILTERS = {
  status: z.enum(STATUSES).optional().describe('`retrying`: another attempt is due. `failed`: ended, and will not be tried again. `dlq`: a dead letter, all attempts used up.'),
  endpoint: z.string().max(200).optional().describe('Events that came in at this endpoint: an `ep_` id.'),
  destination: z.string().max(2048).optional().describe('Events that go to this destination: a `dst_` id, or the URL that was sent to.'),
  application: z.string().max(256).optional().describe('Events of this application: an `app_` id, or your own id of it.'),
  event_type: z.string().max(256).optional().describe('The exact event type, as in `invoice.paid`.'),
  message_id: z.string().max(64).optional().describe('The events of one message: a `msg_` id.'),
};

/** Looking into events, for agents. */
@Injectable()
export class EventTools extends AgentTools {
  constructor(private readonly clock: Clock) {
    super();
  }

  override readonly tools = [
    readTool({
      name: 'search_events',
      title: 'Search events',
      description:
        'Lists events (webhooks sent and received), newest first, without payloads and attempts. Filters combine; there is no search in payloads. Use get_event for what became of one.',
      input: z.object({ ...FILTERS, since, until, cursor, limit }),
      example: { status: 'dlq', since: '2026-11-20T00:00:00Z', limit: 10 },
      run: async (api, args) => ({ content: await api.page(apiPath`/v1/events`, args) }),
    }),
    readTool({
      name: 'get_event',
      title: 'Get an event',
      description:
        'One event with its headers, the beginning of its payload, its deliveries and its last attempts (status, error and an excerpt of the answer of each). More of the payload: get_payload. More attempts: list_attempts.',
      input: z.object({ event_id: eventId }),
      example: { event_id: EVENT },
      run: async (api, { event_id: event }) => {
        const { payload: _, attempts, ...rest } = await api.get(apiPath`/v1/events/${event}`);
        const all = attempts as ApiObject[];
        return {
          content: {
            ...rest, attempts: all.slice(-ATTEMPTS_SHOWN), attempts_in_all: all.length,
            payload: rest['payload_erased_at'] === undefined ? await api.text(apiPath`/v1/events/${event}/payload`, 0, PAYLOAD_CHARACTERS) : null,
          },
          untrusted: ['payload.text', 'headers', 'attempts[].response_excerpt'],
        };
      },
    }),
    readTool({
      name: 'get_payload',
      title: 'Read a payload',
      description: `The payload of an event in its very characters, ${PAYLOAD_PAGE} at a time. \`text\` is null for what is no text. \`nextOffset\` is the \`offset\` of the rest.`,
      input: z.object({ event_id: eventId, offset: z.number().int().min(0).default(0).describe('Where to begin, in characters.') }),
      example: { event_id: EVENT, offset: 0 },
      run: async (api, { event_id: event, offset }) => ({
        content: { ...await api.text(apiPath`/v1/events/${event}/payload`, offset, PAYLOAD_PAGE) }, untrusted: ['text'],
      }),
    }),
    readTool({
      name: 'list_attempts',
      title: 'List the attempts of an event',
      description: 'Every attempt of an event, the first one first, by number of the page. Each has the status, the error, the duration and an excerpt of the answer.',
      input: z.object({
        event_id: eventId,
        failed_only: z.boolean().default(false).describe('Only those that did not get a 2xx.'),
        page: z.number().int().min(1).max(1000).default(1).describe('Ten to a page.'),
      }),
      example: { event_id: EVENT, failed_only: true },
      run: async (api, { event_id: event, failed_only: failedOnly, page }) => {
        const { attempts } = await api.get(apiPath`/v1/events/${event}`);
        const wanted = (attempts as { status: number | null }[]).filter(({ status }) => !failedOnly || status === null || status < 200 || status > 299);
        const data = wanted.slice((page - 1) * ATTEMPTS_SHOWN, page * ATTEMPTS_SHOWN);
        return { content: { data, in_all: wanted.length, next_page: page * ATTEMPTS_SHOWN < wanted.length ? page + 1 : null }, untrusted: ['data[].response_excerpt'] };
      },
    }),
    readTool({
      name: 'wait_for_event',
      title: 'Wait for an event',
      description:
        `Waits up to ${WAIT_SECONDS_MAX} s for an event that fits, and returns the newest ones. Without \`since\` it must come in from now on. To wait until a known message is done, give \`message_id\` and \`status\`. ` +
        'When nothing came, `data` is empty: call again with the returned `since`, so that nothing between two calls is missed.',
      input: z.object({
        ...FILTERS, since,
        timeout_seconds: z.number().int().min(1).max(WAIT_SECONDS_MAX).default(20).describe('How long to wait.'),
      }),
      example: { event_type: 'invoice.paid', timeout_seconds: 10 },
      run: async (api, { timeout_seconds: seconds, ...filters }) => {
        // A known message may have come before: only its state is waited for.
        const from = filters.since ?? (filters.message_id === undefined ? this.clock.now().toISOString() : undefined);
        const found = await api.until(seconds, async () => {
          const page = await api.page(apiPath`/v1/events`, { ...filters, since: from, limit: 5 });
          return (page['data'] as unknown[]).length > 0 ? page : null;
        });
        return { content: { data: found?.['data'] ?? [], timed_out: found === null, since: from ?? null } };
      },
    }),
  ];
}
