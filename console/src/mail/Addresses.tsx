import { Fragment, type ReactNode } from 'react';

/** Email addresses, separated by commas. A line breaks between addresses, or after an `@` or a dot, not inside a word. */
export function Addresses({ of }: { of: readonly string[] }): ReactNode {
  return (
    <bdi>
      {of
        .join(', ')
        .split(/(?<=[@.])/)
        .map((part, index) => (
          <Fragment key={index}>
            {index > 0 && <wbr />}
            {part}
          </Fragment>
        ))}
    </bdi>
  );
}
