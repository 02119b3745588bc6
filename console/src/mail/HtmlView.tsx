import { type ReactNode, useEffect, useRef, useState } from 'react';
import { SERVICE } from '../api/client';
import { FaultLine } from '../kit/form/FaultLine';
import { t } from '../kit/messages/t';

/** Patterns for remote resources and links in the HTML of a message. Remote resources are not loaded. */
const REMOTE = /(?:src|background|srcset)\s*=\s*["']?\s*(?:https?:)?\/\/|url\(\s*["']?(?:https?:)?\/\//i;
const LINKS = /<a\s[^<>]*href/i;

/**
 * Shows HTML in an isolated document that runs no code and sends no requests. The user can choose the width of a
 * desktop window or of a phone.
 */
export function HtmlView({ html, view }: { html: string; view: () => Promise<string> }): ReactNode {
  const [token, setToken] = useState<string | null>(null);
  const [fault, setFault] = useState<unknown>(null);
  const [isPhone, setPhone] = useState(false);
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
      <div className="mail-views">
        <span role="group" aria-label={t('mail.width')}>
          <button type="button" className="small" aria-pressed={!isPhone} onClick={() => setPhone(false)}>
            {t('mail.width.wide')}
          </button>
          <button type="button" className="small" aria-pressed={isPhone} onClick={() => setPhone(true)}>
            {t('mail.width.phone')}
          </button>
        </span>
        {(REMOTE.test(html) || LINKS.test(html)) && (
          <span className="quiet">{t(REMOTE.test(html) ? 'mail.remote' : 'mail.links')}</span>
        )}
      </div>
      <FaultLine fault={fault} />
      {token === null && fault === null && <p role="status">{t('loading')}</p>}
      {token !== null && (
        <div className={isPhone ? 'mail-frame phone' : 'mail-frame'}>
          <iframe
            sandbox=""
            referrerPolicy="no-referrer"
            title={t('mail.frame')}
            src={`${SERVICE}v1/mail-views?token=${encodeURIComponent(token)}`}
          />
        </div>
      )}
    </>
  );
}
