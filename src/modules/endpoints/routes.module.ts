import { Module } from '@nestjs/common';
import { EndpointRoutes } from './endpoint-routes.js';
import { EndpointsModule } from './endpoints.module.js';
import { RoutesController } from './routes.controller.js';

/** The routes of an endpoint, one by one. Apart, since the document lists operations in the order of modules: these are the last of endpoints. */
@Module({
  imports: [EndpointsModule],
  controllers: [RoutesController],
  providers: [EndpointRoutes],
})
export class RoutesModule {}
