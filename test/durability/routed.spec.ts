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

/** Number 0 is of kind a, number 1 of kind b. */
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
/** Of both, asked for after both were accepted. */
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
  it('finds nothing when everything came where its routes lead, once', () => {
    expect(broken(found({}))).toEqual([]);
    expect(found({}).accepted).toBe(5);
  });

  it.each(PLACES.map(({ name }) => name))('finds what did not come at %s', (place) => {
    expect(found({ visits: without(EVERYWHERE, 1, place) }).lost).toEqual([`${idOf(1)} at ${place}`]);
  });

  it('finds what came where its filter does not let it', () => {
    expect(found({ visits: [...EVERYWHERE, visit(0, 'some')] }).unexpected).toEqual([`${idOf(0)} at some`]);
  });

  it('finds another body, also where only its meaning is known', () => {
    const visits = [
      ...without(without(EVERYWHERE, 0, 'all'), 0, 'feed'),
      visit(0, 'all', { bodyHash: 'other' }),
      visit(0, 'feed', { bodyHash: 'other' }),
    ];

    expect(found({ visits }).altered).toEqual([`${idOf(0)} at all`, `${idOf(0)} at feed`]);
  });

  it('finds a webhook that was never answered', () => {
    expect(
      found({ posted: [posted(0), posted(1), posted(2, { ids: [], acceptedAtMs: null, unanswered: 3 })] })
        .unansweredKeys,
    ).toEqual(['webhook 2']);
  });

  describe('of tries without an answer', () => {
    const stray = (place: string): Visit => visit(0, place, { id: idOf(7) });
    const twice = [posted(0, { unanswered: 1 }), posted(1)];

    it('takes the event that one of them made, everywhere', () => {
      expect(broken(found({ posted: twice, visits: [...EVERYWHERE, stray('all'), stray('feed')] }))).toEqual([]);
    });

    it('finds that it came to one place only', () => {
      expect(found({ posted: twice, visits: [...EVERYWHERE, stray('feed')] }).lost).toEqual([`${idOf(7)} at all`]);
    });

    it('finds more events than tries', () => {
      const more = visit(0, 'all', { id: idOf(8) });

      expect(found({ posted: twice, visits: [...EVERYWHERE, stray('all'), stray('feed'), more] }).unexpected).toEqual([
        `${idOf(8)} at all`,
      ]);
    });

    it('finds an event that no try can have made', () => {
      expect(found({ visits: [...EVERYWHERE, stray('all')] }).unexpected).toEqual([`${idOf(7)} at all`]);
    });
  });

  describe('of a replay', () => {
    it('finds nothing when everything came again', () => {
      expect(broken(found({ replay: REPLAY, visits: [...EVERYWHERE, ...AGAIN] }))).toEqual([]);
    });

    it.each(PLACES.map(({ name }) => name))('finds what did not come again at %s', (place) => {
      expect(found({ replay: REPLAY, visits: [...EVERYWHERE, ...without(AGAIN, 1, place)] }).lost).toEqual([
        `${idOf(1)} at ${place}, replayed`,
      ]);
    });

    it('finds what came again although there was none, or although it lies behind its window', () => {
      expect(found({ visits: [...EVERYWHERE, ...AGAIN] }).unexpected).toHaveLength(5);
      expect(
        found({ replay: { ...REPLAY, untilMs: AT_MS }, visits: [...EVERYWHERE, ...AGAIN] }).unexpected,
      ).toHaveLength(3);
    });

    it('finds what came again twice', () => {
      const late = {
        ...visit(0, 'all', { isReplayed: true }),
        receivedAtMs: AT_MS + 2_000,
        answeredAtMs: AT_MS + 2_001,
      };

      expect(found({ replay: REPLAY, visits: [...EVERYWHERE, ...AGAIN, late] }).unexplained).toEqual([
        `${idOf(0)} at all, replayed`,
      ]);
    });

    it('leaves open whether it has what was accepted while it was asked for, but not in part', () => {
      const late = [posted(0), posted(1, { acceptedAtMs: REPLAY.askedAtMs + 1 })];
      const first = AGAIN.filter(({ id }) => id === idOf(0));

      expect(broken(found({ posted: late, replay: REPLAY, visits: [...EVERYWHERE, ...first] }))).toEqual([]);
      expect(
        found({ posted: late, replay: REPLAY, visits: [...EVERYWHERE, ...without(AGAIN, 1, 'some')] }).lost,
      ).toEqual([`${idOf(1)} at some, replayed`]);
    });

    it('takes it for the first delivery of what was still retried', () => {
      const failed = visit(0, 'all', { status: 500 });
      const visits = [...without(EVERYWHERE, 0, 'all'), failed];

      expect(broken(found({ replay: REPLAY, visits: [...visits, ...AGAIN] }))).toEqual([]);
      expect(found({ replay: REPLAY, visits: [...visits, ...without(AGAIN, 0, 'all')] }).lost).toEqual([
        `${idOf(0)} at all, replayed`,
      ]);
      expect(found({ visits }).lost).toEqual([`${idOf(0)} at all`]);
    });
  });

  it('finds items of a feed that came behind one which was posted after they had been accepted', () => {
    const reversed = [...EVERYWHERE].reverse();
    const together = [posted(0), posted(1, { firstTryAtMs: AT_MS })];

    expect(outOfOrder(observed())).toEqual([]);
    expect(outOfOrder(observed({ visits: reversed }))).toEqual([idOf(0)]);
    expect(outOfOrder(observed({ posted: together, visits: reversed }))).toEqual([]);
  });
});
