import { type ReactNode, useEffect, useState } from 'react';
import { CodeField } from '../kit/form/CodeField';
import { FaultLine } from '../kit/form/FaultLine';
import { Segmented } from '../kit/form/Segmented';
import { readObject, writeJson } from '../kit/json/read-json';
import { t } from '../kit/messages/t';
import { useSigned } from '../session/session';
import { type FrameWidth, FrameWidths } from './MailFrame';
import { RenderedHtml } from './RenderedHtml';
import { SentTest } from './SentTest';
import { sampleOf, withMissing } from './template-draft';
import { type Rendered, type Template, useRendered } from './template-queries';
import { TestSend } from './TestSend';

type Tab = 'html' | 'text' | 'source' | 'sent';
const PAUSE_MS = 400;

interface TemplatePreviewProps {
  template: Template;
  /** Version to render. */
  version: number;
  isDirty: boolean;
  /** Shows the latest version again. */
  onLatest: () => void;
}

/** A saved version of a template with sample values, and the test email that was sent from this version. */
export function TemplatePreview({ template, version, isDirty, onLatest }: TemplatePreviewProps): ReactNode {
  const { can } = useSigned();
  const [text, setText] = useState(() => writeJson(sampleOf(template.variables)));
  const { value, fault } = readObject(text, t('filter-editor.object'));
  const settled = useSettled(text);
  const sample = settled === text && fault === null ? (value ?? {}) : null;
  const { data, error } = useRendered(template.id, version, sample);
  const [isSending, setSending] = useState(false);
  const [sent, setSent] = useState<{ id: string; of: Rendered } | null>(null);
  return (
    <section className="mail-preview" aria-labelledby="template-preview">
      <div className="heading">
        <h2 id="template-preview">{t('template.preview')}</h2>
        {can('write') && (
          <button type="button" disabled={data === undefined} onClick={() => setSending(true)}>
            {t('template.test')}
          </button>
        )}
      </div>
      {version !== template.version && (
        <p className="why">
          {t('template.preview-version', { version })}{' '}
          <button type="button" className="small" onClick={onLatest}>
            {t('template.preview-latest')}
          </button>
        </p>
      )}
      {isDirty && <p className="why">{t('template.preview-dirty')}</p>}
      <CodeField label={t('template.sample')} value={text} rows={6} fault={fault} onChange={setText} />
      <FaultLine fault={error} />
      {data && (
        <Variables rendered={data} onAdd={() => setText(writeJson(withMissing(value ?? {}, data.missing_variables)))} />
      )}
      {data && <Output rendered={data} sent={sent} />}
      {isSending && data && (
        <TestSend
          template={template}
          rendered={data}
          onSent={(id) => setSent({ id, of: data })}
          onClose={() => setSending(false)}
        />
      )}
    </section>
  );
}

/** Debounces a text: returns its latest value once the value has not changed for a moment. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

function Variables({ rendered, onAdd }: { rendered: Rendered; onAdd: () => void }): ReactNode {
  const { missing_variables: missing, unused_variables: unused } = rendered;
  return (
    <div role="status">
      {missing.length > 0 && (
        <p className="why caution">
          {t('template.missing', { names: missing.join(', ') })}{' '}
          <button type="button" className="small" onClick={onAdd}>
            {t('template.missing-add')}
          </button>
        </p>
      )}
      {unused.length > 0 && <p className="quiet">{t('template.unused', { names: unused.join(', ') })}</p>}
    </div>
  );
}

interface OutputProps {
  rendered: Rendered;
  sent: { id: string; of: Rendered } | null;
}

function Output({ rendered, sent }: OutputProps): ReactNode {
  const [chosen, setChosen] = useState<Tab | null>(null);
  const [width, setWidth] = useState<FrameWidth>('wide');
  const sentId = sent?.id;
  useEffect(() => {
    if (sentId !== undefined) setChosen('sent');
  }, [sentId]);
  const tabs: Tab[] = [
    ...(rendered.html === null ? [] : (['html', 'source'] as const)),
    ...(rendered.text === null ? [] : (['text'] as const)),
    ...(sent === null ? [] : (['sent'] as const)),
  ];
  const tab = chosen !== null && tabs.includes(chosen) ? chosen : tabs[0];
  if (tab === undefined) return <p className="empty">{t('template.preview-none')}</p>;
  return (
    <>
      <p>
        {t('mail.subject')}:{' '}
        <strong>
          <bdi>{rendered.subject ?? t('mail.no-subject')}</bdi>
        </strong>
      </p>
      <div className="mail-views">
        <Segmented
          label={t('payload.view')}
          options={tabs.map((id) => ({ id, label: t(id === 'sent' ? 'template.sent' : `mail.tab.${id}`) }))}
          chosen={tab}
          onChoose={setChosen}
        />
        {(tab === 'html' || tab === 'sent') && <FrameWidths chosen={width} onChoose={setWidth} />}
      </div>
      {tab === 'html' && <RenderedHtml html={rendered.html ?? ''} width={width} />}
      {tab === 'sent' && sent !== null && (
        <SentTest key={sent.id} id={sent.id} isOutdated={sent.of !== rendered} width={width} />
      )}
      {(tab === 'text' || tab === 'source') && (
        <pre className="mail-text" tabIndex={0} role="group" aria-label={t(`mail.tab.${tab}`)}>
          {tab === 'text' ? rendered.text : rendered.html}
        </pre>
      )}
    </>
  );
}
