import { type ReactNode, useEffect, useId, useState } from 'react';
import { t } from '../kit/messages/t';
import { type EventFilters, responseChanges } from './event-filters';

/**
 * Filter by the status of the last response: a single status such as `503`. The error filter shows classes of statuses.
 */
export function ResponseFilter({
  value,
  error,
  onChange,
}: {
  value: EventFilters['response_status'];
  error: EventFilters['error'];
  onChange: (changes: NonNullable<ReturnType<typeof responseChanges>>) => void;
}): ReactNode {
  const shown = value === undefined ? '' : String(value);
  const [text, setText] = useState(shown);
  const [isRefused, setRefused] = useState(false);
  const [id, reasonId] = [useId(), useId()];
  useEffect(() => {
    setText(shown);
    setRefused(false);
  }, [shown, error]);
  const commit = (): void => {
    if (text.trim() === shown) return;
    const changes = responseChanges(text);
    setRefused(changes === null);
    if (changes === null) return;
    onChange(changes);
    // Clears this field if a class of statuses such as `5xx` was typed, because the error filter shows the class.
    if (changes.response_status === undefined) setText('');
  };
  return (
    <div className="field">
      <label htmlFor={id}>{t('filter.response')}</label>
      <input
        id={id}
        value={text}
        size={6}
        inputMode="numeric"
        autoComplete="off"
        spellCheck={false}
        maxLength={8}
        placeholder="503"
        aria-invalid={isRefused}
        aria-describedby={isRefused ? reasonId : undefined}
        onChange={({ target }) => {
          setText(target.value);
          setRefused(false);
        }}
        onBlur={commit}
        onKeyDown={(event) => {
          if (event.key === 'Enter') commit();
        }}
      />
      {isRefused && (
        <span id={reasonId} role="alert" className="code-fault">
          ✕ {t('filter.response.refused')}
        </span>
      )}
    </div>
  );
}
