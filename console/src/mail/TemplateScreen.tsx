import './mail.css';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { answered } from '../api/client';
import { CopyButton } from '../kit/CopyButton';
import { Crumbs } from '../kit/Crumbs';
import { Confirm } from '../kit/dialog/Confirm';
import { PageState } from '../kit/load/PageState';
import type { SkeletonPart } from '../kit/load/Skeleton';
import { t } from '../kit/messages/t';
import { Status } from '../kit/status/Status';
import { useSigned } from '../session/session';
import { type Template, useKnownTemplate, useTemplate } from './template-queries';
import { TemplateEditor } from './TemplateEditor';
import { TemplatePreview } from './TemplatePreview';
import { TemplateVersions } from './TemplateVersions';

const PARTS: readonly SkeletonPart[] = [
  'title',
  'text',
  'text',
  {
    split: [
      ['heading', ['fields', 3], ['code', 14], ['code', 5]],
      ['heading', ['code', 6]],
    ],
  },
];

/** One template: its editor beside the preview, and its versions. */
export function TemplateScreen(): ReactNode {
  const { id } = useParams({ from: '/$env/templates/$id' });
  const { environment: env } = useSigned();
  const { data, error } = useTemplate(id);
  return (
    <div className="page">
      <title>{`${data?.name ?? id} · Posthorn`}</title>
      <Crumbs to={`/${env}/templates`} label={t('nav.templates')} />
      <PageState name={id} isLoaded={data !== undefined} fault={error} parts={PARTS} />
      {data && <Shown key={data.id} template={data} />}
    </div>
  );
}

function Shown({ template }: { template: Template }): ReactNode {
  const { can } = useSigned();
  // Key that remounts the editor after this page changed the content. A refetch does not change the key, so edits are
  // kept.
  const [revision, setRevision] = useState(0);
  const [isDirty, setDirty] = useState(false);
  const [previewed, setPreviewed] = useState<number | null>(null);
  const refresh = (): void => {
    setRevision((count) => count + 1);
    setPreviewed(null);
  };
  return (
    <>
      <div className="heading">
        <h1>
          <bdi>{template.name}</bdi>
        </h1>
        <Status of={template.status} />
        <Actions template={template} isDirty={isDirty} />
      </div>
      <p className="why">{publicationOf(template)}</p>
      <p className="quiet">
        {t('column.id')} <code>{template.id}</code> <CopyButton text={template.id} />
      </p>
      <div className="split even">
        {can('write') ? (
          <TemplateEditor key={revision} template={template} onSaved={refresh} onDirty={setDirty} />
        ) : (
          <ReadOnly template={template} />
        )}
        <TemplatePreview
          template={template}
          version={previewed ?? template.version}
          isDirty={isDirty}
          onLatest={() => setPreviewed(null)}
        />
      </div>
      <TemplateVersions template={template} onPreview={setPreviewed} onRestored={refresh} />
    </>
  );
}

function publicationOf({ version, published_version: published }: Template): string {
  if (published === null) return t('template.why-draft');
  return published === version
    ? t('template.why-published', { version })
    : t('template.why-behind', { published, version });
}

/** Content of a template for users who cannot change it. */
function ReadOnly({ template }: { template: Template }): ReactNode {
  const lines: [label: string, text: string | null][] = [
    [t('mail.subject'), template.subject],
    [t('mail.from'), template.from],
    [t('template.html'), template.html],
    [t('template.text'), template.text],
  ];
  return (
    <section aria-labelledby="template-content">
      <h2 id="template-content">{t('template.content')}</h2>
      {lines.map(
        ([label, text]) =>
          text !== null && (
            <div key={label}>
              <h3>{label}</h3>
              <pre tabIndex={0} role="group" aria-label={label}>
                {text}
              </pre>
            </div>
          ),
      )}
    </section>
  );
}

function Actions({ template, isDirty }: { template: Template; isDirty: boolean }): ReactNode {
  const { api, can, environment: env } = useSigned();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const known = useKnownTemplate();
  const [asked, setAsked] = useState<'publish' | 'duplicate' | 'delete' | null>(null);
  if (!can('write')) return <span className="quiet">{t('needs-write')}</span>;
  const close = (): void => setAsked(null);
  const params = { path: { id: template.id } };
  const publish = async (): Promise<void> => known(await answered(api.POST('/v1/templates/{id}/publish', { params })));
  const duplicate = async (): Promise<void> => {
    const made = await answered(api.POST('/v1/templates/{id}/duplicate', { params }));
    await known(made);
    void navigate({ to: '/$env/templates/$id', params: { env, id: made.id } });
  };
  const remove = async (): Promise<void> => {
    await answered(api.DELETE('/v1/templates/{id}', { params }));
    await navigate({ to: '/$env/templates', params: { env } });
    queries.removeQueries({ queryKey: ['template', env, template.id] });
    await queries.invalidateQueries({ queryKey: ['templates', env] });
  };
  const isEmpty = template.html === null && template.text === null;
  return (
    <span className="actions">
      {template.has_unpublished_versions && (
        <button type="button" disabled={isEmpty || isDirty} onClick={() => setAsked('publish')}>
          {t('template.publish')}
        </button>
      )}
      <button type="button" onClick={() => setAsked('duplicate')}>
        {t('template.duplicate')}
      </button>
      <button type="button" className="destructive" onClick={() => setAsked('delete')}>
        {t('delete')}
      </button>
      {asked === 'publish' && (
        <Confirm title={t('template.publish')} action={t('template.publish')} onConfirm={publish} onClose={close}>
          <p>{t('template.publish-text', { version: template.version })}</p>
        </Confirm>
      )}
      {asked === 'duplicate' && (
        <Confirm title={t('template.duplicate')} action={t('template.duplicate')} onConfirm={duplicate} onClose={close}>
          <p>{t('template.duplicate-text')}</p>
        </Confirm>
      )}
      {asked === 'delete' && (
        <Confirm
          title={t('delete')}
          action={t('delete')}
          isDangerous
          typed={template.name}
          onConfirm={remove}
          onClose={close}
        >
          <p>{t('template.delete')}</p>
        </Confirm>
      )}
    </span>
  );
}
