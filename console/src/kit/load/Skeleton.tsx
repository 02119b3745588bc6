import './skeleton.css';
import { Fragment, type ReactNode } from 'react';
import { t } from '../messages/t';
import { PlotSkeleton } from '../plot/PlotSkeleton';
import { usePreferences } from '../preferences';

const LIST_ROWS = 6;

/** Placeholders of the parts of a page. Each is as high as the part that replaces it. */
const PARTS = {
  /** A heading with its buttons. */
  title: () => (
    <div className="heading">
      <i className="skeleton-title" />
    </div>
  ),
  /** The heading of a section. */
  heading: () => (
    <div className="skeleton-heading">
      <i className="skeleton-line" />
    </div>
  ),
  text: () => (
    <p>
      <i className="skeleton-line" />
    </p>
  ),
  tabs: () => (
    <div className="tabs">
      {times(4, () => (
        <i className="skeleton-tab" />
      ))}
    </div>
  ),
  filters: (count: number) => (
    <div className="filters">
      {times(count, () => (
        <Field />
      ))}
    </div>
  ),
  facts: (count: number) => (
    <div className="facts">
      {times(count, () => (
        <Fact />
      ))}
    </div>
  ),
  tiles: (count: number) => (
    <div className="tiles">
      {times(count, () => (
        <Fact />
      ))}
    </div>
  ),
  /** The fields of a form, below each other. */
  fields: (count: number) => (
    <div className="stacked narrow">
      {times(count, () => (
        <Field />
      ))}
    </div>
  ),
  /** A code editor with this number of lines. */
  code: (lines: number) => (
    <div className="skeleton-field">
      <i className="skeleton-line" />
      <i className="skeleton-code" style={{ height: `calc(${lines} * 1.5em + 1rem + 2px)` }} />
    </div>
  ),
  cards: (count: number) => (
    <div className="cards">
      {times(count, () => (
        <Card />
      ))}
    </div>
  ),
  rows: (count: number) => <Rows count={count} />,
  plots: () => (
    <div className="plots">
      {times(2, () => (
        <PlotSkeleton />
      ))}
    </div>
  ),
} satisfies Record<string, (count: number) => ReactNode>;

/** Part of a page, with the number of its items if it has several, or parts that are beside each other. */
export type SkeletonPart =
  | keyof typeof PARTS
  | readonly [part: keyof typeof PARTS, count: number]
  | { readonly split: readonly (readonly SkeletonPart[])[] };

interface SkeletonProps {
  parts: readonly SkeletonPart[];
  /** Whether the placeholder is of a section of a page, which announced already that it is loading. */
  isSection?: boolean;
}

/**
 * Placeholder of a page, or of a section of it, that is loading. Screen readers read only that it is loading. That of a
 * page also announces it.
 */
export function Skeleton({ parts, isSection = false }: SkeletonProps): ReactNode {
  return (
    <div className="skeleton" role={isSection ? undefined : 'status'}>
      <span className="offscreen">{t('loading')}</span>
      <div aria-hidden="true">
        <Parts of={parts} />
      </div>
    </div>
  );
}

/** Placeholder of a list that is loading. */
export function ListSkeleton({
  rows = LIST_ROWS,
  isSection = false,
}: Pick<SkeletonProps, 'isSection'> & { rows?: number }): ReactNode {
  return <Skeleton parts={[['rows', rows]]} isSection={isSection} />;
}

function Parts({ of }: { of: readonly SkeletonPart[] }): ReactNode {
  return of.map((part, index) => <Part key={index} of={part} />);
}

function Part({ of }: { of: SkeletonPart }): ReactNode {
  if (typeof of === 'object' && 'split' in of)
    return (
      <div className="split even">
        {of.split.map((parts, index) => (
          <div key={index}>
            <Parts of={parts} />
          </div>
        ))}
      </div>
    );
  const [part, count] = typeof of === 'string' ? [of, 1] : of;
  return PARTS[part](count);
}

function Rows({ count }: { count: number }): ReactNode {
  const { density } = usePreferences();
  return (
    <div className={`skeleton-list ${density}`}>
      {times(count, () => (
        <span className="skeleton-row">
          <i />
          <i />
          <i />
        </span>
      ))}
    </div>
  );
}

/** A label and its value. */
function Fact(): ReactNode {
  return (
    <div className="skeleton-fact">
      <i className="skeleton-line" />
      <i className="skeleton-line" />
    </div>
  );
}

function Field(): ReactNode {
  return (
    <div className="skeleton-field">
      <i className="skeleton-line" />
      <i className="skeleton-input" />
    </div>
  );
}

function Card(): ReactNode {
  return (
    <div className="card">
      <i className="skeleton-line" />
    </div>
  );
}

function times(count: number, draw: () => ReactNode): ReactNode {
  return Array.from({ length: count }, (_, index) => <Fragment key={index}>{draw()}</Fragment>);
}
