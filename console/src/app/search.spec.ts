import { leftOut, only } from './search';

const readStatus = ({ status }: Readonly<Record<string, unknown>>): { status?: string } =>
  status === 'dlq' ? { status } : {};

describe('only', () => {
  it('sets parameters that the screen does not read to undefined', () => {
    expect({ status: 'bogus', utm_source: 'x', ...only(readStatus)({ status: 'bogus', utm_source: 'x' }) }).toEqual({
      status: undefined,
      utm_source: undefined,
    });
    expect(only(readStatus)({ status: 'dlq', utm_source: 'x' })).toEqual({ status: 'dlq', utm_source: undefined });
  });
});

describe('leftOut', () => {
  it.each([
    [{ utm_source: 'x' }, {}, ['utm_source=x']],
    [{ since: '2026-13-45', status: 'dlq' }, { status: 'dlq', since: undefined }, ['since=2026-13-45']],
    [{ status: 'dlq,bogus' }, { status: 'dlq' }, ['status=bogus']],
    [{ status: ['dlq', 'bogus'] }, { status: 'dlq' }, ['status=bogus']],
    [{ status: 'failed,dlq' }, { status: 'dlq,failed' }, []],
    [{ method: 'post' }, { method: 'POST' }, []],
    [{ search: 42, archived: true }, { search: '42', archived: true }, []],
    [{ search: { a: 1 } }, {}, ['search={"a":1}']],
    [{ search: ' ', status: '' }, {}, []],
    [{ toString: 'x' }, {}, ['toString=x']],
  ])('%j, of which the screen keeps %j', (said, kept, expected) => {
    expect(leftOut(said, kept).map(({ name, value }) => `${name}=${value}`)).toEqual(expected);
  });
});
