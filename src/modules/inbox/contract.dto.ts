import { ApiProperty } from '@nestjs/swagger';
import type { MailView } from './viewing.contract.js';

/** Where the HTML of one message is shown. */
export class MailViewItem {
  /** What `GET /v1/mail-views` takes: good for this one message, and for a minute. */
  @ApiProperty({
    example: 'WzEsIjAxOWFhNGMwLTAwMDAtNzAwMC04MDAwLTAwMDAwMDAwMDAwMCIsbnVsbCwxNzk1NTk3ODYwMDAwXQ.c2lnbmF0dXJl',
  })
  token: string;

  /** The document's address, with the token: for an `<iframe sandbox>` of a page of this service's own origin. */
  @ApiProperty({
    example:
      'https://hooks.example.com/v1/mail-views?token=WzEsIjAxOWFhNGMwLTAwMDAtNzAwMC04MDAwLTAwMDAwMDAwMDAwMCIsbnVsbCwxNzk1NTk3ODYwMDAwXQ.c2lnbmF0dXJl',
  })
  url: string;

  /** Until when it is good. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:31:00.000Z' })
  expires_at: string;
}

export function presentView({ token, url, expiresAt }: MailView): MailViewItem {
  return { token, url, expires_at: expiresAt.toISOString() };
}
