import type { ReactNode } from 'react';
import { brandVariables } from '../kit/brand/brand';
import { t } from '../kit/messages/t';
import type { PortalBrand } from './portal-draft';

interface PortalSampleProps {
  brand: PortalBrand;
  /** Name of the application whose portal is shown. */
  name: string;
}

/** Samples of the portal with a brand, one for each color scheme that customers may see. */
export function PortalSample({ brand, name }: PortalSampleProps): ReactNode {
  const schemes = brand.scheme === 'system' ? (['light', 'dark'] as const) : [brand.scheme];
  return (
    <section aria-labelledby="portal-sample" className="portal-samples">
      <h3 id="portal-sample">{t('portal.sample')}</h3>
      {schemes.map((scheme) => (
        <div
          key={scheme}
          role="img"
          aria-label={t('portal.sample.of', { scheme: t(`portal.scheme.${scheme}`) })}
          className="portal-sample"
          data-scheme={scheme}
          style={brandVariables(brand)}
        >
          <div className="portal-sample-head">
            {brand.logo !== null && <img src={brand.logo} alt="" />}
            <strong>
              <bdi>{name}</bdi>
            </strong>
          </div>
          <div className="portal-sample-tabs">
            <span className="here">{t('portal.sample.endpoints')}</span>
            <span>{t('portal.sample.deliveries')}</span>
          </div>
          <div className="portal-sample-card">
            <span>https://example.com/webhooks</span>
            <span className="status good">{t('health.healthy')}</span>
          </div>
          <span className="portal-sample-action">{t('portal.sample.add')}</span>
          <span className="portal-sample-link">{t('portal.sample.view')}</span>
        </div>
      ))}
    </section>
  );
}
