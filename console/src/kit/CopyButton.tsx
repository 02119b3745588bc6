import { type ReactNode, useEffect, useState } from 'react';
import { copyText } from './copy';
import { Icon } from './icon/Icon';
import { t } from './messages/t';

interface CopyButtonProps {
  text: string | (() => string | Promise<string>);
  /** Text of the button. Without it, the button is an icon, for values such as ids. */
  label?: string;
  /** Distinguishes buttons with the same label for screen readers. */
  name?: string;
}

/** Button that copies text and confirms it. */
export function CopyButton({ text, label, name = label ?? t('copy') }: CopyButtonProps): ReactNode {
  const [result, setResult] = useState<'copied' | 'copy.failed' | null>(null);
  useEffect(() => {
    if (result === null) return;
    const timer = setTimeout(() => setResult(null), 2_000);
    return () => clearTimeout(timer);
  }, [result]);
  const copy = async (): Promise<void> => {
    // Loading the text can fail if `text` is a function.
    const isCopied = await Promise.resolve(typeof text === 'string' ? text : text())
      .then(copyText)
      .catch(() => false);
    setResult(isCopied ? 'copied' : 'copy.failed');
  };
  const isIcon = label === undefined && result !== 'copy.failed';
  return (
    <button
      type="button"
      className={isIcon ? 'small copy-icon' : 'small'}
      onClick={() => void copy()}
      {...(result === null && { 'aria-label': name })}
      {...(isIcon && { title: result === null ? name : t(result) })}
    >
      {isIcon && <Icon name={result === null ? 'copy' : 'check'} />}
      <span aria-live="polite" className={isIcon ? 'offscreen' : undefined}>
        {result === null ? label : t(result)}
      </span>
    </button>
  );
}
