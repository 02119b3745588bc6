import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post } from '@nestjs/common';
import {
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiTags,
} from '@nestjs/swagger';
import { CurrentTenant, Scope } from '#http/access.js';
import { Audit } from '#http/audit.js';
import { Idempotent } from '#http/idempotent.js';
import type { Tenant } from '#kernel/tenant.js';
import { EndpointRoutes } from './endpoint-routes.js';
import { endpointId } from './endpoints.dto.js';
import {
  askedRoute,
  NewRouteBody,
  presentRoute,
  presentRoutes,
  routeChanges,
  RouteChangesBody,
  routeId,
  RouteItem,
  RoutePage,
} from './routes.dto.js';

const ENDPOINT = { name: 'id', description: 'Id of the endpoint.', example: 'ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' };
const ROUTE = { name: 'routeId', description: 'Id of the route.', example: 'rte_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' };

/** API that manages the routes of an endpoint. */
@ApiTags('Endpoints')
@Controller('v1/endpoints/:id/routes')
export class RoutesController {
  constructor(private readonly routes: EndpointRoutes) {}

  @Get()
  @Scope('read')
  @ApiOperation({
    summary: 'List the routes of an endpoint',
    description: 'Returns all routes in the order in which they are evaluated.',
  })
  @ApiParam(ENDPOINT)
  @ApiOkResponse({ type: RoutePage, description: 'The routes.' })
  async listRoutes(@CurrentTenant() tenant: Tenant, @Param('id') id: string): Promise<RoutePage> {
    return presentRoutes(await this.routes.list(tenant, endpointId(id)));
  }

  @Post()
  @Audit()
  @Scope('write')
  @Idempotent()
  @ApiOperation({
    summary: 'Add a route to an endpoint',
    description:
      'The route is added after all other routes of the endpoint. An endpoint has at most 100 routes, one per destination.',
  })
  @ApiParam(ENDPOINT)
  @ApiCreatedResponse({ type: RouteItem, description: 'The route.' })
  async addRoute(
    @CurrentTenant() tenant: Tenant,
    @Param('id') id: string,
    @Body() body: NewRouteBody,
  ): Promise<RouteItem> {
    return presentRoute(await this.routes.add(tenant, endpointId(id), askedRoute(body)));
  }

  @Patch(':routeId')
  @Audit()
  @Scope('write')
  @ApiOperation({
    summary: 'Change a route',
    description: 'Omitted fields keep their value. If `filter` is `null`, the route selects all events.',
  })
  @ApiParam(ENDPOINT)
  @ApiParam(ROUTE)
  @ApiOkResponse({ type: RouteItem, description: 'The changed route.' })
  async updateRoute(
    @CurrentTenant() tenant: Tenant,
    @Param('id') id: string,
    @Param('routeId') route: string,
    @Body() body: RouteChangesBody,
  ): Promise<RouteItem> {
    return presentRoute(await this.routes.change(tenant, endpointId(id), routeId(route), routeChanges(body)));
  }

  @Delete(':routeId')
  @Audit()
  @Scope('write')
  @HttpCode(204)
  @ApiOperation({
    summary: 'Delete a route',
    description: 'Deliveries that the route has already created are not affected.',
  })
  @ApiParam(ENDPOINT)
  @ApiParam(ROUTE)
  @ApiNoContentResponse({ description: 'The resource was deleted.' })
  async deleteRoute(
    @CurrentTenant() tenant: Tenant,
    @Param('id') id: string,
    @Param('routeId') route: string,
  ): Promise<void> {
    await this.routes.remove(tenant, endpointId(id), routeId(route));
  }
}
