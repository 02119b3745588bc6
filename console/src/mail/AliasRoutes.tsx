import type { ReactNode } from 'react';
import { t } from '../kit/messages/t';
import type { DraftRoute } from './alias-draft';
import { useDestinationChoices } from './mail-queries';

/** Where mail goes, and which of it. */
export function AliasRoutes({ routes, onChange }: { routes: DraftRoute[]; onChange: (routes: DraftRoute[]) => void }): ReactNode {
  const { data } = useDestinationChoices();
  const choices = (data?.data ?? []).filter(({ id }) => !routes.some(({ destination }) => destination === id));
  const nameOf = (id: string): string => data?.data.find((each) => each.id === id)?.name ?? id;
  const filter = (at: number, text: string): void => onChange(routes.map((route, index) => (index === at ? { ...route, filter: text } : route)));
  return (
    <>
      {routes.map(({ destination, filter: text }, index) => (
        <div key={destination} className="mail-route">
          <span className="actions"><strong>{nameOf(destination)}</strong><button type="button" className="small" aria-label={`${t('alias.remove-route')} ${nameOf(destination)}`} onClick={() => onChange(routes.filter((each) => each.destination !== destination))}>{t('alias.remove-route')}</button></span>
          <label>{t('alias.filter')}<textarea rows={text === '' ? 2 : 5} value={text} onChange={(event) => filter(index, event.target.value)} spellCheck={false} placeholder={'{"path": "$.subject", "op": "starts_with", "value": "Invoice"}'} /></label>
        </div>
      ))}
      <label>{t(routes.length === 0 ? 'alias.goes-to' : 'alias.goes-also-to')}
        <select value="" onChange={(event) => { if (event.target.value) onChange([...routes, { destination: event.target.value, filter: '' }]); }}>
          <option value="">{t(routes.length === 0 ? 'alias.kept' : 'alias.nobody-else')}</option>
          {choices.map(({ id, name }) => <option key={id} value={id}>{name}</option>)}
        </select>
      </label>
    </>
  );
}
