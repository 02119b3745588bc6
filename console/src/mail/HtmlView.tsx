import { type ReactNode, useEffect, useRef, useState } from 'react';
import { SERVICE } from '../api/client';
import { FaultLine } from '../kit/form/FaultLine';
import { t } from '../kit/messages/t';
import { MailFrame } from './MailFrame';

/**
 * Shows HTML in an isolated document that runs no code and sends no requests. The user can choose the width of a
 * desktop window or of a phone.
 */
export function HtmlView({ html, view }: { html: string; view: () => Promise<string> }): ReactNode {
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
      <MailFrame html={html}>
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
