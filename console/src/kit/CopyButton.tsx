import { type ReactNode, useEffect, useState } from 'react';
import { copyText } from './copy';
import { t } from './messages/t';

/** Button that copies text and confirms it. `name` distinguishes buttons with the same label for screen readers. */
export function CopyButton({
  text,
  label,
  name,
}: {
  text: string | (() => string | Promise<string>);
  label: string;
  name?: string;
}): ReactNode {
  const [said, setSaid] = useState<string | null>(null);
  useEffect(() => {
    if (said === null) return;
    const timer = setTimeout(() => setSaid(null), 2_000);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = async (): Promise<void> => {
    // Loading the text can fail if `text` is a function.
    const isCopied = await Promise.resolve(typeof text === 'string' ? text : text())
      .then(copyText)
      .catch(() => false);
    setSaid(t(isCopied ? 'copied' : 'copy.failed'));
  };
  return (
    <button
      type="button"
      className="small"
      onClick={() => void copy()}
      {...(name !== undefined && said === null && { 'aria-label': name })}
    >
      <span aria-live="polite">{said ?? label}</span>
    </button>
  );
}
