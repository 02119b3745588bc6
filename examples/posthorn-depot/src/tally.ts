import { InjectQueue, OnWorkerEvent, Processor, WorkerHost } from '@nestjs/bullmq';
import {
  type BeforeApplicationShutdown,
  Controller,
  Get,
  Injectable,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProperty } from '@nestjs/swagger';
import { InjectRepository } from '@nestjs/typeorm';
import type { Queue } from 'bullmq';
import { AgentTools, apiPath, Clock, Loop, readTool, Scope, Section, z } from 'posthorn';
import { Repository } from 'typeorm';
import { ParcelEntity } from './parcel.entity.js';

export const TALLY_QUEUE = 'depot-tally';
const SWEEP_MS = 500;

export class TallyDto {
  @ApiProperty({ type: 'integer', description: 'Number of parcels when the job last ran.' })
  parcels: number;

  @ApiProperty({ type: [String], description: 'Records of listeners and of the destination type.' })
  records: string[];
}

/** Values that the extension records, so that tests can check them. */
@Injectable()
export class Tally {
  parcels = 0;
  readonly records: string[] = [];
}

/** Counts the parcels of all environments. The periodic sweep makes up for a lost job. */
@Injectable()
@Processor(TALLY_QUEUE)
export class TallyProcessor extends WorkerHost implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly sweep: Loop;

  constructor(
    @InjectQueue(TALLY_QUEUE) private readonly queue: Queue,
    @InjectRepository(ParcelEntity) private readonly parcels: Repository<ParcelEntity>,
    private readonly tally: Tally,
    clock: Clock,
  ) {
    super();
    queue.on('error', () => undefined);
    this.sweep = new Loop(
      'depot tally',
      () => this.wake(),
      () => clock.nowMs(),
    );
  }

  onApplicationBootstrap(): void {
    this.sweep.start();
  }

  async process(): Promise<void> {
    this.tally.parcels = await this.parcels.count();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.sweep.stop();
    await this.worker.close(true);
    await this.queue.disconnect();
  }

  @OnWorkerEvent('error')
  ignore(): void {
    // Catches the error, which would otherwise end the process.
  }

  private async wake(): Promise<{ restMs: number }> {
    await this.queue.add('count', {}, { removeOnComplete: true, removeOnFail: true });
    return { restMs: SWEEP_MS };
  }
}

@Section('Depot', 'Parcels of the environment.')
@Controller('v1/depot/tally')
export class TallyController {
  constructor(private readonly tally: Tally) {}

  @Get()
  @Scope('read')
  @ApiOperation({ summary: 'Read the tally', description: 'Returns counts and records.' })
  @ApiOkResponse({ type: TallyDto, description: 'The tally.' })
  readDepotTally(): TallyDto {
    return this.tally;
  }
}

@Injectable()
export class TallyTools extends AgentTools {
  override readonly tools = [
    readTool({
      name: 'read_depot_tally',
      title: 'Read the tally of the depot',
      description: 'Returns counts and records of the depot.',
      input: z.object({}),
      example: {},
      run: async (api) => ({ content: await api.get(apiPath`/v1/depot/tally`) }),
    }),
  ];
}
