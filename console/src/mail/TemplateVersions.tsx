import { type ReactNode, useState } from 'react';
import { answered, type Schemas } from '../api/client';
import { Confirm } from '../kit/dialog/Confirm';
import { FaultLine } from '../kit/form/FaultLine';
import { t } from '../kit/messages/t';
import { Status } from '../kit/status/Status';
import { type Column, Table } from '../kit/table/Table';
import { Time } from '../kit/time/Time';
import { useSigned } from '../session/session';
import { type Template, useKnownTemplate, useTemplateVersions } from './template-queries';

interface TemplateVersionsProps {
  template: Template;
  onPreview: (version: number) => void;
  onRestored: () => void;
}

/** Versions of a template. An earlier version can be previewed, and restored as the latest one. */
export function TemplateVersions({ template, onPreview, onRestored }: TemplateVersionsProps): ReactNode {
  const { api } = useSigned();
  const known = useKnownTemplate();
  const { rows, error, hasNextPage, fetchNextPage } = useTemplateVersions(template.id);
  const [asked, setAsked] = useState<number | null>(null);
  const restore = async (version: number): Promise<void> => {
    await known(
      await answered(
        api.POST('/v1/templates/{id}/restore', { params: { path: { id: template.id } }, body: { version } }),
      ),
    );
    onRestored();
  };
  return (
    <section>
      <h2>{t('template.versions')}</h2>
      <FaultLine fault={error} />
      <VersionTable rows={rows} latest={template.version} onPreview={onPreview} onRestore={setAsked} />
      {hasNextPage && (
        <p>
          <button type="button" onClick={() => void fetchNextPage()}>
            {t('more')}
          </button>
        </p>
      )}
      {asked !== null && (
        <Confirm
          title={t('template.restore')}
          action={t('template.restore')}
          onConfirm={() => restore(asked)}
          onClose={() => setAsked(null)}
        >
          <p>{t('template.restore-text', { version: asked })}</p>
        </Confirm>
      )}
    </section>
  );
}

interface VersionTableProps {
  rows: readonly Schemas['TemplateVersionItem'][];
  latest: number;
  onPreview: (version: number) => void;
  onRestore: (version: number) => void;
}

function VersionTable({ rows, latest, onPreview, onRestore }: VersionTableProps): ReactNode {
  const { can } = useSigned();
  const columns: Column<Schemas['TemplateVersionItem']>[] = [
    {
      id: 'version',
      label: t('template.version'),
      isNumeric: true,
      cell: ({ version, published }) => (
        <>
          {version} {published && <Status of="published" />}
          {version === latest && !published && <span className="tag">{t('template.latest')}</span>}
        </>
      ),
    },
    { id: 'subject', label: t('mail.subject'), cell: ({ subject }) => subject ?? '–', isFlexible: true },
    { id: 'saved', label: t('template.saved-at'), cell: ({ created_at: at }) => <Time at={at} /> },
    {
      id: 'actions',
      label: t('key.actions'),
      cell: ({ version }) => (
        <span className="actions">
          <button
            type="button"
            className="small"
            aria-label={`${t('template.preview')} ${version}`}
            onClick={() => onPreview(version)}
          >
            {t('template.preview')}
          </button>
          {can('write') && version !== latest && (
            <button
              type="button"
              className="small"
              aria-label={`${t('template.restore')} ${version}`}
              onClick={() => onRestore(version)}
            >
              {t('template.restore')}
            </button>
          )}
        </span>
      ),
    },
  ];
  return (
    <Table
      id="template-versions"
      label={t('template.versions')}
      rows={rows}
      columns={columns}
      keyOf={({ version }) => String(version)}
    />
  );
}
