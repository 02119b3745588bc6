import { type ReactNode, useId, useRef, useState } from 'react';
import { t } from '../kit/messages/t';
import { logoFault } from './portal-draft';

const TYPES = 'image/png,image/jpeg,image/webp,image/gif,image/svg+xml';

interface LogoFieldProps {
  /** An image as a `data:` URL. Null for no logo. */
  logo: string | null;
  onChange: (logo: string | null) => void;
}

/** Field for an image file, which becomes part of the portal link. */
export function LogoField({ logo, onChange }: LogoFieldProps): ReactNode {
  const [fault, setFault] = useState<'type' | 'size' | null>(null);
  const input = useRef<HTMLInputElement>(null);
  const note = useId();
  const read = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    const url = await dataUrlOf(file);
    const found = logoFault(url);
    setFault(found);
    onChange(found === null ? url : null);
  };
  const remove = (): void => {
    setFault(null);
    onChange(null);
    if (input.current !== null) input.current.value = '';
    input.current?.focus();
  };
  return (
    <div className="wide logo-field">
      <label>
        {t('portal.logo')}
        <input
          ref={input}
          type="file"
          accept={TYPES}
          aria-describedby={note}
          aria-invalid={fault !== null}
          onChange={({ target }) => void read(target.files?.[0])}
        />
      </label>
      {logo !== null && (
        <button type="button" className="small" onClick={remove}>
          {t('portal.logo.remove')}
        </button>
      )}
      <span id={note} className={fault === null ? 'quiet' : 'bad'} role="status">
        {t(fault === null ? 'portal.logo.text' : `portal.logo.${fault}`)}
      </span>
    </div>
  );
}

function dataUrlOf(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result as string);
    reader.onerror = () => reject(reader.error ?? new Error('The file cannot be read.'));
    reader.readAsDataURL(file);
  });
}
