// HTTP edge of the contract registry.
import { Body, Controller, HttpCode, Inject, Param, Post } from '@nestjs/common';
import { ApiBearerAuth, ApiBody, ApiHeader, ApiOperation, ApiTags } from '@nestjs/swagger';
import { governing, parseContract } from '@recourse/contract';
import type { Contract } from '@recourse/contract';
import type { Doc } from '@recourse/event-log';
import {
  ALL_TENANTS,
  bounded,
  Commands,
  EdgeRefusal,
  entriesIn,
  FromCaller,
  hashHex,
  Id,
  idText,
  listsController,
  openApiSchema,
  pageQuery,
  parse,
  Queried,
  ReadRoute,
  Reads,
  seesAllTenants,
  tenantOfRead,
  tenantText,
} from '@recourse/service';
import type { Caller } from '@recourse/service';
import { z } from 'zod';
import { CONTRACT_KIND, CONTRACTS_LOG, PROPOSAL_KIND } from '../rows.js';
import type { KeptProposal, KeptVersion } from '../rows.js';

/** The registry's own rules say what else a contract must be; here only what addresses the command. */
const contract = z.looseObject({ name: idText, tenant: tenantText.optional() });
/** Most contracts of one request: they are decided in one go, and sent in one record. */
const TOGETHER_MAX = 50;
/** Most bytes of one request: a record of a wire ends at 256 KB. */
const TOGETHER_BYTES_MAX = 200_000;
const contracts = z.strictObject({
  contracts: z
    .array(contract)
    .min(2)
    .max(TOGETHER_MAX)
    .refine((all) => Buffer.byteLength(JSON.stringify(all)) <= TOGETHER_BYTES_MAX, 'at most 200,000 bytes together'),
  tenant: tenantText.optional(),
});
const oneQuery = z.strictObject({ tenant: pageQuery.tenant, version: z.coerce.number().int().min(1).optional() });
/** As wide as a record's number of a version. */
const VERSION_MAX = 2 ** 31 - 1;
const retirement = z.strictObject({ version: z.number().int().min(1).max(VERSION_MAX), tenant: tenantText.optional() });
const confirmation = z.strictObject({
  digest: hashHex,
  together: bounded(
    { sizeOf: entriesIn, max: TOGETHER_MAX - 1, message: `at most ${TOGETHER_MAX} are confirmed together` },
    z.record(idText, hashHex),
  ).optional(),
  tenant: tenantText.optional(),
});
const withdrawal = z.strictObject({ tenant: tenantText.optional() });

export const ContractListsController = listsController<{
  readonly contracts: KeptVersion & Readable;
  readonly 'contract-proposals': KeptProposal & Readable;
}>({
  tag: 'contracts',
  log: CONTRACTS_LOG,
  lists: {
    contracts: {
      kind: CONTRACT_KIND,
      summary: 'Contracts of the tenant and those of the platform.',
      where: {
        name: idText.optional(),
        retired: z
          .enum(['true', 'false'])
          .transform((text) => text === 'true')
          .optional(),
      },
      sharedTenant: ALL_TENANTS,
      adds: readable,
    },
    'contract-proposals': {
      kind: PROPOSAL_KIND,
      summary: 'Weaker versions that wait for a second person, each with its deadline.',
      where: { name: idText.optional() },
      sharedTenant: ALL_TENANTS,
      adds: readable,
    },
  },
});

@ApiTags('contracts')
@ApiBearerAuth()
@Controller('v1/contracts')
export class ContractsController {
  constructor(
    @Inject(Commands) private readonly commands: Commands,
    @Inject(Reads) private readonly reads: Reads,
  ) {}

  @Post()
  @HttpCode(201)
  @ApiOperation({
    summary:
      'Registers a contract, or a new version of one; the body is the contract. Every problem is listed at once.',
  })
  @ApiHeader({ name: 'Idempotency-Key', required: false })
  @ApiBody({ schema: openApiSchema(contract) })
  register(@FromCaller() caller: Caller, @Body() input: unknown): Promise<void> {
    const body = parse(contract, input);
    return this.commands.submit(caller, {
      type: 'recourse.contracts.RegisterContract',
      key: body.name,
      tenant: tenantOf(caller, body.tenant),
      mayBeForAll: true,
      body,
      build: (envelope) => ({ envelope, name: body.name, body: JSON.stringify(body), together: [] }),
    });
  }

  @Post('together')
  @HttpCode(201)
  @ApiOperation({
    summary: 'Registers contracts that name each other, or none of them. Every problem of each is listed at once.',
  })
  @ApiHeader({ name: 'Idempotency-Key', required: false })
  @ApiBody({ schema: openApiSchema(contracts) })
  registerTogether(@FromCaller() caller: Caller, @Body() input: unknown): Promise<void> {
    const body = parse(contracts, input);
    const [first, ...others] = body.contracts;
    if (first === undefined) throw new EdgeRefusal('INPUT_INVALID', 'name two contracts at least');
    return this.commands.submit(caller, {
      type: 'recourse.contracts.RegisterContract',
      key: first.name,
      tenant: tenantOf(caller, body.tenant),
      mayBeForAll: true,
      body,
      build: (envelope) => ({
        envelope,
        name: first.name,
        body: JSON.stringify(first),
        together: others.map((other) => JSON.stringify(other)),
      }),
    });
  }

