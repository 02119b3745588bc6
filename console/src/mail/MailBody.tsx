import './mail.css';
import { type ReactNode, useState } from 'react';
import { bytesOf } from '../api/client';
import { download } from '../kit/copy';
import { CopyButton } from '../kit/CopyButton';
import { FaultLine } from '../kit/form/FaultLine';
import { Segmented } from '../kit/form/Segmented';
import { textOf } from '../kit/json/text-of';
import { t } from '../kit/messages/t';
import { useSigned } from '../session/session';
import { Files, type MailFile } from './Files';
import { HtmlView } from './HtmlView';
import { type FrameWidth, FrameWidths } from './MailFrame';

/** Content of a sent or received message. */
export interface MailBodyProps {
  html: string | null;
  text: string | null;
  headers: readonly { name: string; value: string }[];
  files: readonly MailFile[];
  isTruncated: boolean;
  /** API path of the raw message. */
  rawPath: string;
  /** Creates a temporary page that shows the HTML, and returns its token. */
  view: () => Promise<string>;
}

type Tab = 'html' | 'text' | 'source' | 'headers' | 'raw';
/** Maximum length of a text that is shown immediately. Browsers freeze on a line of a megabyte. */
const SHOWN_MAX = 200_000;

/** Tabs with the views of a message: HTML, text, HTML source, headers, raw message and files. */
export function MailBody({ html, text, headers, files, isTruncated, rawPath, view }: MailBodyProps): ReactNode {
  const [chosen, setChosen] = useState<Tab | null>(null);
  const [width, setWidth] = useState<FrameWidth>('wide');
  const tabs: Tab[] = [
    ...(html === null ? [] : (['html'] as const)),
    ...(text === null ? [] : (['text'] as const)),
    ...(html === null ? [] : (['source'] as const)),
    'headers',
    'raw',
  ];
  const tab = chosen !== null && tabs.includes(chosen) ? chosen : (tabs[0] ?? 'headers');
  const copied = tab === 'text' ? text : tab === 'source' ? html : null;
  return (
    <section aria-labelledby="mail-body">
      <h2 id="mail-body">{t('mail.body')}</h2>
      <div className="mail-views">
        <Segmented
          label={t('payload.view')}
          options={tabs.map((id) => ({ id, label: t(`mail.tab.${id}`) }))}
          chosen={tab}
          onChoose={setChosen}
        />
        {tab === 'html' && <FrameWidths chosen={width} onChoose={setWidth} />}
        {copied !== null && <CopyButton text={copied} label={t('copy')} />}
      </div>
      {isTruncated && <p className="why">{t('mail.truncated')}</p>}
      {tab === 'html' && html !== null && <HtmlView html={html} width={width} view={view} />}
      {tab === 'text' && <LongText text={text ?? ''} label={t('mail.tab.text')} />}
      {tab === 'source' && <LongText text={html ?? ''} label={t('mail.tab.source')} />}
      {tab === 'headers' && <Headers headers={headers} />}
      {tab === 'raw' && <Raw path={rawPath} />}
      {files.length > 0 && <Files files={files} />}
    </section>
  );
}

/** Returns whether the HTML embeds a file. */
export function isNamed(html: string | null, contentId: string | null): boolean {
  return html !== null && contentId !== null && html.toLowerCase().includes(`cid:${contentId.toLowerCase()}`);
}

function LongText({ text, label }: { text: string; label: string }): ReactNode {
  const [isWhole, setWhole] = useState(false);
  return (
    <>
      <pre className="mail-text" tabIndex={0} role="group" aria-label={label}>
        {isWhole ? text : text.slice(0, SHOWN_MAX)}
      </pre>
      {!isWhole && text.length > SHOWN_MAX && (
        <p>
          {t('payload.cut')}{' '}
          <button type="button" className="small" onClick={() => setWhole(true)}>
            {t('payload.whole')}
          </button>
        </p>
      )}
    </>
  );
}

function Headers({ headers }: { headers: MailBodyProps['headers'] }): ReactNode {
  if (headers.length === 0) return <p className="quiet">{t('mail.no-headers')}</p>;
  return (
    <div className="scroll mail-text" tabIndex={0} role="group" aria-label={t('mail.tab.headers')}>
      <table className="plain">
        <thead>
          <tr>
            <th scope="col">{t('mail.header')}</th>
            <th scope="col">{t('mail.value')}</th>
          </tr>
        </thead>
        <tbody>
          {headers.map(({ name, value }, index) => (
            <tr key={index}>
              <td>
                <code>{name}</code>
              </td>
              <td className="long">
                <code>{value}</code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The raw message. It is loaded on request, because it may have up to 40 MB. */
function Raw({ path }: { path: string }): ReactNode {
  const { environment } = useSigned();
  const [shown, setShown] = useState<string | null>(null);
  const [fault, setFault] = useState<unknown>(null);
  const fetched = (use: (bytes: Uint8Array<ArrayBuffer>) => void): void => {
    setFault(null);
    bytesOf(environment, path).then(({ bytes }) => use(bytes), setFault);
  };
  return (
    <>
      <p className="actions">
        {shown === null && (
          <button
            type="button"
            onClick={() => fetched((bytes) => setShown(textOf(bytes) ?? new TextDecoder('latin1').decode(bytes)))}
          >
            {t('mail.raw.show')}
          </button>
        )}
        <button type="button" onClick={() => fetched((bytes) => download(bytes, 'message.eml', 'message/rfc822'))}>
          {t('mail.raw.download')}
        </button>
        {shown !== null && <CopyButton text={shown} label={t('copy')} />}
      </p>
      <FaultLine fault={fault} />
      {shown !== null && <LongText text={shown} label={t('mail.tab.raw')} />}
    </>
  );
}
