import { simulatedRole } from '#engine/mail/simulator.js';
import type { Answer } from '#engine/outcome.js';
import type { EmailFact } from './contract.js';
import type { RecipientReply, SubmissionReport } from './transport.contract.js';

const SIMULATED = {
  delivered: { outcome: 'accepted', code: 250, enhanced: '2.0.0', text: '250 2.0.0 Accepted by the simulator.' },
  complained: { outcome: 'accepted', code: 250, enhanced: '2.0.0', text: '250 2.0.0 Accepted by the simulator.' },
  bounced: { outcome: 'bounced', code: 550, enhanced: '5.1.1', text: '550 5.1.1 The simulator knows no such mailbox.' },
  suppressed: {
    outcome: 'bounced',
    code: 550,
    enhanced: '5.1.1',
    text: '550 5.1.1 The simulator knows no such mailbox.',
  },
  deferred: {
    outcome: 'deferred',
    code: 451,
    enhanced: '4.7.1',
    text: '451 4.7.1 The simulator defers this message, try again later.',
  },
} as const satisfies Record<string, Omit<RecipientReply, 'address'>>;

/** Returns the simulated reply for an address, or null if the address does not belong to the simulator. */
export function simulatedReply(address: string, platformDomain: string): RecipientReply | null {
  const role = simulatedRole(address, platformDomain);
  return role && { address, ...SIMULATED[role] };
}

export function capturedReply(address: string): RecipientReply {
  return {
    address,
    outcome: 'accepted',
    code: 250,
    enhanced: '2.0.0',
    text: '250 2.0.0 Captured: the message was not sent.',
  };
}

export function deliveryEventsOf(reply: RecipientReply, isFinal: boolean): EmailFact[] {
  const { address, text, enhanced } = reply;
  const fact = (kind: EmailFact['kind'], isPermanent = false): EmailFact => ({
    address,
    kind,
    subtype: kind === 'sent' || kind === 'delivered' ? null : enhanced,
    detail: text,
    isPermanent,
  });
  if (reply.outcome === 'accepted') return isFinal ? [fact('sent'), fact('delivered')] : [fact('sent')];
  if (reply.outcome === 'deferred') return [fact('deferred')];
  return reply.outcome === 'bounced' ? [fact('bounced', true)] : [fact('rejected')];
}

/**
 * Combines the replies of all recipients. The outcome determines whether the email is sent again, and whether the
 * circuit breaker counts a failure.
 */
export function handoffResult({
  replies,
  isUnreachable,
  retryAfterMs,
}: Pick<SubmissionReport, 'replies' | 'isUnreachable' | 'retryAfterMs'>): { answer: Answer; excerpt: string | null } {
  const decisive = WORST_FIRST.map((outcome) => replies.find((reply) => reply.outcome === outcome)).find(
    (reply) => reply !== undefined,
  );
  const excerpt = decisive?.text ?? null;
  if (isUnreachable) return { answer: { kind: 'error', error: 'connection' }, excerpt };
  const outcome =
    decisive === undefined || decisive.outcome === 'accepted'
      ? 'success'
      : decisive.outcome === 'deferred'
        ? 'deferred'
        : 'refused';
  const retryAfter = retryAfterMs === null ? null : String(Math.ceil(retryAfterMs / 1000));
  // A code below 100 means that there was no SMTP reply code.
  if (decisive !== undefined && decisive.code < 100)
    return { answer: { kind: 'response', status: NO_CODE[outcome], retryAfter, outcome }, excerpt };
  return { answer: { kind: 'response', status: decisive?.code ?? 250, retryAfter, outcome }, excerpt };
}

/** Outcomes by precedence. `deferred` is first, because a deferred recipient requires another attempt. */
const WORST_FIRST = [
  'deferred',
  'bounced',
  'failed',
  'accepted',
] as const satisfies readonly RecipientReply['outcome'][];
const NO_CODE = { success: 250, refused: 554, deferred: 451 } as const;
