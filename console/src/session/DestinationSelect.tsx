import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { answered } from '../api/client';
import { FaultLine } from '../kit/form/FaultLine';
import { DestinationPicker } from './DestinationPicker';
import { useResource } from './ResourceName';
import { useSigned } from './session';

/** Queries the newest hundred destinations. Other destinations exist if `next_cursor` is not null. */
export function useDestinationOptions(isAsked = true) {
  const { api, environment } = useSigned();
  return useQuery({
    queryKey: ['destination-names', environment],
    staleTime: 30_000,
    enabled: isAsked,
    queryFn: ({ signal }) => answered(api.GET('/v1/destinations', { params: { query: { limit: 100 } }, signal })),
  });
}

interface DestinationSelectProps {
  label: string;
  /** Id of the chosen destination. Empty for none. */
  value: string;
  /** Text of the option for no destination. */
  none: string;
  isRequired?: boolean;
  /** Ids of destinations that cannot be chosen. */
  without?: readonly string[];
  /** Whether the page shows why the destinations could not be loaded, together with its other faults. */
  hidesFault?: boolean;
  onChange: (id: string) => void;
}

/**
 * Pick list of destinations, or a field that searches them if there are more than a hundred. Shows why they could not be
 * loaded, with a button that loads them again.
 */
export function DestinationSelect({
  label,
  value,
  none,
  isRequired = false,
  without = [],
  hidesFault = false,
  onChange,
}: DestinationSelectProps): ReactNode {
  const { data, error } = useDestinationOptions();
  const name = useResource(value)?.name;
  if (data?.next_cursor)
    return (
      <DestinationPicker
        label={label}
        value={value}
        placeholder={none}
        without={without}
        isStrict
        isRequired={isRequired}
        onPick={onChange}
      />
    );
  const options = (data?.data ?? []).filter(({ id }) => !without.includes(id));
  return (
    <>
      <label>
        {label}
        <select required={isRequired} value={value} onChange={(event) => onChange(event.target.value)}>
          <option value="" disabled={isRequired}>
            {none}
          </option>
          {value !== '' && !options.some(({ id }) => id === value) && <option value={value}>{name ?? value}</option>}
          {options.map((option) => (
            <option key={option.id} value={option.id}>
              {option.name}
            </option>
          ))}
        </select>
      </label>
      {!hidesFault && <FaultLine fault={error} />}
    </>
  );
}
