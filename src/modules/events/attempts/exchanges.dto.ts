import { ApiProperty } from '@nestjs/swagger';
import { IsInt, IsString } from 'class-validator';
import { redactExchange } from '#engine/redacted-exchange.js';
import { CanBeNull, IsArrayOf, IsDateTime, IsObjectOf, IsStringMap } from '#http/validation.js';
import { shownHeaders } from '#kernel/crypto/sensitive-headers.js';
import type { Caller } from '#kernel/tenant.js';
import { shownDelivery } from '../attempts.contract.js';
import type { EventExchanges } from './exchanges.js';

/** The request that an attempt sent. */
export class SentRequestItem {
  /** HTTP method. */
  @ApiProperty({ example: 'POST' })
  @IsString()
  method: string;

  /**
   * Target URL without user and password, up to 2,048 characters. For a mirror destination, Posthorn appended the path
   * and query of the received request, which are not shown here.
   */
  @ApiProperty({ example: 'https://example.com/hook' })
  @IsString()
  url: string;

  /**
   * Request headers with lower-case names, up to 4 KB. The connection headers `host` and `content-length` are left out.
   * Signatures are shown as they were sent.
   *
   * Credentials and values that contain a named secret are never stored and appear as `(hidden)`. Credentials in the
   * event's own headers are shown only to keys with write access. After the event is erased, the values of its own
   * headers are empty.
   *
   * For a mirror destination, the headers of the received request are left out. They are stored with that request.
   */
  @ApiProperty({
    example: {
      'content-type': 'application/json',
      'webhook-id': 'msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1',
      authorization: '(hidden)',
    },
  })
  @IsStringMap()
  headers: Record<string, string>;
}

/** The response that the target returned. */
export class AnswerItem {
  /** HTTP status. */
  @ApiProperty({ example: 503 })
  @IsInt()
  status: number;

  /**
   * Response headers with lower-case names, up to 4 KB. Repeated headers are joined. Cookies and tokens appear as
   * `(hidden)`.
   */
  @ApiProperty({ example: { 'content-type': 'text/html', 'retry-after': '120', 'set-cookie': '(hidden)' } })
  @IsStringMap()
  headers: Record<string, string>;
}

/** The request and response of one attempt, as recorded at the time of the attempt. */
export class ExchangeItem {
  /** The delivery that the attempt belongs to: the `id` of an item in the event's `deliveries`. */
  @ApiProperty({ example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1.0' })
  @IsString()
  delivery: string;

  /** The `number` of the attempt. */
  @ApiProperty({ example: 1 })
  @IsInt()
  number: number;

  /** Time at which the attempt started. */
  @ApiProperty({ example: '2026-11-21T09:30:00.120Z' })
  @IsDateTime()
  at: string;

  /**
   * The request that was sent, or that would have been sent if the connection had succeeded. Its body is the event's
   * payload.
   */
  @IsObjectOf(() => SentRequestItem)
  request: SentRequestItem;

  /**
   * The response without its body; the first 1 KB of the body is the attempt's `response_excerpt`. `null` if there was
   * no response.
   */
  @CanBeNull()
  @IsObjectOf(() => AnswerItem)
  response: AnswerItem | null;
}

/** Requests and responses of an event's failed attempts. */
export class ExchangeList {
  /** The latest 50 failed attempts, newest first. */
  @IsArrayOf(() => ExchangeItem)
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
