import './api-calls.css';
import { useQuery } from '@tanstack/react-query';
import { useLocation } from '@tanstack/react-router';
import { type ReactNode, useSyncExternalStore } from 'react';
import { type Call, calls, onCalls } from '../api/calls';
import { SERVICE } from '../api/client';
import { apiDocument, callReference } from '../api/reference';
import { CopyButton } from '../kit/CopyButton';
import { Dialog } from '../kit/dialog/Dialog';
import { t } from '../kit/messages/t';
import { callCurl } from './call-curl';

/** The API calls of the open page, to repeat in a terminal or to look up in the API reference. */
export function ApiCalls({ onClose }: { onClose: () => void }): ReactNode {
  const all = useSyncExternalStore(onCalls, calls);
  useLocation();
  const shown = all.filter(({ page }) => page === location.pathname);
  const { data: document } = useQuery({ queryKey: ['api-document'], staleTime: Infinity, queryFn: apiDocument });
  return (
    <Dialog title={t('calls.title')} onClose={onClose}>
      <p className="quiet">{t(shown.length === 0 ? 'calls.none' : 'calls.text')}</p>
      {shown.some(({ body }) => body !== null) && <p className="quiet">{t('calls.masked')}</p>}
      <ul className="calls">
        {shown.map((call) => (
          <li key={`${call.method} ${call.path} ${call.body ?? ''}`}>
            <CallLine call={call} reference={callReference(document, call)} />
          </li>
        ))}
      </ul>
      <p className="actions">
        <button type="button" onClick={onClose}>
          {t('close')}
        </button>
      </p>
    </Dialog>
  );
}

function CallLine({ call, reference }: { call: Call; reference: string }): ReactNode {
  const { method, path, status } = call;
  const name = `${method} ${path}`;
  return (
    <>
      <p className="call-line">
        <strong>{method}</strong> <code title={path}>{path}</code>
        <span className={status !== null && status < 400 ? 'quiet number' : 'status bad'}>{status ?? '✕'}</span>
      </p>
      <p className="actions">
        <CopyButton text={callCurl(SERVICE, call)} label={t('calls.curl')} name={t('calls.curl-of', { call: name })} />
        <a
          className="button small"
          href={reference}
          target="_blank"
          rel="noreferrer noopener"
          aria-label={t('calls.docs-of', { call: name })}
        >
          {t('calls.docs')}
        </a>
      </p>
    </>
  );
}
