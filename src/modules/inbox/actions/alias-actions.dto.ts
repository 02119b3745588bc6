import { ApiProperty } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsIn, IsInt, IsOptional, IsString, Length, Max, MaxLength, Min } from 'class-validator';
import type { AutoReplySettings } from '#engine/mail/auto-reply.js';
import { CanBeNull, CanBeOmitted, IsObjectOf } from '#http/validation.js';
import { LINK_SECONDS_MAX, LINK_SECONDS_MIN } from '../messages/signed-links.js';
import type { AskedAutoReply } from './alias-actions.js';
import type { ForwardState } from './forward-addresses.store.js';

const REPLY_EXAMPLE = {
  subject: 'We received your message',
  text: 'Thank you. We answer within one working day.',
  html: null,
  from_name: 'Acme Support',
  once_per: 'P7D',
};

/** An automatic reply to received messages (RFC 3834). */
export class AutoReplyConfig {
  /** Subject of the reply. */
  @ApiProperty({ example: REPLY_EXAMPLE.subject })
  @IsString()
  @Length(1, 998)
  subject: string;

  /** Text of the reply. Required without `html`. */
  @ApiProperty({ example: REPLY_EXAMPLE.text })
  @IsOptional()
  @IsString()
  @MaxLength(65_536)
  text?: string | null;

  /** HTML of the reply. Required without `text`. */
  @ApiProperty({ example: null })
  @IsOptional()
  @IsString()
  @MaxLength(65_536)
  html?: string | null;

  /** Name of the sender. The sender's address is the address of the alias. */
  @ApiProperty({ example: REPLY_EXAMPLE.from_name })
  @IsOptional()
  @IsString()
  @MaxLength(128)
  from_name?: string | null;

  /**
   * Period in which a sender gets at most one reply: an ISO 8601 duration from one hour (`PT1H`) to a year (`P365D`).
   */
  @ApiProperty({ default: 'P7D', example: REPLY_EXAMPLE.once_per })
  @CanBeOmitted()
  @IsString()
  @MaxLength(32)
  once_per?: string;
}

/** Fields of an alias for forwarding, automatic replies and links. */
export class AliasActionsBody {
  /**
   * Addresses to forward the alias's mail to, at most five. Posthorn sends each address a link to a page on which its
   * owner confirms the forwarding. Messages that arrive before the confirmation are not forwarded.
   */
  @ApiProperty({ example: ['ops@example.org'] })
  @CanBeOmitted()
  @IsArray()
  @ArrayMaxSize(5)
  @IsString({ each: true })
  @MaxLength(320, { each: true })
  forward_to?: string[];

  /**
   * Automatic reply to the envelope sender. Null for no automatic reply. Automatic messages, mailing lists, blind
   * copies and messages with `auth: fail` get no reply. `once_per` limits the replies to one sender.
   */
  @ApiProperty({ example: REPLY_EXAMPLE })
  @IsOptional()
  @IsObjectOf(() => AutoReplyConfig)
  auto_reply?: AutoReplyConfig | null;

  /**
   * Lifetime in seconds of the links in events, from one minute to thirty days. With a lifetime, the links work without
   * an API key. With null, they need one.
   */
  @ApiProperty({ example: 604_800 })
  @IsOptional()
  @IsInt()
  @Min(LINK_SECONDS_MIN)
  @Max(LINK_SECONDS_MAX)
  link_ttl_seconds?: number | null;
}

/** An address that an alias forwards to. */
export class ForwardAddressItem {
  /** Address in lower case. */
  @ApiProperty({ example: 'ops@example.org' })
  @IsString()
  address: string;

  /** Whether the owner of the address has confirmed it. Mail is forwarded only to `confirmed` addresses. */
  @ApiProperty({ example: 'confirmed' })
  @IsIn(['pending', 'confirmed', 'refused'])
  status: ForwardState;
}

/** An automatic reply to received messages. */
export class AliasAutoReplyItem {
  /** Subject of the reply. */
  @ApiProperty({ example: REPLY_EXAMPLE.subject })
  @IsString()
  subject: string;

  /** Text of the reply, or null. */
  @ApiProperty({ example: REPLY_EXAMPLE.text })
  @CanBeNull()
  @IsString()
  text: string | null;

  /** HTML of the reply, or null. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  html: string | null;

  /** Name of the sender, or null. */
  @ApiProperty({ example: REPLY_EXAMPLE.from_name })
  @CanBeNull()
  @IsString()
  from_name: string | null;

  /** Period in which a sender gets at most one reply, as an ISO 8601 duration. */
  @ApiProperty({ example: REPLY_EXAMPLE.once_per })
  @IsString()
  once_per: string;
}

export function askedAutoReply({
  subject,
  text = null,
  html = null,
  from_name: fromName = null,
  once_per: oncePer,
}: AutoReplyConfig): AskedAutoReply {
  return { subject, text, html, fromName, oncePer };
}

export function presentAutoReply(settings: AutoReplySettings | null): AliasAutoReplyItem | null {
  if (settings === null) return null;
  const { subject, text, html, fromName, oncePer } = settings;
  return { subject, text, html, from_name: fromName, once_per: oncePer };
}
