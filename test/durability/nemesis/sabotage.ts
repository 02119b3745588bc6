import type { Received } from '../receiver.js';
import { wasStorageBroken } from './fault.js';
import { backSecondsMax, type RoundEvidence } from './verdict.js';

/** Observations of a round with one violated guarantee, and the sentence that the checker must report. */
export interface Sabotaged {
  what: string;
  evidence: RoundEvidence;
  claim: RegExp;
}

/** Returns a delay that no fault can excuse, even on a busy machine. */
const laterMs = ({ pace }: RoundEvidence): number => 2_000 * backSecondsMax(pace);

/**
 * Returns copies of the observations of a real round, each with one error that no fault excuses. The checker must
 * reject each copy.
 */
export function sabotaged(evidence: RoundEvidence): Sabotaged[] {
  const victim = evidence.arrivals.filter(isGood).at(-1);
  if (!victim) throw new Error('Nothing was delivered in this round: there is nothing to sabotage.');
  const replaced = (by: Partial<Received>): Received[] =>
    evidence.arrivals.map((arrival) => (arrival === victim ? { ...arrival, ...by } : arrival));
  const again = {
    ...victim,
    receivedAtMs: victim.receivedAtMs + laterMs(evidence),
    answeredAtMs: victim.receivedAtMs + laterMs(evidence),
  };
  const settled = {
    ...victim,
    receivedAtMs: lastMs(evidence) + laterMs(evidence),
    answeredAtMs: lastMs(evidence) + laterMs(evidence),
  };
  const failed = (url: string): RoundEvidence['failedTries'][number] => ({
    key: 'k',
    url,
    fromMs: settled.receivedAtMs,
    toMs: settled.receivedAtMs,
    status: '503',
  });
  const [node = ''] = evidence.nodes;
  return [
    {
      what: 'a message is forgotten',
      evidence: { ...evidence, arrivals: evidence.arrivals.filter(({ id }) => id !== victim.id) },
      claim: /never delivered/,
    },
    {
      what: 'a body is altered',
      evidence: { ...evidence, arrivals: replaced({ bodyHash: 'another' }) },
      claim: /another body/,
    },
    {
      what: 'a signature is forged',
      evidence: { ...evidence, arrivals: replaced({ isSigned: false }) },
      claim: /bad signature/,
    },
    {
      what: 'a message comes out of nothing',
      evidence: { ...evidence, arrivals: [...evidence.arrivals, { ...again, id: 'msg_of_nobody' }] },
      claim: /no answer gave/,
    },
    {
      what: 'a message comes twice though nothing was in flight',
      evidence: {
        ...evidence,
        arrivals: [
          ...evidence.arrivals.filter((arrival) => arrival !== victim),
          settled,
          { ...settled, receivedAtMs: settled.receivedAtMs + 1 },
        ],
      },
      claim: /repeated though nothing was killed/,
    },
    {
      what: 'a message is delivered again rounds later',
      evidence: {
        ...evidence,
        earlier: new Set([...evidence.earlier, 'msg_of_before']),
        arrivals: [...evidence.arrivals, { ...again, id: 'msg_of_before' }],
      },
      claim: /rounds later/,
    },
    ...(!wasStorageBroken(evidence.faults)
      ? [
          {
            what: 'a process leaves undrained',
            evidence: { ...evidence, faults: evidence.faults.map((fault) => ({ ...fault, undrained: 1 })) },
            claim: /left undrained/,
          },
        ]
      : []),
    {
      what: 'a process ends by itself',
      evidence: { ...evidence, crashes: ['worker-1 ended with code 1'] },
      claim: /ended by themselves/,
    },
    {
      what: 'both nodes refuse though storage is there',
      evidence: { ...evidence, failedTries: [...evidence.failedTries, failed(node), failed(`${node}/2`)] },
      claim: /refused although/,
    },
    {
      what: 'deliveries are back after twice the time',
      evidence: { ...evidence, arrivals: delayed(evidence) },
      claim: /back too late/,
    },
    {
      what: 'an answer is final that should be none',
      evidence: { ...evidence, refusals: ['400 no'] },
      claim: /answered as none should be/,
    },
  ];
}

const isGood = ({ status, isSigned }: Received): boolean => status === 200 && isSigned;

/** Returns the arrivals, with a long delay for those after the last fault. */
function delayed(evidence: RoundEvidence): Received[] {
  const endMs = Math.max(...evidence.faults.map(({ toMs }) => toMs));
  const byMs = laterMs(evidence);
  return evidence.arrivals.map((arrival) =>
    arrival.receivedAtMs < endMs
      ? arrival
      : {
          ...arrival,
          receivedAtMs: arrival.receivedAtMs + byMs,
          answeredAtMs: arrival.answeredAtMs === null ? null : arrival.answeredAtMs + byMs,
        },
  );
}

/** Returns the time of the last fault's end or of the last request, whichever is later. */
function lastMs({ faults, arrivals }: RoundEvidence): number {
  return [...faults, ...arrivals.map(({ receivedAtMs: toMs }) => ({ toMs }))].reduce(
    (last, { toMs }) => Math.max(last, toMs),
    0,
  );
}
