// HTTP edge of compensations as executions: what was called to undo an effect, under which contract, and how it ended (A62).
import { Controller, Inject } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { EXECUTION_STATE_VALUES } from '@recourse/messages';
import { FromCaller, Id, idText, runText, pageQuery, Queried, ReadRoute, Reads, render } from '@recourse/service';
import type { Caller, ListAnswer, Rendered } from '@recourse/service';
import { z } from 'zod';
import { MUTATIONS_LOG } from '../reads/mutation-statements.js';
import type { Compensation } from '../rules/compensation/compensation.messages.js';

const KIND = { log: MUTATIONS_LOG, kind: 'compensation' } as const;
const listQuery = z.strictObject({
  ...pageQuery,
  run_id: runText.optional(),
  mutation_id: idText.optional().describe('The mutation that is reversed.'),
  execution: z.enum(EXECUTION_STATE_VALUES).optional().describe('Execution state.'),
  capability: idText.optional(),
});
const oneQuery = z.strictObject({ tenant: pageQuery.tenant });

@ApiTags('mutations')
@ApiBearerAuth()
@Controller('v1/compensations')
export class CompensationsController {
  constructor(@Inject(Reads) private readonly reads: Reads) {}

  @ReadRoute(
    '',
    'Compensations that were executed: each with its own contract, its value, and the mutation it reverses.',
    listQuery,
  )
  list(
    @FromCaller() caller: Caller,
    @Queried(listQuery) { run_id, mutation_id, execution, capability, ...page }: z.infer<typeof listQuery>,
  ): Promise<ListAnswer<Rendered<Compensation>>> {
    return this.reads.list<Compensation>(caller, {
      ...KIND,
      where: {
        group_key: run_id,
        reverses_mutation_id: mutation_id,
        execution_state: execution ?? EXECUTION_STATE_VALUES,
        capability,
      },
      ...page,
    });
  }

  @ReadRoute(':id', 'One compensation, by its own id.', oneQuery)
  async one(
    @FromCaller() caller: Caller,
    @Id('id') id: string,
    @Queried(oneQuery) { tenant }: z.infer<typeof oneQuery>,
  ): Promise<Rendered<Compensation>> {
    const { doc } = await this.reads.find(caller, { ...KIND, where: { compensation_id: id }, tenant });
    const [shown = doc] = (await this.reads.shown(caller, [doc])).docs;
    return render(shown as unknown as Compensation); // rows of this kind are compensations
  }
}
