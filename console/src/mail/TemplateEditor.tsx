import { type ReactNode, useEffect, useState } from 'react';
import { answered } from '../api/client';
import { CodeField } from '../kit/form/CodeField';
import { FaultLine } from '../kit/form/FaultLine';
import { t } from '../kit/messages/t';
import { useSigned } from '../session/session';
import { templateChangesOf, type TemplateDraft, templateDraftOf, variableFaultOf } from './template-draft';
import { type Template, useKnownTemplate } from './template-queries';
import { TemplateVariables } from './TemplateVariables';
import { UnsubscribeField } from './UnsubscribeField';

interface TemplateEditorProps {
  template: Template;
  onSaved: () => void;
  onDirty: (isDirty: boolean) => void;
}

/** Editor of a template. Saving a changed content creates a version. */
export function TemplateEditor({ template, onSaved, onDirty }: TemplateEditorProps): ReactNode {
  const { api } = useSigned();
  const known = useKnownTemplate();
  // The query refetches. The form keeps the state from when it was opened, and sends only what was edited.
  const [before] = useState(() => templateDraftOf(template));
  const [draft, setDraft] = useState(before);
  const [fault, setFault] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const set = (changes: Partial<TemplateDraft>): void => setDraft((now) => ({ ...now, ...changes }));
  const isWrong = draft.variables.some((variable) => variableFaultOf(variable, draft.variables) !== null);
  const isDirty = isWrong || Object.keys(templateChangesOf(draft, before)).length > 0;
  useEffect(() => onDirty(isDirty), [isDirty, onDirty]);
  const completions = draft.variables.map(({ key, type }) => ({ of: null, text: key, detail: type }));
  const save = (): void => {
    if (isWrong || !isDirty || isBusy) return;
    setBusy(true);
    setFault(null);
    answered(
      api.PATCH('/v1/templates/{id}', {
        params: { path: { id: template.id } },
        body: templateChangesOf(draft, before) as never,
      }),
    )
      .then(known)
      .then(onSaved, setFault)
      .finally(() => setBusy(false));
  };
  return (
    <form
      className="stacked mail-template"
      aria-label={t('template.content')}
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <h2>{t('template.content')}</h2>
      <Lines draft={draft} onChange={set} />
      <CodeField
        label={t('template.html')}
        language="html"
        value={draft.html}
        rows={14}
        completions={completions}
        onChange={(html) => set({ html })}
      />
      <CodeField
        label={t('template.text')}
        language="text"
        value={draft.text}
        rows={5}
        completions={completions}
        onChange={(text) => set({ text })}
      />
      <p className="quiet">{t('template.syntax')}</p>
      <TemplateVariables variables={draft.variables} onChange={(variables) => set({ variables })} />
      <UnsubscribeField value={draft.topic} onChange={(topic) => set({ topic })} />
      <FaultLine fault={fault} />
      <p className="actions">
        <button type="submit" className="primary" disabled={isBusy || isWrong || !isDirty}>
          {t('save')}
        </button>
        <span className="quiet" role="status">
          {isDirty ? t('template.dirty') : t('template.saved', { version: template.version })}
        </span>
      </p>
    </form>
  );
}

/** Name, addresses and subject of a template. */
function Lines({
  draft,
  onChange,
}: {
  draft: TemplateDraft;
  onChange: (changes: Partial<TemplateDraft>) => void;
}): ReactNode {
  const field = (
    name: 'name' | 'alias' | 'from' | 'replyTo' | 'subject',
    label: string,
    more: { maxLength: number; placeholder?: string; isRequired?: boolean; pattern?: string },
  ): ReactNode => (
    <label className={name === 'name' || name === 'alias' ? 'grow' : 'wide'}>
      {label}
      <input
        value={draft[name]}
        required={more.isRequired ?? false}
        maxLength={more.maxLength}
        pattern={more.pattern}
        placeholder={more.placeholder}
        spellCheck={name === 'subject'}
        autoComplete="off"
        onChange={(event) => onChange({ [name]: event.target.value })}
      />
    </label>
  );
  return (
    <div className="fields">
      {field('name', t('template.name'), { maxLength: 100, isRequired: true })}
      {field('alias', t('template.alias'), {
        maxLength: 100,
        placeholder: 'order-confirmation',
        pattern: '[A-Za-z0-9][A-Za-z0-9._\\-]*',
      })}
      {field('from', t('mail.from'), { maxLength: 1_024, placeholder: 'Shop <shop@example.com>' })}
      {field('replyTo', t('mail.reply-to'), { maxLength: 8_000, placeholder: 'support@example.com' })}
      {field('subject', t('mail.subject'), { maxLength: 998, placeholder: 'Your order {{order}}' })}
    </div>
  );
}
