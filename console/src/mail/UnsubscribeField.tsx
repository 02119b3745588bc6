import type { ReactNode } from 'react';
import { t } from '../kit/messages/t';
import { ALL_EMAILS } from './template-draft';
import { useTopics } from './topic-queries';

/**
 * Field that selects the scope of a template's unsubscribe link: a topic or all emails. The template can also have no
 * link.
 */
export function UnsubscribeField({ value, onChange }: { value: string; onChange: (topic: string) => void }): ReactNode {
  const { rows } = useTopics();
  const chosen = rows.find(({ id, key }) => id === value || key === value);
  const isOther = value !== '' && value !== ALL_EMAILS && chosen === undefined;
  return (
    <label>
      {t('template.unsubscribe')}
      <select value={chosen?.key ?? value} onChange={(event) => onChange(event.target.value)}>
        <option value="">{t('template.unsubscribe-none')}</option>
        <option value={ALL_EMAILS}>{t('template.unsubscribe-all')}</option>
        {rows.map(({ id, key, name }) => (
          <option key={id} value={key}>
            {t('template.unsubscribe-topic', { name })}
          </option>
        ))}
        {isOther && <option value={value}>{t('template.unsubscribe-topic', { name: value })}</option>}
      </select>
    </label>
  );
}
