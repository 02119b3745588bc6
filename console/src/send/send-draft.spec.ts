import { kindOf, NEW_EVENT, payloadFaultOf, readSend, requestTextOf, type SendDraft } from './send-draft';

describe('requestTextOf', () => {
  it.each<[Partial<SendDraft>, string]>([
    [
      { target: 'dst_1', payload: ' {"n": 12345678901234567890, "p": 1.10} ' },
      '{"destination":"dst_1","event_type":"invoice.paid","payload":{"n": 12345678901234567890, "p": 1.10}}',
    ],
    [{ kind: 'application', target: 'customer-42', payload: '{}' }, '{"event_type":"invoice.paid","payload":{}}'],
    [
      { kind: 'url', target: ' https://example.com/"x" ', payload: '{}' },
      '{"destination":"https://example.com/\\"x\\"","event_type":"invoice.paid","payload":{}}',
    ],
    [{ kind: 'endpoint', target: 'ep_1', payload: ' ' }, '{}'],
    [{ kind: 'endpoint', target: 'ep_1', payload: 'a=1' }, '{"body":"a=1"}'],
  ])('%j', (draft, text) => {
    expect(requestTextOf({ ...NEW_EVENT, ...draft })).toBe(text);
  });
});

describe('payloadFaultOf', () => {
  it.each<[Partial<SendDraft>, unknown]>([
    [{ payload: '{"a": 1}' }, null],
    [{ payload: '{"n": 12345678901234567890}' }, null],
    [{ payload: '[1]' }, { line: 1, message: 'no object' }],
    [{ payload: '' }, { line: 1, message: 'no object' }],
    [{ payload: '{\n"a": }' }, { line: 2, message: expect.any(String) }],
    [{ kind: 'endpoint', payload: 'a=1' }, null],
  ])('%j', (draft, fault) => {
    expect(payloadFaultOf({ ...NEW_EVENT, ...draft }, 'no object')).toEqual(fault);
  });
});

describe('kindOf', () => {
  it.each([
    ['dst_1', 'destination'],
    ['ep_1', 'endpoint'],
    ['https://example.com', 'url'],
    ['app_1', 'application'],
    ['customer-42', 'application'],
  ])('%s is a target of kind %s', (target, kind) => {
    expect(kindOf(target)).toBe(kind);
  });
});

describe('readSend', () => {
  it.each<[Record<string, unknown>, unknown]>([
    [{}, {}],
    [{ to: 'dst_1', utm: 'x' }, { to: 'dst_1' }],
    [{ to: '' }, {}],
    [{ to: ['a'] }, {}],
    [{ to: 'x'.repeat(2_049) }, {}],
  ])('%j', (search, expected) => {
    expect(readSend(search)).toEqual(expected);
  });
});
