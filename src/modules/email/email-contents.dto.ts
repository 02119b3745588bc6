import { ApiProperty } from '@nestjs/swagger';
import { type Id, showId } from '#kernel/ids.js';
import type { MailContents } from '#modules/inbox/viewing.contract.js';

/** One header of an email. */
export class EmailHeaderItem {
  /** In lower case. */
  @ApiProperty({ example: 'subject' })
  name: string;

  /** Unfolded, otherwise as it leaves. */
  @ApiProperty({ example: 'Your order' })
  value: string;
}

/** A file in an email. */
export class EmailFileItem {
  /** What it is called. */
  @ApiProperty({ example: 'invoice.pdf' })
  filename: string;

  /** Its media type. */
  @ApiProperty({ example: 'application/pdf' })
  content_type: string;

  /** Decoded. */
  @ApiProperty({ type: 'integer', example: 48_213 })
  size_bytes: number;

  /** How the HTML names it (`cid:`); null for none. */
  @ApiProperty({ type: String, nullable: true, example: null })
  content_id: string | null;

  /** Where its bytes are, below this service. */
  @ApiProperty({ example: '/v1/emails/evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1/attachments/0' })
  path: string;
}

/** What an email says. */
export class EmailContent {
  /** Its text, up to 1 MB; null without one. */
  @ApiProperty({ type: String, nullable: true, example: 'It is on its way.' })
  text: string | null;

  /** Its HTML, up to 1 MB, as it was given: whoever shows it takes a view. Null without one. */
  @ApiProperty({ type: String, nullable: true, example: '<p>It is on its way.</p>' })
  html: string | null;

  /** Its headers in their order, repeated ones too. */
  @ApiProperty({ type: [EmailHeaderItem] })
  header_lines: EmailHeaderItem[];

  /** Its files, in their order. */
  @ApiProperty({ type: [EmailFileItem] })
  attachments: EmailFileItem[];

  /** Whether something was cut. The message itself has all of it. */
  @ApiProperty({ example: false })
  truncated: boolean;
}

export function presentContent({ id, contents }: { id: Id; contents: MailContents }): EmailContent {
  const { text, html, headerLines, attachments, isTruncated } = contents;
  return {
    text,
    html,
    header_lines: headerLines.map(({ name, value }) => ({ name, value })),
    truncated: isTruncated,
    attachments: attachments.map((note, index) => ({
      ...note,
      path: `/v1/emails/${showId('evt', id)}/attachments/${index}`,
    })),
  };
}
