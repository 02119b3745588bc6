import { returnedEvent } from './returned-event.js';

const GIVEN = {
  id: 'evt_1',
  event_type: 'a.b',
  method: 'POST',
  path: '',
  query: { a: '1' },
  headers: { 'x-own': '1' },
  form: {},
  body: { n: 1 },
  verification: 'none' as const,
};

const returned = (value: object | string, givenBody = '{"n":1}'): unknown =>
  returnedEvent(typeof value === 'string' ? value : JSON.stringify(value), GIVEN, givenBody);

describe('returnedEvent', () => {
  it('keeps an unchanged event', () => {
    expect(returned(GIVEN)).toEqual({ kind: 'event', body: null, eventType: 'a.b', headers: null });
  });

  it('keeps the text of every number of the body', () => {
    const body = '{"n":8202522731445525542,"p":1.10,"h":1e400,"z":-0}';

    expect(returned(`{"body":1,"event_type":"a.b","body":${body}}`)).toMatchObject({
      body: { text: body, isJson: true },
    });
    expect(returned(`{"body":${body}}`, body)).toMatchObject({ body: null });
  });

  it.each([
    ['a url', { ...GIVEN, url: 'https://a' }, 'it returned the unknown field "url"'],
    ['an unknown field', { body: 1, bdoy: 2 }, 'it returned the unknown field "bdoy"'],
    ['a field of every object', { body: 1, constructor: 2 }, 'it returned the unknown field "constructor"'],
    ['the field __proto__', '{"body":1,"__proto__":{}}', 'it returned the unknown field "__proto__"'],
    ['control characters in a field', { body: 1, 'a\0\n': 2 }, 'it returned the unknown field "a\\u0000\\n"'],
    [
      'another method',
      { ...GIVEN, method: 'GET' },
      'it changed the field "method", but only body, event_type and headers can change',
    ],
    [
      'another query',
      { ...GIVEN, query: {} },
      'it changed the field "query", but only body, event_type and headers can change',
    ],
    [
      'another verification',
      { ...GIVEN, verification: 'verified' },
      'it changed the field "verification", but only body, event_type and headers can change',
    ],
    ['no body', { ...GIVEN, body: undefined }, 'what it returned has no body'],
    ['a list', [GIVEN], 'what it returned has no body'],
    ['a number', '42', 'what it returned has no body'],
    ['true', 'true', 'what it returned has no body'],
    ['an event type that is null', { ...GIVEN, event_type: null }, 'the event_type it returned is none'],
    ['headers that are null', { ...GIVEN, headers: null }, 'the headers it returned are no object of texts'],
  ])('%s is a failure', (_what, value, why) => {
    expect(returned(value)).toEqual({ kind: 'failed', why });
  });
});
