import { ApiProperty } from '@nestjs/swagger';
import { IsInt, IsString, Max, MaxLength, Min } from 'class-validator';
import { CanBeNull, CanBeOmitted, IsArrayOf } from '#http/validation.js';
import type { Page } from '#kernel/cursors.js';
import { showId } from '#kernel/ids.js';
import { presentMessage, ReceivedMessageItem } from './messages.dto.js';
import type { ReplyRow } from './messages.store.js';

/** Paging of the list of replies. */
export class EmailReplyListQuery {
  /** The `next_cursor` of the previous page. Omit it for the first page. */
  @ApiProperty({ example: 'WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(1024)
  cursor?: string;

  /** Maximum number of replies to return. */
  @ApiProperty({ default: 50, example: 50 })
  @CanBeOmitted()
  @IsInt()
  @Min(1)
  @Max(100)
  limit?: number;
}

/** A received message that replies to a sent email. */
export class EmailReplyItem extends ReceivedMessageItem {
  /** Id of the alias that received the message. */
  @ApiProperty({ example: 'al_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  alias_id: string;
}

/** One page of replies, newest first. */
export class EmailReplyPage {
  /** The replies of this page. */
  @IsArrayOf(() => EmailReplyItem)
  data: EmailReplyItem[];

  /** Pass this value as `cursor` to get the next page; null on the last page. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  next_cursor: string | null;
}

export function presentReplies({ rows, nextCursor }: Page<ReplyRow>): EmailReplyPage {
  const data = rows.map((row) => ({ ...presentMessage(row), alias_id: showId('al', row.aliasId) }));
  return { data, next_cursor: nextCursor };
}
