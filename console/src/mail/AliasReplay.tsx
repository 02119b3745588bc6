import { type ReactNode, useState } from 'react';
import { answered, type Schemas, serviceNowMs } from '../api/client';
import { Dialog } from '../kit/dialog/Dialog';
import { FaultLine } from '../kit/form/FaultLine';
import { t, word } from '../kit/messages/t';
import { RANGES, rangeTime } from '../kit/time/range';
import { useSigned } from '../session/session';
import type { Alias } from './mail-queries';

const STATUSES = ['delivered', 'failed', 'retrying', 'dlq'] as const;

/** Form that replays the messages of a time range. Shows their number first. */
export function AliasReplay({ alias, onClose }: { alias: Alias; onClose: () => void }): ReactNode {
  const { api, environment } = useSigned();
  const [since, setSince] = useState<string>('-1d');
  const [status, setStatus] = useState('');
  const [counted, setCounted] = useState<{ matched: number; body: Schemas['AliasReplayBody'] } | null>(null);
  const [done, setDone] = useState<number | null>(null);
  const [fault, setFault] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  /** Repeats the call until no message is left, because a call replays at most 1,000 messages. */
  const run = async (body: Schemas['AliasReplayBody']): Promise<number> => {
    let [matched, cursor]: [number, string | null] = [0, null];
    do {
      const answer: Schemas['AliasReplayItem'] = await answered(
        api.POST('/v1/aliases/{alias}/replay', {
          params: { path: { alias: alias.id } },
          body: { ...body, ...(cursor !== null && { cursor }) },
        }),
      );
      matched += answer.replayed;
      cursor = answer.next_cursor;
    } while (cursor !== null);
    return matched;
  };
  const act = async (work: () => Promise<void>): Promise<void> => {
    setBusy(true);
    setFault(null);
    await work().catch(setFault);
    setBusy(false);
  };
  const count = (): Promise<void> =>
    act(async () => {
      const nowMs = serviceNowMs();
      const body = {
        since: rangeTime(since, nowMs),
        until: new Date(nowMs).toISOString(),
        ...(status !== '' && { status: status as (typeof STATUSES)[number] }),
      };
      setCounted({ matched: await run({ ...body, dry_run: true }), body: body as Schemas['AliasReplayBody'] });
    });
  const change =
    (set: (value: string) => void) =>
    (event: { target: { value: string } }): void => {
      setCounted(null);
      set(event.target.value);
    };
  return (
    <Dialog title={t('alias.replay')} onClose={onClose}>
      <form
        className="stacked"
        onSubmit={(event) => {
          event.preventDefault();
          void (counted === null ? count() : act(async () => setDone(await run(counted.body))));
        }}
      >
        <p>{t('alias.replay-text')}</p>
        <label>
          {t('filter.range')}
          <select value={since} onChange={change(setSince)} autoFocus>
            {RANGES.map((range) => (
              <option key={range} value={range}>
                {t(`range.${range}`)}
              </option>
            ))}
          </select>
        </label>
        <label>
          {t('filter.status')}
          <select value={status} onChange={change(setStatus)}>
            <option value="">{t('filter.any')}</option>
            {STATUSES.map((each) => (
              <option key={each} value={each}>
                {word('status', each)}
              </option>
            ))}
          </select>
        </label>
        <p role="status">
          {done !== null ? (
            t('alias.replayed', { count: done })
          ) : counted !== null ? (
            <>
              {t('alias.counted', { count: counted.matched })}{' '}
              <strong>{t(environment === 'live' ? 'environment.live' : 'environment.test')}</strong>
            </>
          ) : (
            ' '
          )}
        </p>
        <FaultLine fault={fault} />
        <p className="actions">
          {done === null && (
            <button type="submit" className="primary" disabled={isBusy || counted?.matched === 0}>
              {counted === null ? t('alias.count') : t('replay')}
            </button>
          )}
          <button type="button" onClick={onClose}>
            {t('close')}
          </button>
        </p>
      </form>
    </Dialog>
  );
}
