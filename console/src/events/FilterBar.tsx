import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useEffect, useId, useState } from 'react';
import { Choices } from '../kit/form/Choices';
import { t, word } from '../kit/messages/t';
import { PHONE, useMedia } from '../kit/use-media';
import { DestinationPicker } from '../session/DestinationPicker';
import { useSigned } from '../session/session';
import type { EventSearch } from './columns';
import { ErrorFilter } from './ErrorFilter';
import { DIRECTIONS, type EventFilters, RANGES, readFilters, STATUSES, statusesOf } from './event-filters';
import { ResponseFilter } from './ResponseFilter';
import { SearchField } from './SearchField';
import { ApplicationFilter } from './TargetFilters';

/** Filters that only links can set, with their labels. Each of these filters is shown only while it is set. */
const LINKED = [
  ['endpoint', 'fact.endpoint'],
  ['message_id', 'fact.message'],
] as const;

type Change = { [Name in keyof EventFilters]?: EventFilters[Name] | undefined };

/** Filters of the event list. All of them are part of the page's URL. */
export function FilterBar({ search, filters }: { search: EventSearch; filters: EventFilters }): ReactNode {
  const { environment: env } = useSigned();
  const navigate = useNavigate();
  const set = (changes: Change): void => {
    const { columns } = search;
    const next = readFilters(
      Object.fromEntries(
        Object.entries({ ...filters, ...changes }).filter(([, value]) => value !== undefined && value !== ''),
      ),
    );
    void navigate({
      to: '/$env/events',
      params: { env },
      search: { ...next, ...(columns !== undefined && { columns }) },
    });
  };
  const statuses = statusesOf(filters);
  // On phones, the filters would fill the first screen.
  const isPhone = useMedia(PHONE);
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const count = Object.keys(filters).filter((name) => name !== 'q').length;
  return (
    <form
      className="filters event-filters"
      role="search"
      aria-label={t('filter')}
      onSubmit={(event) => event.preventDefault()}
    >
      <SearchField value={filters.q ?? ''} onSearch={set} />
      {isPhone && (
        <button type="button" aria-expanded={isOpen} aria-controls={id} onClick={() => setOpen(!isOpen)}>
          {count === 0 ? t('filters') : t('filters.count', { count })}
        </button>
      )}
      <div className="filters-rest" id={id} hidden={isPhone && !isOpen}>
        <Choices
          label={t('filter.status')}
          shown={statuses.length === 0 ? t('filter.any') : statuses.map((status) => word('status', status)).join(', ')}
          options={STATUSES.map((id) => ({ id, label: word('status', id) }))}
          chosen={statuses}
          onChange={(chosen) => set({ status: chosen.join(',') })}
          clear={{ label: t('filter.clear'), onClear: () => set({ status: undefined }) }}
        />
        <TimeFilter filters={filters} onChange={set} />
        <TextFilter
          label={t('filter.type')}
          value={filters.event_type ?? ''}
          placeholder={t('filter.any')}
          onChange={(event_type) => set({ event_type })}
        />
        <DestinationPicker
          label={t('filter.destination')}
          value={filters.destination ?? ''}
          onPick={(destination) => set({ destination })}
        />
        <ApplicationFilter value={filters.application ?? ''} onPick={(application) => set({ application })} />
        <Select
          label={t('fact.direction')}
          value={filters.direction ?? ''}
          onChange={(value) => set({ direction: DIRECTIONS.find((each) => each === value) })}
          options={[
            ['', t('filter.any')],
            ...DIRECTIONS.map((each): [string, string] => [each, t(`direction.${each}`)]),
          ]}
        />
        <ErrorFilter value={filters.error} onChange={(error) => set({ error, response_status: undefined })} />
        <ResponseFilter value={filters.response_status} error={filters.error} onChange={set} />
        <TextFilter
          label={t('request.dedupe')}
          value={filters.dedupe_id ?? ''}
          placeholder={t('filter.any')}
          maxLength={1024}
          onChange={(dedupe_id) => set({ dedupe_id })}
        />
        {LINKED.map(
          ([name, label]) =>
            filters[name] !== undefined && (
              <TextFilter
                key={name}
                label={t(label)}
                value={filters[name]}
                onChange={(value) => set({ [name]: value })}
              />
            ),
        )}
        {Object.keys(filters).length > 0 && (
          <button
            type="button"
            onClick={() =>
              void navigate({
                to: '/$env/events',
                params: { env },
                search: search.columns === undefined ? {} : { columns: search.columns },
              })
            }
          >
            {t('filter.clear')}
          </button>
        )}
      </div>
    </form>
  );
}

