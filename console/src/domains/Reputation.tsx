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
          <p className="quiet">{t('reputation.counted')}</p>
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

function Volumes({ reputation }: { reputation: DomainReputation }): ReactNode {
  const { language } = usePreferences();
  const { thresholds } = reputation;
  const count = new Intl.NumberFormat(language);
  return (
    <div className="scroll" tabIndex={0} role="group" aria-labelledby="reputation">
      <table className="plain">
        <thead>
          <tr>
            <th scope="col">{t('filter.range')}</th>
            <th scope="col" className="numeric">
              {t('reputation.sent')}
            </th>
            <th scope="col" className="numeric">
              {t('reputation.delivered')}
            </th>
            <th scope="col" className="numeric">
              {t('reputation.bounces')}
            </th>
            <th scope="col" className="numeric">
              {t('reputation.complaints')}
            </th>
          </tr>
        </thead>
        <tbody>
          {WINDOWS.map((name) => {
            const volume = reputation[name];
            return (
              <tr key={name}>
                <th scope="row">{t(`reputation.${name}`)}</th>
                <td className="numeric">{count.format(volume.sent)}</td>
                <td className="numeric">{count.format(volume.delivered)}</td>
                {(['bounce_rate', 'complaint_rate'] as const).map((rate) => (
                  <td key={rate} className="numeric">
                    <Rate
                      count={rate === 'bounce_rate' ? volume.bounced : volume.complained}
                      rate={volume[rate]}
                      level={
                        name === 'last_24_hours' && reputation.reputation !== 'healthy'
                          ? levelOf(volume[rate], volume.sent, limitsOf(thresholds, rate))
                          : 'none'
                      }
                    />
                  </td>
                ))}
              </tr>
            );
          })}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">{t('reputation.warning-at')}</th>
            <td colSpan={2} className="numeric">
              {t('reputation.from', { count: thresholds.minimum_sent })}
            </td>
            <td className="numeric">{formatRate(thresholds.bounce_rate_warning, language)}</td>
            <td className="numeric">{formatRate(thresholds.complaint_rate_warning, language)}</td>
          </tr>
          <tr>
            <th scope="row">{t('reputation.pause-at')}</th>
            <td colSpan={2} />
            <td className="numeric">{pauseAt(thresholds.bounce_rate_pause, language)}</td>
            <td className="numeric">{pauseAt(thresholds.complaint_rate_pause, language)}</td>
          </tr>
        </tfoot>
      </table>
    </div>
  );
}

function pauseAt(limit: number | null, language: string): string {
  return limit === null ? t('reputation.never') : formatRate(limit, language);
}

interface RateProps {
  count: number;
  rate: number | null;
  level: ReturnType<typeof levelOf>;
}

function Rate({ count, rate, level }: RateProps): ReactNode {
  const { language } = usePreferences();
  return (
    <span className="number">
      {new Intl.NumberFormat(language).format(count)} ({formatRate(rate, language)}){' '}
      {(level === 'warning' || level === 'pause') && (
        <span className={`status ${level === 'pause' ? 'bad' : 'busy'}`}>
          <span aria-hidden="true">!</span> {t(`reputation.level.${level}`)}
        </span>
      )}
    </span>
  );
}
