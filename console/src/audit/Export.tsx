import { type ReactNode, useState } from 'react';
import { answered, serviceNowMs } from '../api/client';
import { download } from '../kit/copy';
import { FaultLine } from '../kit/form/FaultLine';
import { t } from '../kit/messages/t';
import { useSigned } from '../session/session';
import { asAuditQuery, type AuditFilters } from './audit-filters';

const TYPES = { jsonl: 'application/x-ndjson', csv: 'text/csv' } as const;

interface ExportProps {
  filters: AuditFilters;
  /** Whether the export is disabled, because the list could not be loaded. */
  isOff: boolean;
}

/** Exports the filtered entries as a file. */
export function Export({ filters, isOff }: ExportProps): ReactNode {
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
      {(['jsonl', 'csv'] as const).map((format) => (
        <button
          key={format}
          type="button"
          disabled={isOff}
          title={isOff ? t('export.off') : undefined}
          onClick={() => void save(format)}
        >
          {t(`audit.export-${format}`)}
        </button>
      ))}
      <FaultLine fault={fault} />
    </>
  );
}
