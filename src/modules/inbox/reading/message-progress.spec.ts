import type { Id } from '#kernel/ids.js';
import type { MailPace } from '../intake/mail-pace.js';
import { MessageProgress } from './message-progress.js';
import type { Decided, Progress, WaitingMessage, WaitingMessagesStore } from './waiting-messages.store.js';

const message = (id: string): WaitingMessage => ({ id }) as unknown as WaitingMessage;
const DECIDED = { detail: { text: null, html: null, headerLines: [] } } as unknown as Decided;
const refused = (): Error => Object.assign(new Error('invalid'), { code: '22P05' });

describe('the group commit of the pipeline', () => {
  function progressOver(
    store: (progress: Progress) => Id[],
    pace = { isPaced: false },
  ): { progress: MessageProgress; groups: string[][] } {
    const groups: string[][] = [];
    const written = async (steps: Progress): Promise<ReadonlySet<Id>> => {
      groups.push([
        ...steps.decided.map(({ message: { id } }) => `decided ${id}`),
        ...steps.settled.map(({ id }) => `settled ${id}`),
      ]);
      return new Set(store(steps));
    };
    return {
      progress: new MessageProgress({ progress: written } as unknown as WaitingMessagesStore, pace as MailPace),
      groups,
    };
  }

  it('writes concurrent steps in one statement, and returns the result of each', async () => {
    const { progress, groups } = progressOver(() => ['b']);

    const ends = await Promise.all([
      progress.decide(message('a'), DECIDED),
      progress.settle(message('c')),
      progress.decide(message('b'), DECIDED),
    ]);

    expect([ends, groups]).toEqual([[false, undefined, true], [['decided a', 'decided b', 'settled c']]]);
  });

  it('lingers while mail yields to deliveries', async () => {
    const { progress, groups } = progressOver(() => ['a', 'b'], { isPaced: true });
    const first = progress.decide(message('a'), DECIDED);
    // A write without a delay would have started by now.
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    expect(groups).toEqual([]);

    await Promise.all([first, progress.decide(message('b'), DECIDED)]);

    expect(groups).toEqual([['decided a', 'decided b']]);
  });

  it('a rejected step fails alone', async () => {
    const { progress, groups } = progressOver(({ decided }) => {
      if (decided.some(({ message: { id } }) => id === 'bad')) throw refused();
      return decided.map(({ message: { id } }) => id);
    });

    const ends = await Promise.allSettled([
      progress.decide(message('a'), DECIDED),
      progress.decide(message('bad'), DECIDED),
      progress.settle(message('c')),
    ]);

    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(groups).toEqual([['decided a', 'decided bad', 'settled c'], ['decided a'], ['decided bad'], ['settled c']]);
  });

  it('steps are not tried one by one while storage is unavailable', async () => {
    const { progress, groups } = progressOver(() => {
      throw new Error('connection lost');
    });

    const ends = await Promise.allSettled([progress.decide(message('a'), DECIDED), progress.settle(message('c'))]);

    expect([ends.map(({ status }) => status), groups.length]).toEqual([['rejected', 'rejected'], 1]);
  });
});
