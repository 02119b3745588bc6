import './audit.css';
import { type ReactNode, useId, useState } from 'react';
import { t } from '../kit/messages/t';
import { Time } from '../kit/time/Time';
import type { Entry } from './audit-queries';
import { Sentence, sentenceText } from './Sentence';

interface AuditTableProps {
  rows: readonly Entry[];
  names: ReadonlyMap<string, string>;
}

/**
 * Audit entries as sentences, newest first. The details of each entry can be expanded. On phones, each entry is a card.
 * The roles are explicit, because the layout of a card removes the roles that the elements have by default.
 */
export function AuditTable({ rows, names }: AuditTableProps): ReactNode {
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label={t('nav.audit')}>
      <table className="plain audit" role="table">
        <thead role="rowgroup">
          <tr role="row">
            <th role="columnheader" scope="col">
              {t('audit.when')}
            </th>
            <th role="columnheader" scope="col">
              {t('audit.sentence')}
            </th>
            <th role="columnheader" scope="col">
              {t('audit.details')}
            </th>
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((entry) => (
            <EntryRows key={entry.id} of={entry} names={names} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function EntryRows({ of, names }: { of: Entry; names: AuditTableProps['names'] }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const details = useId();
  return (
    <>
      <tr role="row">
        <td role="cell" className="number">
          <Time at={of.at} />
        </td>
        <td role="cell" className="long">
          <Sentence of={of} names={names} />
          {of.actor.source === 'oauth' && <span className="tag">OAuth</span>}
          {of.ip !== null && <div className="quiet">{t('audit.from', { ip: of.ip })}</div>}
        </td>
        <td role="cell">
          <button
            type="button"
            className="small"
            aria-expanded={isOpen}
            aria-controls={isOpen ? details : undefined}
            aria-label={t('audit.details-of', { sentence: sentenceText({ of, names }) })}
            onClick={() => setOpen(!isOpen)}
          >
            {t('audit.details')}
          </button>
        </td>
      </tr>
      {isOpen && (
        <tr id={details} role="row" className="audit-details">
          <td role="cell" colSpan={3}>
            <Details of={of} />
          </td>
        </tr>
      )}
    </>
  );
}

function Details({ of: { action, request_id: request, user_agent: client, before, after } }: { of: Entry }): ReactNode {
  const facts = [
    [t('audit.call'), action],
    [t('audit.request'), request],
    [t('audit.user-agent'), client],
  ] as const;
  return (
    <>
      <dl className="facts">
        {facts.map(
          ([label, value]) =>
            value !== null && (
              <div key={label}>
                <dt>{label}</dt>
                <dd>
                  <code>{value}</code>
                </dd>
              </div>
            ),
        )}
      </dl>
      {(before !== null || after !== null) && (
        <div className="two-columns">
          <State title={t('audit.before')} of={before} none={t('audit.made')} />
          <State title={t('audit.after')} of={after} none={t('audit.gone')} />
        </div>
      )}
    </>
  );
}

/** State of the resource before or after the change. */
function State({ title, of, none }: { title: string; of: Entry['before']; none: string }): ReactNode {
  return (
    <div>
      <strong>{title}</strong>
      {of === null ? (
        <p className="quiet">{none}</p>
      ) : (
        <pre tabIndex={0} aria-label={title}>
          {JSON.stringify(of, null, 2)}
        </pre>
      )}
    </div>
  );
}
