import { type ReactNode, useState } from 'react';
import { bytesOf } from '../api/client';
import { download } from '../kit/copy';
import { CopyButton } from '../kit/CopyButton';
import { FaultLine } from '../kit/form/FaultLine';
import { t } from '../kit/messages/t';
import { usePreferences } from '../kit/preferences';
import { type Column, Table } from '../kit/table/Table';
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
  const columns: Column<MailFile>[] = [
    {
      id: 'name',
      label: t('mail.file'),
      cell: ({ name, isInline }) => (
        <>
          <bdi>{name}</bdi>
          {isInline && <span className="tag">{t('mail.inline')}</span>}
        </>
      ),
      full: ({ name }) => name,
      isFlexible: true,
    },
    { id: 'type', label: t('destination.type'), cell: ({ type }) => type, isFlexible: true },
    { id: 'size', label: t('mail.size'), cell: ({ bytes }) => formatBytes(bytes, language), isNumeric: true },
    {
      id: 'actions',
      label: t('key.actions'),
      cell: (file) => (
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
            <CopyButton text={file.link} label={t('mail.copy-link')} name={`${t('mail.copy-link')} ${file.name}`} />
          )}
        </span>
      ),
    },
  ];
  return (
    <>
      <h2>{t('mail.files')}</h2>
      <FaultLine fault={fault} />
      <Table id="mail-files" label={t('mail.files')} rows={files} columns={columns} keyOf={({ path }) => path} />
      {files.some(({ link }) => link !== undefined) && <p className="quiet">{t('mail.link-text')}</p>}
    </>
  );
}
