import { compileFilter } from '#engine/conditions/condition.js';
import { RequestView } from '#engine/conditions/request-view.js';
import { subscription } from '#engine/subscription.js';
import { LiveApplication, type LiveSubscriber } from './live-applications.js';

function subscriber(id: string, filter: object | null, channels: string[] = [], types: string[] = []): LiveSubscriber {
  const compiled = filter && compileFilter(filter, 'filter');
  if (compiled && 'faults' in compiled) throw new Error(JSON.stringify(compiled.faults));
  return {
    id,
    destinationId: id,
    isActive: true,
    subscription: subscription(types, channels),
    filter: compiled && compiled.condition,
  };
}

function viewOf(payload: object): { view: () => RequestView; looks: () => number } {
  let looks = 0;
  const body = Buffer.from(JSON.stringify(payload));
  const view = new RequestView({ method: 'POST', path: '', query: '', url: '', ip: '', headers: [], body }, 'none');
  return { view: () => ((looks += 1), view), looks: () => looks };
}

const IS_ORDER = { path: '$.kind', op: 'eq', value: 'order' };
/** A filter without a fast path: it reads every character of a text body. */
const GREEDY = { type: 'body', op: 'matches', value: 'total: [0-9]+ EUR' };

describe('LiveApplication', () => {
  it("an endpoint's expensive filter does not affect other endpoints: it is evaluated elsewhere, and an undecided filter is reported", async () => {
    const greedy = Array.from({ length: 8 }, (_, i) => subscriber(`greedy ${i}`, GREEDY));
    const application = new LiveApplication('a', [...greedy, subscriber('modest', IS_ORDER), subscriber('all', null)]);

    const traits = {
      eventType: 'x',
      channels: [],
      view: viewOf({ kind: 'order', text: 'total: '.repeat(14_000) }).view,
    };
    const matching = await application.matching(traits, async (filters) =>
      filters.map((_, i) => (i === 2 ? null : i === 0)),
    );

    expect(matching.map(({ id, isDecided }) => `${id} ${isDecided}`)).toEqual([
      'greedy 0 true',
      'greedy 2 false',
      'modest true',
      'all true',
    ]);
  });

  it('reads the payload only if a filter needs it', async () => {
    const { view, looks } = viewOf({ kind: 'order' });
    const application = new LiveApplication('a', [
      subscriber('b', IS_ORDER, ['other']),
      subscriber('c', IS_ORDER, [], ['y']),
      subscriber('d', null),
    ]);

    const nobody = (): Promise<never> => Promise.reject(new Error('asked'));
    expect(
      (await application.matching({ eventType: 'x', channels: ['one'], view }, nobody)).map(({ id }) => id),
    ).toEqual(['d']);
    expect(looks()).toBe(0);
  });
});
