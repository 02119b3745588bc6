import type { Schemas } from '../api/client';
import { sendersOf } from './alias-draft';
import type { Alias } from './mail-queries';

/** Periods in which a sender gets at most one automatic reply, as durations of ISO 8601. */
export const PERIODS = ['PT1H', 'P1D', 'P7D', 'P30D'] as const;
/** Lifetimes of the links in events, in seconds. */
export const LIFETIMES = [3_600, 86_400, 604_800, 2_592_000] as const;

/** Actions of an alias on its mail, as the form edits them. */
export interface AliasActionsDraft {
  /** Forward addresses, one per line. */
  forwards: string;
  isReplying: boolean;
  subject: string;
  text: string;
  fromName: string;
  period: string;
  /** Lifetime of links in seconds, or empty for links that need a key. */
  lifetime: string;
}

type Changes = Pick<Schemas['AliasChangesBody'], 'forward_to' | 'auto_reply' | 'link_ttl_seconds'>;

export function aliasActionsDraftOf(
  alias: Pick<Alias, 'forward_to' | 'auto_reply' | 'link_ttl_seconds'>,
): AliasActionsDraft {
  const { auto_reply: reply } = alias;
  return {
    forwards: alias.forward_to.join('\n'),
    isReplying: reply !== null,
    subject: reply?.subject ?? '',
    text: reply?.text ?? '',
    fromName: reply?.from_name ?? '',
    period: reply?.once_per ?? 'P7D',
    lifetime: alias.link_ttl_seconds === null ? '' : String(alias.link_ttl_seconds),
  };
}

/** Returns the changed fields in the API's format. Keeps the HTML of the reply, which the form does not edit. */
export function aliasActionsChangesOf(
  draft: AliasActionsDraft,
  before: AliasActionsDraft,
  html: string | null,
): Changes {
  const isReplyChanged = (['isReplying', 'subject', 'text', 'fromName', 'period'] as const).some(
    (field) => draft[field] !== before[field],
  );
  return {
    ...(draft.forwards !== before.forwards && { forward_to: sendersOf(draft.forwards) }),
    ...(isReplyChanged && {
      auto_reply: draft.isReplying
        ? {
            subject: draft.subject,
            text: draft.text.trim() === '' ? null : draft.text,
            html,
            from_name: draft.fromName.trim() === '' ? null : draft.fromName.trim(),
            once_per: draft.period,
          }
        : null,
    }),
    ...(draft.lifetime !== before.lifetime && {
      link_ttl_seconds: draft.lifetime === '' ? null : Number(draft.lifetime),
    }),
  };
}
