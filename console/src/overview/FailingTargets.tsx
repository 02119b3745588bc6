import type { ReactNode } from 'react';
import { FaultLine } from '../kit/form/FaultLine';
import { t } from '../kit/messages/t';
import { PathLink } from '../kit/PathLink';
import { IdLink } from '../kit/places';
import { usePreferences } from '../kit/preferences';
import { useSigned } from '../session/session';
import type { FailingTarget } from './overview-queries';

/** Targets with the most failures in the range. */
export function FailingTargets({
  targets,
  fault,
}: {
  targets: readonly FailingTarget[] | undefined;
  fault: unknown;
}): ReactNode {
  const { language } = usePreferences();
  const { environment: env } = useSigned();
  const number = (value: number): string => new Intl.NumberFormat(language).format(value);
  const share = (value: number): string =>
    new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 1 }).format(value);
  return (
    <div>
      <h2>{t('overview.targets')}</h2>
      <FaultLine fault={targets === undefined ? fault : null} />
      {targets?.length === 0 && <p className="quiet">{t('overview.targets-none')}</p>}
      {targets !== undefined && targets.length > 0 && (
        <div className="scroll" tabIndex={0} role="region" aria-label={t('overview.targets')}>
          <table className="plain figures">
            <thead>
              <tr>
                <th scope="col">{t('overview.target')}</th>
                <th scope="col">{t('overview.failed')}</th>
                <th scope="col">{t('overview.retried')}</th>
                <th scope="col">{t('overview.delivered')}</th>
                <th scope="col">{t('overview.failure-rate')}</th>
              </tr>
            </thead>
            <tbody>
              {targets.map((each) => (
                <tr key={each.target}>
                  <td className="long">
                    {each.application === null ? (
                      <IdLink id={each.target}>{each.name}</IdLink>
                    ) : (
                      <PathLink to={`/${env}/applications/${each.application}/endpoints/${each.target}`}>
                        {each.name === '' ? each.target : each.name}
                      </PathLink>
                    )}
                  </td>
                  <td>{number(each.failed + each.dlq)}</td>
                  <td>{number(each.retried)}</td>
                  <td>{number(each.delivered)}</td>
                  <td>{share(each.failure_rate)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </div>
  );
}
