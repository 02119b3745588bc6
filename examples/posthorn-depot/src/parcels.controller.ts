import {
  Body,
  type CallHandler,
  type CanActivate,
  Catch,
  Controller,
  type ExceptionFilter,
  type ExecutionContext,
  ForbiddenException,
  Get,
  HttpCode,
  Injectable,
  type NestInterceptor,
  Param,
  ParseUUIDPipe,
  Post,
  Query,
  UseFilters,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { ApiAcceptedResponse, ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiParam } from '@nestjs/swagger';
import { Audit, conflict, CurrentTenant, Idempotent, Scope, Section, type Tenant } from 'posthorn';
import { map, type Observable } from 'rxjs';
import { QueryFailedError } from 'typeorm';
import { ParcelEntity } from './parcel.entity.js';
import { CreateParcelDto, Notice, NoticeDto, ParcelList, ParcelQuery } from './parcels.dto.js';
import { ParcelsService } from './parcels.service.js';

@Injectable()
export class OpeningHoursGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { headers } = context.switchToHttp().getRequest<{ headers: Record<string, unknown> }>();
    if (headers['x-day'] === 'sunday') throw new ForbiddenException('The depot is closed on Sundays.');
    return true;
  }
}

@Injectable()
export class ListInterceptor implements NestInterceptor<unknown[], { data: unknown[] }> {
  intercept(_context: ExecutionContext, next: CallHandler<unknown[]>): Observable<{ data: unknown[] }> {
    return next.handle().pipe(map((data) => ({ data })));
  }
}

@Catch(QueryFailedError)
export class DuplicateFilter implements ExceptionFilter<QueryFailedError> {
  catch(error: QueryFailedError): never {
    throw (error.driverError as { code?: string }).code === '23505' ? conflict('This order has a parcel.') : error;
  }
}

@Section('Depot', 'Parcels of the environment.')
@Controller('v1/depot/parcels')
@UseGuards(OpeningHoursGuard)
@UseFilters(DuplicateFilter)
export class ParcelsController {
  constructor(private readonly parcels: ParcelsService) {}

  @Post()
  @Audit()
  @Scope('write')
  @Idempotent()
  @ApiOperation({ summary: 'Create a parcel', description: 'Stores a parcel.' })
  @ApiCreatedResponse({ type: ParcelEntity, description: 'The parcel.' })
  createDepotParcel(@CurrentTenant() tenant: Tenant, @Body() parcel: CreateParcelDto): Promise<ParcelEntity> {
    return this.parcels.create(tenant, parcel);
  }

  @Get()
  @Scope('read')
  @UseInterceptors(ListInterceptor)
  @ApiOperation({ summary: 'List parcels', description: 'Lists up to 100 parcels.' })
  @ApiOkResponse({ type: ParcelList, description: 'The parcels.' })
  listDepotParcels(@CurrentTenant() tenant: Tenant, @Query() { recipient }: ParcelQuery): Promise<ParcelEntity[]> {
    return this.parcels.list(tenant, recipient);
  }

  @Post(':id/hand-over')
  @Audit()
  @Scope('write')
  @HttpCode(202)
  @ApiOperation({ summary: 'Hand over a parcel', description: 'Removes the parcel and sends `parcel.collected`.' })
  @ApiParam({ name: 'id', description: 'Id of the parcel.', example: '7b1f9f0e-6f5b-4c57-9d2e-0d6d2f0c3f10' })
  @ApiAcceptedResponse({ type: Notice, description: 'The event is accepted.' })
  async handOverDepotParcel(
    @CurrentTenant() tenant: Tenant,
    @Param('id', ParseUUIDPipe) id: string,
    @Body() { destination }: NoticeDto,
  ): Promise<Notice> {
    return { message_id: await this.parcels.handOver(tenant, id, destination) };
  }
}
