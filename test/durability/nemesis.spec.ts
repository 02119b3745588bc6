import { PACE_MAX, paceOf } from '../support/pace.js';
import type { Sent } from './checker.js';
import { FLEETS } from './nemesis/fleet.js';
import { kindNamed, KINDS, overlapping } from './nemesis/kinds.js';
import { judgeMail, type MailEvidence } from './nemesis/mail-verdict.js';
import { CI_ROUNDS } from './nemesis/rounds.js';
import { sabotaged } from './nemesis/sabotage.js';
import { backSecondsMax, complaintsOf, judge, type RoundEvidence } from './nemesis/verdict.js';
import { Seeded } from './random.js';
import type { Received } from './receiver.js';

const NODES = ['http://one', 'http://two'];

describe('the rounds of CI', () => {
  it('include every kind of fault, each on a fleet that supports it', () => {
    const had = Object.values(CI_ROUNDS).flatMap(({ fleet, rounds }) =>
      rounds.flatMap((names) => names.split(' + ').map((name) => ({ fleet, name }))),
    );

    expect(KINDS.map(({ name }) => name).filter((name) => !had.some((other) => other.name === name))).toEqual([]);
    expect(had.filter(({ fleet, name }) => !kindNamed(name).fleets.includes(fleet))).toEqual([]);
  });
});

describe('faults at once', () => {
  it('are the same for the same seed, never have two faults of one group, and only faults that the fleet supports', () => {
    const chosen = FLEETS.map((fleet) =>
      Array.from({ length: 50 }, (_, i) => overlapping(KINDS, fleet, new Seeded(i), 3)),
    );
    const again = FLEETS.map((fleet) =>
      Array.from({ length: 50 }, (_, i) => overlapping(KINDS, fleet, new Seeded(i), 3)),
    );

    expect(again).toEqual(chosen);
    expect(
      chosen
        .flat()
        .every((kinds) => kinds.length > 0 && new Set(kinds.map(({ group }) => group)).size === kinds.length),
    ).toBe(true);
    expect(chosen.flat().some((kinds) => kinds.length === 3)).toBe(true);
    expect(FLEETS.every((fleet, i) => chosen[i]?.flat().every(({ fleets }) => fleets.includes(fleet)))).toBe(true);
  });

  it('have at least the requested number of faults, if the fleet has that many compatible kinds', () => {
    const counts = (fleet: (typeof FLEETS)[number]): number[] =>
      Array.from({ length: 50 }, (_, i) => overlapping(KINDS, fleet, new Seeded(i), 6, 4).length);

    expect(new Set(counts('postgres'))).toEqual(new Set([4, 5, 6]));
    expect(counts('small disk').every((count) => count > 0)).toBe(true);
  });
});

