import { type ReactNode, useEffect, useRef, useState } from 'react';
import { t } from '../kit/messages/t';
import { Sparkline } from '../kit/plot/Sparkline';
import { useFigures } from './destination-queries';

/** Chart of a destination's deliveries in the last 24 hours. Loads its data when it becomes visible. */
export function DayLine({ id }: { id: string }): ReactNode {
  const place = useRef<HTMLSpanElement>(null);
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    if (place.current === null) return;
    const observer = new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      setSeen(true);
      observer.disconnect();
    });
    observer.observe(place.current);
    return () => observer.disconnect();
  }, []);
  return (
    <span ref={place} className="day-line">
      {isSeen && <Drawn id={id} />}
    </span>
  );
}

function Drawn({ id }: { id: string }): ReactNode {
  const { data } = useFigures(id, '24h');
  if (data === undefined) return null;
  const [good, bad] = [data.data.map(({ delivered }) => delivered), data.data.map(({ failed, dlq }) => failed + dlq)];
  const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);
  return <Sparkline good={good} bad={bad} label={t('plot.sparkline', { good: sum(good), bad: sum(bad) })} />;
}
