import { type ReactNode, useMemo } from 'react';
import { t } from '../kit/messages/t';
import { useRequest } from './endpoint-queries';
import { type EventField, fieldsOf } from './event-fields';

const NO_FIELDS: readonly EventField[] = [];

/** Returns the fields of a stored request. Empty while the request is loading. */
export function useEventFields(id: string, request: string): readonly EventField[] {
  const { data } = useRequest(id, request);
  return useMemo(() => (data === undefined ? NO_FIELDS : fieldsOf(data)), [data]);
}

/** List of a request's fields with their values. A click picks a field. */
export function EventFields({
  fields,
  onPick,
}: {
  fields: readonly EventField[];
  onPick: (field: EventField) => void;
}): ReactNode {
  if (fields.length === 0) return null;
  return (
    <details>
      <summary>{t('fields.title', { count: fields.length })}</summary>
      <p className="quiet">{t('fields.text')}</p>
      <ul className="event-fields" tabIndex={0} aria-label={t('fields.list')}>
        {fields.map((field) => (
          <li key={`${field.type} ${field.of}`}>
            <button type="button" className="small" onClick={() => onPick(field)}>
              {field.type !== 'json' && <span className="quiet">{t(`fields.${field.type}`)} </span>}
              <code>{field.of}</code>
            </button>
            <span className="quiet">{field.sample}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}
