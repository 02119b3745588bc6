import { type ReactNode, useState } from 'react';
import type { Schemas } from '../api/client';
import { t, word } from '../kit/messages/t';
import { IdLink } from '../kit/places';
import { Time } from '../kit/time/Time';

type Entry = Schemas['AuditItem'];

/** Audit entries, newest first. An entry can be expanded to show its changes. */
export function AuditTable({ rows }: { rows: readonly Entry[] }): ReactNode {
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label={t('nav.audit')}>
      <table className="plain">
        <thead>
          <tr>
            <th scope="col">{t('audit.when')}</th>
            <th scope="col">{t('audit.who')}</th>
            <th scope="col">{t('audit.what')}</th>
            <th scope="col">{t('audit.to')}</th>
            <th scope="col">{t('audit.change')}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((entry) => (
            <EntryRows key={entry.id} of={entry} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function EntryRows({ of }: { of: Entry }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const { actor, before, after } = of;
  const hasChange = before !== null || after !== null;
  return (
    <>
      <tr>
        <td>
          <Time at={of.at} />
        </td>
        <td>
          {actor.name ?? word('actor', actor.kind)}
          {actor.source === 'oauth' && <span className="tag">OAuth</span>}
          {of.ip !== null && <div className="quiet">{t('audit.from', { ip: of.ip })}</div>}
        </td>
        <td>
          <code>{of.action}</code>
        </td>
        <td className="long">{of.resource_id === null ? (of.resource_type ?? '–') : <IdLink id={of.resource_id} />}</td>
        <td>
          {hasChange ? (
            <button
              type="button"
              className="small"
              aria-expanded={isOpen}
              aria-label={`${t('audit.show')}: ${of.action}`}
              onClick={() => setOpen(!isOpen)}
            >
              {t('audit.show')}
            </button>
          ) : (
            '–'
          )}
        </td>
      </tr>
      {isOpen && (
        <tr>
          <td colSpan={5}>
            <div className="two-columns">
              <div>
                <strong>{t('audit.before')}</strong>
                {before === null ? (
                  <p className="quiet">{t('audit.made')}</p>
                ) : (
                  <pre tabIndex={0}>{JSON.stringify(before, null, 2)}</pre>
                )}
              </div>
              <div>
                <strong>{t('audit.after')}</strong>
                {after === null ? (
                  <p className="quiet">{t('audit.gone')}</p>
                ) : (
                  <pre tabIndex={0}>{JSON.stringify(after, null, 2)}</pre>
                )}
              </div>
            </div>
          </td>
        </tr>
      )}
    </>
  );
}
