import { useQuery, useQueryClient } from '@tanstack/react-query';
import { answered, type Schemas } from '../api/client';
import { keptAcrossChoices } from '../api/kept-data';
import { useSigned } from '../session/session';
import { usePages } from './use-pages';

export type Template = Schemas['TemplateDetail'];
export type TemplateRow = Schemas['TemplateItem'];
export type Rendered = Schemas['TemplateRendered'];

const PAGE = 100;

export function useTemplates() {
  const { api, environment } = useSigned();
  return usePages(['templates', environment], (cursor, signal) =>
    answered(api.GET('/v1/templates', { params: { query: { ...cursor, limit: PAGE } }, signal })),
  );
}

/** Queries a template with the content of its latest version. */
export function useTemplate(id: string) {
  const { api, environment } = useSigned();
  return useQuery({
    queryKey: ['template', environment, id],
    queryFn: ({ signal }) => answered(api.GET('/v1/templates/{id}', { params: { path: { id } }, signal })),
  });
}

export function useTemplateVersions(id: string) {
  const { api, environment } = useSigned();
  return usePages(['template-versions', environment, id], (cursor, signal) =>
    answered(
      api.GET('/v1/templates/{id}/versions', { params: { path: { id }, query: { ...cursor, limit: 20 } }, signal }),
    ),
  );
}

/** Renders a version with sample variables. Keeps the previous result until the next one arrives. */
export function useRendered(id: string, version: number, variables: Record<string, unknown> | null) {
  const { api, environment } = useSigned();
  return useQuery({
    ...keptAcrossChoices(['template-rendered', environment, id], [version, variables]),
    enabled: variables !== null,
    staleTime: Infinity,
    gcTime: 0,
    retry: false,
    queryFn: ({ signal }) =>
      answered(
        api.POST('/v1/templates/{id}/render', {
          params: { path: { id } },
          body: { variables: variables ?? {}, version },
          signal,
        }),
      ),
  });
}

/** Returns a function that puts a template returned by an API call into the cache. */
export function useKnownTemplate(): (template: Template) => Promise<void> {
  const { environment } = useSigned();
  const queries = useQueryClient();
  return async (template) => {
    queries.setQueryData(['template', environment, template.id], template);
    await queries.invalidateQueries({ queryKey: ['template-versions', environment, template.id] });
    await queries.invalidateQueries({ queryKey: ['templates', environment] });
  };
}
