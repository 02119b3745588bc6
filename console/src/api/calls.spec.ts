import { type Call, calls, noteCall } from './calls';

const call = (path: string, more: Partial<Call> = {}): Call => ({
  method: 'GET',
  path,
  status: 200,
  body: null,
  page: '/live/keys',
  ...more,
});

describe('calls', () => {
  it('keeps the latest 20 calls, newest first, and a repeated call once with its last status', () => {
    for (let i = 0; i < 25; i += 1) noteCall(call(`/v1/events?page=${i}`));
    noteCall(call('/v1/events?page=10', { status: 503 }));

    expect(calls()).toHaveLength(20);
    expect(calls().slice(0, 2)).toEqual([call('/v1/events?page=10', { status: 503 }), call('/v1/events?page=24')]);
    expect(calls().filter(({ path }) => path === '/v1/events?page=10')).toHaveLength(1);
  });

  it('keeps calls apart that differ in their method, body or page', () => {
    const before = call('/v1/keys');
    for (const each of [before, { ...before, method: 'POST' }, { ...before, body: '{}' }, { ...before, page: '/live' }])
      noteCall(each);

    expect(calls().filter(({ path }) => path === '/v1/keys')).toHaveLength(4);
  });
});
