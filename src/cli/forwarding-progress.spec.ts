import fc from 'fast-check';
import { ForwardingProgress, type Slot } from './forwarding-progress.js';

describe('ForwardingProgress', () => {
  it('has no position before the stream has sent an id', () => {
    const progress = new ForwardingProgress('');
    progress.add('1', 'evt_1');

    expect(progress.place).toBeNull();
  });

  it('advances past the requests that are done without a gap, and lists later ones that are done or in flight', () => {
    const progress = new ForwardingProgress('0');
    const [first, second, third] = ['1', '2', '3'].map((id) => progress.add(id, `evt_${id}`)) as [Slot, Slot, Slot];
    first.state = 'under_way';
    progress.finish(third);

    expect(progress.place).toEqual({ last_event_id: '0', under_way: ['evt_1'], done: ['evt_3'] });
    progress.finish(first);
    expect(progress.place).toEqual({ last_event_id: '1', under_way: [], done: ['evt_3'] });
    progress.finish(second);
    expect(progress.place).toEqual({ last_event_id: '3', under_way: [], done: [] });
  });

  it('a run that starts at the position meets every unfinished request, in whatever order requests end', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(9), { maxLength: 10 }), (order) => {
        const progress = new ForwardingProgress('-1');
        const slots = Array.from({ length: 10 }, (_, index) => progress.add(String(index), `evt_${index}`));
        for (const index of order) progress.finish(slots[index] as Slot);

        const { last_event_id: last = '', done = [] } = progress.place ?? {};
        const met = slots
          .map((_, index) => index)
          .filter((index) => index > Number(last) && !done.includes(`evt_${index}`));
        expect(met).toEqual([...Array(10).keys()].filter((index) => !order.includes(index)));
      }),
    );
  });
});
