import './mail.css';
import { Link, useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { answered } from '../api/client';
import { Confirm } from '../kit/dialog/Confirm';
import { FaultLine } from '../kit/form/FaultLine';
import { t } from '../kit/messages/t';
import { Status } from '../kit/status/Status';
import { Time } from '../kit/time/Time';
import { useSigned } from '../session/session';
import { type TemplateRow, useKnownTemplate, useTemplates } from './template-queries';

/** List of email templates. */
export function TemplatesScreen(): ReactNode {
  const { can } = useSigned();
  const { rows, data, error, isPending, hasNextPage, fetchNextPage } = useTemplates();
  const [isCreating, setCreating] = useState(false);
  return (
    <div className="page">
      <title>{`${t('nav.templates')} · Posthorn`}</title>
      <div className="heading">
        <h1>{t('nav.templates')}</h1>
        {can('write') ? (
          <button type="button" className="primary" onClick={() => setCreating(true)}>
            {t('template.new')}
          </button>
        ) : (
          <span className="quiet">{t('needs-write')}</span>
        )}
      </div>
      {isPending && <p role="status">{t('loading')}</p>}
      <FaultLine fault={error} />
      {data && rows.length === 0 && (
        <section className="empty" aria-labelledby="first-template">
          <h2 id="first-template">{t('template.none')}</h2>
          <p>{t('template.none-text')}</p>
        </section>
      )}
      {rows.length > 0 && <TemplateTable rows={rows} />}
      {hasNextPage && (
        <p>
          <button type="button" onClick={() => void fetchNextPage()}>
            {t('more')}
          </button>
        </p>
      )}
      {isCreating && <NewTemplate onClose={() => setCreating(false)} />}
    </div>
  );
}

function TemplateTable({ rows }: { rows: readonly TemplateRow[] }): ReactNode {
  const { environment: env } = useSigned();
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label={t('nav.templates')}>
      <table className="plain">
        <thead>
          <tr>
            <th scope="col">{t('template.name')}</th>
            <th scope="col">{t('column.status')}</th>
            <th scope="col">{t('template.alias')}</th>
            <th scope="col">{t('template.version')}</th>
            <th scope="col">{t('template.updated')}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id}>
              <td className="long">
                <Link to="/$env/templates/$id" params={{ env, id: row.id }}>
                  <bdi>{row.name}</bdi>
                </Link>
              </td>
              <td>
                <Status of={row.status} />
                {row.published_version !== null && row.has_unpublished_versions && (
                  <div className="quiet">{t('template.unpublished')}</div>
                )}
              </td>
              <td>{row.alias === null ? '–' : <code>{row.alias}</code>}</td>
              <td>{row.version}</td>
              <td>
                <Time at={row.updated_at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function NewTemplate({ onClose }: { onClose: () => void }): ReactNode {
  const { api, environment: env } = useSigned();
  const navigate = useNavigate();
  const known = useKnownTemplate();
  const [name, setName] = useState('');
  const create = async (): Promise<void> => {
    const made = await answered(api.POST('/v1/templates', { body: { name: name.trim() } }));
    await known(made);
    void navigate({ to: '/$env/templates/$id', params: { env, id: made.id } });
  };
  return (
    <Confirm
      title={t('template.new')}
      action={t('create')}
      isOff={name.trim() === ''}
      onConfirm={create}
      onClose={onClose}
    >
      <p>
        <label>
          {t('template.name')}
          <input
            required
            maxLength={100}
            value={name}
            onChange={(event) => setName(event.target.value)}
            autoFocus
            autoComplete="off"
            placeholder={t('template.name-hint')}
          />
        </label>
      </p>
    </Confirm>
  );
}
