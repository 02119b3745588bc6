import {
  deliveryChangesOf,
  type DeliveryDraft,
  deliveryDraftOf,
  deliveryFaultOf,
  type DeliverySettings,
  fromDelays,
  NEW_LEGACY,
  toDelays,
} from './delivery-draft';

const SETTINGS: DeliverySettings = {
  headers: { 'x-tenant': '42' },
  retry: { schedule: [0, 5, 300], max_attempts: 4 },
  rate_limit: null,
  timeout_ms: 15_000,
  concurrency: null,
  asymmetric: false,
  legacy_signature: null,
};
const DRAFT = deliveryDraftOf(SETTINGS);

describe('delays as text', () => {
  it.each<[string, number[] | string]>([
    ['', []],
    ['0, 5s, 5m, 2h, 1d', [0, 5, 300, 7_200, 86_400]],
    ['0 10 90', [0, 10, 90]],
    ['1.5h', [5_400]],
    ['0, 5x', '5x'],
    ['0, -5', '-5'],
    ['8d', '8d'],
    [Array.from({ length: 21 }, () => '1').join(), '1'],
  ])('%j is %j', (text, expected) => {
    expect(fromDelays(text)).toEqual(expected);
  });

  it('writes each delay with the largest unit that divides it', () => {
    expect(toDelays([0, 5, 90, 300, 5_400, 7_200, 86_400])).toBe('0, 5s, 90s, 5m, 90m, 2h, 1d');
    expect(fromDelays(toDelays([0, 5, 90, 300, 5_400, 7_200, 86_400]))).toEqual([0, 5, 90, 300, 5_400, 7_200, 86_400]);
  });
});

describe('a draft of delivery settings', () => {
  it('shows every attempt, also those after the end of the schedule', () => {
    expect(DRAFT).toEqual({
      headers: 'x-tenant: 42',
      delays: '0, 5s, 5m, 5m',
      policy: '',
      perSecond: '',
      concurrency: '',
      timeoutSeconds: '15',
      asymmetric: false,
      legacy: null,
    });
  });

  it('has no changes if nothing was edited', () => {
    expect(deliveryChangesOf(DRAFT, DRAFT)).toEqual({});
  });

  it.each<[Partial<DeliveryDraft>, Record<string, unknown>]>([
    [{ headers: 'x-a: 1\nx-b: 2' }, { headers: { 'x-a': '1', 'x-b': '2' } }],
    [{ delays: '0, 1m' }, { retry: { policy: null, max_attempts: 2, schedule: [0, 60] } }],
    [{ delays: '' }, { retry: null }],
    [{ policy: 'patient' }, { retry: { policy: 'patient' } }],
    [{ perSecond: '0.5' }, { rate_limit: { per_second: 0.5 } }],
    [{ concurrency: '10' }, { concurrency: 10 }],
    [{ timeoutSeconds: '2.5' }, { timeout_ms: 2_500 }],
    [{ timeoutSeconds: '' }, { timeout_ms: null }],
    [{ asymmetric: true }, { asymmetric: true }],
    [
      { legacy: { ...NEW_LEGACY, header: 'X-Acme', secret: 'old' } },
      {
        legacy_signature: {
          header: 'X-Acme',
          algorithm: 'sha256',
          encoding: 'hex',
          content: '{body}',
          format: '{signature}',
          timestamp_header: null,
          id_header: null,
          secret: 'old',
        },
      },
    ],
  ])('%j becomes %j', (edited, changes) => {
    expect(deliveryChangesOf({ ...DRAFT, ...edited }, DRAFT)).toEqual(changes);
  });

  it.each<[Partial<DeliveryDraft>, unknown]>([
    [{}, null],
    [{ headers: 'x-a: 1\nbroken' }, { field: 'headers', line: 2 }],
    [{ delays: '0, soon' }, { field: 'delays', text: 'soon' }],
    [{ delays: '0, soon', policy: 'patient' }, null],
  ])('%j has the error %j', (edited, fault) => {
    expect(deliveryFaultOf({ ...DRAFT, ...edited })).toEqual(fault);
  });

  it('removes a limit and a legacy signature with null', () => {
    const before = deliveryDraftOf({
      ...SETTINGS,
      rate_limit: { per_second: 5 },
      legacy_signature: {
        header: 'X-Acme',
        algorithm: 'sha1',
        encoding: 'base64',
        content: '{body}',
        format: '{signature}',
        timestamp_header: 'X-Time',
        id_header: null,
      },
    });

    expect(deliveryChangesOf({ ...before, perSecond: '', legacy: null }, before)).toEqual({
      rate_limit: null,
      legacy_signature: null,
    });
  });
});
