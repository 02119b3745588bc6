import type { CallEnd, CallLimits } from './call-thread.js';
import type { SlotThread } from './thread-slot.js';
import { type Sliced, ThreadSlots, wallMsFor } from './thread-slots.js';

interface Call extends Sliced {
  name: string;
  isSlow: boolean;
}

type Answer = { name: string };

/** The running calls, by name. A slow call uses up its CPU slice at once and then runs until the test ends it. */
class Running {
  readonly limits: CallLimits[] = [];
  readonly quick: string[] = [];
  readonly slow: string[] = [];

  thread(niceness: number): SlotThread<Call, Answer | 'overrun'> {
    const running = niceness === 0 ? this.quick : this.slow;
    return {
      ready: Promise.resolve(true),
      isAlive: true,
      run: async ({ name, isSlow, sliceMs }, limits) => {
        this.limits.push(limits);
        if (isSlow && sliceMs !== null) return { answer: 'overrun', cpuMs: sliceMs };
        running.push(name);
        return new Promise<CallEnd<Answer>>(() => undefined);
      },
      stop: async () => undefined,
    };
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

/** Creates slots with fake threads. A call has the name of its owner: `a1` is endpoint 1 of organization `a`. */
function arrange() {
  const running = new Running();
  const threadSlots = new ThreadSlots<Call, Answer>({
    quickMax: 3,
    slowMax: 4,
    startThread: async (niceness) => running.thread(niceness),
  });
  const run = async (isSlow: boolean, ...names: string[]): Promise<void> => {
    for (const name of names)
      void threadSlots.run({ organization: name.charAt(0), endpoint: name }, { name, isSlow }, 5_000, 1);
    await settled();
  };
  return { running, run };
}

describe('ThreadSlots', () => {
  it('one organization with quick calls cannot occupy all threads: calls of another one start at once', async () => {
    const { running, run } = arrange();
    await run(false, 'a1', 'a2', 'a3', 'a4');
    expect(running.quick).toEqual(['a1', 'a2']);

    await run(false, 'b1');

    expect(running.quick).toEqual(['a1', 'a2', 'b1']);
  });

  it('one organization with slow calls cannot occupy all threads, however many endpoints it has: calls of others start at once', async () => {
    const { running, run } = arrange();
    await run(true, 'a1', 'a2', 'a3', 'a4', 'a5');
    expect(running.slow).toEqual(['a1', 'a2']);

    await run(true, 'b1', 'c1');

    expect(running.slow).toEqual(['a1', 'a2', 'b1', 'c1']);
  });

  it('both attempts of a call share one deadline: twice its CPU time plus two seconds', async () => {
    const { running, run } = arrange();

    await run(true, 'a1');

    const [first, second] = running.limits;
    expect([wallMsFor(250), wallMsFor(1_000), wallMsFor(5_000)]).toEqual([2_500, 4_000, 12_000]);
    expect(wallMsFor(10_000, 4)).toBe(42_000);
    expect(running.limits).toHaveLength(2);
    expect(second?.deadline).toBe(first?.deadline);
    expect(first?.deadline?.leftMs()).toBeLessThanOrEqual(wallMsFor(5_000));
  });

  it('slow calls do not delay quick calls, not even of the same organization', async () => {
    const { running, run } = arrange();
    await run(true, 'a1', 'a2', 'a3', 'a4', 'a5');

    await run(false, 'a6');

    expect(running.quick).toEqual(['a6']);
  });
});
