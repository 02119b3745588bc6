import type { ReactNode } from 'react';
import { word } from '../messages/t';

/** How a state is drawn: by a sign as well as by a colour. */
const SIGNS: Readonly<Record<string, [sign: string, tone: string]>> = {
  delivered: ['✓', 'good'], active: ['✓', 'good'], valid: ['✓', 'good'], closed: ['✓', 'good'], verified: ['✓', 'good'], completed: ['✓', 'good'],
  retrying: ['↻', 'busy'], running: ['↻', 'busy'], pending: ['…', 'busy'], half_open: ['◐', 'busy'],
  failed: ['✕', 'bad'], dlq: ['✕', 'bad'], invalid: ['✕', 'bad'], open: ['✕', 'bad'], stale: ['!', 'bad'], quarantined: ['!', 'bad'],
  routed: ['✓', 'good'], paused: ['❚❚', 'busy'], duplicate: ['=', 'dull'],
  parked: ['❚❚', 'dull'], ignored: ['–', 'dull'], stopped: ['■', 'dull'], disabled: ['⊘', 'dull'], revoked: ['⊘', 'dull'], expired: ['⊘', 'dull'],
};

/** A state in words, with a sign. */
export function Status({ of, kind = 'status' }: { of: string; kind?: 'status' | 'validation' | 'circuit' | 'signature' }): ReactNode {
  const [sign, tone] = SIGNS[of] ?? ['•', 'dull'];
  return <span className={`status ${tone}`}><span aria-hidden="true">{sign}</span> {word(kind, of)}</span>;
}
