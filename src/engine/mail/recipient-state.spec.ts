import fc from 'fast-check';
import {
  EMAIL_STATUSES,
  type EmailStatus,
  emailStatus,
  eventStatusOf,
  FACT_KINDS,
  type FactKind,
  type HandingOver,
  isOwed,
  RECIPIENT_STATES,
  type RecipientState,
  recipientStatus,
  stateAfter,
  suppressionAfter,
} from './recipient-state.js';

const STATE = fc.constantFrom(...RECIPIENT_STATES);
const FACT = fc.constantFrom(...FACT_KINDS);
const HANDING_OVER = fc.constantFrom<HandingOver | null>('retrying', 'delivered', 'failed', 'dlq', null);

describe('stateAfter', () => {
  // Every event that changes a recipient's state: state before, event, state after.
  const CHANGES: readonly [RecipientState, FactKind, RecipientState][] = [
    ['sending', 'sent', 'sent'],
    ['sending', 'delivered', 'delivered'],
    ['sending', 'bounced', 'bounced'],
    ['sending', 'complained', 'complained'],
    ['sending', 'rejected', 'failed'],
    ['sending', 'suppressed', 'suppressed'],
    ['sent', 'delivered', 'delivered'],
    ['sent', 'bounced', 'bounced'],
    ['sent', 'complained', 'complained'],
    ['sent', 'rejected', 'failed'],
    ['delivered', 'bounced', 'bounced'],
    ['delivered', 'complained', 'complained'],
    ['bounced', 'complained', 'complained'],
    ['failed', 'sent', 'sent'],
    ['failed', 'delivered', 'delivered'],
    ['failed', 'bounced', 'bounced'],
    ['failed', 'suppressed', 'suppressed'],
  ];
  const changed = (state: RecipientState, fact: FactKind): RecipientState | undefined =>
    CHANGES.find(([from, by]) => from === state && by === fact)?.[2];

  it.each(RECIPIENT_STATES.flatMap((state) => FACT_KINDS.map((fact) => [state, fact] as const)))(
    '%s, then %s',
    (state, fact) => {
      expect(stateAfter(state, fact)).toBe(changed(state, fact) ?? state);
    },
  );

  it('a repeated event changes nothing', () => {
    fc.assert(
      fc.property(STATE, FACT, (state, fact) => {
        const once = stateAfter(state, fact);
        expect(stateAfter(once, fact)).toBe(once);
      }),
    );
  });

  it('events in any order and repeated lead to the same state', () => {
    const factLists = fc.array(fc.constantFrom<FactKind>('sent', 'delivered', 'bounced', 'complained', 'deferred'), {
      minLength: 1,
      maxLength: 8,
    });
    fc.assert(
      fc.property(
        factLists.chain((facts) =>
          fc.tuple(fc.constant(facts), fc.shuffledSubarray(facts, { minLength: facts.length })),
        ),
        ([facts, shuffled]) => {
          const after = (all: readonly FactKind[]): RecipientState => all.reduce(stateAfter, 'sending');
          expect(after(shuffled)).toBe(after(facts));
        },
      ),
    );
  });

  it('a bounce or a complaint is never undone', () => {
    const worse: Partial<Record<RecipientState, readonly RecipientState[]>> = {
      bounced: ['bounced', 'complained'],
      complained: ['complained'],
    };
    fc.assert(
      fc.property(fc.constantFrom<RecipientState>('bounced', 'complained'), fc.array(FACT), (state, facts) => {
        expect(worse[state]).toContain(facts.reduce(stateAfter, state));
      }),
    );
  });
});

describe('isOwed', () => {
  it.each<[RecipientState, boolean, boolean]>([
    ['sending', true, true],
    ['failed', false, true],
    ['sent', false, false],
    ['delivered', false, false],
    ['bounced', false, false],
    ['complained', false, false],
    ['suppressed', false, false],
    ['canceled', false, false],
  ])('%s: in a first delivery %s, in a replay %s', (state, byItself, replayed) => {
    expect([isOwed(state, false), isOwed(state, true)]).toEqual([byItself, replayed]);
  });
});

describe('suppressionAfter', () => {
  it.each<[FactKind, boolean, 'bounce' | 'complaint' | null]>([
    ['bounced', true, 'bounce'],
    ['bounced', false, null],
    ['complained', false, 'complaint'],
    ['complained', true, 'complaint'],
    ['rejected', true, null],
    ['deferred', false, null],
    ['delivered', true, null],
  ])('%s (permanent: %s) → %s', (fact, isPermanent, origin) => {
    expect(suppressionAfter(fact, isPermanent)).toBe(origin);
  });
});

describe('emailStatus', () => {
  it.each<[RecipientState[], HandingOver | null, EmailStatus]>([
    [['sending'], null, 'sending'],
    [['sending'], 'retrying', 'sending'],
    [['sending'], 'dlq', 'dlq'],
    [['sending'], 'failed', 'failed'],
    [['sent'], 'delivered', 'sending'],
    [['delivered'], 'delivered', 'delivered'],
    [['delivered', 'sending'], 'retrying', 'sending'],
    [['delivered', 'sending'], 'dlq', 'dlq'],
    [['failed', 'sending'], 'retrying', 'failed'],
    [['failed', 'sending'], 'dlq', 'dlq'],
    [['bounced', 'sending'], 'dlq', 'bounced'],
    [['bounced', 'failed', 'delivered'], 'failed', 'bounced'],
    [['complained', 'bounced'], 'failed', 'complained'],
    [['suppressed'], 'failed', 'suppressed'],
    [['suppressed', 'suppressed'], null, 'suppressed'],
    [['suppressed', 'delivered'], 'delivered', 'delivered'],
    [['suppressed', 'failed'], 'failed', 'failed'],
    [['canceled', 'canceled'], 'failed', 'canceled'],
  ])('%j, handing over %s → %s', (states, handingOver, status) => {
    expect(emailStatus(states, handingOver)).toBe(status);
  });

  it('is the worst status of its recipients in any order, and suppressed only if all are', () => {
    const order: readonly EmailStatus[] = [
      'complained',
      'bounced',
      'dlq',
      'failed',
      'canceled',
      'sending',
      'delivered',
      'suppressed',
    ];
    fc.assert(
      fc.property(fc.array(STATE, { minLength: 1, maxLength: 50 }), HANDING_OVER, (states, handingOver) => {
        const each = states.map((state) => order.indexOf(recipientStatus(state, handingOver)));
        expect(emailStatus(states, handingOver)).toBe(order[Math.min(...each)]);
        expect(emailStatus([...states].reverse(), handingOver)).toBe(emailStatus(states, handingOver));
      }),
    );
  });

  it('throws for an email without recipients', () => {
    expect(() => emailStatus([], null)).toThrow(RangeError);
  });
});

describe('eventStatusOf', () => {
  it('maps to the event status as specified', () => {
    expect(EMAIL_STATUSES.map((status) => [status, eventStatusOf(status)])).toEqual([
      ['sending', 'retrying'],
      ['delivered', 'delivered'],
      ['bounced', 'failed'],
      ['complained', 'failed'],
      ['suppressed', 'failed'],
      ['failed', 'failed'],
      ['canceled', 'failed'],
      ['dlq', 'dlq'],
    ]);
  });
});
