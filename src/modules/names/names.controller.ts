import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { CurrentTenant, Scope } from '#http/access.js';
import { Section } from '#http/openapi-sections.js';
import { type Id, parseId } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { NameList, NamesQuery, presentNames } from './names.dto.js';
import { type NamedPrefix, ResourceNamesStore } from './resource-names.store.js';

/** API that returns the names of many resources. */
@Section('Names', 'Names of the resources that lists of events and jobs refer to by id.')
@Controller('v1/names')
export class NamesController {
  constructor(private readonly names: ResourceNamesStore) {}

  @Get()
  @Scope('read')
  @ApiOperation({
    summary: 'Look up names',
    description:
      'Returns the names of up to 100 destinations, endpoints and applications of the environment. Leaves out the ids of resources that do not exist.',
  })
  @ApiOkResponse({ type: NameList, description: 'The names.' })
  async listNames(@CurrentTenant() { environmentId }: Tenant, @Query() { id }: NamesQuery): Promise<NameList> {
    const idsOf = (prefix: NamedPrefix): Id[] => id.flatMap((each) => parseId(prefix, each) ?? []);
    const ids = { app: idsOf('app'), dst: idsOf('dst'), ep: idsOf('ep') };
    return presentNames(await this.names.find(environmentId, ids));
  }
}
