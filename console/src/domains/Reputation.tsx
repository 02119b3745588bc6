import { type ReactNode, useState } from 'react';
import { answered } from '../api/client';
import { Confirm } from '../kit/dialog/Confirm';
import { FaultLine } from '../kit/form/FaultLine';
import { Skeleton } from '../kit/load/Skeleton';
import { t } from '../kit/messages/t';
import { usePreferences } from '../kit/preferences';
import { Status } from '../kit/status/Status';
import { Time } from '../kit/time/Time';
import { useSigned } from '../session/session';
import { type Domain, type DomainReputation, useKnownDomain, useReputation } from './domain-queries';
import { EditThresholds } from './EditThresholds';
import { formatRate, levelOf } from './reputation-draft';

const WINDOWS = ['last_24_hours', 'last_7_days'] as const;
/** Rates with the field of their count, and their labels. */
const RATES = [
  ['bounce_rate', 'bounced', 'reputation.bounces'],
  ['complaint_rate', 'complained', 'reputation.complaints'],
] as const;

/** Mail volume, bounces and complaints of a domain, with their limits. */
export function Reputation({ domain }: { domain: Domain }): ReactNode {
  const { data, error, isPending } = useReputation(domain.id);
  return (
    <section aria-labelledby="reputation">
      <h2 id="reputation">{t('reputation')}</h2>
      {isPending && <Skeleton parts={['text', ['rows', 2]]} isSection />}
      <FaultLine fault={error} />
      {data && (
        <>
          <p className="domain-state">
            {isUnused(data) ? (
              <span className="status dull">
                <span aria-hidden="true">–</span> {t('reputation.none')}
              </span>
            ) : (
              <Status of={data.reputation} />
            )}{' '}
            {sentenceOf(data)}{' '}
            {data.changed_at !== null && (
              <span className="quiet">
                <Time at={data.changed_at} />
              </span>
            )}
          </p>
          <Actions domain={domain} reputation={data} />
          <Volumes reputation={data} />
          {data.resumed_at !== null && (
            <p className="quiet">
              {t('reputation.resumed')} <Time at={data.resumed_at} />
            </p>
          )}
          <p className="quiet">
            {data.reputation !== 'healthy' && t('reputation.none-text', { count: data.thresholds.minimum_sent })}{' '}
            {t('reputation.counted')}
          </p>
        </>
      )}
    </section>
  );
}

/** Whether there are no emails to judge the reputation by. */
function isUnused({ reputation, last_7_days: { sent } }: DomainReputation): boolean {
  return reputation === 'healthy' && sent === 0;
}

function sentenceOf(of: DomainReputation): string {
  const { reputation, cause, thresholds } = of;
  if (isUnused(of)) return t('reputation.none-text', { count: thresholds.minimum_sent });
  if (reputation === 'healthy') return t('reputation.healthy', { count: thresholds.minimum_sent });
  return t(`reputation.${reputation}.${cause ?? 'bounce_rate'}`);
}

function Actions({ domain, reputation }: { domain: Domain; reputation: DomainReputation }): ReactNode {
  const { api, can } = useSigned();
  const known = useKnownDomain();
  const [asked, setAsked] = useState<'resume' | 'limits' | null>(null);
  if (!can('admin')) return null;
  const resume = async (): Promise<void> =>
    known(await answered(api.POST('/v1/domains/{id}/resume', { params: { path: { id: domain.id } } })));
  return (
    <p className="actions">
      {reputation.reputation === 'paused' && (
        <button type="button" className="primary" onClick={() => setAsked('resume')}>
          {t('reputation.resume')}
        </button>
      )}
      <button type="button" onClick={() => setAsked('limits')}>
        {t('reputation.limits')}
      </button>
      {asked === 'limits' && (
        <EditThresholds domain={domain} thresholds={reputation.thresholds} onClose={() => setAsked(null)} />
      )}
      {asked === 'resume' && (
        <Confirm
          title={t('reputation.resume')}
          action={t('reputation.resume')}
          onConfirm={resume}
          onClose={() => setAsked(null)}
        >
          <p>{t('reputation.resume-text')}</p>
        </Confirm>
      )}
    </p>
  );
}

/**
 * Returns the limits of a rate. The rate covers the last 24 hours, or the time since sending was last resumed if that
 * is shorter.
 */
function limitsOf(
  thresholds: DomainReputation['thresholds'],
  rate: 'bounce_rate' | 'complaint_rate',
): Parameters<typeof levelOf>[2] {
  return {
    warning: thresholds[`${rate}_warning`],
    pause: thresholds[`${rate}_pause`],
    minimum: thresholds.minimum_sent,
  };
}

/** Volumes of a domain. Each rate has its limits in the head of its row, so that the table fits on phones. */
function Volumes({ reputation }: { reputation: DomainReputation }): ReactNode {
  const { language } = usePreferences();
  const { thresholds } = reputation;
  const count = new Intl.NumberFormat(language);
  return (
    <table className="plain domain-rates" aria-labelledby="reputation">
      <thead>
        <tr>
          <td />
          {WINDOWS.map((name) => (
            <th key={name} scope="col" className="numeric">
              {t(`reputation.${name}`)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {(['sent', 'delivered'] as const).map((what) => (
          <tr key={what}>
            <th scope="row">{t(`reputation.${what}`)}</th>
            {WINDOWS.map((name) => (
              <td key={name} className="numeric">
                {count.format(reputation[name][what])}
              </td>
            ))}
          </tr>
        ))}
        {RATES.map(([rate, counted, label]) => (
          <tr key={rate}>
            <th scope="row">
              {t(label)}
              <span className="quiet">{limitText(thresholds, rate, language)}</span>
            </th>
            {WINDOWS.map((name) => (
              <td key={name} className="numeric">
                <Rate
                  count={reputation[name][counted]}
                  rate={reputation[name][rate]}
                  level={
                    name === 'last_24_hours' && reputation.reputation !== 'healthy'
                      ? levelOf(reputation[name][rate], reputation[name].sent, limitsOf(thresholds, rate))
                      : 'none'
                  }
                />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Describes the limits of a rate in words. */
function limitText(
  thresholds: DomainReputation['thresholds'],
  rate: 'bounce_rate' | 'complaint_rate',
  language: string,
): string {
  const warning = formatRate(thresholds[`${rate}_warning`], language);
  const pause = thresholds[`${rate}_pause`];
  return pause === null
    ? t('reputation.warning-only', { warning })
    : t('reputation.limit-values', { warning, pause: formatRate(pause, language) });
}

interface RateProps {
  count: number;
  rate: number | null;
  level: ReturnType<typeof levelOf>;
}

function Rate({ count, rate, level }: RateProps): ReactNode {
  const { language } = usePreferences();
  return (
    <>
      <span className="number">
        {new Intl.NumberFormat(language).format(count)} ({formatRate(rate, language)})
      </span>{' '}
      {(level === 'warning' || level === 'pause') && (
        <span className={`status ${level === 'pause' ? 'bad' : 'busy'}`}>
          <span aria-hidden="true">!</span> {t(`reputation.level.${level}`)}
        </span>
      )}
    </>
  );
}
