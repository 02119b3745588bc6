import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { answered, payloadOf } from '../api/client';
import { FaultLine } from '../kit/form/FaultLine';
import { formatJsonInSlices } from '../kit/json/format-json';
import { textOf } from '../kit/json/text-of';
import { t } from '../kit/messages/t';
import { Rows } from '../kit/text/TextView';
import { useSigned } from '../session/session';
import { type ComparedLine, compareTexts } from './compare-texts';
import type { EventDetail } from './event-queries';
import { neighboursOf } from './list-place';

/** Compares the event's payload with the payload of another event, or with the received body before the transform. */
export function Compare({ event, text }: { event: EventDetail; text: string }): ReactNode {
  const hasBody = event.request_id !== undefined && event.endpoint !== null;
  const [withBody, setWithBody] = useState(hasBody);
  const { next, previous } = neighboursOf(event.id);
  const [id, setId] = useState(next ?? previous ?? '');
  const [entered, setEntered] = useState(id);
  const other = useOther(event, withBody ? null : id);
  return (
    <section className="compare" aria-label={t('compare')}>
      <form
        className="actions"
        onSubmit={(submit) => {
          submit.preventDefault();
          setId(entered.trim());
        }}
      >
        {hasBody && (
          <label>
            {t('compare.with')}
            <select value={withBody ? 'body' : 'event'} onChange={({ target }) => setWithBody(target.value === 'body')}>
              <option value="body">{t('compare.body')}</option>
              <option value="event">{t('compare.event')}</option>
            </select>
          </label>
        )}
        {!withBody && (
          <label>
            {t('compare.id')}
            <input
              value={entered}
              size={32}
              autoComplete="off"
              spellCheck={false}
              maxLength={64}
              placeholder="evt_…"
              onChange={({ target }) => setEntered(target.value)}
            />
          </label>
        )}
        {!withBody && <button type="submit">{t('compare')}</button>}
      </form>
      <FaultLine fault={other.error} />
      {other.isFetching && <p role="status">{t('loading')}</p>}
      {other.data === null && <p>{t('compare.binary')}</p>}
      {typeof other.data === 'string' && <Difference before={other.data} after={text} />}
    </section>
  );
}

/** Returns the text with which the payload is compared, or null if there is none. */
function useOther({ endpoint, request_id: requestId }: EventDetail, id: string | null) {
  const { api, environment } = useSigned();
  return useQuery({
    queryKey: ['compare', environment, id, requestId],
    enabled: id !== '',
    staleTime: Infinity,
    gcTime: 0,
    retry: false,
    queryFn: async ({ signal }): Promise<string | null> => {
      if (id !== null) return textOf((await payloadOf(environment, id, signal)).bytes);
      const { body, body_encoding: encoding } = await answered(
        api.GET('/v1/endpoints/{id}/requests/{requestId}', {
          params: { path: { id: endpoint ?? '', requestId: requestId ?? '' } },
          signal,
        }),
      );
      return encoding === 'text' ? body : null;
    },
  });
}

function Difference({ before, after }: { before: string; after: string }): ReactNode {
  const [compared, setCompared] = useState<ComparedLine[] | null | 'busy'>('busy');
  useEffect(() => {
    const stop = new AbortController();
    setCompared('busy');
    const prepared = (text: string): Promise<string> =>
      formatJsonInSlices(text, stop.signal).then((formatted) => formatted ?? text);
    Promise.all([prepared(before), prepared(after)])
      .then(([one, other]) => compareTexts(one, other))
      .then(
        (lines) => {
          if (!stop.signal.aborted) setCompared(lines);
        },
        () => undefined,
      );
    return () => stop.abort();
  }, [before, after]);
  if (before === after) return <p role="status">{t('compare.same')}</p>;
  if (compared === 'busy') return <p role="status">{t('loading')}</p>;
  if (compared === null) return <p role="status">{t('compare.too-different')}</p>;
  if (compared.every(({ sign }) => sign === ' ' || sign === '…')) return <p role="status">{t('compare.spaces')}</p>;
  return (
    <>
      <p className="quiet">{t('compare.legend')}</p>
      <Rows count={compared.length} label={t('compare')} rowOf={(row) => <Line of={compared[row]} />} />
    </>
  );
}

function Line({ of }: { of: ComparedLine | undefined }): ReactNode {
  if (of === undefined) return null;
  if (of.sign === '…') return <span className="quiet">{t('compare.equal', { count: of.count })}</span>;
  return (
    <span
      className={of.sign === '+' ? 'added' : of.sign === '-' ? 'removed' : undefined}
    >{`${of.sign} ${of.text}`}</span>
  );
}
