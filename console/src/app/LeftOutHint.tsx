import { useLocation, useRouter } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { t } from '../kit/messages/t';
import { ARRIVED } from './arrived';
import { leftOut } from './search';

const SHOWN_MAX = 5;
const CHARACTERS_MAX = 60;

/**
 * Whether the user closed the hint. Kept outside the component, so that the hint stays closed after a language change.
 */
let isClosed = false;

/** Lists the query parameters of the opened link that the screen ignores. Visible until the user leaves the screen. */
export function LeftOutHint(): ReactNode {
  const router = useRouter();
  const { pathname, search } = useLocation();
  const [opened] = useState({ pathname, leftOut: leftOut(router.options.parseSearch(ARRIVED.search), search) });
  const [, draw] = useState(isClosed);
  if (isClosed || opened.leftOut.length === 0 || opened.pathname !== pathname || !ARRIVED.pathname.endsWith(pathname))
    return null;
  const close = (): void => draw((isClosed = true));
  return (
    <div className="notice" role="status">
      {t('left-out')}{' '}
      {opened.leftOut.slice(0, SHOWN_MAX).map((part) => (
        <code key={part.name}>{describe(part)}</code>
      ))}{' '}
      <button type="button" className="small" onClick={close}>
        {t('dismiss')}
      </button>
    </div>
  );
}

function describe({ name, value }: { name: string; value: string }): string {
  const text = `${name}=${value}`;
  return text.length > CHARACTERS_MAX ? `${text.slice(0, CHARACTERS_MAX)}… ` : `${text} `;
}
