import { NameRecords } from '#egress/name-records.js';
import { FixedRecords } from '../../../../test/support/fixed-records.js';
import { MessageLookups } from './message-lookups.js';

describe('MessageLookups', () => {
  it('sends a repeated query once, also for both address types', async () => {
    const records = new FixedRecords({ 'A a.example': ['192.0.2.1'], 'AAAA a.example': ['2001:db8::1'] });
    const lookups = new MessageLookups(records, 'test');

    const found = [await lookups.resolve('a.example', 'A'), await lookups.resolve('A.example', 'AAAA')];

    expect([found, lookups.asked]).toEqual([[['192.0.2.1'], ['2001:db8::1']], 1]);
  });

  it('sends no query after the first 120', async () => {
    const records = new FixedRecords({});
    const lookups = new MessageLookups(records, 'test');

    const codes = await Promise.all(
      Array.from({ length: 130 }, (_, i) => lookups.resolve(`${i}.example`, 'TXT').catch(({ code }) => code)),
    );

    expect([
      records.asked.length,
      codes.filter((code) => code === 'ENODATA').length,
      codes.filter((code) => code === 'ETIMEOUT').length,
    ]).toEqual([120, 120, 10]);
  });

  it('times out on a silent name server, and sends no query after the end', async () => {
    const never = new Promise<never>(() => undefined);
    const records = Object.assign(Object.create(NameRecords.prototype) as NameRecords, { txt: () => never });
    const lookups = new MessageLookups(records, 'test', 5);

    expect(await lookups.resolve('a.example', 'TXT').catch(({ code }) => code)).toBe('ETIMEOUT');
    lookups.allow(0);
    await new Promise((resolve) => setTimeout(resolve, 2));

    expect([await lookups.txt('b.example'), lookups.asked]).toEqual([{ unanswered: 'ETIMEOUT' }, 1]);
  });

  it('a name that cannot be queried has no records, so a sender cannot simulate a failure of name servers with it', async () => {
    const records = Object.assign(Object.create(NameRecords.prototype) as NameRecords, {
      addresses: async () => ({ unanswered: 'EBADNAME' }),
    });

    expect(
      await new MessageLookups(records, 'test').resolve('a\\9b._spf.example.com', 'A').catch(({ code }) => code),
    ).toBe('ENODATA');
  });

  it.each([
    ['4.3.2.1.in-addr.arpa', '1.2.3.4'],
    [
      'e.b.a.b.e.f.a.c.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa',
      '2001:0db8:0000:0000:0000:0000:cafe:babe',
    ],
  ])('%s is asked of %s', async (name, address) => {
    const records = new FixedRecords({ [`PTR ${address}`]: ['mail.example'] });

    expect(await new MessageLookups(records, 'test').resolve(name, 'PTR')).toEqual(['mail.example']);
  });
});
