import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { t, word } from '../kit/messages/t';
import { useSigned } from '../session/session';
import { type EventFilters, RANGES, STATUSES } from './event-filters';

const TEXTS = [['event_type', 'filter.type'], ['destination', 'filter.destination'], ['application', 'filter.application']] as const;

/** The filters of the list; all of them stand in the address. */
export function FilterBar({ filters }: { filters: EventFilters }): ReactNode {
  const { environment: env } = useSigned();
  const navigate = useNavigate();
  const set = (changes: { [Name in keyof EventFilters]?: EventFilters[Name] | undefined }): void => {
    const search = Object.fromEntries(Object.entries({ ...filters, ...changes }).filter(([, value]) => value !== undefined && value !== '')) as EventFilters;
    void navigate({ to: '/$env/events', params: { env }, search });
  };
  const isSet = Object.keys(filters).length > 0;
  const isOtherRange = filters.until !== undefined || (filters.since !== undefined && !RANGES.some((range) => range === filters.since));
  return (
    <form className="filters" role="search" aria-label={t('filter')} onSubmit={(event) => event.preventDefault()}>
      <label>{t('filter.status')}
        <select value={filters.status ?? ''} onChange={(event) => set({ status: (event.target.value || undefined) as EventFilters['status'] })}>
          <option value="">{t('filter.any')}</option>
          {STATUSES.map((status) => <option key={status} value={status}>{word('status', status)}</option>)}
        </select>
      </label>
      <label>{t('filter.range')}
        <select value={isOtherRange ? 'other' : (filters.since ?? '')} onChange={(event) => set({ since: event.target.value || undefined, until: undefined })}>
          <option value="">{t('filter.all-time')}</option>
          {RANGES.map((range) => <option key={range} value={range}>{t(`range.${range}`)}</option>)}
          {isOtherRange && <option value="other">{[filters.since, filters.until].filter(Boolean).join(' – ')}</option>}
        </select>
      </label>
      {TEXTS.map(([name, label]) => <TextFilter key={name} label={t(label)} value={filters[name] ?? ''} onChange={(value) => set({ [name]: value })} />)}
      {isSet && <button type="button" onClick={() => void navigate({ to: '/$env/events', params: { env }, search: {} })}>{t('filter.clear')}</button>}
    </form>
  );
}

/** Takes effect with Enter or when it is left: a filter of half a word would find nothing. */
function TextFilter({ label, value, onChange }: { label: string; value: string; onChange: (value: string) => void }): ReactNode {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  const commit = (): void => { if (text.trim() !== value) onChange(text.trim()); };
  return (
    <label>{label}
      <input value={text} size={14} autoComplete="off" spellCheck={false} maxLength={256} onChange={(event) => setText(event.target.value)} onBlur={commit}
        onKeyDown={(event) => { if (event.key === 'Enter') commit(); }} />
    </label>
  );
}
