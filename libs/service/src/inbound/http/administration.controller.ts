// Routes every service has: answers of commands, parked records, readings, status, state hash.
import { Controller, Inject, Param } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { PARKED_KIND, READING_KIND } from '@recourse/event-log';
import type { LoopHealth, ParkedDoc, ReadingDoc } from '@recourse/event-log';
import { partitionForKey } from '@recourse/kafka';
import { z } from 'zod';
import { ALL_TENANTS } from '../../edge/roles.js';
import { EdgeRefusal } from '../../edge/problem.js';
import type { Rendered } from '../../edge/render.js';
import { idText, reasonText } from '../../edge/validate.js';
import { SERVICE_CONTEXT } from '../../service-context.js';
import type { ServiceContext } from '../../service-context.js';
import { StateHashes } from '../../state-hashes.js';
import type { ElsewherePartition } from '../../elsewhere.js';
import type { ServiceHealth, Trouble } from '../../running-service.js';
import { FromCaller } from './caller.js';
import type { Caller } from './caller.js';
import { Commands, send } from './commands.js';
import { partitionNumber } from './cursor.js';
import { pageQuery, Reads } from './reads.js';
import type { ListAnswer } from './reads.js';
import { CommandRoute, Given, Queried, ReadRoute } from './routes.js';

const parkedQuery = z.strictObject({
  ...pageQuery,
  log: idText.optional(),
  open: z.enum(['true', 'false']).optional(),
});
const readingsQuery = z.strictObject({ ...pageQuery, reader: idText.optional() });
const resolution = z.strictObject({ reason: reasonText, log: idText.optional() });
const stateHashQuery = z.strictObject({ log: idText.optional(), partition: z.coerce.number().pipe(partitionNumber) });
/** A key for a given partition is found after about as many tries as there are partitions. */
const KEY_TRIES_MAX = 100_000;

/** How a process and its partitions are; empty where nothing was started yet. */
interface StatusDetail {
  /** What is waited for, or fails first; null or absent where nothing does. */
  readonly in_the_way?: Trouble | null;
  readonly problem?: string | null;
  /** Partitions that this process owns. */
  readonly loops?: readonly LoopHealth[];
  /** How many each log has; null while nobody can tell. */
  readonly partitions?: Readonly<Record<string, number | null>>;
  /** Other members of its group; null where nobody can tell. */
  readonly others?: readonly string[] | null;
}

interface StatusAnswer extends Pick<ServiceHealth, 'live' | 'ready' | 'started'> {
  readonly service: string;
  readonly logs: readonly string[];
  readonly detail: StatusDetail;
  /** Partitions that another process has, or nobody; null where nobody can tell, absent before the start. */
  readonly elsewhere?: readonly ElsewherePartition[] | null;
}

interface StateHashAnswer {
  readonly log: string;
  readonly partition: number;
  /** Last record in the rows. */
  readonly seq: number;
  /** Hex. */
  readonly state_hash: string;
}

@ApiTags('administration')
@ApiBearerAuth()
@Controller('v1')
export class AdministrationController {
  private readonly hashes: StateHashes;

  constructor(
    @Inject(SERVICE_CONTEXT) private readonly service: ServiceContext,
    @Inject(Reads) private readonly reads: Reads,
    @Inject(Commands) private readonly commands: Commands,
  ) {
    this.hashes = new StateHashes((log, partition) => service.host.partition(log, partition));
  }

  @ReadRoute('commands/:ticket', 'What became of a command: its answer, or 202 while there is none.')
  async command(@FromCaller() caller: Caller, @Param('ticket') ticket: string): Promise<void> {
    const { edge, definition } = this.service;
    // A ticket is of one log; the others do not know it.
    const answers = await Promise.all(definition.cores.map(({ log }) => edge.lookUp(log, ticket, caller.principal)));
    const answer = answers.find((one) => one !== null);
    if (!answer) throw new EdgeRefusal('NOT_FOUND', 'no command of yours under this name');
    send(caller, answer);
  }

  @ReadRoute(
    'parked',
    'Records that could not be taken, and why. For administrators and auditors of all tenants.',
    parkedQuery,
  )
  parked(
    @FromCaller() caller: Caller,
    @Queried(parkedQuery) { log, open, cursor, limit }: z.infer<typeof parkedQuery>,
  ): Promise<ListAnswer<Rendered<ParkedDoc>>> {
    return this.reads.list<ParkedDoc>(caller, {
      log: this.logOf(log),
      kind: PARKED_KIND,
      where: { open: open !== 'false' },
      cursor,
      limit,
    });
  }

