import type { ReactNode } from 'react';
import { CodeField } from '../kit/form/CodeField';
import { FaultLine } from '../kit/form/FaultLine';
import type { JsonFault } from '../kit/json/read-json';
import { t } from '../kit/messages/t';
import type { DraftRoute } from './alias-draft';
import { useDestinationChoices } from './mail-queries';

const EXAMPLE = '{"path": "$.subject", "op": "starts_with", "value": "Invoice"}';

interface AliasRoutesProps {
  routes: DraftRoute[];
  /** Error in the filter of each route. */
  faults: readonly (JsonFault | null)[];
  onChange: (routes: DraftRoute[]) => void;
}

/** Destinations of an alias, with their filters. */
export function AliasRoutes({ routes, faults, onChange }: AliasRoutesProps): ReactNode {
  const { data, error } = useDestinationChoices();
  const choices = (data?.data ?? []).filter(({ id }) => !routes.some(({ destination }) => destination === id));
  const nameOf = (id: string): string => data?.data.find((each) => each.id === id)?.name ?? id;
  const filter = (at: number, text: string): void =>
    onChange(routes.map((route, index) => (index === at ? { ...route, filter: text } : route)));
  return (
    <>
      {routes.map(({ destination, filter: text }, index) => (
        <div key={destination} className="mail-route">
          <span className="actions">
            <strong>{nameOf(destination)}</strong>
            <button
              type="button"
              className="small"
              aria-label={`${t('alias.remove-route')} ${nameOf(destination)}`}
              onClick={() => onChange(routes.filter((each) => each.destination !== destination))}
            >
              {t('alias.remove-route')}
            </button>
          </span>
          <CodeField
            label={t('alias.filter')}
            value={text}
            rows={text === '' ? 2 : 5}
            fault={faults[index] ?? null}
            onChange={(value) => filter(index, value)}
          />
          {text.trim() === '' && (
            <p>
              <button type="button" className="small" onClick={() => filter(index, EXAMPLE)}>
                {t('rules.example')}
              </button>
            </p>
          )}
        </div>
      ))}
      <label>
        {t(routes.length === 0 ? 'alias.goes-to' : 'alias.goes-also-to')}
        <select
          value=""
          onChange={(event) => {
            if (event.target.value) onChange([...routes, { destination: event.target.value, filter: '' }]);
          }}
        >
          <option value="">{t(routes.length === 0 ? 'alias.kept' : 'alias.nobody-else')}</option>
          {choices.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <FaultLine fault={error} />
    </>
  );
}
