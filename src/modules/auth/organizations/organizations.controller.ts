import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import {
  ApiConflictResponse,
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
} from '@nestjs/swagger';
import { OperatorOnly } from '#http/access.js';
import { Audit } from '#http/audit.js';
import { Section } from '#http/openapi-sections.js';
import {
  MadeOrg,
  newOrganization,
  NewOrgBody,
  OperatedOrg,
  orgId,
  OrgListQuery,
  OrgPage,
  presentMadeOrg,
  presentOrg,
} from './organizations.dto.js';
import { OrgsService } from './organizations.service.js';

const ID = { name: 'id', description: 'The organization.', example: 'org_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' };

/** API routes for the operator of the installation. */
@Section(
  'Operator',
  'Organizations, for the operator of the installation. Requires the OPERATOR_KEY, which gives no access to the data of any organization.',
)
@Controller('v1/orgs')
export class OrgsController {
  constructor(private readonly orgs: OrgsService) {}

  @Get()
  @OperatorOnly()
  @ApiOperation({
    summary: 'List organizations',
    description: 'Lists organizations newest first, including removed ones.',
  })
  @ApiOkResponse({ type: OrgPage, description: 'One page of organizations.' })
  async listOrganizations(@Query() query: OrgListQuery): Promise<OrgPage> {
    const { rows, nextCursor } = await this.orgs.list(query);
    return { data: rows.map(presentOrg), next_cursor: nextCursor };
  }

  @Post()
  @Audit()
  @OperatorOnly()
  @ApiOperation({
    summary: 'Create an organization',
    description:
      'Creates the organization with its two environments, its first admin, and one admin key per environment. The keys are returned only in this response.',
  })
  @ApiCreatedResponse({ type: MadeOrg, description: 'The organization.' })
  @ApiConflictResponse({ description: 'The slug is taken, or a second organization would require OIDC_DOMAINS.' })
  async createOrganization(@Body() body: NewOrgBody): Promise<MadeOrg> {
    return presentMadeOrg(await this.orgs.create(newOrganization(body)));
  }

  @Get(':id')
  @OperatorOnly()
  @ApiOperation({ summary: 'Get an organization' })
  @ApiParam(ID)
  @ApiOkResponse({ type: OperatedOrg, description: 'The organization.' })
  async getOperatedOrganization(@Param('id') id: string): Promise<OperatedOrg> {
    return presentOrg(await this.orgs.find(orgId(id)));
  }

  @Delete(':id')
  @Audit()
  @OperatorOnly()
  @HttpCode(204)
  @ApiOperation({
    summary: 'Remove an organization',
    description:
      'The keys, members and sessions of the organization stop working within five seconds on every node. Its configuration is erased in the background and cannot be restored. Accepted events are deleted when their retention period ends.',
  })
  @ApiParam(ID)
  @ApiNoContentResponse({ description: 'The removal succeeded.' })
  @ApiConflictResponse({ description: 'It is the last organization of the installation.' })
  async removeOrganization(@Param('id') id: string): Promise<void> {
    await this.orgs.remove(orgId(id));
  }
}
