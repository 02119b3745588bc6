import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { t, word } from '../kit/messages/t';
import { useSigned } from '../session/session';
import { CIRCUITS, type DestinationFilters, STATES } from './destination-figures';

const SEARCH_AFTER_MS = 300;

/** Filters of the destination list. All of them are part of the page's URL. */
export function Filters({ of: filters }: { of: DestinationFilters }): ReactNode {
  const { environment: env } = useSigned();
  const navigate = useNavigate();
  const [text, setText] = useState(filters.search ?? '');
  useEffect(() => setText(filters.search ?? ''), [filters.search]);
  const set = (changes: Record<string, string>): void => {
    const search = Object.fromEntries(
      Object.entries({ ...filters, ...changes }).filter(([, value]) => value !== ''),
    ) as DestinationFilters;
    void navigate({ to: '/$env/destinations', params: { env }, search, replace: true });
  };
  useEffect(() => {
    if (text.trim() === (filters.search ?? '')) return;
    const timer = setTimeout(() => set({ search: text.trim() }), SEARCH_AFTER_MS);
    return () => clearTimeout(timer);
  });
  return (
    <form className="filter-bar" role="search" aria-label={t('filter')} onSubmit={(event) => event.preventDefault()}>
      <label>
        {t('destinations.search')}
        <input
          type="search"
          value={text}
          maxLength={200}
          onChange={(event) => setText(event.target.value)}
          autoComplete="off"
          spellCheck={false}
        />
      </label>
      <label>
        {t('filter.status')}
        <select value={filters.status ?? ''} onChange={(event) => set({ status: event.target.value })}>
          <option value="">{t('destinations.any-state')}</option>
          {STATES.map((each) => (
            <option key={each} value={each}>
              {word('status', each)}
            </option>
          ))}
        </select>
      </label>
      <label>
        {t('destinations.circuit')}
        <select value={filters.circuit ?? ''} onChange={(event) => set({ circuit: event.target.value })}>
          <option value="">{t('destinations.any-state')}</option>
          {CIRCUITS.map((each) => (
            <option key={each} value={each}>
              {word('circuit', each)}
            </option>
          ))}
        </select>
      </label>
      {Object.keys(filters).length > 0 && (
        <button type="button" onClick={() => void navigate({ to: '/$env/destinations', params: { env }, search: {} })}>
          {t('filter.clear')}
        </button>
      )}
    </form>
  );
}
