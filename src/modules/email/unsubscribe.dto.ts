import { ApiProperty } from '@nestjs/swagger';
import { IsOptional, IsString, MaxLength } from 'class-validator';
import { AllowUnknownFields } from '#http/unknown-fields.js';
import { MatchesSchema } from '#http/validation.js';
import { UNSUBSCRIBE_SCHEMA } from '#modules/topics/contract.js';

/** Fields of an email that request an unsubscribe link. */
@AllowUnknownFields()
export class UnsubscribeFieldsBody {
  /**
   * Adds the recipient's unsubscribe link to the headers (RFC 8058), and replaces `{{unsubscribe_url}}` in `html` and
   * `text`. `true`: the link unsubscribes from all emails of the environment. `topic` (an id or key): from one topic.
   * Requires exactly one recipient. The headers `X-Unsubscribe: true` and `X-Unsubscribe-Topic: newsletter` have the
   * same effect, and are not sent.
   */
  @ApiProperty({ example: { topic: 'newsletter' } })
  @IsOptional()
  @MatchesSchema(UNSUBSCRIBE_SCHEMA)
  unsubscribe?: boolean | { topic: string } | null;

  /** Alias of `unsubscribe.topic`. */
  @ApiProperty({ example: 'top_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsOptional()
  @IsString()
  @MaxLength(64)
  topic_id?: string | null;

  /** Alias of `unsubscribe.topic`. */
  @ApiProperty({ example: 'top_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsOptional()
  @IsString()
  @MaxLength(64)
  topicId?: string | null;
}
