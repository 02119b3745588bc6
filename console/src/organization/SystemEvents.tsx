import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { answered, type Schemas } from '../api/client';
import { t } from '../kit/messages/t';
import { type Column, Table } from '../kit/table/Table';
import { useSigned } from '../session/session';

/** Queries the types of system events. */
export function useSystemEvents() {
  const { api } = useSigned();
  return useQuery({
    queryKey: ['system-events'],
    staleTime: Infinity,
    queryFn: ({ signal }) => answered(api.GET('/v1/system-events', { signal })),
  });
}

/** Types of system events, with examples. */
export function SystemEvents({ types }: { types: readonly Schemas['SystemEventTypeItem'][] }): ReactNode {
  const columns: Column<Schemas['SystemEventTypeItem']>[] = [
    { id: 'type', label: t('system.type'), cell: ({ type }) => <code>{type}</code> },
    { id: 'when', label: t('system.when'), cell: ({ description }) => withCode(description), wraps: true },
    {
      id: 'example',
      label: t('system.example'),
      cell: ({ type, example }) => (
        <details>
          <summary>
            {t('system.example')}
            <span className="offscreen"> {type}</span>
          </summary>
          <pre tabIndex={0}>{JSON.stringify(example, null, 2)}</pre>
        </details>
      ),
      wraps: true,
    },
  ];
  return (
    <div>
      <h2>{t('system.title')}</h2>
      <p className="quiet">{t('system.text')}</p>
      <Table id="system-events" label={t('system.title')} rows={types} columns={columns} keyOf={({ type }) => type} />
    </div>
  );
}

/** Returns a description from the API, in which backticks mark names of fields. */
function withCode(description: string): ReactNode[] {
  return description.split('`').map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part));
}
