import type { ReactNode } from 'react';
import { t } from '../kit/messages/t';
import { PathLink } from '../kit/PathLink';
import { IdLink } from '../kit/places';
import { usePreferences } from '../kit/preferences';
import { type Column, Table } from '../kit/table/Table';
import { useSigned } from '../session/session';
import type { FailingTarget } from './overview-queries';

/** Targets with the most failures in the range. */
export function FailingTargets({ targets }: { targets: readonly FailingTarget[] }): ReactNode {
  const { language } = usePreferences();
  const { environment: env } = useSigned();
  const number = (value: number): string => new Intl.NumberFormat(language).format(value);
  const share = (value: number): string =>
    new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 1 }).format(value);
  const columns: Column<FailingTarget>[] = [
    {
      id: 'target',
      label: t('overview.target'),
      cell: ({ target, name, application }) =>
        application === null ? (
          <IdLink id={target}>{name}</IdLink>
        ) : (
          <PathLink to={`/${env}/applications/${application}/endpoints/${target}`}>{name}</PathLink>
        ),
      isFlexible: true,
    },
    { id: 'failed', label: t('overview.failed'), cell: ({ failed, dlq }) => number(failed + dlq), isNumeric: true },
    { id: 'retried', label: t('overview.retried'), cell: ({ retried }) => number(retried), isNumeric: true },
    { id: 'delivered', label: t('overview.delivered'), cell: ({ delivered }) => number(delivered), isNumeric: true },
    { id: 'rate', label: t('overview.failure-rate'), cell: ({ failure_rate: rate }) => share(rate), isNumeric: true },
  ];
  return (
    <div>
      <h2>{t('overview.targets')}</h2>
      {targets.length === 0 && <p className="quiet">{t('overview.targets-none')}</p>}
      {targets.length > 0 && (
        <Table
          id="failing-targets"
          label={t('overview.targets')}
          rows={targets}
          columns={columns}
          keyOf={({ target }) => target}
        />
      )}
    </div>
  );
}
