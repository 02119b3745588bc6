import { type ReactNode, useId } from 'react';
import { t, word } from '../kit/messages/t';
import { ERROR_CLASSES, type EventFilters } from './event-filters';

const [STATUS_CLASSES, ERRORS] = [
  ERROR_CLASSES.filter((each) => each.endsWith('xx')),
  ERROR_CLASSES.filter((each) => !each.endsWith('xx')),
];

/** Filter by the last attempt of an undelivered event: the class of its status, or why there was no response. */
export function ErrorFilter({
  value,
  onChange,
}: {
  value: EventFilters['error'];
  onChange: (error: EventFilters['error']) => void;
}): ReactNode {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{t('filter.error')}</label>
      <select
        id={id}
        value={value ?? ''}
        onChange={({ target }) => onChange(ERROR_CLASSES.find((each) => each === target.value))}
      >
        <option value="">{t('filter.any')}</option>
        <optgroup label={t('filter.error.status')}>
          {STATUS_CLASSES.map((each) => (
            <option key={each} value={each}>
              HTTP {each}
            </option>
          ))}
        </optgroup>
        <optgroup label={t('filter.error.none')}>
          {ERRORS.map((each) => (
            <option key={each} value={each}>
              {word('error', each)}
            </option>
          ))}
        </optgroup>
      </select>
    </div>
  );
}
