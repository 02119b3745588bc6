import { lowestIdAt, showId } from '../../src/kernel/ids.js';
import { broken, check } from './checker.js';
import { evidenceOf, type Observed, outOfOrder, type Place, type Posted, type Visit } from './routed.js';

const AT_MS = 1_700_000_000_000;
const PLACES: Place[] = [
  { name: 'all', kinds: null, isPulled: false },
  { name: 'some', kinds: ['b'], isPulled: false },
  { name: 'feed', kinds: null, isPulled: true },
];

const idOf = (n: number): string => showId('evt', lowestIdAt(AT_MS + n));

/** Returns a webhook: number 0 is of kind a, number 1 of kind b. */
const posted = (n: number, changes: Partial<Posted> = {}): Posted => ({
  n,
  key: `webhook ${n}`,
  bodyHash: `hash-${n}`,
  meaning: `meaning-${n}`,
  ids: [idOf(n)],
  firstTryAtMs: AT_MS + 10 * n,
  acceptedAtMs: AT_MS + 10 * n + 1,
  unanswered: 0,
  ...changes,
});

const visit = (n: number, place: string, changes: Partial<Visit> = {}): Visit => ({
  id: idOf(n),
  place,
  bodyHash: place === 'feed' ? `meaning-${n}` : `hash-${n}`,
  isSigned: true,
  isReplayed: false,
  status: 200,
  receivedAtMs: AT_MS + 100,
  answeredAtMs: AT_MS + 101,
  ...changes,
});

const EVERYWHERE = [visit(0, 'all'), visit(0, 'feed'), visit(1, 'all'), visit(1, 'some'), visit(1, 'feed')];
const AGAIN = EVERYWHERE.map((each) => ({
  ...each,
  isReplayed: true,
  receivedAtMs: AT_MS + 900,
  answeredAtMs: AT_MS + 901,
}));
/** A replay of both webhooks, requested after both were accepted. */
const REPLAY = { askedAtMs: AT_MS + 500, untilMs: AT_MS + 500 };

const observed = (changes: Partial<Observed> = {}): Observed => ({
  posted: [posted(0), posted(1)],
  visits: EVERYWHERE,
  places: PLACES,
  replay: null,
  disruptions: [],
  outages: [],
  ...changes,
});

const found = (changes: Partial<Observed>): ReturnType<typeof check> => check(evidenceOf(observed(changes)));
const without = (visits: Visit[], n: number, place: string): Visit[] =>
  visits.filter((each) => each.id !== idOf(n) || each.place !== place);

