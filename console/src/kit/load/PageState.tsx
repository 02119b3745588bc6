import type { ReactNode } from 'react';
import { FaultLine } from '../form/FaultLine';
import { Skeleton, type SkeletonPart } from './Skeleton';

interface PageStateProps {
  /** Heading of the page until the object is loaded, such as the object's id. */
  name: string;
  /** Whether the object is loaded. The page then has a heading of its own. */
  isLoaded: boolean;
  fault: unknown;
  /** Parts of the page, for its placeholder. */
  parts: readonly SkeletonPart[];
}

/** State of a page about one object: a placeholder while the object is loading, or the reason why it cannot be shown. */
export function PageState({ name, isLoaded, fault, parts }: PageStateProps): ReactNode {
  const isLoading = !isLoaded && fault === null;
  return (
    <>
      {!isLoaded && (
        <h1 className={isLoading ? 'offscreen' : ''}>
          <bdi>{name}</bdi>
        </h1>
      )}
      {isLoading && <Skeleton parts={parts} />}
      <FaultLine fault={fault} />
    </>
  );
}
