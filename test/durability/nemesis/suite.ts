import { BUSY_TIMES } from '../../support/pace.js';
import { runSeed, Seeded } from '../random.js';
import { Fleet, type FleetKind, isPossible } from './fleet.js';
import { kindNamed } from './kinds.js';
import { line } from './progress.js';
import { missingMessages, Round } from './round.js';
import { sabotaged } from './sabotage.js';
import { complaintsOf, judge } from './verdict.js';

/**
 * Jest's timeouts, which are only a last resort. The timeouts of a round are shorter, and are scaled by the pace of the
 * machine.
 */
const OPEN_MS_MAX = 120_000 * BUSY_TIMES;
const ROUND_MS_MAX = 180_000 * BUSY_TIMES;
const TIME_LIMITS = { acceptMs: 45_000, settleMs: 60_000 };
/**
 * Time limit for messages to misbehaving receivers. An open circuit is probed after half a minute, and then after one
 * and two more minutes.
 */
const MISSING_MS_MAX = 240_000;

/** Runs the CI rounds on one fleet. Each round has one kind of fault, or several kinds joined with `+`. */
export function nemesisSuite(fleetKind: FleetKind, rounds: readonly string[]): void {
  const describeIfPossible = isPossible(fleetKind) ? describe : describe.skip;
  describeIfPossible(`the nemesis, fleet: ${fleetKind}`, () => {
    const seed = runSeed();
    const dice = new Seeded(seed);
    let fleet: Fleet | null = null;

    beforeAll(async () => {
      fleet = await Fleet.open(fleetKind, seed);
    }, OPEN_MS_MAX);

    afterAll(async () => fleet?.close(), OPEN_MS_MAX);

    it.each(rounds)(
      '%s: every accepted message arrives once and unchanged, and the checker detects injected errors',
      async (names) => {
        const kinds = names.split(' + ').map(kindNamed);
        fleet ??= await Fleet.open(fleetKind, seed);
        const { evidence, verdict } = await new Round(fleet, kinds, dice, true, TIME_LIMITS)
          .run()
          .catch(async (error: unknown) => {
            await replace();
            throw error;
          });

        process.stdout.write(`nemesis: seed ${seed} · ${fleetKind} · ${line(verdict)}\n`);
        const wrong = verdict.wrongs.length > 0 || verdict.backSeconds === null;
        if (wrong)
          process.stdout.write(
            `${JSON.stringify({ crashes: evidence.crashes, faults: evidence.faults, unexplained: verdict.unexplained }, null, 1)}\n`,
          );
        if (wrong || kinds.some(({ usesUp }) => usesUp)) await replace();
        expect(verdict.wrongs).toEqual([]);
        expect(verdict.backSeconds).not.toBeNull();
        // Negative control: evidence of this round with one added error must never pass.
        for (const { what, evidence: bad, claim } of sabotaged(evidence))
          expect([what, ...complaintsOf(judge(bad))].join('; ')).toMatch(claim);
      },
      OPEN_MS_MAX + ROUND_MS_MAX,
    );

    const owes = rounds.some((names) =>
      names.split(' + ').some((name) => /^(names|receiver-.*)$/.test(kindNamed(name).group)),
    );
    (owes ? it : it.skip)(
      'what was sent to receivers that misbehaved arrives when they are well again',
      async () => {
        // If the processes were replaced, skips the check of outstanding messages, because the round has already
        // failed.
        if (fleet) expect(await missingMessages(fleet, MISSING_MS_MAX)).toEqual([]);
      },
      MISSING_MS_MAX * BUSY_TIMES + OPEN_MS_MAX,
    );

    /** Stops the processes under test. The next round starts new ones. */
    async function replace(): Promise<void> {
      const old = fleet;
      fleet = null;
      await old?.close();
    }
  });
}
