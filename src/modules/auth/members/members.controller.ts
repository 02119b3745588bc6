import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import {
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiResponse,
} from '@nestjs/swagger';
import { CurrentTenant, Scope } from '#http/access.js';
import { Audit } from '#http/audit.js';
import { Idempotent } from '#http/idempotent.js';
import { Section } from '#http/openapi-sections.js';
import type { Tenant } from '#kernel/tenant.js';
import {
  MemberChangesBody,
  memberId,
  MemberItem,
  MemberListQuery,
  MemberPage,
  newMember,
  NewMemberBody,
  presentMember,
} from './members.dto.js';
import { MembersService } from './members.service.js';

const ID = { name: 'id', description: 'The member.', example: 'mbr_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' };

/** Members of the organization. */
@Section(
  'Members',
  "Members of the organization, who sign in on Posthorn's own pages. They belong to both environments, so changes need a live admin key.",
)
@Controller('v1/members')
export class MembersController {
  constructor(private readonly members: MembersService) {}

  @Get()
  @Scope('admin')
  @ApiOperation({ summary: 'List members', description: 'Returns the newest items first.' })
  @ApiOkResponse({ type: MemberPage, description: 'One page of members.' })
  async listMembers(@CurrentTenant() tenant: Tenant, @Query() query: MemberListQuery): Promise<MemberPage> {
    const { rows, nextCursor } = await this.members.list(tenant, query);
    return { data: rows.map(presentMember), next_cursor: nextCursor };
  }

  @Post()
  @Audit()
  @Scope('admin')
  @Idempotent()
  @ApiOperation({
    summary: 'Add a member',
    description:
      'No email is sent to the member. The member signs in at `{base_url}/signin` with a code, or through the identity provider.',
  })
  @ApiCreatedResponse({ type: MemberItem, description: 'The member.' })
  async addMember(@CurrentTenant() tenant: Tenant, @Body() body: NewMemberBody): Promise<MemberItem> {
    return presentMember(await this.members.add(tenant, newMember(body)));
  }

  @Get(':id')
  @Scope('admin')
  @ApiOperation({ summary: 'Get a member' })
  @ApiParam(ID)
  @ApiOkResponse({ type: MemberItem, description: 'The member.' })
  async getMember(@CurrentTenant() tenant: Tenant, @Param('id') id: string): Promise<MemberItem> {
    return presentMember(await this.members.find(tenant, memberId(id)));
  }

  @Patch(':id')
  @Audit()
  @Scope('admin')
  @ApiOperation({
    summary: 'Change a member',
    description: "The member's open sessions get the new role within five seconds, on every node.",
  })
  @ApiParam(ID)
  @ApiOkResponse({ type: MemberItem, description: 'The changed member.' })
  async updateMember(
    @CurrentTenant() tenant: Tenant,
    @Param('id') id: string,
    @Body() body: MemberChangesBody,
  ): Promise<MemberItem> {
    return presentMember(await this.members.update(tenant, memberId(id), body));
  }

  @Delete(':id')
  @Audit()
  @Scope('admin')
  @HttpCode(204)
  @ApiOperation({
    summary: 'Remove a member',
    description:
      "The member's sessions end within five seconds, on every node. Keys that the member granted to agents are revoked. Other keys that the member created stay valid and must be revoked one by one.",
  })
  @ApiParam(ID)
  @ApiNoContentResponse({ description: 'The removal succeeded.' })
  @ApiResponse({ status: 409, description: 'The member is the last admin.' })
  async removeMember(@CurrentTenant() tenant: Tenant, @Param('id') id: string): Promise<void> {
    await this.members.remove(tenant, memberId(id));
  }
}