describe('the verdict of a round', () => {
  it('is clean if every message arrived once, and says when deliveries recovered', () => {
    const verdict = judge(evidence({ arrivals: [arrival('a', 1_100, 0), arrival('b', 7_500, 1)] }));

    expect(verdict).toMatchObject({ accepted: 2, lost: 0, doubled: 0, refused: 0, wrongs: [], backSeconds: null });
    expect(
      judge(evidence({ destinations: 1, arrivals: [arrival('a', 9_000, 0), arrival('b', 7_500, 0)] })).backSeconds,
    ).toBe(4);
  });

  it('fails for each single error of a service', () => {
    const round = evidence({ arrivals: [arrival('a', 1_100, 0), arrival('b', 7_500, 1)] });

    expect(judge(round).wrongs).toEqual([]);
    for (const { what, evidence: bad, claim } of sabotaged(round))
      expect([what, ...complaintsOf(judge(bad))].join('; ')).toMatch(claim);
  });

  it('allows a second delivery only if the first was in flight when something was cut', () => {
    const disruptions = [{ kind: 'worker-1', atMs: 4_000, cutsAttempts: true }];
    const twice = (firstMs: number): RoundEvidence['arrivals'] => [
      arrival('a', firstMs, 0),
      arrival('a', 5_000, 0),
      arrival('b', 7_500, 0),
    ];

    expect(judge(evidence({ arrivals: twice(3_900), disruptions }))).toMatchObject({
      doubled: 1,
      doubledAllowed: 1,
      wrongs: [],
    });
    expect(judge(evidence({ arrivals: twice(1_100), disruptions })).wrongs).toContain(
      '1 deliveries were repeated though nothing was killed during the first',
    );
    expect(judge(evidence({ arrivals: twice(3_900) })).wrongs).toContain(
      '1 deliveries were repeated though nothing was killed during the first',
    );
  });

  it('counts a message as refused if the second node failed too, unless that node or storage was down', () => {
    const failedTries = [failed(NODES[0] as string, 4_000), failed(NODES[1] as string, 4_100)];

    expect(judge(evidence({ failedTries })).refused).toBe(1);
    expect(judge(evidence({ failedTries: failedTries.slice(1) })).refused).toBe(0);
    expect(judge(evidence({ failedTries, isOutage: true })).refused).toBe(0);
    expect(judge(evidence({ failedTries, away: NODES })).refused).toBe(0);
    expect(judge(evidence({ failedTries, away: NODES.slice(1) })).refused).toBe(1);
  });

  it('does not count messages refused while one node restarted and another fault had hit the other node', () => {
    const failedTries = [failed(NODES[0] as string, 4_000), failed(NODES[1] as string, 4_100)];
    const { faults } = evidence({ away: NODES.slice(1) });
    const rolling = (fromMs: number, toMs: number): RoundEvidence['faults'] =>
      faults.map((fault) => ({ ...fault, turns: [{ url: NODES[0] as string, fromMs, toMs }] }));

    expect(judge({ ...evidence({ failedTries }), faults: rolling(3_500, 4_500) }).refused).toBe(0);
    expect(judge({ ...evidence({ failedTries }), faults: rolling(4_200, 4_500) }).refused).toBe(1);
  });

  it('counts every failed attempt during rolling restarts', () => {
    const failedTries = [failed(NODES[0] as string, 4_000)];

    expect(judge(evidence({ failedTries, isSeamless: true })).wrongs).toContain(
      '1 messages were refused although a node was up (503 x 1)',
    );
    expect(judge(evidence({ failedTries })).refused).toBe(0);
  });
});

describe('the time limits of the verdict', () => {
  const back = (seconds: number, pace: number): boolean =>
    judge(
      evidence({ pace, destinations: 1, arrivals: [arrival('a', 1_100, 0), arrival('b', 5_000 + seconds * 1_000, 0)] }),
    ).isLate;

  it('are those of a quiet machine, scaled by how much longer work took during the round', () => {
    expect([back(14.9, 1), back(15.1, 1)]).toEqual([false, true]);
    expect([back(24.9, 3), back(25.1, 3)]).toEqual([false, true]);
    expect(backSecondsMax(1)).toBe(15);
  });

  it('never excuse deliveries that did not recover, however busy the machine', () => {
    expect(judge(evidence({ pace: PACE_MAX, arrivals: [arrival('a', 1_100, 0)] }))).toMatchObject({
      backSeconds: null,
      isLate: true,
    });
  });

  it.each([1, 4, PACE_MAX])('let every control fail at a pace of %d', (pace) => {
    const disruptions = [{ kind: 'worker-1', atMs: 4_000, cutsAttempts: true }];
    const round = evidence({
      pace,
      disruptions,
      isOutage: true,
      destinations: 1,
      arrivals: [arrival('a', 1_100, 0), arrival('b', 7_500, 0)],
    });

    expect(complaintsOf(judge(round))).toEqual([]);
    for (const { what, evidence: bad, claim } of sabotaged(round))
      expect([what, ...complaintsOf(judge(bad))].join('; ')).toMatch(claim);
  });

  it('allow more time to record a result on a busy machine', () => {
    const disruptions = [{ kind: 'worker-1', atMs: 4_000, cutsAttempts: true }];
    const twice = (pace: number): string[] =>
      judge(
        evidence({
          pace,
          disruptions,
          arrivals: [arrival('a', 2_500, 0), arrival('a', 5_000, 0), arrival('b', 7_500, 0)],
        }),
      ).wrongs;

    expect(twice(1)).toContain('1 deliveries were repeated though nothing was killed during the first');
    expect(twice(4)).toEqual([]);
  });

  it('use nine of ten beats since a given time, with 20 ms on a quiet machine, and are bounded', () => {
    const beats = (...tookMs: number[]): { atMs: number; tookMs: number }[] =>
      tookMs.map((each, i) => ({ atMs: i, tookMs: each }));

    expect(paceOf(beats(20, 15, 18, 20, 19, 20, 17, 20, 20, 20, 20), 0)).toBe(1);
    expect(paceOf(beats(60, 60, 60, 60, 60), 0)).toBe(3);
    expect(paceOf(beats(20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 5_000, 20, 20, 20, 20, 20), 0)).toBe(1);
    expect(paceOf(beats(1_000, 1_000, 40, 40), 2)).toBe(2);
    expect(paceOf(beats(1_000, 60), 99)).toBe(3);
    expect(paceOf(beats(5_000), 0)).toBe(PACE_MAX);
    expect(paceOf([], 0)).toBe(1);
  });
});

