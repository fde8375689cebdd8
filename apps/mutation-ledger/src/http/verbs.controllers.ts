// HTTP edge of what people say of mutations, triggers and runtimes. The schemas of the commands tell the routes and their bodies;
// here stands where each thing is found.
import { verbsController } from '@recourse/service';
import { MUTATIONS_LOG } from '../reads/mutation-statements.js';

const of = (kind: string) => ({ log: MUTATIONS_LOG, kind });
const WIRE = {
  wire: 'recourse.ledger-commands',
  key: 'run_id',
  about: {
    mutation_id: of('mutation'),
    rollback_id: of('rollback'),
    divergence_id: of('divergence'),
    trend_id: of('trend'),
    delivery_id: of('delivery'),
  },
} as const;

export const LEDGER_VERBS = [
  verbsController({ ...WIRE, tag: 'mutations', below: 'v1/mutations' }),
  verbsController({ ...WIRE, tag: 'rollbacks', below: 'v1/triggers' }),
  verbsController({ ...WIRE, tag: 'rollbacks', below: 'v1/rollbacks' }),
  verbsController({ ...WIRE, tag: 'rollbacks', below: 'v1/trends' }),
  verbsController({ ...WIRE, tag: 'consumers', below: 'v1/deliveries' }),
  verbsController({ ...WIRE, tag: 'lineage', below: 'v1/reconciliations', key: 'runtime' }),
];
