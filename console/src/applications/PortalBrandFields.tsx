import type { ReactNode } from 'react';
import { RADIUS_PX_MAX } from '../kit/brand/brand';
import { type Font, fontFamily, FONTS } from '../kit/brand/fonts';
import { t } from '../kit/messages/t';
import { LogoField } from './LogoField';
import { type PortalBrand, SCHEMES } from './portal-draft';

const ACCENT = '#0a58b5';

interface PortalBrandFieldsProps {
  brand: PortalBrand;
  onChange: (changes: Partial<PortalBrand>) => void;
}

/** Fields for the logo, the colors, the font and the corners of a customer's portal. */
export function PortalBrandFields({ brand, onChange }: PortalBrandFieldsProps): ReactNode {
  const { scheme, accent, radius, font } = brand;
  return (
    <fieldset>
      <legend>{t('portal.brand')}</legend>
      <div className="fields">
        <LogoField logo={brand.logo} onChange={(logo) => onChange({ logo })} />
        <label>
          {t('portal.scheme')}
          <select value={scheme} onChange={({ target }) => onChange({ scheme: target.value as PortalBrand['scheme'] })}>
            {SCHEMES.map((each) => (
              <option key={each} value={each}>
                {t(`portal.scheme.${each}`)}
              </option>
            ))}
          </select>
        </label>
        <label>
          {t('portal.font')}
          <select value={font} onChange={({ target }) => onChange({ font: target.value as Font })}>
            {FONTS.map((each) => (
              <option key={each} value={each} style={{ fontFamily: fontFamily(each) ?? undefined }}>
                {t(`portal.font.${each}`)}
              </option>
            ))}
          </select>
        </label>
        <label>
          {t('portal.radius')}
          <input
            type="number"
            min={0}
            max={RADIUS_PX_MAX}
            step={1}
            placeholder="8"
            value={radius ?? ''}
            onChange={({ target }) => onChange({ radius: target.value === '' ? null : target.valueAsNumber })}
          />
        </label>
        <AccentField accent={accent} onChange={(next) => onChange({ accent: next })} />
      </div>
    </fieldset>
  );
}

interface AccentFieldProps {
  accent: string | null;
  onChange: (accent: string | null) => void;
}

function AccentField({ accent, onChange }: AccentFieldProps): ReactNode {
  return (
    <>
      <label className="check">
        <input
          type="checkbox"
          checked={accent !== null}
          onChange={({ target }) => onChange(target.checked ? ACCENT : null)}
        />{' '}
        {t('portal.own-accent')}
      </label>
      {accent !== null && (
        <label>
          {t('portal.accent')}
          <input type="color" value={accent} onChange={({ target }) => onChange(target.value)} />
        </label>
      )}
    </>
  );
}
