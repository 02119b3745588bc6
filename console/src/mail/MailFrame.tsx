import { type ReactNode, useState } from 'react';
import { t } from '../kit/messages/t';

/** Match remote resources and links in the HTML of a message. Remote resources are not loaded. */
const REMOTE = /(?:src|background|srcset)\s*=\s*["']?\s*(?:https?:)?\/\/|url\(\s*["']?(?:https?:)?\/\//i;
const LINKS = /<a\s[^<>]*href/i;

/** Border of a rendered message, as wide as a desktop window or a phone. `children` is the frame. */
export function MailFrame({ html, children }: { html: string; children: ReactNode }): ReactNode {
  const [isPhone, setPhone] = useState(false);
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
      {children !== false && <div className={isPhone ? 'mail-frame phone' : 'mail-frame'}>{children}</div>}
    </>
  );
}
