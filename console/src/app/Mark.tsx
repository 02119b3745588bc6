import type { ReactNode } from 'react';

/** Posthorn's mark: a coiled horn. `icon.svg` has the same shape for the browser's tab. */
export function Mark(): ReactNode {
  return (
    <svg className="mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="7" />
      <path d="M8 16a8 8 0 1 1 8 8H8v-3h8a5 5 0 1 0-5-5v3H8z" />
      <circle cx="16" cy="16" r="2" />
    </svg>
  );
}
