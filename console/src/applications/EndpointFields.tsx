import type { ReactNode } from 'react';
import { EventTypePicker } from '../kit/event-types/EventTypePicker';
import { CodeField } from '../kit/form/CodeField';
import type { JsonFault } from '../kit/json/read-json';
import { t } from '../kit/messages/t';
import { useCatalogue } from './application-queries';
import type { EndpointDraft } from './endpoint-draft';

interface EndpointFieldsProps {
  draft: EndpointDraft;
  /** False for an endpoint that delivers to a destination. */
  hasUrl: boolean;
  filterFault: JsonFault | null;
  onChange: (changes: Partial<EndpointDraft>) => void;
}

/** Fields of an application's endpoint. The fields for its delivery settings are a separate component. */
export function EndpointFields({ draft, hasUrl, filterFault, onChange }: EndpointFieldsProps): ReactNode {
  const { data: catalogue = [] } = useCatalogue();
  return (
    <>
      {hasUrl && (
        <label>
          URL
          <input
            required
            type="url"
            maxLength={2048}
            value={draft.url}
            onChange={(event) => onChange({ url: event.target.value })}
            autoComplete="off"
            spellCheck={false}
            placeholder="https://customer.example/webhooks"
          />
        </label>
      )}
      <label>
        {t('own-endpoint.description')}
        <input
          maxLength={500}
          value={draft.description}
          onChange={(event) => onChange({ description: event.target.value })}
          autoComplete="off"
        />
      </label>
      <EventTypePicker types={catalogue} value={draft.types} onChange={(types) => onChange({ types })} text={t} />
      <details open={draft.filter !== '' || draft.channels !== '' || draft.uid !== ''}>
        <summary>{t('own-endpoint.advanced')}</summary>
        <div className="stacked">
          <label>
            {t('application.uid')}
            <input
              maxLength={256}
              value={draft.uid}
              onChange={(event) => onChange({ uid: event.target.value })}
              autoComplete="off"
              spellCheck={false}
            />
          </label>
          <label>
            {t('message.channels')}
            <textarea
              rows={2}
              value={draft.channels}
              spellCheck={false}
              placeholder="project-42"
              onChange={(event) => onChange({ channels: event.target.value })}
            />
          </label>
          <p className="quiet">{t('own-endpoint.channels-hint')}</p>
          <CodeField
            label={t('filter')}
            value={draft.filter}
            rows={5}
            fault={filterFault}
            onChange={(filter) => onChange({ filter })}
          />
        </div>
      </details>
    </>
  );
}
