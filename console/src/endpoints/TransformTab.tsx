import { useMutation } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { type ReactNode, useMemo, useState } from 'react';
import { answered } from '../api/client';
import { CodeField } from '../kit/form/CodeField';
import { FaultLine } from '../kit/form/FaultLine';
import { t } from '../kit/messages/t';
import { useSigned } from '../session/session';
import { codeFaultOf, readCodeFault } from './code-fault';
import { CodeLogs } from './CodeLogs';
import { type EndpointDetail, useChangeEndpoint, useEndpoint, useRequest } from './endpoint-queries';
import { codeCompletions } from './event-fields';
import { useEventFields } from './EventFields';
import { draftOf, FIRST_CODE, settingsOf, type TransformDraft } from './transform-draft';
import { TransformHeld } from './TransformHeld';
import { TransformResult } from './TransformResult';
import { TriedRequest, useTriedRequest } from './TriedRequest';

/** Editor of the transform, which changes events before they are routed. The user can test it on a received event. */
export function TransformTab(): ReactNode {
  const { id } = useParams({ from: '/$env/endpoints/$id' });
  const { can } = useSigned();
  const { data: endpoint } = useEndpoint(id);
  if (endpoint === undefined) return null;
  if (!can('write'))
    return endpoint.transform === null ? (
      <p className="empty">{t('transform.none')}</p>
    ) : (
      <CodeField
        label={t('transform.code')}
        value={endpoint.transform.code ?? endpoint.transform.url ?? ''}
        onChange={() => undefined}
        language={endpoint.transform.engine === 'managed' ? 'javascript' : 'text'}
        isReadOnly
        rows={20}
      />
    );
  // The key remounts the editor after saving, so that it shows the stored transform.
  return <Editor key={`${endpoint.id} ${endpoint.version}`} endpoint={endpoint} />;
}

function Editor({ endpoint }: { endpoint: EndpointDetail }): ReactNode {
  const { api } = useSigned();
  const change = useChangeEndpoint(endpoint.id);
  const [draft, setDraft] = useState<TransformDraft>(draftOf(endpoint.transform));
  const tried = useTriedRequest(endpoint.id);
  const fields = useEventFields(endpoint.id, tried);
  const completions = useMemo(() => codeCompletions(fields), [fields]);
  const transform = settingsOf(draft);
  const isChanged = JSON.stringify(transform) !== JSON.stringify(settingsOf(draftOf(endpoint.transform)));
  const save = useMutation({ mutationFn: () => change({ transform }) });
  const trial = useMutation({
    mutationFn: () =>
      answered(
        api.POST('/v1/endpoints/{id}/trial', {
          params: { path: { id: endpoint.id } },
          body: { request: tried, transform },
        }),
      ),
  });
  const run = (): void => {
    if (tried !== '' && draft.engine !== 'none') trial.mutate();
  };
  const failure =
    trial.data?.transform === 'failed' && draft.engine === 'managed'
      ? readCodeFault(trial.data.transform_error ?? '')
      : codeFaultOf(trial.error ?? save.error, 'transform.code');
  return (
    <>
      <form
        className="split"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <div className="stacked">
          <Settings draft={draft} onChange={setDraft} />
          {draft.engine === 'managed' && (
            <CodeField
              label={t('transform.code')}
              language="javascript"
              value={draft.code}
              rows={18}
              fault={failure}
              completions={completions}
              onRun={run}
              onChange={(code) => {
                setDraft({ ...draft, code });
                if (!trial.isIdle) trial.reset();
                if (save.isError) save.reset();
              }}
            />
          )}
          {draft.engine === 'managed' && <p className="quiet">{t('transform.help')}</p>}
          <FaultLine fault={save.error} />
          <p className="actions">
            <button type="submit" className="primary" disabled={save.isPending || !isChanged}>
              {t('save')}
            </button>
            {isChanged ? (
              <span className="quiet">{t('unsaved')}</span>
            ) : (
              save.isSuccess && (
                <span className="quiet" role="status">
                  ✓ {t('saved')}
                </span>
              )
            )}
          </p>
        </div>
        <div className="try-panel stacked" aria-busy={trial.isPending}>
          <h2>{t('try')}</h2>
          <TriedRequest id={endpoint.id} chosen={tried} />
          <p className="actions">
            <button type="button" disabled={tried === '' || draft.engine === 'none' || trial.isPending} onClick={run}>
              {t('transform.run')}
            </button>
          </p>
          <FaultLine fault={trial.error} />
          {trial.data && <TransformResult of={trial.data} />}
          <StoredLogs id={endpoint.id} request={tried} />
        </div>
      </form>
      {endpoint.transform !== null && <TransformHeld id={endpoint.id} isChanged={isChanged} />}
    </>
  );
}

/** Output of the transform when the request was received. */
function StoredLogs({ id, request }: { id: string; request: string }): ReactNode {
  const { data } = useRequest(id, request);
  return data?.logs ? <CodeLogs title={t('code-logs.stored')} of={data.logs} /> : null;
}

function Settings({
  draft,
  onChange,
}: {
  draft: TransformDraft;
  onChange: (draft: TransformDraft) => void;
}): ReactNode {
  return (
    <div className="fields">
      <label>
        {t('transform.engine')}
        <select
          value={draft.engine}
          onChange={(event) =>
            onChange({
              ...draft,
              engine: event.target.value as TransformDraft['engine'],
              code: draft.code || FIRST_CODE,
            })
          }
        >
          <option value="none">{t('transform.none')}</option>
          <option value="managed">{t('transform.managed')}</option>
          <option value="url">{t('transform.url')}</option>
        </select>
      </label>
      {draft.engine !== 'none' && (
        <>
          <label>
            {t('transform.fails')}
            <select
              value={draft.failMode}
              onChange={(event) => onChange({ ...draft, failMode: event.target.value as TransformDraft['failMode'] })}
            >
              <option value="closed">{t('transform.closed')}</option>
              <option value="open">{t('transform.open')}</option>
            </select>
          </label>
          <label>
            {t('transform.timeout')}
            <input
              type="number"
              min={50}
              max={5000}
              size={6}
              placeholder={draft.engine === 'url' ? '3000' : '250'}
              value={draft.timeoutMs}
              onChange={(event) => onChange({ ...draft, timeoutMs: event.target.value })}
            />
          </label>
        </>
      )}
      {draft.engine === 'url' && (
        <label className="wide">
          URL
          <input
            type="url"
            required
            maxLength={2048}
            value={draft.url}
            spellCheck={false}
            placeholder="https://example.com/transform"
            onChange={(event) => onChange({ ...draft, url: event.target.value })}
          />
        </label>
      )}
    </div>
  );
}