  @ReadRoute(
    'readings',
    'Who was shown what sealed payloads hold: which things, of which subjects, when and by which route. For administrators and auditors.',
    readingsQuery,
  )
  readings(
    @FromCaller() caller: Caller,
    @Queried(readingsQuery) { reader, ...page }: z.infer<typeof readingsQuery>,
  ): Promise<ListAnswer<Rendered<ReadingDoc>>> {
    return this.reads.list<ReadingDoc>(caller, {
      log: this.logOf(undefined),
      kind: READING_KIND,
      where: { reader },
      ...page,
    });
  }

  @CommandRoute('parked/:id/redrive', {
    summary: 'Takes a parked record again, and those of its key behind it.',
    body: resolution,
  })
  redrive(
    @FromCaller() caller: Caller,
    @Param('id') id: string,
    @Given(resolution) body: z.infer<typeof resolution>,
  ): Promise<void> {
    return this.resolve(caller, 'RedriveParked', id, body);
  }

  @CommandRoute('parked/:id/discard', {
    summary: 'Gives a parked record up; its bytes stay in the log.',
    body: resolution,
  })
  discard(
    @FromCaller() caller: Caller,
    @Param('id') id: string,
    @Given(resolution) body: z.infer<typeof resolution>,
  ): Promise<void> {
    return this.resolve(caller, 'DiscardParked', id, body);
  }

  @ReadRoute(
    'status',
    'Partitions, heads, cursors and lag of this process, and what the rows say of those that it does not own.',
  )
  async status(): Promise<StatusAnswer> {
    const { definition, host, elsewhere } = this.service;
    const health = host.health();
    const detail: StatusDetail = health.detail; // of a service, as its runtime tells it
    const others = health.started ? await elsewhere?.but(detail.loops ?? []) : undefined;
    const said = others === undefined ? {} : { elsewhere: others };
    return { service: definition.name, logs: definition.cores.map(({ log }) => log), ...health, detail, ...said };
  }

  @ReadRoute('state-hash', 'Hash of all rows of one partition; equal after a rebuild from the log.', stateHashQuery)
  async stateHash(
    @Queried(stateHashQuery) { log: named, partition }: z.infer<typeof stateHashQuery>,
  ): Promise<StateHashAnswer> {
    const log = this.logOf(named);
    const { seq, hash } = await this.hashes.of(log, partition);
    return { log, partition, seq, state_hash: hash };
  }

  private async resolve(
    caller: Caller,
    verb: 'RedriveParked' | 'DiscardParked',
    id: string,
    body: z.infer<typeof resolution>,
  ): Promise<void> {
    const log = this.logOf(body.log);
    const { partition } = await this.reads.find(caller, { log, kind: PARKED_KIND, where: { row_key: id } });
    const key = keyOn(partition, await this.service.partitionCount(this.service.definition.commandTopic), id);
    await this.commands.submit(caller, {
      type: `recourse.log.${verb}`,
      key,
      tenant: ALL_TENANTS,
      mayBeForAll: true,
      log,
      body: { id, ...body },
      build: (envelope) => ({ envelope, log, parked_id: id, reason: body.reason }),
    });
  }

  private logOf(named: string | undefined): string {
    const { cores, commandLog } = this.service.definition;
    if (named === undefined || cores.some(({ log }) => log === named)) return named ?? commandLog;
    throw new EdgeRefusal('INPUT_INVALID', `no log ${named} here`, [
      { code: 'LOG_UNKNOWN', message: `One of ${cores.map(({ log }) => log).join(', ')}.`, path: '/log' },
    ]);
  }
}

/** A record key that the producer will put on the partition: the loop that parked the record must get the command. */
function keyOn(partition: number, partitions: number, id: string): string {
  for (let n = 0; n < KEY_TRIES_MAX; n += 1) {
    const key = `${id}#${String(n)}`;
    if (partitionForKey(Buffer.from(key), partitions) === partition) return key;
  }
  throw new EdgeRefusal('NOT_FOUND', 'the partition does not exist any more');
}
