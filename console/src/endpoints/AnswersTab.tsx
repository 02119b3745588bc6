import { useMutation } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { type ReactNode, useMemo, useRef, useState } from 'react';
import { CodeField, type CodeFieldHandle } from '../kit/form/CodeField';
import { FaultLine } from '../kit/form/FaultLine';
import { locateFault } from '../kit/json/locate-fault';
import { readObject, writeJson } from '../kit/json/read-json';
import { t } from '../kit/messages/t';
import { useSigned } from '../session/session';
import { type EndpointDetail, type TrialDraft, useChangeEndpoint, useEndpoint, useTrial } from './endpoint-queries';
import { filterCompletions } from './event-fields';
import { EventFields, useEventFields } from './EventFields';
import { ProxyForm } from './ProxyForm';
import { ResponseForm } from './ResponseForm';
import { TriedRequest, useTriedRequest } from './TriedRequest';

const EXAMPLE = {
  rules: [
    {
      when: { type: 'json', path: '$.type', op: 'eq', value: 'url_verification' },
      respond: {
        status: 200,
        body: '{"challenge": "{{body.challenge}}"}',
        headers: { 'content-type': 'application/json' },
      },
    },
  ],
};

/**
 * Editor of the endpoint's responses to the provider. The first matching rule determines the response. If no rule
 * matches, the default response is sent. The user can test the rules on a received request.
 */
export function AnswersTab(): ReactNode {
  const { id } = useParams({ from: '/$env/endpoints/$id' });
  const { can } = useSigned();
  const { data: endpoint } = useEndpoint(id);
  if (endpoint === undefined) return null;
  if (!can('write'))
    return (
      <CodeField
        label={t('rules.rules')}
        value={writeJson(endpoint.responseRules)}
        onChange={() => undefined}
        isReadOnly
        rows={16}
      />
    );
  return (
    <div key={`${endpoint.id} ${endpoint.version}`}>
      <Rules endpoint={endpoint} />
      <ProxyForm endpoint={endpoint} />
      <ResponseForm endpoint={endpoint} />
    </div>
  );
}

function Rules({ endpoint }: { endpoint: EndpointDetail }): ReactNode {
  const change = useChangeEndpoint(endpoint.id);
  const saved = writeJson(endpoint.responseRules);
  const [text, setText] = useState(saved);
  const tried = useTriedRequest(endpoint.id);
  const { value, fault } = readObject(text, t('filter-editor.object'));
  const responseRules = value as (TrialDraft['responseRules'] & object) | null;
  const save = useMutation({ mutationFn: () => change({ responseRules }) });
  const editor = useRef<CodeFieldHandle>(null);
  const fields = useEventFields(endpoint.id, tried);
  const completions = useMemo(() => filterCompletions(fields, true), [fields]);
  const { data: trial, error } = useTrial(
    endpoint.id,
    tried,
    fault === null && value !== null ? { responseRules } : null,
  );
  return (
    <form
      className="split"
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <div className="stacked">
        <h2>{t('rules')}</h2>
        <p className="quiet">{t('rules.text')}</p>
        <CodeField
          ref={editor}
          label={t('rules.rules')}
          value={text}
          rows={16}
          fault={fault ?? locateFault(text, save.error ?? error, 'responseRules')}
          completions={completions}
          onChange={(typed) => {
            setText(typed);
            if (save.isError) save.reset();
          }}
        />
        <FaultLine fault={save.error} />
        <p className="actions">
          <button type="submit" className="primary" disabled={save.isPending || fault !== null || text === saved}>
            {t('save')}
          </button>
          {text.trim() === '' && (
            <button type="button" onClick={() => setText(writeJson(EXAMPLE))}>
              {t('rules.example')}
            </button>
          )}
          {text !== saved && <span className="quiet">{t('unsaved')}</span>}
        </p>
      </div>
      <div className="try-panel stacked">
        <h3>{t('try')}</h3>
        <TriedRequest id={endpoint.id} chosen={tried} />
        <EventFields fields={fields} onPick={({ of }) => editor.current?.insert(of)} />
        <FaultLine fault={error} />
        {trial && fault === null && value !== null && error === null && (
          <div role="status">
            {trial.answer === null ? (
              <p className="verdict dull">
                <span aria-hidden="true">–</span> {t('rules.nothing')}
              </p>
            ) : (
              <>
                <p className="verdict good">
                  <span aria-hidden="true">✓</span>{' '}
                  {trial.answer.rule === null ? t('rules.default') : t('rules.rule', { number: trial.answer.rule + 1 })}
                </p>
                <pre tabIndex={0} role="group" aria-label={t('request.answer')}>
                  {[
                    `HTTP ${trial.answer.status}`,
                    ...Object.entries(trial.answer.headers).map(([name, each]) => `${name}: ${each}`),
                    '',
                    trial.answer.body,
                  ].join('\n')}
                </pre>
              </>
            )}
          </div>
        )}
      </div>
    </form>
  );
}
