import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean, IsIn, IsInt, IsString, Max, MaxLength, Min } from 'class-validator';
import { CanBeOmitted, IsArrayOf, IsDateTime } from '#http/validation.js';
import type { LinkedFile } from './email-contents.js';

const ATTACHMENT_ID = /^att_(\d{1,4})$/;

/** Pagination parameters of the attachment list. An email has at most 20 attachments. */
export class EmailAttachmentListQuery {
  /** Maximum number of attachments to return. */
  @ApiProperty({ default: 20, example: 20 })
  @CanBeOmitted()
  @IsInt()
  @Min(1)
  @Max(100)
  limit?: number;

  /** Returns only attachments after the one with this id. */
  @ApiProperty({ example: 'att_0' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(8)
  after?: string;

  /** Returns only attachments before the one with this id. */
  @ApiProperty({ example: 'att_1' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(8)
  before?: string;
}

/** An attachment of an email, with a link to its bytes. */
export class EmailAttachmentLink {
  /** Always `attachment`. */
  @ApiProperty({ example: 'attachment' })
  @IsIn(['attachment'])
  object: 'attachment';

  /** Id of the attachment within its email. */
  @ApiProperty({ example: 'att_0' })
  @IsString()
  id: string;

  /** File name of the attachment. */
  @ApiProperty({ example: 'invoice.pdf' })
  @IsString()
  filename: string;

  /** Size of the attachment in bytes after decoding. */
  @ApiProperty({ example: 48_213 })
  @IsInt()
  size: number;

  /** Media type of the attachment. */
  @ApiProperty({ example: 'application/pdf' })
  @IsString()
  content_type: string;

  /** How the message declares the attachment: `inline`, as part of the HTML, or `attachment`. */
  @ApiProperty({ example: 'attachment' })
  @IsIn(['inline', 'attachment'])
  content_disposition: 'inline' | 'attachment';

  /** Content-ID of the attachment, for `cid:` URLs in the HTML. Absent if the attachment has none. */
  @ApiProperty({ example: 'logo' })
  @CanBeOmitted()
  @IsString()
  content_id?: string;

  /** URL from which to download the attachment. It requires no API key, and is valid until `expires_at`. */
  @ApiProperty({
    example:
      'https://hooks.example.com/v1/email-attachments?token=WzEsIjAxOWFhNGMwLTAwMDAtNzAwMC04MDAwLTAwMDAwMDAwMDAwMCIsMCwxNzk1NTk3ODYwMDAwXQ.c2lnbmF0dXJl',
  })
  @IsString()
  download_url: string;

  /** Time at which the URL expires: one hour after the response. */
  @ApiProperty({ example: '2026-11-21T10:30:00.000Z' })
  @IsDateTime()
  expires_at: string;
}

/** The attachments of an email. */
export class EmailAttachmentList {
  /** Always `list`. */
  @ApiProperty({ example: 'list' })
  @IsIn(['list'])
  object: 'list';

  /** The attachments in the order of the message. */
  @IsArrayOf(() => EmailAttachmentLink)
  data: EmailAttachmentLink[];

  /** `true` if the email has more attachments after this page, or before it for a page with `before`. */
  @ApiProperty({ example: false })
  @IsBoolean()
  has_more: boolean;
}

/** Query parameters of a download. */
export class EmailDownloadQuery {
  /** Token from the download link. */
  @ApiProperty({
    example: 'WzEsIjAxOWFhNGMwLTAwMDAtNzAwMC04MDAwLTAwMDAwMDAwMDAwMCIsMCwxNzk1NTk3ODYwMDAwXQ.c2lnbmF0dXJl',
  })
  @IsString()
  @MaxLength(512)
  token: string;
}

/** Returns the position of the attachment with this id. Returns null for text that is not an attachment id. */
export function attachmentIndex(id: string): number | null {
  const [, digits] = ATTACHMENT_ID.exec(id) ?? [];
  return digits === undefined ? null : Number(digits);
}

export function presentLink({ index, note, url, expiresAt }: LinkedFile): EmailAttachmentLink {
  const { filename, size_bytes: size, content_type: type, content_id: contentId } = note;
  return {
    object: 'attachment',
    id: `att_${index}`,
    filename,
    size,
    content_type: type,
    content_disposition: note.content_disposition,
    ...(contentId !== null && { content_id: contentId }),
    download_url: url,
    expires_at: expiresAt.toISOString(),
  };
}

/**
 * Returns a page of an email's attachments: the first ones, the next ones after `after`, or the last ones before
 * `before`.
 */
export function presentLinks(
  files: readonly LinkedFile[],
  { after, before, limit }: { after: number | null; before: number | null; limit: number },
): EmailAttachmentList {
  const found = files.filter(({ index }) => (after === null || index > after) && (before === null || index < before));
  const page = before === null ? found.slice(0, limit) : found.slice(-limit);
  return { object: 'list', data: page.map(presentLink), has_more: page.length < found.length };
}
