import { redactExchange, storableExchange } from './redacted-exchange.js';

const isHidden = (name: string): boolean => name === 'authorization' || name === 'set-cookie';
const SENT = {
  method: 'POST',
  url: 'https://example.com/hook',
  headers: { authorization: 'Bearer s3cret', 'x-tenant': '42', 'x-own': 'a', 'webhook-id': 'msg_1' },
  answered: { server: 'nginx', 'set-cookie': 'sid=1' },
};

describe('a stored exchange', () => {
  it('hides credentials in both directions, and leaves headers of the event with the event', () => {
    expect(storableExchange(SENT, { 'x-own': 'a', 'x-tenant': 'another' }, isHidden, '***')).toEqual({
      method: 'POST',
      url: 'https://example.com/hook',
      headers: { authorization: '***', 'x-tenant': '42', 'x-own': null, 'webhook-id': 'msg_1' },
      answered: { server: 'nginx', 'set-cookie': '***' },
    });
  });

  it('returns the request as sent, without the headers of the event once they are erased', () => {
    const row = storableExchange(SENT, { 'x-own': 'a' }, () => false, '***');

    expect(redactExchange(row, { 'x-own': 'a' })).toEqual(SENT);
    expect(redactExchange(row, { 'x-own': '' }).headers).toMatchObject({ 'x-own': '', 'x-tenant': '42' });
    expect(redactExchange(row, null).headers).toMatchObject({ 'x-own': '' });
  });

  it('is bounded: leaves out headers that are too many or too long, and keeps the others whole', () => {
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`x-${n}`, 'v'.repeat(50)]));

    const { headers, answered, url } = storableExchange(
      {
        ...SENT,
        url: `https://example.com/${'a'.repeat(9_000)}`,
        headers: many,
        answered: { 'x-long': 'v'.repeat(5_000), server: 'nginx' },
      },
      null,
      isHidden,
      '***',
    );

    expect(JSON.stringify(headers).length).toBeLessThan(6_000);
    expect(Object.values(headers).every((value) => value?.length === 50)).toBe(true);
    expect(Object.keys(headers).length).toBeGreaterThan(60);
    expect(answered).toEqual({ server: 'nginx' });
    expect(url).toHaveLength(2_048);
  });

  it('a header named __proto__ is treated like any other', () => {
    const headers = JSON.parse('{"__proto__":"a"}') as Record<string, string>;

    expect(JSON.stringify(storableExchange({ ...SENT, headers }, headers, isHidden, '***').headers)).toBe(
      '{"__proto__":null}',
    );
    expect(
      JSON.stringify(redactExchange(storableExchange({ ...SENT, headers }, headers, isHidden, '***'), headers).headers),
    ).toBe('{"__proto__":"a"}');
  });
});
