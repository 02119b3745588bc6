import './icon.css';
import type { ReactNode } from 'react';
import { PATHS } from './paths';

export type IconName = keyof typeof PATHS;

/** A decorative icon. Screen readers skip it, so an adjacent text must have the same meaning. */
export function Icon({ name }: { name: IconName }): ReactNode {
  return (
    <svg className="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      {PATHS[name].map((d) => (
        <path key={d} d={d} />
      ))}
    </svg>
  );
}
