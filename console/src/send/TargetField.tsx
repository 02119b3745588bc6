import { type ReactNode, useState } from 'react';
import { Picker } from '../kit/form/Picker';
import { t } from '../kit/messages/t';
import { useResource } from '../session/ResourceName';
import type { Kind } from './send-draft';
import { useTargets } from './send-queries';

interface TargetFieldProps {
  kind: Kind;
  value: string;
  onChange: (target: string) => void;
}

/** Field for the target of an event: a list to search by name, or a URL. */
export function TargetField({ kind, value, onChange }: TargetFieldProps): ReactNode {
  const [text, setText] = useState('');
  const { data: options = [], error } = useTargets(kind, text);
  const name = useResource(kind === 'url' ? '' : value)?.name;
  if (kind === 'url')
    return (
      <label>
        URL
        <input
          required
          type="url"
          maxLength={2048}
          value={value}
          placeholder="https://example.com/webhooks"
          spellCheck={false}
          autoComplete="off"
          onChange={(event) => onChange(event.target.value)}
        />
      </label>
    );
  return (
    <Picker
      label={t(`send.kind.${kind}`)}
      value={value}
      shown={name ?? value}
      options={options}
      fault={error}
      onText={setText}
      onPick={onChange}
      placeholder={t('picker.name-or-id')}
    />
  );
}
