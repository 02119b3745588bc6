import { type FoundRecords, NameRecords } from './name-records.js';
import { RememberedRecords } from './remembered-records.js';

class Servers {
  asked: string[] = [];
  answer: (name: string, share: string) => Promise<FoundRecords<string>> = async (name) => ({ found: [`of ${name}`] });

  readonly records = new Proxy({} as NameRecords, {
    get: (_, type) => (name: string, share: string) => {
      this.asked.push(`${String(type)} ${name}`);
      return this.answer(name, share);
    },
  });
}

describe('cached records', () => {
  let servers: Servers;
  let nowMs: number;
  let remembered: RememberedRecords;

  beforeEach(() => {
    [servers, nowMs] = [new Servers(), 0];
    remembered = new RememberedRecords(servers.records, { entriesMax: 3, nowMs: () => nowMs });
  });

  it('a name that is requested a thousand times is queried once in 30 seconds, in any case and for all callers', async () => {
    for (let n = 0; n < 1_000; n += 1)
      expect(await remembered.txt(n % 2 === 0 ? 'a.example' : 'A.example', `${n}`)).toEqual({
        found: ['of a.example'],
      });
    expect(servers.asked).toEqual(['txt a.example']);

    nowMs = 30_000;

    await remembered.txt('a.example', 'x');
    expect(servers.asked).toHaveLength(2);
  });

  it('tells types apart', async () => {
    await Promise.all([
      remembered.txt('a', 'x'),
      remembered.mx('a', 'x'),
      remembered.cname('a', 'x'),
      remembered.addresses('a', 'x'),
      remembered.pointers('a', 'x'),
    ]);
    expect(servers.asked.sort()).toEqual(['addresses a', 'cname a', 'mx a', 'pointers a', 'txt a']);
  });

  it.each<[string, FoundRecords<string>]>([
    ['no record', { found: [] }],
    ['silence', { unanswered: 'ETIMEOUT' }],
  ])('%s is cached for five seconds', async (_what, answer) => {
    servers.answer = async () => answer;
    expect([await remembered.txt('a', 'x'), await remembered.txt('a', 'y')]).toEqual([answer, answer]);
    expect(servers.asked).toHaveLength(1);

    nowMs = 5_000;
    await remembered.txt('a', 'x');

    expect(servers.asked).toHaveLength(2);
  });

  it.each<[string, FoundRecords<string>]>([
    ['a code that says nothing about the name', { unanswered: 'EBUSY' }],
    ['what is long', { found: ['x'.repeat(5_000)] }],
  ])('%s is not remembered', async (_what, answer) => {
    servers.answer = async () => answer;
    await remembered.txt('a', 'x');
    await remembered.txt('a', 'x');
    expect(servers.asked).toHaveLength(2);
  });

  it('concurrent queries of one share are merged; another share sends its own', async () => {
    await Promise.all([remembered.txt('a', 'x'), remembered.txt('a', 'x'), remembered.txt('a', 'y')]);
    expect(servers.asked).toHaveLength(2);
  });

  it('does not exceed the maximum number of names', async () => {
    for (const name of ['a', 'b', 'c', 'd']) await remembered.txt(name, 'x');
    await remembered.txt('d', 'x');
    await remembered.txt('a', 'x');
    expect(servers.asked.map((asked) => asked.slice(4))).toEqual(['a', 'b', 'c', 'd', 'a']);
  });
});
