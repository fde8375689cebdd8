// HTTP edge of what the registry keeps beside contracts.
import { Body, Controller, HttpCode, Inject, Param, Post } from '@nestjs/common';
import { ApiBearerAuth, ApiBody, ApiHeader, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ENTRY_KINDS } from '@recourse/contract';
import {
  ALL_TENANTS,
  Commands,
  FromCaller,
  Id,
  idText,
  openApiSchema,
  pageQuery,
  parse,
  Queried,
  ReadRoute,
  Reads,
  reasonText,
  seesAllTenants,
  tenantOfRead,
  tenantText,
} from '@recourse/service';
import type { Caller, ListAnswer } from '@recourse/service';
import { z } from 'zod';
import { CONTRACTS_LOG, ENTRY_KIND } from '../rows.js';
import type { KeptEntry } from '../rows.js';

/** Owners of one name that are looked at for the tenant's own: two, and all for who speaks for all. */
const ENTRIES_MAX = 10_000;
const kindText = z.enum(ENTRY_KINDS);
/** The registry's own rules say what else an entry must be. */
const entry = z.strictObject({ name: idText, tenant: tenantText.optional(), entry: z.looseObject({}) });
const retirement = z.strictObject({ reason: reasonText, tenant: tenantText.optional() });
const listQuery = z.strictObject({
  ...pageQuery,
  name: idText.optional(),
  retired: z.enum(['true', 'false']).optional(),
});
const oneQuery = z.strictObject({ tenant: pageQuery.tenant });

@ApiTags('entries')
@ApiBearerAuth()
@Controller('v1/entries/:kind')
export class EntriesController {
  constructor(
    @Inject(Commands) private readonly commands: Commands,
    @Inject(Reads) private readonly reads: Reads,
  ) {}

  @Post()
  @HttpCode(201)
  @ApiOperation({
    summary:
      'Registers a policy_bundle, agent_charter, context_source, kill_switch, subscription or autonomy_policy, or its next version. Every problem is listed at once.',
  })
  @ApiHeader({ name: 'Idempotency-Key', required: false })
  @ApiBody({ schema: openApiSchema(entry) })
  register(@FromCaller() caller: Caller, @Param('kind') kind: string, @Body() input: unknown): Promise<void> {
    const body = parse(entry, input);
    const known = parse(kindText, kind);
    return this.commands.submit(caller, {
      type: 'recourse.contracts.RegisterEntry',
      key: body.name,
      tenant: tenantOf(caller, body.tenant),
      mayBeForAll: true,
      body: { kind: known, ...body },
      build: (envelope) => ({ envelope, kind: known, name: body.name, body: JSON.stringify(body.entry) }),
    });
  }

  @Post(':name/retire')
  @HttpCode(200)
  @ApiOperation({ summary: 'Retires what stands; a kill switch is lifted so.' })
  @ApiHeader({ name: 'Idempotency-Key', required: false })
  @ApiBody({ schema: openApiSchema(retirement) })
  retire(
    @FromCaller() caller: Caller,
    @Param('kind') kind: string,
    @Param('name') name: string,
    @Body() input: unknown,
  ): Promise<void> {
    const { reason, tenant } = parse(retirement, input);
    const [known, key] = [parse(kindText, kind), parse(idText, name)];
    return this.commands.submit(caller, {
      type: 'recourse.contracts.RetireEntry',
      key,
      tenant: tenantOf(caller, tenant),
      mayBeForAll: true,
      body: { kind: known, name: key, reason, tenant },
      build: (envelope) => ({ envelope, kind: known, name: key, reason }),
    });
  }

  @ReadRoute('', 'Entries of the tenant and those of the platform, of one kind.', listQuery)
  async list(
    @FromCaller() caller: Caller,
    @Param('kind') kind: string,
    @Queried(listQuery) { name, retired, ...page }: z.infer<typeof listQuery>,
  ): Promise<ListAnswer<KeptEntry & Readable>> {
    const where = {
      kind: parse(kindText, kind),
      name,
      retired: retired === undefined ? undefined : retired === 'true',
    };
    const { items, next_cursor } = await this.reads.list<KeptEntry>(caller, {
      log: CONTRACTS_LOG,
      kind: ENTRY_KIND,
      where,
      sharedTenant: ALL_TENANTS,
      ...page,
    });
    return { items: items.map(readable), next_cursor };
  }

  @ReadRoute(':name', "One entry, its newest version: the tenant's own before the platform's.", oneQuery)
  async one(
    @FromCaller() caller: Caller,
    @Param('kind') kind: string,
    @Id('name') name: string,
    @Queried(oneQuery) { tenant }: z.infer<typeof oneQuery>,
  ): Promise<KeptEntry & Readable> {
    const where = { kind: parse(kindText, kind), name };
    const found = { log: CONTRACTS_LOG, kind: ENTRY_KIND, where, tenant, sharedTenant: ALL_TENANTS };
    const docs = await this.reads.every(caller, found, ENTRIES_MAX);
    const owner = tenantOfRead(caller.principal, tenant) ?? ALL_TENANTS;
    const own = docs.find((doc) => doc['tenant'] === owner);
    const entry = own ?? (await this.reads.find(caller, found)).doc;
    return readable(entry as unknown as KeptEntry); // rows of this kind are entries
  }
}

/** Who speaks for all tenants and names none registers for the platform. */
function tenantOf({ principal }: Caller, named: string | undefined): string | undefined {
  return named ?? (seesAllTenants(principal) ? ALL_TENANTS : undefined);
}

type Readable = {
  /** What `body` says, as JSON. */
  readonly entry: unknown;
};

/** `body` is the text the digest is of; `entry` is the same as JSON, for people. */
function readable(entry: KeptEntry): KeptEntry & Readable {
  return { ...entry, entry: JSON.parse(entry.body) as unknown };
}
