import { type ReactNode, useState } from 'react';
import { bytesOf } from '../api/client';
import { download } from '../kit/copy';
import { CopyButton } from '../kit/CopyButton';
import { FaultLine } from '../kit/form/FaultLine';
import { t } from '../kit/messages/t';
import { usePreferences } from '../kit/preferences';
import { useSigned } from '../session/session';
import { formatBytes } from './format-bytes';

/** A file of a message. */
export interface MailFile {
  name: string;
  type: string;
  bytes: number;
  /** Whether the HTML embeds the file. */
  isInline: boolean;
  /** Path of the file in the API. */
  path: string;
  /** Creates a URL that opens the file without a key for an hour. Absent if the user may not create one. */
  link?: () => Promise<string>;
}

/** Files of a message. A file is loaded only when the user opens it. */
export function Files({ files }: { files: readonly MailFile[] }): ReactNode {
  const { environment } = useSigned();
  const { language } = usePreferences();
  const [fault, setFault] = useState<unknown>(null);
  const [busy, setBusy] = useState<string | null>(null);
  const fetchFile = ({ name, path }: MailFile): void => {
    setFault(null);
    setBusy(path);
    bytesOf(environment, path)
      .then(({ bytes, contentType }) => download(bytes, name, contentType), setFault)
      .finally(() => setBusy(null));
  };
  return (
    <>
      <h2 id="mail-files">{t('mail.files')}</h2>
      <FaultLine fault={fault} />
      <div className="scroll" tabIndex={0} role="group" aria-labelledby="mail-files">
        <table className="plain">
          <thead>
            <tr>
              <th scope="col">{t('mail.file')}</th>
              <th scope="col">{t('destination.type')}</th>
              <th scope="col">{t('mail.size')}</th>
              <th scope="col">{t('key.actions')}</th>
            </tr>
          </thead>
          <tbody>
            {files.map((file) => (
              <tr key={file.path}>
                <td className="long">
                  <bdi>{file.name}</bdi>
                  {file.isInline && <span className="tag">{t('mail.inline')}</span>}
                </td>
                <td>{file.type}</td>
                <td>{formatBytes(file.bytes, language)}</td>
                <td>
                  <span className="actions">
                    <button
                      type="button"
                      className="small"
                      aria-label={`${t('download')} ${file.name}`}
                      disabled={busy === file.path}
                      onClick={() => fetchFile(file)}
                    >
                      {t('download')}
                    </button>
                    {file.link !== undefined && (
                      <CopyButton
                        text={file.link}
                        label={t('mail.copy-link')}
                        name={`${t('mail.copy-link')} ${file.name}`}
                      />
                    )}
                  </span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {files.some(({ link }) => link !== undefined) && <p className="quiet">{t('mail.link-text')}</p>}
    </>
  );
}
