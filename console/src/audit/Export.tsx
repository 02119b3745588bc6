import { type ReactNode, useState } from 'react';
import { answered, serviceNowMs } from '../api/client';
import { download } from '../kit/copy';
import { FaultLine } from '../kit/form/FaultLine';
import { t } from '../kit/messages/t';
import { useSigned } from '../session/session';
import { asAuditQuery, type AuditFilters } from './audit-filters';

const TYPES = { jsonl: 'application/x-ndjson', csv: 'text/csv' } as const;

/** Exports the filtered entries as a file. */
export function Export({ filters }: { filters: AuditFilters }): ReactNode {
  const { api, environment } = useSigned();
  const [fault, setFault] = useState<unknown>(null);
  const save = async (format: 'jsonl' | 'csv'): Promise<void> => {
    setFault(null);
    try {
      const text = await answered(
        api.GET('/v1/audit/export', {
          params: { query: { ...asAuditQuery(filters, serviceNowMs()), format } },
          parseAs: 'text',
        }),
      );
      download(new TextEncoder().encode(String(text)), `audit-${environment}.${format}`, TYPES[format]);
    } catch (error) {
      setFault(error);
    }
  };
  return (
    <>
      <button type="button" onClick={() => void save('jsonl')}>
        {t('audit.export-jsonl')}
      </button>
      <button type="button" onClick={() => void save('csv')}>
        {t('audit.export-csv')}
      </button>
      <FaultLine fault={fault} />
    </>
  );
}
