import { queryOptions, useQueries, useQuery } from '@tanstack/react-query';
import { Fragment, type ReactNode } from 'react';
import { answered, type Api, type Schemas } from '../api/client';
import { PathLink } from '../kit/PathLink';
import { IdLink } from '../kit/places';
import { NameLookup } from './name-lookup';
import { type Signed, useSigned } from './session';

type Resource = Omit<Schemas['NameItem'], 'id'>;

const STALE_MS = 60_000;
/** Prefixes of the ids whose names one request returns. */
const LOOKED_UP: ReadonlySet<string> = new Set(['app', 'dst', 'ep']);

/** Reads the names of resources that only admins may read. */
const ADMINISTERED: Readonly<Record<string, (api: Api, id: string, signal: AbortSignal) => Promise<string>>> = {
  ek: async (api, id, signal) => (await answered(api.GET('/v1/keys/{id}', { params: { path: { id } }, signal }))).name,
  mbr: async (api, id, signal) => {
    const { name, email } = await answered(api.GET('/v1/members/{id}', { params: { path: { id } }, signal }));
    return name === '' ? email : name;
  },
};

const lookups = new WeakMap<Api, NameLookup<Schemas['NameItem']>>();

function lookupOf(api: Api): NameLookup<Schemas['NameItem']> {
  const known = lookups.get(api);
  if (known !== undefined) return known;
  const made = new NameLookup(
    async (id: string[]) => (await answered(api.GET('/v1/names', { params: { query: { id } } }))).data,
  );
  lookups.set(api, made);
  return made;
}

function resourceQuery(id: string, { api, environment, can }: Signed) {
  const prefix = id.split('_', 1)[0] ?? '';
  const read = ADMINISTERED[prefix];
  return queryOptions({
    queryKey: ['resource-name', environment, id],
    staleTime: STALE_MS,
    retry: false,
    enabled: read === undefined ? LOOKED_UP.has(prefix) : can('admin'),
    queryFn: async ({ signal }): Promise<Resource | null> =>
      read === undefined
        ? lookupOf(api).find(id)
        : { name: await read(api, id, signal), type: null, application: null },
  });
}

/**
 * Queries the name of the resource with an id, and for an application's endpoint the application. Undefined while it is
 * unknown, and for an id of a resource that does not exist or that has no name.
 */
export function useResource(id: string): Resource | undefined {
  return useQuery(resourceQuery(id, useSigned())).data ?? undefined;
}

/** Queries the names of resources by their ids. Ids without a known name are missing in the result. */
export function useResourceNames(ids: readonly string[]): ReadonlyMap<string, string> {
  const session = useSigned();
  const found = useQueries({ queries: ids.map((id) => resourceQuery(id, session)) });
  return new Map(
    ids.flatMap((id, index) => {
      const name = found[index]?.data?.name;
      return name === undefined || name === '' ? [] : [[id, name]];
    }),
  );
}

/** Shows the name of a resource, or its id while the name is unknown. It is not a link: put it inside of one. */
export function Name({ id }: { id: string }): ReactNode {
  const name = useResource(id)?.name;
  return name === undefined ? <code>{id}</code> : <bdi title={id}>{name}</bdi>;
}

/** Shows the names of some resources. */
export function Names({ ids }: { ids: readonly string[] }): ReactNode {
  return ids.map((id, index) => (
    <Fragment key={id}>
      {index > 0 && ', '}
      <Name id={id} />
    </Fragment>
  ));
}

/** Shows the name of a resource, or its id while the name is unknown. Links to its screen if there is one. */
export function ResourceName({ id }: { id: string }): ReactNode {
  const { environment } = useSigned();
  const resource = useResource(id);
  if (resource === undefined || !id.startsWith('ep_'))
    return (
      <IdLink id={id}>
        <Name id={id} />
      </IdLink>
    );
  const { application } = resource;
  return (
    <PathLink to={`/${environment}/${application === null ? '' : `applications/${application}/`}endpoints/${id}`}>
      <Name id={id} />
    </PathLink>
  );
}
