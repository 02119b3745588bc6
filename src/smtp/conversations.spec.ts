import { Conversations } from './conversations.js';
import { SMTP_LIMITS } from './limits.js';

function arrange(): { conversations: Conversations; pass(ms: number): void } {
  let nowMs = 0;
  return {
    conversations: new Conversations({ ...SMTP_LIMITS, connections: 6, connectionsPerNetwork: 2 }, () => nowMs),
    pass: (ms) => void (nowMs += ms),
  };
}

describe('the connections of a listener', () => {
  it('are limited for each address, for the /64 of an IPv6 address, and in total; an ended one frees its slot', () => {
    const { conversations } = arrange();
    const begin = (id: string, address: string): boolean => !conversations.begin(id, address).isTooMany;

    expect(
      ['192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.2'].map((address, i) => begin(`four${i}`, address)),
    ).toEqual([true, true, false, true]);
    expect(
      ['2001:db8:0:1::1', '2001:db8:0:1:ffff::2', '2001:db8:0:1::3'].map((address, i) => begin(`six${i}`, address)),
    ).toEqual([true, true, false]);
    // Seven connections are open, including the one that was rejected because it exceeded the limit.
    expect(begin('late', '192.0.2.9')).toBe(false);
    for (const id of ['four0', 'four1', 'four2', 'six2', 'late']) conversations.end(id);
    expect([begin('again', '192.0.2.1'), conversations.count]).toEqual([true, 4]);
  });

  it('end if their message arrives too slowly, whatever arrived before; one that keeps up, or is being stored, does not', () => {
    const { conversations, pass } = arrange();
    const of = (id: string): { bytes: number; isOpen: boolean } => {
      const progress = { bytes: 0, isOpen: true };
      const conversation = conversations.begin(id, `192.0.2.${id.length}`);
      conversation.arriving = { progress: () => progress, sinceMs: 0, sinceBytes: 0 };
      return progress;
    };
    const [drip, fast, stalled, complete, storing] = [of('d'), of('fa'), of('sta'), of('done'), of('store')];
    const keeping = conversations.find('store');
    if (keeping) keeping.isStoring = true;
    storing.isOpen = true;

    pass(59_000);
    expect(conversations.overdue()).toEqual([]);
    [drip.bytes, fast.bytes, stalled.bytes, complete.isOpen] = [60, 61 * 1024, 1024 * 1024, false];
    pass(1_000);
    expect(conversations.overdue().map(([id, { code, text }]) => [id, code, text.slice(0, 5)])).toEqual([
      ['d', 421, '4.4.2'],
    ]);
    conversations.end('d');
    fast.bytes += 61 * 1024;
    pass(60_000);
    expect(conversations.overdue().map(([id]) => id)).toEqual(['sta']);
  });

  it('end after half an hour, except while a message is being stored', () => {
    const { conversations, pass } = arrange();
    conversations.begin('old', '192.0.2.1');
    conversations.begin('storing', '192.0.2.2').isStoring = true;

    pass(1_800_000);
    expect(conversations.overdue()).toEqual([]);
    pass(1);
    expect(conversations.overdue().map(([id, { code }]) => [id, code])).toEqual([['old', 421]]);
  });
});
