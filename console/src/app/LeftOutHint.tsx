import { useLocation, useRouter } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { t } from '../kit/messages/t';
import { ARRIVED } from './arrived';
import { leftOut } from './search';

const SHOWN_MAX = 5;
const CHARACTERS_MAX = 60;

/** Whether somebody closed the hint: it stays closed when the page is drawn anew in another language. */
let isClosed = false;

/** Names what the address that the page was opened with says and its screen does not read, until that screen is left. */
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
        <code key={part.name}>{tell(part)}</code>
      ))}{' '}
      <button type="button" className="small" onClick={close}>
        {t('dismiss')}
      </button>
    </div>
  );
}

function tell({ name, value }: { name: string; value: string }): string {
  const text = `${name}=${value}`;
  return text.length > CHARACTERS_MAX ? `${text.slice(0, CHARACTERS_MAX)}… ` : `${text} `;
}
