import './health.css';
import type { ReactNode } from 'react';
import { Icon, type IconName } from '../icon/Icon';
import { t } from '../messages/t';
import { usePreferences } from '../preferences';
import { formatDistance } from '../time/format';
import { SinceAge } from '../time/Since';
import { useNow } from '../time/use-now';
import { disabledReason } from './disabled-reason';
import type { Health } from './health';

const LOOKS: Readonly<Record<Health['state'], [icon: IconName, tone: string]>> = {
  healthy: ['healthy', 'good'],
  degraded: ['degraded', 'busy'],
  'circuit-open': ['circuit-open', 'bad'],
  disabled: ['disabled', 'dull'],
  idle: ['idle', 'dull'],
  unknown: ['unknown', 'dull'],
};
const TICK_MS = 1_000;

/** Props of `TargetHealth`. */
interface TargetHealthProps {
  /** Null while unknown. */
  of: Health | null;
  /** Number of pending deliveries. Null while unknown. */
  pending: { count: number; isCapped: boolean } | null;
  /** Returns the current time of the service, because the clock of this computer may be wrong. */
  clock: () => number;
  /** Leaves out the period of a failure rate, for lists. */
  isShort?: boolean;
}

/**
 * Health of a target: a pill with an icon and a word, which opens the details, and the number of pending deliveries.
 */
export function TargetHealth({ of, pending, clock, isShort = false }: TargetHealthProps): ReactNode {
  if (of === null) return <span className="health skeleton" role="img" aria-label={t('loading')} />;
  return (
    <span className="health">
      <HealthPill of={of} />
      <Detail of={of} clock={clock} isShort={isShort} />
      {pending !== null && pending.count > 0 && (
        <span className="quiet">
          {t(pending.isCapped ? 'health.pending-capped' : 'health.pending', { count: pending.count })}
        </span>
      )}
    </span>
  );
}

/** Health of a target as an icon and a word. */
export function HealthPill({ of: { state } }: { of: Health }): ReactNode {
  const [icon, tone] = LOOKS[state];
  return (
    <span className={`status ${tone}`}>
      <Icon name={icon} /> {t(`health.${state}`)}
    </span>
  );
}

function Detail({ of, clock, isShort }: { of: Health; clock: () => number; isShort: boolean }): ReactNode {
  const { language } = usePreferences();
  switch (of.state) {
    case 'healthy':
    case 'unknown':
      return null;
    case 'idle':
      return <span className="quiet">{t('health.idle-text')}</span>;
    case 'degraded': {
      const share = new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 1 });
      return (
        <span className="quiet">
          {t(isShort ? 'health.degraded-short' : `health.degraded-${of.range}`, {
            share: share.format(of.failureRate),
          })}
        </span>
      );
    }
    case 'circuit-open':
      return (
        <span className="quiet">
          <Probe of={of} clock={clock} />
          {of.since !== null && <SinceAge at={of.since} nowMs={clock()} />}
        </span>
      );
    case 'disabled':
      return (
        <span className="quiet">
          {of.reason !== null && of.reason !== '' && (
            <span className="health-reason">{withoutStop(disabledReason(of.reason))}</span>
          )}
          {of.since !== null && <SinceAge at={of.since} nowMs={clock()} />}
        </span>
      );
  }
}

/** Returns a sentence without its full stop, for a line of several facts. */
function withoutStop(sentence: string): string {
  return sentence.replace(/\.$/, '');
}

/** Time until the next probe of an open circuit, counted down. */
function Probe({
  of: { nextProbeAt, isProbing },
  clock,
}: {
  of: Extract<Health, { state: 'circuit-open' }>;
  clock: () => number;
}): ReactNode {
  const { language } = usePreferences();
  const nowMs = useNow(clock, TICK_MS);
  if (isProbing) return <span>{t('health.probing')}</span>;
  if (nextProbeAt === null) return null;
  return (
    <time dateTime={nextProbeAt}>
      {Date.parse(nextProbeAt) <= nowMs
        ? t('health.probe-due')
        : t('health.probe-in', { when: formatDistance(nextProbeAt, nowMs, language) })}
    </time>
  );
}
