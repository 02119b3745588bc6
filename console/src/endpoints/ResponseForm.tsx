import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { Schemas } from '../api/client';
import { FaultLine } from '../kit/form/FaultLine';
import { useIsChanged } from '../kit/form/use-is-changed';
import { t } from '../kit/messages/t';
import { type EndpointDetail, useChangeEndpoint } from './endpoint-queries';

type Response = Schemas['ResponseConfig'];
const TYPES = [
  'static',
  'meta-challenge',
  'slack-challenge',
  'discord-ping',
  'zoom-challenge',
  'x-crc',
  'twitch-challenge',
  'ebay-challenge',
  'asana-handshake',
] as const;
/** The field that holds the secret of each type of handshake. The API does not return these secrets. */
const SECRETS: Readonly<Record<string, 'verifyToken' | 'secret' | 'verificationToken'>> = {
  'meta-challenge': 'verifyToken',
  'ebay-challenge': 'verificationToken',
  'slack-challenge': 'verificationToken',
  'zoom-challenge': 'secret',
  'x-crc': 'secret',
  'twitch-challenge': 'secret',
};

/** Editor of the default response, which is sent if no rule matches. */
export function ResponseForm({ endpoint }: { endpoint: EndpointDetail }): ReactNode {
  const change = useChangeEndpoint(endpoint.id);
  const before = endpoint.response;
  const [type, setType] = useState<string>(before?.type ?? '');
  const [status, setStatus] = useState(before?.status === undefined ? '' : String(before.status));
  const [body, setBody] = useState(before?.body ?? '');
  const [contentType, setContentType] = useState(before?.headers?.['content-type'] ?? '');
  const [secret, setSecret] = useState('');
  const [endpointUrl, setEndpointUrl] = useState(before?.endpointUrl ?? endpoint.url);
  const isChanged = useIsChanged([type, status, body, contentType, secret, endpointUrl]);
  const secretName = SECRETS[type];
  const save = useMutation({
    mutationFn: () => {
      const headers = { ...before?.headers, ...(contentType !== '' && { 'content-type': contentType }) };
      const response = {
        type: type as Response['type'],
        ...(status !== '' && { status: Number(status) }),
        ...(body !== '' && { body }),
        ...(Object.keys(headers).length > 0 && { headers }),
        ...(secretName !== undefined && secret !== '' && { [secretName]: secret }),
        ...(type === 'ebay-challenge' && { endpointUrl }),
      } satisfies Response;
      return change({ response: type === '' ? null : response });
    },
  });
  return (
    <form
      className="stacked narrow"
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <h2>{t('response')}</h2>
      <p className="quiet">{t('response.text')}</p>
      <label>
        {t('response.type')}
        <select value={type} onChange={(event) => setType(event.target.value)}>
          <option value="">{t(endpoint.preset === null ? 'response.default' : 'response.preset')}</option>
          {TYPES.map((each) => (
            <option key={each} value={each}>
              {each === 'static' ? t('response.static') : each}
            </option>
          ))}
        </select>
      </label>
      {secretName !== undefined && (
        <label>
          {t(secretName === 'verifyToken' ? 'response.verify-token' : 'response.secret')}
          <input
            type="password"
            value={secret}
            maxLength={1024}
            autoComplete="off"
            placeholder={before?.type === type ? t('response.kept') : ''}
            onChange={(event) => setSecret(event.target.value)}
          />
        </label>
      )}
      {type === 'ebay-challenge' && (
        <label>
          {t('response.endpoint-url')}
          <input
            type="url"
            value={endpointUrl}
            maxLength={1024}
            onChange={(event) => setEndpointUrl(event.target.value)}
          />
        </label>
      )}
      {type !== '' && (
        <div className="fields">
          <label>
            {t('response.status')}
            <input
              type="number"
              min={200}
              max={599}
              placeholder="200"
              value={status}
              onChange={(event) => setStatus(event.target.value)}
            />
          </label>
          <label>
            content-type
            <input
              value={contentType}
              maxLength={200}
              placeholder="text/plain"
              spellCheck={false}
              onChange={(event) => setContentType(event.target.value)}
            />
          </label>
          <label className="wide">
            {t('request.body')}
            <textarea
              rows={3}
              maxLength={65_536}
              value={body}
              spellCheck={false}
              onChange={(event) => setBody(event.target.value)}
            />
          </label>
        </div>
      )}
      <FaultLine fault={save.error} />
      <p className="actions">
        <button type="submit" disabled={save.isPending || !isChanged}>
          {t('save')}
        </button>
      </p>
    </form>
  );
}
