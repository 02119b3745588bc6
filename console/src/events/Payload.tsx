import { type ReactNode, useMemo, useState } from 'react';
import { CopyButton } from '../kit/CopyButton';
import { download } from '../kit/copy';
import { FaultLine } from '../kit/form/FaultLine';
import { formatJson } from '../kit/json/format-json';
import { textOf } from '../kit/json/text-of';
import { t } from '../kit/messages/t';
import { Time } from '../kit/time/Time';
import { curlOf } from './curl';
import { type EventDetail, useDestinationNames, usePayload } from './event-queries';

/** More is drawn only when asked for: a browser stands still over a line of a megabyte. */
const SHOWN_MAX = 200_000;

/** The payload as it was sent, byte for byte, and formatted without a change of its characters. */
export function Payload({ event }: { event: EventDetail }): ReactNode {
  const isErased = event.payload_erased_at !== undefined;
  const [isAsked, setAsked] = useState(event.payload_truncated !== true);
  const { data, error, isLoading } = usePayload(event.id, isAsked && !isErased);
  return (
    <section aria-labelledby="payload">
      <h2 id="payload">{t('payload')}</h2>
      {isErased && <p>{t('payload.erased')} <Time at={event.payload_erased_at ?? ''} /></p>}
      {!isErased && !isAsked && <p>{t('payload.large')} <button type="button" onClick={() => setAsked(true)}>{t('payload.load')}</button></p>}
      {isLoading && <p role="status">{t('loading')}</p>}
      <FaultLine fault={error} />
      {data && <Shown event={event} bytes={data.bytes} contentType={data.contentType} />}
      {Object.keys(event.headers).length > 0 && (
        <details><summary>{t('payload.headers')}</summary><pre tabIndex={0}>{Object.entries(event.headers).map(([name, value]) => `${name}: ${value}`).join('\n')}</pre></details>
      )}
    </section>
  );
}

function Shown({ event, bytes, contentType }: { event: EventDetail; bytes: Uint8Array<ArrayBuffer>; contentType: string }): ReactNode {
  const [isFormatted, setFormatted] = useState(true);
  const [isWhole, setWhole] = useState(false);
  const { text, isText } = useMemo(() => textOf(bytes), [bytes]);
  const isSmall = text.length <= SHOWN_MAX;
  const formatted = useMemo(() => (isText && (isSmall || isWhole) ? formatJson(text) : null), [text, isText, isSmall, isWhole]);
  const shown = isFormatted && formatted !== null ? formatted : text;
  const curl = useCurl(event, isText ? text : null);
  return (
    <>
      <p className="actions">
        {formatted !== null && (
          <span role="group" aria-label={t('payload.view')} className="switch">
            <button type="button" className="small" aria-pressed={isFormatted} onClick={() => setFormatted(true)}>{t('payload.formatted')}</button>
            <button type="button" className="small" aria-pressed={!isFormatted} onClick={() => setFormatted(false)}>{t('payload.sent')}</button>
          </span>
        )}
        {isText && <CopyButton text={text} label={t('copy')} />}
        {curl !== null && <CopyButton text={curl} label={t('payload.curl')} />}
        <button type="button" className="small" onClick={() => download(bytes, event.id, contentType)}>{t('download')}</button>
        <span className="quiet">{t('payload.size', { bytes: bytes.length })}{contentType && ` · ${contentType}`}</span>
      </p>
      {!isText && <p className="quiet">{t('payload.binary')}</p>}
      <pre className="payload" tabIndex={0} role="group" aria-label={t('payload')}>{isWhole ? shown : shown.slice(0, SHOWN_MAX)}</pre>
      {!isWhole && shown.length > SHOWN_MAX && <p>{t('payload.cut')} <button type="button" className="small" onClick={() => setWhole(true)}>{t('payload.whole')}</button></p>}
    </>
  );
}

function useCurl(event: EventDetail, body: string | null): string | null {
  const names = useDestinationNames();
  const [destination] = event.deliveries.map((delivery) => delivery.destination);
  const url = destination === undefined ? undefined : /^https?:/.test(destination) ? destination : names.get(destination)?.url;
  if (!url) return null;
  return curlOf({ url, webhookId: event.webhook_id, eventType: event.event_type, headers: event.headers, body });
}