  @Post(':name/retire')
  @HttpCode(200)
  @ApiOperation({ summary: 'Retires a version: nothing new executes under it; what did is recovered under it.' })
  @ApiHeader({ name: 'Idempotency-Key', required: false })
  @ApiBody({ schema: openApiSchema(retirement) })
  retire(@FromCaller() caller: Caller, @Param('name') name: string, @Body() input: unknown): Promise<void> {
    const { version, tenant } = parse(retirement, input);
    const key = parse(idText, name);
    return this.commands.submit(caller, {
      type: 'recourse.contracts.RetireContract',
      key,
      tenant: tenantOf(caller, tenant),
      mayBeForAll: true,
      body: { name, version, tenant },
      build: (envelope) => ({ envelope, name: key, version }),
    });
  }

  @Post(':name/confirm')
  @HttpCode(201)
  @ApiOperation({
    summary:
      'Confirms a weaker version that waits, by its digest; never by who proposed it. `together`, digests by capability, confirms others with it, or none.',
  })
  @ApiHeader({ name: 'Idempotency-Key', required: false })
  @ApiBody({ schema: openApiSchema(confirmation) })
  confirm(@FromCaller() caller: Caller, @Param('name') name: string, @Body() input: unknown): Promise<void> {
    const { digest, together = {}, tenant } = parse(confirmation, input);
    const key = parse(idText, name);
    return this.commands.submit(caller, {
      type: 'recourse.contracts.ConfirmRegistration',
      key,
      tenant: tenantOf(caller, tenant),
      mayBeForAll: true,
      body: { name, digest, ...(Object.keys(together).length === 0 ? {} : { together }), tenant },
      build: (envelope) => ({
        envelope,
        name: key,
        digest: Buffer.from(digest, 'hex'),
        together: Object.fromEntries(Object.entries(together).map(([other, hex]) => [other, Buffer.from(hex, 'hex')])),
      }),
    });
  }

  @Post(':name/withdraw')
  @HttpCode(200)
  @ApiOperation({ summary: 'Withdraws a weaker version that waits.' })
  @ApiHeader({ name: 'Idempotency-Key', required: false })
  @ApiBody({ schema: openApiSchema(withdrawal) })
  withdraw(@FromCaller() caller: Caller, @Param('name') name: string, @Body() input: unknown): Promise<void> {
    const { tenant } = parse(withdrawal, input ?? {});
    const key = parse(idText, name);
    return this.commands.submit(caller, {
      type: 'recourse.contracts.WithdrawRegistration',
      key,
      tenant: tenantOf(caller, tenant),
      mayBeForAll: true,
      body: { name, tenant },
      build: (envelope) => ({ envelope, name: key }),
    });
  }

  @ReadRoute(
    ':name',
    "The contract that binds the tenant: its own newest, or the platform's where that is stricter; or the version asked for.",
    oneQuery,
  )
  async one(
    @FromCaller() caller: Caller,
    @Id('name') name: string,
    @Queried(oneQuery) { version, tenant }: z.infer<typeof oneQuery>,
  ): Promise<KeptVersion & Readable> {
    const where = { name, version };
    const found = { log: CONTRACTS_LOG, kind: CONTRACT_KIND, where, tenant, sharedTenant: ALL_TENANTS };
    const docs = await this.reads.newest(caller, found);
    const isBinding = (doc: Doc): boolean => version !== undefined || doc['retired'] !== true;
    const binding = bindingOf(docs, tenantOfRead(caller.principal, tenant) ?? ALL_TENANTS, isBinding);
    const doc = binding ?? (await this.newestFound(caller, found, docs));
    return { ...(doc as unknown as KeptVersion), ...readable(doc) }; // rows of this kind are versions
  }

  /** Where none binds, the newest of an owner is told, which says that it is retired. */
  private async newestFound(caller: Caller, found: Parameters<Reads['find']>[1], docs: readonly Doc[]): Promise<Doc> {
    const { doc } = await this.reads.find(caller, found);
    return newestOf(docs, String(doc['tenant'])) ?? doc;
  }
}

/**
 * The newest of the tenant's own, unless the platform's is stricter; a version that was asked for may be of either. An owner whose
 * newest does not bind has none that does: an older one is never in force again.
 */
function bindingOf(docs: readonly Doc[], tenant: string, isBinding: (doc: Doc) => boolean): Doc | undefined {
  const newest = (owner: string): Kept | undefined => {
    const doc = newestOf(docs, owner);
    if (doc === undefined || !isBinding(doc)) return undefined;
    const read = parseContract(String(doc['body']));
    return read.ok ? { doc, contract: read.contract } : undefined;
  };
  return (tenant === ALL_TENANTS ? newest(ALL_TENANTS) : governing(newest(tenant), newest(ALL_TENANTS)))?.doc;
}

function newestOf(docs: readonly Doc[], owner: string): Doc | undefined {
  return docs.find((each) => each['tenant'] === owner);
}

interface Kept {
  readonly doc: Doc;
  readonly contract: Contract;
}

/** Who speaks for all tenants and names none registers for the platform. */
function tenantOf({ principal }: Caller, named: string | undefined): string | undefined {
  return named ?? (seesAllTenants(principal) ? ALL_TENANTS : undefined);
}

type Readable = {
  /** What `body` says, as JSON. */
  readonly contract: unknown;
};

/** `body` is the text the digest is of; `contract` is the same as JSON, for people. */
function readable({ body }: Doc): Readable {
  return { contract: typeof body === 'string' ? (JSON.parse(body) as unknown) : null };
}
