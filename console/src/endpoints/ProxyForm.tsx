import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { Schemas } from '../api/client';
import { CodeField } from '../kit/form/CodeField';
import { FaultLine } from '../kit/form/FaultLine';
import { useIsChanged } from '../kit/form/use-is-changed';
import { t } from '../kit/messages/t';
import { codeFaultOf } from './code-fault';
import { type EndpointDetail, useChangeEndpoint } from './endpoint-queries';

type Proxy = Schemas['ResponseProxyConfig'];

const EXAMPLE = 'export default (request) => ({ status: 200, body: request.body });';

/** Editor of the response proxy: code or an external service that can respond before the rules are evaluated. */
export function ProxyForm({ endpoint }: { endpoint: EndpointDetail }): ReactNode {
  const change = useChangeEndpoint(endpoint.id);
  const before = endpoint.responseProxy;
  const [target, setTarget] = useState<'' | Proxy['target']>(before?.target ?? '');
  const [code, setCode] = useState(before?.code ?? '');
  const [url, setUrl] = useState(before?.url ?? '');
  const [wait, setWait] = useState(before?.timeoutMs === undefined ? '' : String(before.timeoutMs));
  const [otherwise, setOtherwise] = useState(before?.onUnavailable ?? 'fallback');
  const isChanged = useIsChanged([target, code, url, wait, otherwise]);
  const save = useMutation({
    mutationFn: () => {
      if (target === '') return change({ responseProxy: null });
      const responseProxy: Proxy = {
        target,
        onUnavailable: otherwise,
        ...(target === 'managed' ? { code } : { url }),
        ...(wait !== '' && { timeoutMs: Number(wait) }),
      };
      return change({ responseProxy });
    },
  });
  const choose = (chosen: '' | Proxy['target']): void => {
    setTarget(chosen);
    // Clears the timeout, because a timeout for code is too short for an external service.
    if (chosen !== target) setWait('');
  };
  return (
    <form
      className="stacked narrow"
      aria-labelledby="proxy"
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <h2 id="proxy">{t('proxy')}</h2>
      <p className="quiet">{t('proxy.text')}</p>
      <label>
        {t('proxy.target')}
        <select value={target} onChange={(event) => choose(event.target.value as typeof target)}>
          <option value="">{t('proxy.none')}</option>
          <option value="managed">{t('proxy.managed')}</option>
          <option value="url">{t('proxy.url')}</option>
        </select>
      </label>
      {target === 'managed' && (
        <CodeField
          label={t('proxy.code')}
          language="javascript"
          value={code}
          rows={8}
          fault={codeFaultOf(save.error, 'responseProxy.code')}
          onChange={(typed) => {
            setCode(typed);
            if (save.isError) save.reset();
          }}
        />
      )}
      {target === 'managed' && code.trim() === '' && (
        <p>
          <button type="button" onClick={() => setCode(EXAMPLE)}>
            {t('rules.example')}
          </button>
        </p>
      )}
      {target === 'url' && (
        <label>
          {t('proxy.address')}
          <input
            type="url"
            required
            maxLength={2048}
            value={url}
            spellCheck={false}
            placeholder="https://example.com/answer"
            onChange={(event) => setUrl(event.target.value)}
          />
        </label>
      )}
      {target !== '' && (
        <div className="fields">
          <label>
            {t('proxy.timeout')}
            <input
              type="number"
              min={50}
              max={5000}
              placeholder={target === 'managed' ? '250' : '3000'}
              value={wait}
              onChange={(event) => setWait(event.target.value)}
            />
          </label>
          <label>
            {t('proxy.otherwise')}
            <select value={otherwise} onChange={(event) => setOtherwise(event.target.value as typeof otherwise)}>
              <option value="fallback">{t('proxy.fallback')}</option>
              <option value="error">{t('proxy.error')}</option>
            </select>
          </label>
        </div>
      )}
      <FaultLine fault={save.error} />
      <p className="actions">
        <button type="submit" disabled={save.isPending || !isChanged || (target === 'managed' && code.trim() === '')}>
          {t('save')}
        </button>
      </p>
    </form>
  );
}
