import { Logger } from '@nestjs/common';
import type { DestinationAdapter, Draft } from '#modules/destinations/contract.js';
import { faultsOf, probeOf } from './supervised-checks.js';

const DRAFT: Draft = { type: 'odd', url: null, config: {}, credentials: { password: 'secret' } };

const adapterOf = (methods: { check?: unknown; probe?: unknown }): DestinationAdapter =>
  ({ type: 'odd', ...methods }) as unknown as DestinationAdapter;

beforeAll(() => Logger.overrideLogger(false));

describe('faultsOf', () => {
  it('returns the errors that an adapter reports', () => {
    expect(faultsOf(adapterOf({ check: () => [] }), DRAFT)).toEqual([]);
    expect(faultsOf(adapterOf({ check: () => [{ path: 'url', message: 'is required' }] }), DRAFT)).toEqual([
      { path: 'url', message: 'is required' },
    ]);
  });

  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('secret');
      },
    ],
    ['is async, and rejects', () => Promise.reject(new Error('secret'))],
    ['is async', () => Promise.resolve([])],
    ['answers nothing', () => undefined],
    ['answers true', () => true],
    ['answers texts', () => ['url is required']],
    ['returns errors without a path', () => [{ message: 'is required' }]],
  ])('reports an error if the check of an adapter %s', (_what, check) => {
    expect(faultsOf(adapterOf({ check }), DRAFT)).toEqual([
      { path: 'type', message: expect.stringContaining('the adapter of this type failed') },
    ]);
  });
});

describe('probeOf', () => {
  it.each([
    { ok: true, detail: 'It answered.' },
    { ok: false, check: 'credentials', detail: 'It refused the password.' },
  ])('returns the report of an adapter: %j', async (report) => {
    expect(await probeOf(adapterOf({ probe: async () => report }), DRAFT)).toEqual(report);
  });

  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('secret');
      },
    ],
    ['rejects', () => Promise.reject(new Error('secret'))],
    ['answers nothing', () => undefined],
    ['answers true', () => true],
    ['names an unknown check', () => ({ ok: false, check: 'luck', detail: 'No.' })],
    ['has no detail', () => ({ ok: true })],
  ])('reports an unreachable target if the probe of an adapter %s', async (_what, probe) => {
    expect(await probeOf(adapterOf({ probe }), DRAFT)).toEqual({
      ok: false,
      check: 'connectivity',
      detail: expect.stringContaining('the adapter of this type failed'),
    });
  });

  it('aborts a probe that never returns', async () => {
    expect(await probeOf(adapterOf({ probe: () => new Promise(() => undefined) }), DRAFT, 5)).toEqual({
      ok: false,
      check: 'connectivity',
      detail: expect.stringContaining('did not report within 5 ms'),
    });
  });

  it('truncates and sanitizes the text of a report', async () => {
    expect(
      await probeOf(adapterOf({ probe: async () => ({ ok: true, detail: `a\0${'b'.repeat(3_000_000)}` }) }), DRAFT),
    ).toEqual({ ok: true, detail: `a${'b'.repeat(1022)}` });
  });
});
