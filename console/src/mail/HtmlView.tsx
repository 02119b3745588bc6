import { type ReactNode, useEffect, useRef, useState } from 'react';
import { SERVICE } from '../api/client';
import { FaultLine } from '../kit/form/FaultLine';
import { t } from '../kit/messages/t';
import { type FrameWidth, MailFrame } from './MailFrame';

interface HtmlViewProps {
  html: string;
  width: FrameWidth;
  /** Creates a temporary page that shows the HTML, and returns its token. */
  view: () => Promise<string>;
}

/** Shows HTML in an isolated document that runs no code and sends no requests. */
export function HtmlView({ html, width, view }: HtmlViewProps): ReactNode {
  const [token, setToken] = useState<string | null>(null);
  const [fault, setFault] = useState<unknown>(null);
  const ask = useRef(view);
  useEffect(() => {
    let isHere = true;
    ask.current().then(
      (given) => {
        if (isHere) setToken(given);
      },
      (error: unknown) => {
        if (isHere) setFault(error);
      },
    );
    return () => void (isHere = false);
  }, []);
  return (
    <>
      <FaultLine fault={fault} />
      {token === null && fault === null && <p role="status">{t('loading')}</p>}
      <MailFrame html={html} width={width}>
        {token !== null && (
          <iframe
            sandbox=""
            referrerPolicy="no-referrer"
            title={t('mail.frame')}
            src={`${SERVICE}v1/mail-views?token=${encodeURIComponent(token)}`}
          />
        )}
      </MailFrame>
    </>
  );
}
