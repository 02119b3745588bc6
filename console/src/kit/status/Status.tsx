import type { ReactNode } from 'react';
import { word } from '../messages/t';

/** Symbol and color of each state. The symbol makes states distinguishable without color. */
const SIGNS: Readonly<Record<string, [sign: string, tone: string]>> = {
  processed: ['✓', 'good'],
  pass: ['✓', 'good'],
  sending: ['↻', 'busy'],
  scheduled: ['◷', 'busy'],
  received: ['…', 'busy'],
  'pending-dns': ['…', 'busy'],
  bounced: ['✕', 'bad'],
  complained: ['✕', 'bad'],
  fail: ['✕', 'bad'],
  softfail: ['!', 'bad'],
  permerror: ['!', 'bad'],
  temperror: ['!', 'busy'],
  temporary_failure: ['!', 'busy'],
  suppressed: ['⊘', 'dull'],
  canceled: ['⊘', 'dull'],
  none: ['–', 'dull'],
  neutral: ['–', 'dull'],
  policy: ['–', 'dull'],
  gray: ['!', 'busy'],
  processing_failed: ['!', 'busy'],
  delivered: ['✓', 'good'],
  available: ['↓', 'busy'],
  acknowledged: ['✓', 'good'],
  superseded: ['–', 'dull'],
  active: ['✓', 'good'],
  valid: ['✓', 'good'],
  closed: ['✓', 'good'],
  verified: ['✓', 'good'],
  completed: ['✓', 'good'],
  retrying: ['↻', 'busy'],
  running: ['↻', 'busy'],
  pending: ['…', 'busy'],
  half_open: ['◐', 'busy'],
  failed: ['✕', 'bad'],
  dlq: ['✕', 'bad'],
  invalid: ['✕', 'bad'],
  open: ['✕', 'bad'],
  stale: ['!', 'bad'],
  quarantined: ['!', 'bad'],
  routed: ['✓', 'good'],
  paused: ['❚❚', 'busy'],
  duplicate: ['=', 'dull'],
  too_large: ['✕', 'bad'],
  parked: ['❚❚', 'dull'],
  ignored: ['–', 'dull'],
  stopped: ['■', 'dull'],
  disabled: ['⊘', 'dull'],
  revoked: ['⊘', 'dull'],
  expired: ['⊘', 'dull'],
  draft: ['○', 'dull'],
  published: ['✓', 'good'],
  healthy: ['✓', 'good'],
  at_risk: ['!', 'busy'],
  signing: ['✓', 'good'],
  retiring: ['◷', 'dull'],
  confirmed: ['✓', 'good'],
  refused: ['✕', 'bad'],
  skipped: ['–', 'dull'],
  opt_in: ['✓', 'good'],
  opt_out: ['⊘', 'dull'],
};

/** Shows a status as a symbol and a word. */
export function Status({
  of,
  kind = 'status',
}: {
  of: string;
  kind?: 'status' | 'validation' | 'circuit' | 'signature' | 'record' | 'scan' | 'dkim' | 'forward';
}): ReactNode {
  const [sign, tone] = SIGNS[of] ?? ['•', 'dull'];
  return (
    <span className={`status ${tone}`}>
      <span aria-hidden="true">{sign}</span> {word(kind, of)}
    </span>
  );
}
