import { type ReactNode, useMemo } from 'react';
import { t } from '../messages/t';
import { usePreferences } from '../preferences';
import { formatDuration } from '../time/format';
import { Plot } from './Plot';
import type { Series } from './series';

type Latency = Readonly<Record<'p50' | 'p95' | 'p99', number>>;

/** Outcomes of attempts in one time window, and their latency. */
interface OutcomeWindow {
  start: string;
  delivered: number;
  retried: number;
  failed: number;
  dlq: number;
  latency_ms: Latency | null;
}

interface OutcomePlotsProps {
  /** Windows of equal length, oldest first. */
  windows: readonly OutcomeWindow[];
  windowMs: number;
  /** Latency of the whole range. Null if there were no attempts, undefined if it is unknown. */
  latency?: Latency | null | undefined;
  cursorKey: string;
  onRange: (fromMs: number, toMs: number) => void;
}

/** Outcomes of attempts over time, and their latency, in two plots with a shared cursor. */
export function OutcomePlots({ windows, windowMs, latency, cursorKey, onRange }: OutcomePlotsProps): ReactNode {
  const { language } = usePreferences();
  const startsMs = useMemo(() => windows.map(({ start }) => Date.parse(start)), [windows]);
  const outcomes = useMemo(() => outcomeSeries(windows, language), [windows, language]);
  const latencies = useMemo(() => latencySeries(windows, latency, language), [windows, latency, language]);
  const shared = { startsMs, windowMs, cursorKey, onRange };
  return (
    <div className="plots">
      <Plot {...shared} title={t('overview.outcomes')} series={outcomes} />
      <Plot
        {...shared}
        title={t('overview.latency')}
        series={latencies}
        format={(ms) => formatDuration(ms, language)}
      />
    </div>
  );
}

function outcomeSeries(windows: readonly OutcomeWindow[], language: string): Series[] {
  const number = new Intl.NumberFormat(language);
  const count = (
    name: 'delivered' | 'failed' | 'dlq' | 'retried',
    label: string,
    drawn: Pick<Series, 'tone' | 'dash'>,
  ): Series => {
    const values = windows.map((each) => each[name]);
    const sum = values.reduce((before, value) => before + value, 0);
    return { label, kind: 'stack', values, summary: number.format(sum), ...drawn };
  };
  return [
    count('delivered', t('overview.delivered'), { tone: 'good' }),
    count('retried', t('overview.retried'), { tone: 'busy', dash: 'dashed' }),
    count('dlq', t('overview.dlq'), { tone: 'bad' }),
    count('failed', t('overview.no-retry'), { tone: 'bad', dash: 'dashed' }),
  ];
}

function latencySeries(
  windows: readonly OutcomeWindow[],
  total: Latency | null | undefined,
  language: string,
): Series[] {
  const line = (name: keyof Latency, drawn: Pick<Series, 'tone' | 'dash'>): Series => ({
    label: name,
    kind: 'line',
    values: windows.map(({ latency_ms: ms }) => ms?.[name] ?? null),
    ...(total !== undefined && { summary: total === null ? '–' : formatDuration(total[name], language) }),
    ...drawn,
  });
  return [
    line('p50', { tone: 'accent' }),
    line('p95', { tone: 'busy', dash: 'dashed' }),
    line('p99', { tone: 'bad', dash: 'dotted' }),
  ];
}