describe('the checker of receiving', () => {
  it('finds nothing if every event arrived once at each destination of its routes', () => {
    expect(broken(found({}))).toEqual([]);
    expect(found({}).accepted).toBe(5);
  });

  it.each(PLACES.map(({ name }) => name))('detects a missing event at %s', (place) => {
    expect(found({ visits: without(EVERYWHERE, 1, place) }).lost).toEqual([`${idOf(1)} at ${place}`]);
  });

  it('detects an event that the filter of the route excludes', () => {
    expect(found({ visits: [...EVERYWHERE, visit(0, 'some')] }).unexpected).toEqual([`${idOf(0)} at some`]);
  });

  it('detects a changed body, also where only the parsed value is known', () => {
    const visits = [
      ...without(without(EVERYWHERE, 0, 'all'), 0, 'feed'),
      visit(0, 'all', { bodyHash: 'other' }),
      visit(0, 'feed', { bodyHash: 'other' }),
    ];

    expect(found({ visits }).altered).toEqual([`${idOf(0)} at all`, `${idOf(0)} at feed`]);
  });

  it('detects a webhook that was never answered', () => {
    expect(
      found({ posted: [posted(0), posted(1), posted(2, { ids: [], acceptedAtMs: null, unanswered: 3 })] })
        .unansweredKeys,
    ).toEqual(['webhook 2']);
  });

  describe('attempts without an answer', () => {
    const stray = (place: string): Visit => visit(0, place, { id: idOf(7) });
    const twice = [posted(0, { unanswered: 1 }), posted(1)];

    it('accepts the event of one of them, at every place', () => {
      expect(broken(found({ posted: twice, visits: [...EVERYWHERE, stray('all'), stray('feed')] }))).toEqual([]);
    });

    it('detects that the event arrived at one place only', () => {
      expect(found({ posted: twice, visits: [...EVERYWHERE, stray('feed')] }).lost).toEqual([`${idOf(7)} at all`]);
    });

    it('detects more events than attempts', () => {
      const more = visit(0, 'all', { id: idOf(8) });

      expect(found({ posted: twice, visits: [...EVERYWHERE, stray('all'), stray('feed'), more] }).unexpected).toEqual([
        `${idOf(8)} at all`,
      ]);
    });

    it('detects an event that no attempt can have created', () => {
      expect(found({ visits: [...EVERYWHERE, stray('all')] }).unexpected).toEqual([`${idOf(7)} at all`]);
    });
  });

  describe('of a replay', () => {
    it('finds nothing if every event arrived again', () => {
      expect(broken(found({ replay: REPLAY, visits: [...EVERYWHERE, ...AGAIN] }))).toEqual([]);
    });

    it.each(PLACES.map(({ name }) => name))('detects a missing replayed event at %s', (place) => {
      expect(found({ replay: REPLAY, visits: [...EVERYWHERE, ...without(AGAIN, 1, place)] }).lost).toEqual([
        `${idOf(1)} at ${place}, replayed`,
      ]);
    });

    it('detects replayed events without a replay, or outside of its range', () => {
      expect(found({ visits: [...EVERYWHERE, ...AGAIN] }).unexpected).toHaveLength(5);
      expect(
        found({ replay: { ...REPLAY, untilMs: AT_MS }, visits: [...EVERYWHERE, ...AGAIN] }).unexpected,
      ).toHaveLength(3);
    });

    it('detects an event that was replayed twice', () => {
      const late = {
        ...visit(0, 'all', { isReplayed: true }),
        receivedAtMs: AT_MS + 2_000,
        answeredAtMs: AT_MS + 2_001,
      };

      expect(found({ replay: REPLAY, visits: [...EVERYWHERE, ...AGAIN, late] }).unexplained).toEqual([
        `${idOf(0)} at all, replayed`,
      ]);
    });

    it('allows events accepted during the replay request to be replayed or not, but not in part', () => {
      const late = [posted(0), posted(1, { acceptedAtMs: REPLAY.askedAtMs + 1 })];
      const first = AGAIN.filter(({ id }) => id === idOf(0));

      expect(broken(found({ posted: late, replay: REPLAY, visits: [...EVERYWHERE, ...first] }))).toEqual([]);
      expect(
        found({ posted: late, replay: REPLAY, visits: [...EVERYWHERE, ...without(AGAIN, 1, 'some')] }).lost,
      ).toEqual([`${idOf(1)} at some, replayed`]);
    });

    it('counts a replay as the first delivery of an event that was still being retried', () => {
      const failed = visit(0, 'all', { status: 500 });
      const visits = [...without(EVERYWHERE, 0, 'all'), failed];

      expect(broken(found({ replay: REPLAY, visits: [...visits, ...AGAIN] }))).toEqual([]);
      expect(found({ replay: REPLAY, visits: [...visits, ...without(AGAIN, 0, 'all')] }).lost).toEqual([
        `${idOf(0)} at all, replayed`,
      ]);
      expect(found({ visits }).lost).toEqual([`${idOf(0)} at all`]);
    });
  });

  it('detects feed items that arrived after an item that was posted after they had been accepted', () => {
    const reversed = [...EVERYWHERE].reverse();
    const together = [posted(0), posted(1, { firstTryAtMs: AT_MS })];

    expect(outOfOrder(observed())).toEqual([]);
    expect(outOfOrder(observed({ visits: reversed }))).toEqual([idOf(0)]);
    expect(outOfOrder(observed({ posted: together, visits: reversed }))).toEqual([]);
  });
});
