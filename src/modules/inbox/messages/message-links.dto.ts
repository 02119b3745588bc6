import { ApiProperty } from '@nestjs/swagger';
import { IsIn, IsInt, IsString, Max, Min } from 'class-validator';
import { EMAIL_STATUSES } from '#engine/mail/recipient-state.js';
import { CanBeNull, CanBeOmitted, IsArrayOf, IsDateTime } from '#http/validation.js';
import type { AttachmentNote } from '../reading/parsed-message.js';
import { LINK_SECONDS_MAX, LINK_SECONDS_MIN, type MessageLinks } from './signed-links.js';

const FORWARD_STATUSES = [...EMAIL_STATUSES, 'pending', 'skipped'] as const;
const LINK =
  'https://hooks.example.com/v1/mail-files?token=WzEsIjAxOWFhNGMwLTAwMDAtNzAwMC04MDAwLTAwMDAwMDAwMDAwMCIsInJhdyIsMTc5NTU5Nzg2MDAwMF0.c2lnbmF0dXJl';

/** A copy of a message for a forward address of its alias. */
export class ForwardedMessageItem {
  /** Address that the copy is for. */
  @ApiProperty({ example: 'ops@example.org' })
  @IsString()
  address: string;

  /**
   * State of the copy, as for a sent email. `pending`: the owner of the address had not confirmed it when the message
   * arrived. `skipped`: the message is not forwarded, for the reason in `detail`.
   */
  @ApiProperty({ example: 'delivered' })
  @IsIn(FORWARD_STATUSES)
  status: (typeof FORWARD_STATUSES)[number];

  /** Reply of the next mail server, or the reason why the message is not forwarded. Null if there is none. */
  @ApiProperty({ example: '250 2.0.0 Ok' })
  @CanBeNull()
  @IsString()
  detail: string | null;

  /** Id of the email that contains the copy. Null if the message is not forwarded. */
  @ApiProperty({ example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B2' })
  @CanBeNull()
  @IsString()
  email_id: string | null;
}

/** The automatic reply to a message. */
export class AutoReplyItem {
  /** Id of the email that contains the reply. Null if the alias did not reply. */
  @ApiProperty({ example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B3' })
  @CanBeNull()
  @IsString()
  email_id: string | null;

  /** Reason why the alias did not reply, or null. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  detail: string | null;
}

/** Sets the lifetime of new links to the parts of a message. */
export class MessageLinksBody {
  /** Lifetime of the links in seconds: one minute to thirty days. */
  @ApiProperty({ default: 3600, example: 86_400 })
  @CanBeOmitted()
  @IsInt()
  @Min(LINK_SECONDS_MIN)
  @Max(LINK_SECONDS_MAX)
  expires_in?: number;
}

/** A link to an attachment. */
export class AttachmentLinkItem {
  /** Index of the attachment in the message, starting at 0. */
  @ApiProperty({ example: 0 })
  @IsInt()
  index: number;

  /** Name of the file. */
  @ApiProperty({ example: 'order.pdf' })
  @IsString()
  filename: string;

  /** URL of the file. It works without an API key. */
  @ApiProperty({ example: LINK })
  @IsString()
  url: string;
}

/** Links to the files of a message. They work without an API key. */
export class MessageLinksItem {
  /** URL of the original message. It works without an API key. */
  @ApiProperty({ example: LINK })
  @IsString()
  raw_url: string;

  /** Links to the attachments, in their original order. */
  @IsArrayOf(() => AttachmentLinkItem)
  attachments: AttachmentLinkItem[];

  /** Time after which the links return 404. */
  @ApiProperty({ example: '2026-11-22T09:30:00.000Z' })
  @IsDateTime()
  expires_at: string;
}

export function presentLinks({
  links,
  attachments,
}: {
  links: MessageLinks & { expiresAt: Date };
  attachments: readonly AttachmentNote[];
}): MessageLinksItem {
  return {
    raw_url: links.raw,
    attachments: attachments.map(({ filename }, index) => ({ index, filename, url: links.attachment(index) })),
    expires_at: links.expiresAt.toISOString(),
  };
}
