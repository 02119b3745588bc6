import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { Picker, type PickerOption } from '../kit/form/Picker';
import { t, word } from '../kit/messages/t';
import { useSigned } from '../session/session';
import { AUDIT_RANGES, type AuditFilters } from './audit-filters';
import type { Named } from './audit-queries';
import { actionLabel, ACTIONS, RESOURCE_TYPES, sentenceKey } from './audit-sentence';

interface FiltersProps {
  of: AuditFilters;
  names: ReadonlyMap<string, string>;
  members: readonly Named[];
  keys: readonly Named[];
  /** Why the members or the API keys could not be loaded. Null if they were loaded. */
  fault: Error | null;
}

/** Filters of the audit log: pick lists, which also accept an id, and a time range. All are part of the page's URL. */
export function Filters({ of: filters, names, members, keys, fault }: FiltersProps): ReactNode {
  const { environment: env } = useSigned();
  const navigate = useNavigate();
  const set = (changes: Record<string, string>): void => {
    const search = Object.fromEntries(
      Object.entries({ ...filters, ...changes }).filter(([, value]) => value !== ''),
    ) as AuditFilters;
    void navigate({ to: '/$env/audit', params: { env }, search });
  };
  const actors = [
    ...members.map(({ id, name, detail }) => ({ id, label: name, detail: detail ?? t('audit.member') })),
    ...keys.map(({ id, name }) => ({ id, label: name, detail: t('audit.key') })),
  ];
  const shared = { names, onPick: set };
  return (
    <form className="filter-bar" role="search" aria-label={t('filter')} onSubmit={(event) => event.preventDefault()}>
      <PickFilter
        {...shared}
        name="actor"
        label={t('audit.filter-who')}
        value={filters.actor}
        options={actors}
        fault={fault}
      />
      <PickFilter
        {...shared}
        name="action"
        label={t('audit.filter-what')}
        value={filters.action}
        options={ACTIONS.map((id) => ({
          id,
          label: actionLabel(t(sentenceKey({ action: id, before: null, after: null }))),
        }))}
      />
      <PickFilter
        {...shared}
        name="resource"
        label={t('audit.filter-which')}
        value={filters.resource}
        options={RESOURCE_TYPES.map((id) => ({ id, label: word('audit.type', id) }))}
      />
      <Range value={filters.since ?? ''} onChange={(since) => set({ since })} />
      {Object.keys(filters).length > 0 && (
        <button type="button" onClick={() => void navigate({ to: '/$env/audit', params: { env }, search: {} })}>
          {t('filter.clear')}
        </button>
      )}
    </form>
  );
}

interface PickFilterProps {
  name: keyof AuditFilters;
  label: string;
  value: string | undefined;
  options: readonly PickerOption[];
  fault?: Error | null;
  names: FiltersProps['names'];
  onPick: (changes: Record<string, string>) => void;
}

/** Pick list that finds options by any part of their name or id. */
function PickFilter({ name, label, value = '', options, fault = null, names, onPick }: PickFilterProps): ReactNode {
  const [text, setText] = useState('');
  const searched = text.toLowerCase();
  return (
    <Picker
      label={label}
      value={value}
      shown={options.find(({ id }) => id === value)?.label ?? names.get(value) ?? value}
      options={options.filter(
        ({ id, label: shown, detail = '' }) =>
          id.toLowerCase().includes(searched) || `${shown} ${detail}`.toLowerCase().includes(searched),
      )}
      fault={fault}
      onText={setText}
      onPick={(id) => onPick({ [name]: id })}
    />
  );
}

function Range({ value, onChange }: { value: string; onChange: (since: string) => void }): ReactNode {
  return (
    <label>
      {t('filter.range')}
      <select value={value} onChange={(event) => onChange(event.target.value)}>
        <option value="">{t('filter.all-time')}</option>
        {AUDIT_RANGES.map((range) => (
          <option key={range} value={range}>
            {t(`range.${range}`)}
          </option>
        ))}
        {value !== '' && !AUDIT_RANGES.some((range) => range === value) && <option value={value}>{value}</option>}
      </select>
    </label>
  );
}
