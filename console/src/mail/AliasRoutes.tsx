import type { ReactNode } from 'react';
import { CodeField } from '../kit/form/CodeField';
import type { JsonFault } from '../kit/json/read-json';
import { t } from '../kit/messages/t';
import { DestinationSelect } from '../session/DestinationSelect';
import { useResource } from '../session/ResourceName';
import type { DraftRoute } from './alias-draft';

const EXAMPLE = '{"path": "$.subject", "op": "starts_with", "value": "Invoice"}';

interface AliasRoutesProps {
  routes: DraftRoute[];
  /** Error in the filter of each route. */
  faults: readonly (JsonFault | null)[];
  onChange: (routes: DraftRoute[]) => void;
}

/** Destinations of an alias, with their filters. */
export function AliasRoutes({ routes, faults, onChange }: AliasRoutesProps): ReactNode {
  const filter = (at: number, text: string): void =>
    onChange(routes.map((route, index) => (index === at ? { ...route, filter: text } : route)));
  return (
    <>
      {routes.map(({ destination, filter: text }, index) => (
        <div key={destination} className="mail-route">
          <RouteHead
            destination={destination}
            onRemove={() => onChange(routes.filter((each) => each.destination !== destination))}
          />
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
      <DestinationSelect
        label={t(routes.length === 0 ? 'alias.goes-to' : 'alias.goes-also-to')}
        value=""
        none={t(routes.length === 0 ? 'alias.kept' : 'alias.nobody-else')}
        without={routes.map(({ destination }) => destination)}
        onChange={(destination) => {
          if (destination !== '') onChange([...routes, { destination, filter: '' }]);
        }}
      />
    </>
  );
}

function RouteHead({ destination, onRemove }: { destination: string; onRemove: () => void }): ReactNode {
  const name = useResource(destination)?.name ?? destination;
  return (
    <span className="actions">
      <strong>{name}</strong>
      <button type="button" className="small" aria-label={`${t('alias.remove-route')} ${name}`} onClick={onRemove}>
        {t('alias.remove-route')}
      </button>
    </span>
  );
}
