import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import { formatJson } from '../kit/json/format-json';
import { t, word } from '../kit/messages/t';
import { usePreferences } from '../kit/preferences';
import { formatTime } from '../kit/time/format';
import { useNewestRequests, useRequest } from './endpoint-queries';

const SHOWN_MAX = 20_000;

/**
 * Returns the id of the stored request with which settings are tested. This is the request in the page's URL, or else
 * the newest request. Returns an empty string if there is none.
 */
export function useTriedRequest(id: string): string {
  const search: { request?: string } = useSearch({ strict: false });
  const { request } = search;
  const { data } = useNewestRequests(id);
  return (
    request?.replace(/^evt_/, 'req_') ??
    data?.data.find(({ status }) => status !== 'duplicate' && status !== 'too_large')?.id ??
    ''
  );
}

/** Selector of the request with which settings are tested. Shows the content of the selected request. */
export function TriedRequest({ id, chosen }: { id: string; chosen: string }): ReactNode {
  const { language } = usePreferences();
  const navigate = useNavigate();
  const { data } = useNewestRequests(id);
  const { data: request } = useRequest(id, chosen);
  const offered = data?.data ?? [];
  const body = useMemo(
    () =>
      request === undefined ? '' : (formatJson(request.body.slice(0, SHOWN_MAX)) ?? request.body.slice(0, SHOWN_MAX)),
    [request],
  );
  if (chosen === '')
    return (
      <p className="quiet" role="status">
        {t('try.none')}
      </p>
    );
  return (
    <>
      <label>
        {t('try.request')}
        <select
          value={chosen}
          onChange={(event) =>
            void navigate({ to: '.', search: { request: event.target.value } as never, replace: true })
          }
        >
          {!offered.some((each) => each.id === chosen) && <option value={chosen}>{chosen}</option>}
          {offered.map((each) => (
            <option key={each.id} value={each.id}>
              {formatTime(each.received_at, language).local} · {each.method} · {word('status', each.status)}
            </option>
          ))}
        </select>
      </label>
      {request && (
        <details>
          <summary>{t('try.body')}</summary>
          <pre tabIndex={0}>{body || '–'}</pre>
        </details>
      )}
    </>
  );
}
