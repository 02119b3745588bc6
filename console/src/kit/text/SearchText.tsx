import { type ReactNode, useDeferredValue, useMemo, useState } from 'react';
import { t } from '../messages/t';
import { findAll, MATCHES_MAX } from './text-rows';
import type { Found } from './TextView';

/** Searches in a text. Returns the search field, and the matches with the index of the current match. */
export function useSearchText(text: string): { found: Found; field: ReactNode } {
  const [wanted, setWanted] = useState('');
  const [at, setAt] = useState(0);
  const searched = useDeferredValue(wanted);
  const matches = useMemo(() => findAll(text, searched), [text, searched]);
  const current = Math.min(at, Math.max(0, matches.length - 1));
  const found = useMemo(() => ({ matches, length: searched.length, current }), [matches, searched, current]);
  const step = (by: number): void => {
    if (matches.length > 0) setAt((current + by + matches.length) % matches.length);
  };
  const field = (
    <span className="text-tools" role="search">
      <input
        type="search"
        aria-label={t('search.label')}
        placeholder={t('search.label')}
        value={wanted}
        size={18}
        autoComplete="off"
        spellCheck={false}
        maxLength={200}
        onChange={({ target }) => {
          setWanted(target.value);
          setAt(0);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter') {
            event.preventDefault();
            step(event.shiftKey ? -1 : 1);
          }
        }}
      />
      {searched !== '' && (
        <>
          <span role="status" className="quiet">
            {matches.length === 0
              ? t('search.none')
              : t('search.at', {
                  at: current + 1,
                  count: `${matches.length}${matches.length >= MATCHES_MAX ? '+' : ''}`,
                })}
          </span>
          <button
            type="button"
            className="small"
            aria-label={t('search.previous')}
            disabled={matches.length === 0}
            onClick={() => step(-1)}
          >
            ↑
          </button>
          <button
            type="button"
            className="small"
            aria-label={t('search.next')}
            disabled={matches.length === 0}
            onClick={() => step(1)}
          >
            ↓
          </button>
        </>
      )}
    </span>
  );
  return { found, field };
}