/**
 * Select element with a few options. The label is next to the element. If it enclosed the element, the accessible name
 * would contain all options.
 */
function Select({
  label,
  value,
  options,
  onChange,
}: {
  label: string;
  value: string;
  options: readonly (readonly [value: string, label: string])[];
  onChange: (value: string) => void;
}): ReactNode {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select id={id} value={value} onChange={({ target }) => onChange(target.value)}>
        {options.map(([each, shown]) => (
          <option key={each} value={each}>
            {shown}
          </option>
        ))}
      </select>
    </div>
  );
}

/** Selects a relative time range, or a range between two times in the user's time zone. */
function TimeFilter({
  filters: { since, until },
  onChange,
}: {
  filters: EventFilters;
  onChange: (changes: Change) => void;
}): ReactNode {
  const isOther = until !== undefined || (since !== undefined && !RANGES.some((range) => range === since));
  const [isAsked, setAsked] = useState(isOther);
  useEffect(() => setAsked(isOther), [isOther]);
  const choose = (value: string): void => {
    setAsked(value === 'other');
    if (value !== 'other') onChange({ since: value || undefined, until: undefined });
  };
  return (
    <>
      <Select
        label={t('filter.range')}
        value={isAsked ? 'other' : (since ?? '')}
        onChange={choose}
        options={[
          ['', t('filter.all-time')],
          ...RANGES.map((range): [string, string] => [range, t(`range.${range}`)]),
          ['other', t('filter.between')],
        ]}
      />
      {isAsked &&
        (['since', 'until'] as const).map((name) => {
          const value = name === 'since' ? since : until;
          // Shows a relative time from a link until the user replaces it.
          if (value?.startsWith('-'))
            return (
              <TextFilter
                key={name}
                label={t(`filter.${name}`)}
                value={value}
                size={8}
                onChange={(text) => onChange({ [name]: text })}
              />
            );
          return (
            <TimeField
              key={name}
              label={t(`filter.${name}`)}
              value={value ?? ''}
              onChange={(at) => onChange({ [name]: at })}
            />
          );
        })}
    </>
  );
}

function TimeField({
  label,
  value,
  onChange,
}: {
  label: string;
  value: string;
  onChange: (at: string | undefined) => void;
}): ReactNode {
  const local =
    value === ''
      ? ''
      : new Date(Date.parse(value) - new Date(value).getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
  const [text, setText] = useState(local);
  useEffect(() => setText(local), [local]);
  const commit = (): void => {
    if (text === local) return;
    const at = new Date(text);
    onChange(Number.isNaN(at.getTime()) ? undefined : at.toISOString());
  };
  return (
    <label>
      {label}
      <input
        type="datetime-local"
        step="1"
        value={text}
        onChange={({ target }) => setText(target.value)}
        onBlur={commit}
        onKeyDown={(event) => {
          if (event.key === 'Enter') commit();
        }}
      />
    </label>
  );
}

/** Text filter that applies on Enter or when it loses the focus, because incomplete words match nothing. */
function TextFilter({
  label,
  value,
  placeholder,
  size = 14,
  maxLength = 256,
  onChange,
}: {
  label: string;
  value: string;
  placeholder?: string;
  size?: number;
  maxLength?: number;
  onChange: (value: string) => void;
}): ReactNode {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  const commit = (): void => {
    if (text.trim() !== value) onChange(text.trim());
  };
  return (
    <label>
      {label}
      <input
        value={text}
        size={size}
        autoComplete="off"
        spellCheck={false}
        maxLength={maxLength}
        placeholder={placeholder}
        onChange={(event) => setText(event.target.value)}
        onBlur={commit}
        onKeyDown={(event) => {
          if (event.key === 'Enter') commit();
        }}
      />
    </label>
  );
}
