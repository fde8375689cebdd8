// Routes every service has: answers of commands, parked records, readings, status, state hash.
import { Controller, Inject, Param } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { PARKED_KIND, READING_KIND } from '@recourse/event-log';
import { partitionForKey } from '@recourse/kafka';
import { z } from 'zod';
import { ALL_TENANTS } from '../../edge/roles.js';
import { EdgeRefusal } from '../../edge/problem.js';
import { idText, reasonText } from '../../edge/validate.js';
import { SERVICE_CONTEXT } from '../../service-context.js';
import type { ServiceContext } from '../../service-context.js';
import { StateHashes } from '../../state-hashes.js';
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
  ): Promise<ListAnswer> {
    return this.reads.list(caller, {
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
  ): Promise<ListAnswer> {
    return this.reads.list(caller, { log: this.logOf(undefined), kind: READING_KIND, where: { reader }, ...page });
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
  async status(): Promise<unknown> {
    const { definition, host, elsewhere } = this.service;
    const health = host.health();
    const others = health.started ? await elsewhere?.but(loopsIn(health.detail)) : undefined;
    const said = others === undefined ? {} : { elsewhere: others };
    return { service: definition.name, logs: definition.cores.map(({ log }) => log), ...health, ...said };
  }

  @ReadRoute('state-hash', 'Hash of all rows of one partition; equal after a rebuild from the log.', stateHashQuery)
  async stateHash(
    @Queried(stateHashQuery) { log: named, partition }: z.infer<typeof stateHashQuery>,
  ): Promise<unknown> {
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

/** Places of the loops that a service tells of; its health is made of them. */
function loopsIn({
  loops,
}: Readonly<Record<string, unknown>>): readonly { readonly log: string; readonly partition: number }[] {
  return Array.isArray(loops) ? (loops as readonly { readonly log: string; readonly partition: number }[]) : []; // LoopHealth of each
}