describe('the verdict on mail', () => {
  const letter = { subject: 'a', text: 'words', sizeBytes: 10, isAccepted: true };
  const email = { to: 'r@x.example', text: 'words', isAccepted: true, refusal: null };
  const clean: MailEvidence = {
    letters: [letter],
    emails: [email],
    events: [{ id: 'evt_1', subject: 'a', text: 'words', sizeBytes: 10 }],
    relayed: [{ to: ['r@x.example'], raw: 'the words' }],
  };
  const [event, copy] = [
    clean.events[0] as MailEvidence['events'][number],
    clean.relayed[0] as MailEvidence['relayed'][number],
  ];

  it('is clean if all mail arrived unchanged, even if an email was sent twice with the same bytes', () => {
    expect(judgeMail(clean)).toEqual({
      received: 1,
      sent: 1,
      lost: 0,
      corrupted: 0,
      doubled: 0,
      repeated: 0,
      wrongs: [],
    });
    expect(judgeMail({ ...clean, events: [event, event], relayed: [copy, copy] })).toMatchObject({
      lost: 0,
      doubled: 0,
      repeated: 1,
      wrongs: [],
    });
  });

  it.each<[string, Partial<MailEvidence>, RegExp]>([
    ['a message without an event', { events: [] }, /^1 messages that were answered 250 were lost$/],
    ['an email that never left', { relayed: [] }, /^1 emails that were answered 202 never left$/],
    ['another text', { events: [{ ...event, text: 'word' }] }, /altered/],
    ['another size', { events: [{ ...event, sizeBytes: 9 }] }, /altered/],
    [
      'an email that is sent again with other bytes',
      { relayed: [copy, { ...copy, raw: 'again the words' }] },
      /altered/,
    ],
    ['two events', { events: [event, { ...event, id: 'evt_2' }] }, /^1 messages became two events$/],
    ['a message that is never accepted', { letters: [{ ...letter, isAccepted: false }] }, /never taken/],
    ['an email that is never accepted', { emails: [{ ...email, isAccepted: false }] }, /never taken/],
  ])('is broken by %s', (_what, given, claim) => {
    expect(judgeMail({ ...clean, ...given }).wrongs.join('; ')).toMatch(claim);
  });
});

/**
 * Returns the observations of a round with a fault from second 3 to second 5. Message `a` was accepted before the
 * fault, and `b` after it.
 */
function evidence({
  isOutage = false,
  away = [],
  disruptions = [],
  ...given
}: Partial<RoundEvidence> & Partial<RoundEvidence['faults'][number]>): RoundEvidence {
  const fault = { kind: 'fault', fromMs: 3_000, toMs: 5_000, disruptions, isOutage, away, effect: 'something' };
  return {
    faults: [fault],
    sent: [message('a', 1_000), message('b', 7_000)],
    failedTries: [],
    refusals: [],
    arrivals: [],
    earlier: new Set(),
    destinations: 2,
    nodes: NODES,
    crashes: [],
    isSeamless: false,
    pace: 1,
    mail: null,
    ...given,
  };
}

function message(id: string, acceptedAtMs: number): Sent {
  return { key: `key of ${id}`, bodyHash: 'hash', ids: [id], acceptedAtMs };
}

function arrival(id: string, receivedAtMs: number, destination: number): Received {
  return {
    id,
    bodyHash: 'hash',
    isSigned: true,
    status: 200,
    receivedAtMs,
    answeredAtMs: receivedAtMs + 1,
    destination,
    isReplayed: false,
    isMisdated: false,
  };
}

const failed = (url: string, atMs: number): RoundEvidence['failedTries'][number] => ({
  key: 'k',
  url,
  fromMs: atMs,
  toMs: atMs,
  status: '503',
});
