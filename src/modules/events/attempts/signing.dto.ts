import { ApiProperty } from '@nestjs/swagger';
import { IsString, MaxLength } from 'class-validator';
import { CanBeOmitted, IsDateTime, IsStringMap } from '#http/validation.js';
import type { SignedDelivery } from './signing.js';

/** Validity of a signature. Receivers that follow Standard Webhooks 1.0.0 reject older timestamps. */
const VALID_MS = 300_000;

/** The delivery to sign. */
export class SignBody {
  /** The id of one of the event's deliveries. Defaults to the latest delivery. */
  @ApiProperty({ example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1.0' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(64)
  delivery?: string;
}

/** The request that a new attempt of the delivery would send now, without the payload. */
export class SignedRequestItem {
  /** The delivery's id. */
  @ApiProperty({ example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1.0' })
  @IsString()
  delivery: string;

  /** HTTP method. */
  @ApiProperty({ example: 'POST' })
  @IsString()
  method: string;

  /** Target URL. */
  @ApiProperty({ example: 'https://example.com/webhooks' })
  @IsString()
  url: string;

  /**
   * The headers with lower-case names, including the signature. A value that contains a named secret appears as
   * `(hidden)`.
   */
  @ApiProperty({
    example: {
      'webhook-id': 'msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1',
      'webhook-timestamp': '1795253400',
      'webhook-signature': 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
    },
  })
  @IsStringMap()
  headers: Record<string, string>;

  /** Time at which the request was signed. */
  @ApiProperty({ example: '2026-11-21T09:30:00.000Z' })
  @IsDateTime()
  signed_at: string;

  /** Time from which receivers reject the signature. */
  @ApiProperty({ example: '2026-11-21T09:35:00.000Z' })
  @IsDateTime()
  expires_at: string;
}

/** Returns the API representation of a signed delivery. */
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
