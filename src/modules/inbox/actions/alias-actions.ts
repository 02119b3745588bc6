import { Injectable } from '@nestjs/common';
import type { AutoReplySettings } from '#engine/mail/auto-reply.js';
import { hasContent } from '#engine/mail/email-content.js';
import { durationMs } from '#engine/mail/iso-duration.js';
import type { Fault } from '#kernel/errors.js';
import type { AliasEntity } from '../inbox.entities.js';
import { ForwardAddresses } from './forward-addresses.js';

const PERIOD_DEFAULT = 'P7D';
const [PERIOD_MS_MIN, PERIOD_MS_MAX] = [3_600_000, 365 * 86_400_000] as const;

/** Characters that end a header line or are not allowed in it. */
const LINE_BREAKING = /[\p{Cc}\u2028\u2029]/u;

/** Settings as given by the caller. Missing fields keep their values. */
export interface AskedAliasActions {
  forwardTo?: readonly string[];
  autoReply?: AskedAutoReply | null;
  linkTtlSeconds?: number | null;
}

export interface AskedAutoReply {
  subject: string;
  text: string | null;
  html: string | null;
  fromName: string | null;
  oncePer: string | undefined;
}

type ActionColumns = Partial<Pick<AliasEntity, 'forwardTo' | 'autoReply' | 'linkTtlSeconds'>>;

/** Validates an alias's settings for forwarding, automatic replies and links. */
@Injectable()
export class AliasActionsReader {
  constructor(private readonly addresses: ForwardAddresses) {}

  /**
   * Returns the columns to store, and all validation errors. Queries forward addresses, so call it outside of
   * transactions.
   */
  async read(
    environmentId: number,
    { forwardTo, autoReply, linkTtlSeconds }: AskedAliasActions,
  ): Promise<{ columns: ActionColumns; faults: Fault[] }> {
    const columns: ActionColumns = {};
    const faults: Fault[] = [];
    if (linkTtlSeconds !== undefined) columns.linkTtlSeconds = linkTtlSeconds;
    if (forwardTo !== undefined) {
      const read = await this.addresses.read(environmentId, forwardTo);
      columns.forwardTo = read.addresses;
      faults.push(...read.faults);
    }
    if (autoReply === null) columns.autoReply = null;
    else if (autoReply !== undefined) {
      const { faults: found, ...settings } = readAutoReply(autoReply);
      columns.autoReply = settings;
      faults.push(...found);
    }
    return { columns, faults };
  }
}

function readAutoReply(asked: AskedAutoReply): AutoReplySettings & { faults: Fault[] } {
  const { subject, fromName, oncePer = PERIOD_DEFAULT } = asked;
  const [text, html] = [asked.text || null, asked.html || null];
  const faults: Fault[] = [];
  const fault = (field: string, message: string): void => void faults.push({ path: `auto_reply.${field}`, message });
  if (!hasContent({ html, text })) fault('text', 'is required without html, and must not be blank');
  for (const [field, content] of Object.entries({ subject, from_name: fromName ?? '' }))
    if (LINE_BREAKING.test(content)) fault(field, 'must not contain control characters');
  if (/[<>@]/.test(fromName ?? '')) fault('from_name', 'must not contain "<", ">" or "@"');
  const periodMs = durationMs(oncePer) ?? 0;
  if (periodMs < PERIOD_MS_MIN || periodMs > PERIOD_MS_MAX)
    fault('once_per', 'must be a duration of ISO 8601 from PT1H to P365D, such as P7D');
  return { subject, text, html, fromName, oncePer, faults };
}
