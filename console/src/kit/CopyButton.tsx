import { type ReactNode, useEffect, useState } from 'react';
import { copyText } from './copy';
import { t } from './messages/t';

/** A button that copies, and says that it did. */
export function CopyButton({ text, label }: { text: string | (() => string); label: string }): ReactNode {
  const [said, setSaid] = useState<string | null>(null);
  useEffect(() => {
    if (said === null) return;
    const timer = setTimeout(() => setSaid(null), 2_000);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = (): void => void copyText(typeof text === 'string' ? text : text()).then((isCopied) => setSaid(t(isCopied ? 'copied' : 'copy.failed')));
  return <button type="button" className="small" onClick={copy}><span aria-live="polite">{said ?? label}</span></button>;
}
