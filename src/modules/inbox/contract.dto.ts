import { ApiProperty } from '@nestjs/swagger';
import { IsString } from 'class-validator';
import { IsDateTime } from '#http/validation.js';
import type { MailView } from './viewing.contract.js';

/** Temporary address that shows the HTML of one message. */
export class MailViewItem {
  /** Token for `GET /v1/mail-views`. It is valid for this message only, for one minute. */
  @ApiProperty({
    example: 'WzEsIjAxOWFhNGMwLTAwMDAtNzAwMC04MDAwLTAwMDAwMDAwMDAwMCIsbnVsbCwxNzk1NTk3ODYwMDAwXQ.c2lnbmF0dXJl',
  })
  @IsString()
  token: string;

  /** URL of the document, including the token, for an `<iframe sandbox>` in a page of Posthorn's own origin. */
  @ApiProperty({
    example:
      'https://hooks.example.com/v1/mail-views?token=WzEsIjAxOWFhNGMwLTAwMDAtNzAwMC04MDAwLTAwMDAwMDAwMDAwMCIsbnVsbCwxNzk1NTk3ODYwMDAwXQ.c2lnbmF0dXJl',
  })
  @IsString()
  url: string;

  /** Time when the token expires. */
  @ApiProperty({ example: '2026-11-21T09:31:00.000Z' })
  @IsDateTime()
  expires_at: string;
}

export function presentView({ token, url, expiresAt }: MailView): MailViewItem {
  return { token, url, expires_at: expiresAt.toISOString() };
}
