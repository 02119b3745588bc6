import { type ReactNode, Suspense, useEffect, useMemo, useState } from 'react';
import { answered } from '../api/client';
import { download } from '../kit/copy';
import { CopyButton } from '../kit/CopyButton';
import { FaultLine } from '../kit/form/FaultLine';
import { FormattedSwitch } from '../kit/form/FormattedSwitch';
import { formatJson, formatJsonInSlices } from '../kit/json/format-json';
import { COLORED_LINE_MAX } from '../kit/json/json-tokens';
import { JsonView } from '../kit/json/JsonView';
import { base64Of, HEX_ROW_BYTES, hexRow, textOf } from '../kit/json/text-of';
import { lazyPart } from '../kit/load/lazy-part';
import { t } from '../kit/messages/t';
import { useSearchText } from '../kit/text/SearchText';
import { Rows, TextView } from '../kit/text/TextView';
import { Time } from '../kit/time/Time';
import { useResource } from '../session/ResourceName';
import { useSigned } from '../session/session';
import { curlOf, signedCurlOf } from './curl';
import { type EventDetail, useDestination, usePayload } from './event-queries';
import { isEmail } from './response-status';

/**
 * Maximum length of a payload that is formatted synchronously. Longer payloads are formatted without blocking the page.
 */
const AT_ONCE_MAX = 50_000;

const Compare = lazyPart(() => import('./Compare').then(({ Compare: component }) => component));

/** Shows the payload exactly as sent. Formatting adds only line breaks and indentation. */
export function Payload({ event }: { event: EventDetail }): ReactNode {
  const isErased = event.payload_erased_at !== undefined;
  const [isAsked, setAsked] = useState(event.payload_truncated !== true);
  const { data, error, isLoading } = usePayload(event.id, isAsked && !isErased);
  return (
    <section aria-labelledby="payload">
      <h2 id="payload">{t('payload')}</h2>
      {isErased && (
        <p>
          {t('payload.erased')} <Time at={event.payload_erased_at ?? ''} />
        </p>
      )}
      {!isErased && !isAsked && (
        <p>
          {t('payload.large')}{' '}
          <button type="button" onClick={() => setAsked(true)}>
            {t('payload.load')}
          </button>
        </p>
      )}
      {isLoading && <p role="status">{t('loading')}</p>}
      <FaultLine fault={error} />
      {data && <Shown event={event} bytes={data.bytes} contentType={data.contentType} />}
      {Object.keys(event.headers).length > 0 && (
        <details>
          <summary>{t('payload.headers')}</summary>
          <pre tabIndex={0}>
            {Object.entries(event.headers)
              .map(([name, value]) => `${name}: ${value}`)
              .join('\n')}
          </pre>
        </details>
      )}
    </section>
  );
}

interface Content {
  event: EventDetail;
  bytes: Uint8Array<ArrayBuffer>;
  contentType: string;
}

function Shown({ event, bytes, contentType }: Content): ReactNode {
  const text = useMemo(() => textOf(bytes), [bytes]);
  const [isComparing, setComparing] = useState(false);
  const curl = useCurl(event, text);
  const signed = useSignedCurl(event, text);
  const common = (
    <>
      {curl !== null && <CopyButton text={curl} label={t('payload.curl')} />}
      {signed !== null && <CopyButton text={signed} label={t('payload.curl-signed')} />}
      <button type="button" className="small" onClick={() => download(bytes, event.id, contentType)}>
        {t('download')}
      </button>
      {text !== null && (
        <button type="button" className="small" aria-expanded={isComparing} onClick={() => setComparing(!isComparing)}>
          {t('compare')}
        </button>
      )}
      <span className="quiet">
        {t('payload.size', { bytes: bytes.length })}
        {contentType && ` · ${contentType}`}
      </span>
    </>
  );
  return (
    <>
      {text === null ? <Bytes bytes={bytes}>{common}</Bytes> : <Text text={text}>{common}</Text>}
      {isComparing && text !== null && (
        <Suspense fallback={<p role="status">{t('loading')}</p>}>
          <Compare event={event} text={text} />
        </Suspense>
      )}
    </>
  );
}

