import 'uplot/dist/uPlot.min.css';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import uPlot from 'uplot';
import { usePreferences } from '../preferences';
import { HOUR_CYCLE } from '../time/format';
import { localeOf } from '../time/locale-of';
import { colourOf, faded } from './colours';
import { drawnSeries, isolatedIndexes, type Plotted, type Series } from './series';

/** Props of `PlotCanvas`. */
export interface PlotCanvasProps extends Plotted {
  label: string;
  /** All plots with the same key show the cursor at the same time window. */
  cursorKey: string;
  format: (value: number) => string;
  onCursor: (index: number | null) => void;
  onRange?: ((fromMs: number, toMs: number) => void) | undefined;
}

const HEIGHT = 160;
const DASHES = { solid: [], dashed: [8, 4], dotted: [2, 3] } as const;
/** Width of a tile of stripes, in pixels. */
const STRIPES = 8;
const DAY_MS = 86_400_000;
/** Steps of the value axis. They are integers, because counts and milliseconds are integers. */
const STEPS = Array.from({ length: 12 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat();

/**
 * The canvas of a plot, in a separate chunk. New figures update the existing drawing. A change of the color scheme,
 * language or series creates a new one.
 */
export default function PlotCanvas(props: PlotCanvasProps): ReactNode {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(null);
  const latest = useRef(props);
  const { scheme, language } = usePreferences();
  const isDark = useDark();
  const { startsMs, series, cursorKey, label } = props;
  const shape = series.map(({ label: name, tone, kind, dash }) => [name, tone, kind, dash].join()).join(';');
  useEffect(() => {
    const place = box.current;
    if (place === null) return;
    const made = new uPlot(
      optionsOf(place, cursorKey, language, () => latest.current),
      figuresOf(latest.current),
      place,
    );
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: place.clientWidth, height: HEIGHT }));
    observer.observe(place);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [scheme, isDark, language, cursorKey, shape]);
  useEffect(() => {
    latest.current = props;
  });
  useEffect(() => plot.current?.setData(figuresOf({ startsMs, series })), [startsMs, series]);
  return <div ref={box} className="plot-canvas" role="img" aria-label={label} />;
}

function figuresOf({ startsMs, series }: Pick<Plotted, 'startsMs' | 'series'>): uPlot.AlignedData {
  return [startsMs.map((ms) => ms / 1000), ...drawnSeries(series).map(({ values }) => values)];
}

function optionsOf(place: HTMLElement, cursorKey: string, language: string, now: () => PlotCanvasProps): uPlot.Options {
  const [ink, line] = [colourOf(place, '--quiet'), colourOf(place, '--line')];
  const axis = {
    stroke: ink,
    font: '12px system-ui, sans-serif',
    grid: { stroke: faded(line, 60), width: 1 },
    ticks: { stroke: line, width: 1, size: 4 },
  };
  return {
    width: place.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    // Leaves space on the right for half of the last label, which is centered on the edge of the time axis.
    padding: [8, 32, 0, 0],
    scales: {
      x: {
        range: (): [number, number] => {
          const { startsMs, windowMs } = now();
          return [(startsMs[0] ?? 0) / 1000, ((startsMs.at(-1) ?? 0) + windowMs) / 1000];
        },
      },
      y: { range: (_plot, _min, max): [number, number] => [0, Math.max(max ?? 0, 1) * 1.1] },
    },
    axes: [
      {
        ...axis,
        size: 28,
        space: 64,
        values: (_plot, splits) => splits.map((seconds) => formatTick(seconds * 1000, now(), language)),
      },
      {
        ...axis,
        size: 56,
        space: 32,
        incrs: STEPS,
        values: (_plot, splits) => splits.map((value) => now().format(value)),
      },
    ],
    series: [{}, ...drawnSeries(now().series).map(({ of }) => seriesOf(of, place))],
    cursor: {
      drag: { x: true, y: false, setScale: false },
      points: { size: 7 },
      y: false,
      // Plots share the cursor but not the selection. Otherwise, each plot would open the range selected in one plot.
      sync: { key: cursorKey, filters: { pub: (type) => type === 'mousemove' || type === 'mouseleave' } },
    },
    hooks: {
      setCursor: [({ cursor: { idx } }) => now().onCursor(idx ?? null)],
      setSelect: [
        (plot) => {
          const { left, width } = plot.select;
          if (width < 4) return;
          const [fromMs, toMs] = [plot.posToVal(left, 'x') * 1000, plot.posToVal(left + width, 'x') * 1000];
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          now().onRange?.(fromMs, toMs);
        },
      ],
    },
  };
}

function seriesOf({ label, kind, tone, dash = 'solid' }: Series, place: HTMLElement): uPlot.Series {
  const stroke = colourOf(place, `--${tone}`);
  if (kind === 'line') {
    // A line has no length at a value without neighbors, so that the value needs a point.
    const filter = (plot: uPlot, index: number): number[] => isolatedIndexes(plot.data[index] ?? []);
    return { label, stroke, width: 2, dash: [...DASHES[dash]], points: { size: 5, show: true, filter } };
  }
  const paths = uPlot.paths.bars?.({ size: [0.75, 48], align: 1 });
  const fill = kind === 'bars' ? faded(stroke, 45) : dash === 'solid' ? stroke : stripes(stroke, place);
  return { label, stroke, width: 1, fill, points: { show: false }, ...(paths && { paths }) };
}

/** Returns a pattern of diagonal stripes. It is opaque, because in a stack it is drawn over the bar of the total. */
function stripes(stroke: string, place: HTMLElement): CanvasPattern | string {
  const tile = Object.assign(document.createElement('canvas'), { width: STRIPES, height: STRIPES });
  const context = tile.getContext('2d');
  if (context === null) return stroke;
  context.fillStyle = colourOf(place, '--page');
  context.fillRect(0, 0, STRIPES, STRIPES);
  context.strokeStyle = stroke;
  context.lineWidth = STRIPES / 3;
  for (const shift of [-STRIPES, 0, STRIPES]) {
    context.moveTo(shift, STRIPES);
    context.lineTo(shift + STRIPES, 0);
  }
  context.stroke();
  return context.createPattern(tile, 'repeat') ?? stroke;
}

function formatTick(ms: number, { startsMs, windowMs }: Plotted, language: string): string {
  const spanMs = (startsMs.at(-1) ?? 0) + windowMs - (startsMs[0] ?? 0);
  return new Intl.DateTimeFormat(
    localeOf(language),
    spanMs > 2 * DAY_MS ? { day: 'numeric', month: 'short' } : { timeStyle: 'short', hourCycle: HOUR_CYCLE },
  ).format(ms);
}

function useDark(): boolean {
  const [isDark, setDark] = useState(false);
  useEffect(() => {
    const query = matchMedia('(prefers-color-scheme: dark)');
    const update = (): void => setDark(query.matches);
    update();
    query.addEventListener('change', update);
    return () => query.removeEventListener('change', update);
  }, []);
  return isDark;
}
