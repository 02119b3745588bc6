import { ApiProperty } from '@nestjs/swagger';
import type { SignedDelivery } from './signing.js';

/** Receivers that follow Standard Webhooks 1.0.0 refuse a timestamp that is older. */
const VALID_MS = 300_000;

/** Which delivery to sign. */
export class SignBody {
  /** The delivery of the event, by its id; the latest when left out. */
  @ApiProperty({ required: false, maxLength: 64, example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1.0' })
  delivery?: string;
}

/** A stored delivery as an attempt would send it now: with its payload it is the whole request. */
export class SignedRequestItem {
  /** The delivery. */
  @ApiProperty({ example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1.0' })
  delivery: string;

  /** The method. */
  @ApiProperty({ example: 'POST' })
  method: string;

  /** Where it goes. */
  @ApiProperty({ example: 'https://example.com/webhooks' })
  url: string;

  /** The headers with the signature, lower-case names. `(hidden)` stands for one that a named secret is part of. */
  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'string' },
    example: {
      'webhook-id': 'msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1',
      'webhook-timestamp': '1795253400',
      'webhook-signature': 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
    },
  })
  headers: Record<string, string>;

  /** When it was signed. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' })
  signed_at: string;

  /** From when on receivers refuse it. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:35:00.000Z' })
  expires_at: string;
}

/** A signed delivery as the API shows it. */
export function presentSigned({ delivery, request, atMs }: SignedDelivery): SignedRequestItem {
  const {
    method,
    url: { protocol, host, pathname, search },
    headers,
  } = request;
  return {
    delivery,
    method,
    url: `${protocol}//${host}${pathname}${search}`,
    headers,
    signed_at: new Date(atMs).toISOString(),
    expires_at: new Date(atMs + VALID_MS).toISOString(),
  };
}
