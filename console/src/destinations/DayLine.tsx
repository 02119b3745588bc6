import type { ReactNode } from 'react';
import { t } from '../kit/messages/t';
import { Sparkline } from '../kit/plot/Sparkline';
import { useFigures } from './destination-queries';

/** Chart of a destination's successful and failed attempts in the last 24 hours. Empty until `isAsked` is true. */
export function DayLine({ id, isAsked }: { id: string; isAsked: boolean }): ReactNode {
  const { data } = useFigures(id, '24h', isAsked);
  const [good, bad] = [
    data?.data.map(({ delivered }) => delivered) ?? [],
    data?.data.map(({ retried, failed, dlq }) => retried + failed + dlq) ?? [],
  ];
  const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);
  return (
    <span className="day-line">
      {data && sum(good) + sum(bad) === 0 && '–'}
      {data && sum(good) + sum(bad) > 0 && (
        <Sparkline good={good} bad={bad} label={t('plot.sparkline', { good: sum(good), bad: sum(bad) })} />
      )}
    </span>
  );
}
