import { ApiProperty } from '@nestjs/swagger';
import { redactExchange } from '#engine/redacted-exchange.js';
import { shownHeaders } from '#kernel/crypto/sensitive-headers.js';
import type { Caller } from '#kernel/tenant.js';
import { shownDelivery } from '../attempts.contract.js';
import type { EventExchanges } from './exchanges.js';

const HEADERS = { type: 'object', additionalProperties: { type: 'string' } } as const;

/** What an attempt sent. */
export class SentRequestItem {
  /** The method. */
  @ApiProperty({ example: 'POST' })
  method: string;

  /** Where to, without user and password, up to 2,048 characters. Of a mirror destination what was received comes behind it. */
  @ApiProperty({ example: 'https://example.com/hook' })
  url: string;

  /**
   * The headers less those of the connection (`host`, `content-length`), names in lower case, up to 4 KB, in which signatures are shown as they were sent. Values that
   * authenticate, and those with a named secret in them, were never stored: `(hidden)`; the event's own ones that do are for keys that may write. Values of the event's own
   * headers are empty once it was erased. Of a mirror destination without those of the received request, which has them.
   */
  @ApiProperty({
    ...HEADERS,
    example: {
      'content-type': 'application/json',
      'webhook-id': 'msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1',
      authorization: '(hidden)',
    },
  })
  headers: Record<string, string>;
}

/** How it was answered. */
export class AnswerItem {
  /** HTTP status. */
  @ApiProperty({ type: 'integer', example: 503 })
  status: number;

  /** The headers, names in lower case, repeated ones joined, up to 4 KB; `(hidden)` in place of cookies and tokens. */
  @ApiProperty({ ...HEADERS, example: { 'content-type': 'text/html', 'retry-after': '120', 'set-cookie': '(hidden)' } })
  headers: Record<string, string>;
}

/** What one attempt sent and was answered, as it was recorded then. */
export class ExchangeItem {
  /** The delivery that it belongs to: an `id` of the event's `deliveries`. */
  @ApiProperty({ example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1.0' })
  delivery: string;

  /** The `number` of the attempt. */
  @ApiProperty({ type: 'integer', example: 1 })
  number: number;

  /** When it started. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.120Z' })
  at: string;

  /** What was sent, or was to be sent where there was no connection. The body is that of the event. */
  @ApiProperty({ type: SentRequestItem })
  request: SentRequestItem;

  /** What was answered, less the body, whose first 1 KB is the attempt's `response_excerpt`; null without an answer. */
  @ApiProperty({ type: AnswerItem, nullable: true })
  response: AnswerItem | null;
}

/** What attempts of an event sent and were answered. */
export class ExchangeList {
  /** Of the latest 50 attempts that failed, the latest first. */
  @ApiProperty({ type: [ExchangeItem] })
  data: ExchangeItem[];
}

export function presentExchanges({ event, rows }: EventExchanges, caller: Caller): ExchangeList {
  return {
    data: rows.map(({ ordinal, number, startedAt, status, exchange }) => {
      const { method, url, headers, answered } = redactExchange(exchange, event.headers);
      return {
        delivery: shownDelivery(event.id, ordinal),
        number,
        at: startedAt.toISOString(),
        request: { method, url, headers: shownHeaders(headers, caller) },
        response: status === null ? null : { status, headers: shownHeaders(answered ?? {}, caller) },
      };
    }),
  };
}
