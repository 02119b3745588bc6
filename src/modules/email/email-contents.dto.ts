import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean, IsInt, IsString } from 'class-validator';
import { CanBeNull, IsArrayOf } from '#http/validation.js';
import { type Id, showId } from '#kernel/ids.js';
import type { MailContents } from '#modules/inbox/viewing.contract.js';

/** One header of an email. */
export class EmailHeaderItem {
  /** Header name in lower case. */
  @ApiProperty({ example: 'subject' })
  @IsString()
  name: string;

  /** Header value, unfolded (without line breaks) but otherwise exactly as sent. */
  @ApiProperty({ example: 'Your order' })
  @IsString()
  value: string;
}

/** An attachment of an email. */
export class EmailFileItem {
  /** File name of the attachment. */
  @ApiProperty({ example: 'invoice.pdf' })
  @IsString()
  filename: string;

  /** Media type of the attachment. */
  @ApiProperty({ example: 'application/pdf' })
  @IsString()
  content_type: string;

  /** Size of the attachment in bytes after decoding. */
  @ApiProperty({ example: 48_213 })
  @IsInt()
  size_bytes: number;

  /** Content-ID of the attachment, for `cid:` URLs in the HTML. `null` if the attachment has none. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  content_id: string | null;

  /** Path from which to download the attachment, relative to this service's base URL. */
  @ApiProperty({ example: '/v1/emails/evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1/attachments/0' })
  @IsString()
  path: string;
}

/** The content of an email: text, HTML, headers and attachments. */
export class EmailContent {
  /** Plain-text body, up to 1 MB. `null` if the email has no text body. */
  @ApiProperty({ example: 'It is on its way.' })
  @CanBeNull()
  @IsString()
  text: string | null;

  /**
   * HTML body, up to 1 MB, exactly as submitted and not sanitized. To display it, use the URL that `GET
   * /v1/emails/{id}/view` returns. `null` if the email has no HTML body.
   */
  @ApiProperty({ example: '<p>It is on its way.</p>' })
  @CanBeNull()
  @IsString()
  html: string | null;

  /** All headers in their original order. A repeated header is listed every time it occurs. */
  @IsArrayOf(() => EmailHeaderItem)
  header_lines: EmailHeaderItem[];

  /** Attachments in their original order. */
  @IsArrayOf(() => EmailFileItem)
  attachments: EmailFileItem[];

  /** `true` if any part of this response was truncated. The raw message is always complete. */
  @ApiProperty({ example: false })
  @IsBoolean()
  truncated: boolean;
}

export function presentContent({ id, contents }: { id: Id; contents: MailContents }): EmailContent {
  const { text, html, headerLines, attachments, isTruncated } = contents;
  return {
    text,
    html,
    header_lines: headerLines.map(({ name, value }) => ({ name, value })),
    truncated: isTruncated,
    attachments: attachments.map(({ content_disposition: _disposition, ...note }, index) => ({
      ...note,
      path: `/v1/emails/${showId('evt', id)}/attachments/${index}`,
    })),
  };
}