function Text({ text, children }: { text: string; children: ReactNode }): ReactNode {
  const [isFormatted, setFormatted] = useState(true);
  const { formatted, isPending } = useFormatted(text);
  const isShownFormatted = isFormatted && formatted !== null;
  const shown = isShownFormatted ? formatted : text;
  // Long unformatted text is not colored. It is often a single line, which would have to be scanned completely.
  const hasColors = isShownFormatted || (formatted !== null && text.length <= COLORED_LINE_MAX);
  const { found, field } = useSearchText(shown);
  return (
    <>
      <p className="actions">
        {formatted !== null && <FormattedSwitch isFormatted={isFormatted} onChange={setFormatted} />}
        <CopyButton text={text} label={t('copy')} />
        {children}
      </p>
      {formatted !== null && !hasColors && <p className="quiet">{t('json.plain')}</p>}
      {isPending && (
        <p role="status" className="quiet">
          {t('payload.formatting')}
        </p>
      )}
      <div className="searched">
        {field}
        {hasColors ? (
          <JsonView text={shown} label={t('payload')} found={found} isFormatted={isShownFormatted} />
        ) : (
          <TextView text={shown} label={t('payload')} found={found} />
        )}
      </div>
    </>
  );
}

function Bytes({ bytes, children }: { bytes: Uint8Array; children: ReactNode }): ReactNode {
  return (
    <>
      <p className="actions">
        <CopyButton text={() => base64Of(bytes)} label={t('payload.base64')} />
        {children}
      </p>
      <p className="quiet">{t('payload.binary')}</p>
      <Rows
        count={Math.ceil(bytes.length / HEX_ROW_BYTES)}
        label={t('payload')}
        rowOf={(row) => hexRow(bytes, row * HEX_ROW_BYTES)}
      />
    </>
  );
}

/** Returns the formatted JSON. `formatted` is null while it is being formatted, and for text that is not JSON. */
export function useFormatted(text: string): { formatted: string | null; isPending: boolean } {
  const isSmall = text.length <= AT_ONCE_MAX;
  const small = useMemo(() => (isSmall ? formatJson(text) : null), [text, isSmall]);
  const [large, setLarge] = useState<{ of: string; formatted: string | null } | null>(null);
  useEffect(() => {
    if (isSmall) return;
    const stop = new AbortController();
    formatJsonInSlices(text, stop.signal).then(
      (formatted) => setLarge({ of: text, formatted }),
      () => undefined,
    );
    return () => stop.abort();
  }, [text, isSmall]);
  if (isSmall) return { formatted: small, isPending: false };
  return large?.of === text ? { formatted: large.formatted, isPending: false } : { formatted: null, isPending: true };
}

/**
 * Returns a function that builds a curl command. Building it is deferred until the user copies it, because the body may
 * be large.
 */
function useCurl(event: EventDetail, body: string | null): (() => string) | null {
  const [destination] = event.deliveries.map((delivery) => delivery.destination);
  const { data } = useDestination(isEmail(event) ? undefined : destination);
  const url = destination !== undefined && /^https?:/.test(destination) ? destination : data?.url;
  if (!url) return null;
  return () => curlOf({ url, webhookId: event.webhook_id, eventType: event.event_type, headers: event.headers, body });
}

/**
 * Returns a function that requests a signed curl command from the service. Returns null if the delivery is not signed,
 * or if the user lacks the scope `write`. The service records each signature in the audit log.
 */
function useSignedCurl(event: EventDetail, body: string | null): (() => Promise<string>) | null {
  const { api, can } = useSigned();
  const destination = event.deliveries.at(-1)?.destination;
  const type = useResource(isEmail(event) ? '' : (destination ?? ''))?.type;
  const isSigned = destination !== undefined && (/^(https?:|ep_)/.test(destination) || type === 'https');
  if (!can('write') || !isSigned) return null;
  return async () =>
    signedCurlOf({
      ...(await answered(api.POST('/v1/events/{id}/sign', { params: { path: { id: event.id } }, body: {} }))),
      body,
    });
}
