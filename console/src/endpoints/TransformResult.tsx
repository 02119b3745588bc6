import type { ReactNode } from 'react';
import { formatJson } from '../kit/json/format-json';
import { t } from '../kit/messages/t';
import { CodeLogs } from './CodeLogs';
import type { TrialResult } from './endpoint-queries';

const SHOWN_MAX = 20_000;

/** Result of running a transform on a received event. */
export function TransformResult({ of }: { of: TrialResult }): ReactNode {
  const headers = [
    ...Object.entries(of.headers_set).map(([name, value]) => `+ ${name}: ${value}`),
    ...of.headers_removed.map((name) => `- ${name}`),
  ];
  return (
    <div role="status">
      <p className={`verdict ${of.transform === 'failed' ? 'bad' : of.transform === 'dropped' ? 'dull' : 'good'}`}>
        <span aria-hidden="true">{of.transform === 'failed' ? '✕' : of.transform === 'dropped' ? '–' : '✓'}</span>{' '}
        {t(`transformed.${of.transform}`)}
      </p>
      {of.transform_error !== null && <p>{of.transform_error}</p>}
      {of.logs !== null && <CodeLogs title={t('code-logs.trial')} of={of.logs} />}
      <p className="quiet">
        {t(`outcome.${of.outcome}`)}
        {of.verification_reason !== null && ` (${of.verification_reason})`}
      </p>
      {(of.transform === 'ran' || of.transform === 'none') && (
        <>
          <p>
            {t('column.type')}: <code>{of.event_type}</code>
          </p>
          {of.body === null ? (
            <p className="quiet">{t('transform.body-same')}</p>
          ) : (
            <pre tabIndex={0} aria-label={t('transform.body')} role="group">
              {formatJson(of.body)?.slice(0, SHOWN_MAX) ?? of.body.slice(0, SHOWN_MAX)}
            </pre>
          )}
          {headers.length > 0 && (
            <pre tabIndex={0} aria-label={t('request.headers')} role="group">
              {headers.join('\n')}
            </pre>
          )}
        </>
      )}
    </div>
  );
}
