import { type ReactNode, useId, useState } from 'react';
import { t } from '../kit/messages/t';
import { usePresets } from './endpoint-queries';

/** Searchable list of all providers. An empty value stands for a sender without a preset. */
export function PresetPicker({
  chosen,
  onChoose,
}: {
  chosen: string | null;
  onChoose: (id: string | null) => void;
}): ReactNode {
  const presets = usePresets();
  const [text, setText] = useState('');
  const group = useId();
  const wanted = text.trim().toLowerCase();
  const shown = presets.filter(
    ({ id, name }) => id === chosen || name.toLowerCase().includes(wanted) || id.includes(wanted),
  );
  return (
    <fieldset className="presets">
      <legend>{t('endpoint.preset')}</legend>
      <input
        type="search"
        aria-label={t('preset.search')}
        placeholder={t('preset.search')}
        value={text}
        autoFocus
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return;
          event.preventDefault();
          if (shown.length > 0 && wanted !== '') onChoose(shown.find(({ id }) => id !== chosen)?.id ?? chosen);
        }}
      />
      <div className="preset-list" tabIndex={-1}>
        <label className={chosen === null ? 'preset chosen' : 'preset'}>
          <input type="radio" name={group} checked={chosen === null} onChange={() => onChoose(null)} />{' '}
          <span>{t('preset.none')}</span>
        </label>
        {shown.map(({ id, name }) => (
          <label key={id} className={id === chosen ? 'preset chosen' : 'preset'}>
            <input type="radio" name={group} checked={id === chosen} onChange={() => onChoose(id)} />{' '}
            <span>{name}</span>
          </label>
        ))}
      </div>
      {wanted !== '' && shown.length === 0 && (
        <p className="quiet" role="status">
          {t('preset.nothing')}
        </p>
      )}
    </fieldset>
  );
}
