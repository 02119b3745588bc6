import { Module } from '@nestjs/common';
import { EndpointRoutes } from './endpoint-routes.js';
import { EndpointsModule } from './endpoints.module.js';
import { RoutesController } from './routes.controller.js';

/**
 * Routes of an endpoint, managed individually. A separate module, because the OpenAPI document lists operations in the
 * order of modules, and these follow the other endpoint operations.
 */
@Module({
  imports: [EndpointsModule],
  controllers: [RoutesController],
  providers: [EndpointRoutes],
})
export class RoutesModule {}
