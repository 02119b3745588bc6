import './plot.css';
import type { ReactNode } from 'react';

const HEIGHT = 24;

/** Bar chart without axes: failures are stacked on successes. The label describes the figures in words. */
export function Sparkline({
  good,
  bad,
  label,
}: {
  good: readonly number[];
  bad: readonly number[];
  label: string;
}): ReactNode {
  const most = Math.max(1, ...good.map((count, i) => count + (bad[i] ?? 0)));
  const tall = (count: number): number => (count === 0 ? 0 : Math.max(1.5, (count / most) * HEIGHT));
  return (
    <svg
      className="sparkline"
      viewBox={`0 0 ${good.length * 4} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <title>{label}</title>
      {good.map((count, i) => {
        const [well, not] = [tall(count), tall(bad[i] ?? 0)];
        return (
          <g key={i}>
            <rect className="good" x={i * 4} width={3} y={HEIGHT - well} height={well} />
            <rect className="bad" x={i * 4} width={3} y={Math.max(0, HEIGHT - well - not)} height={not} />
          </g>
        );
      })}
    </svg>
  );
}
