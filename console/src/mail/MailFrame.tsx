import type { ReactNode } from 'react';
import { Segmented } from '../kit/form/Segmented';
import { t } from '../kit/messages/t';

/** Match remote resources and links in the HTML of a message. Remote resources are not loaded. */
const REMOTE = /(?:src|background|srcset)\s*=\s*["']?\s*(?:https?:)?\/\/|url\(\s*["']?(?:https?:)?\/\//i;
const LINKS = /<a\s[^<>]*href/i;

/** Width of a rendered message: that of a desktop window or of a phone. */
export type FrameWidth = 'wide' | 'phone';

interface MailFrameProps {
  html: string;
  width: FrameWidth;
  /** The frame, or false if there is none yet. */
  children: ReactNode;
}

/** Border of a rendered message, with a note about what the frame does not load. */
export function MailFrame({ html, width, children }: MailFrameProps): ReactNode {
  return (
    <>
      {children !== false && <div className={width === 'phone' ? 'mail-frame phone' : 'mail-frame'}>{children}</div>}
      {(REMOTE.test(html) || LINKS.test(html)) && (
        <p className="quiet">{t(REMOTE.test(html) ? 'mail.remote' : 'mail.links')}</p>
      )}
    </>
  );
}

/** Control that chooses the width of a rendered message. */
export function FrameWidths({
  chosen,
  onChoose,
}: {
  chosen: FrameWidth;
  onChoose: (width: FrameWidth) => void;
}): ReactNode {
  return (
    <Segmented
      label={t('mail.width')}
      options={(['wide', 'phone'] as const).map((id) => ({ id, label: t(`mail.width.${id}`) }))}
      chosen={chosen}
      onChoose={onChoose}
    />
  );
}
