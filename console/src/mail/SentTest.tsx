import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { answered } from '../api/client';
import { FaultLine } from '../kit/form/FaultLine';
import { t } from '../kit/messages/t';
import { Status } from '../kit/status/Status';
import { useSigned } from '../session/session';
import { HtmlView } from './HtmlView';
import { useEmail, useEmailContent } from './mail-queries';
import type { FrameWidth } from './MailFrame';

interface SentTestProps {
  id: string;
  /** True if the template was rendered again since. */
  isOutdated: boolean;
  width: FrameWidth;
}

/** A test email of a template, exactly as it was sent. */
export function SentTest({ id, isOutdated, width }: SentTestProps): ReactNode {
  const { api, environment: env } = useSigned();
  const { data, error } = useEmail(id);
  const content = useEmailContent(id, data !== undefined && data.size_bytes > 0);
  return (
    <>
      <p>
        {t('template.tested')} {data && <Status of={data.status} />}{' '}
        <Link to="/$env/emails/$id" params={{ env, id }} preload={false}>
          {t('template.test-open')}
        </Link>
      </p>
      {isOutdated && <p className="quiet">{t('template.test-outdated')}</p>}
      <FaultLine fault={error ?? content.error} />
      {content.data ? (
        <HtmlView
          html={content.data.html ?? ''}
          width={width}
          view={async () => (await answered(api.GET('/v1/emails/{id}/view', { params: { path: { id } } }))).token}
        />
      ) : (
        error === null && content.error === null && <p role="status">{t('loading')}</p>
      )}
    </>
  );
}
