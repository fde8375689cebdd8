// HTTP edge of re-evaluation: which successor bundles are applied to earlier commits, and how far that has come.
import { idText, listsController } from '@recourse/service';
import { z } from 'zod';
import { REEVALUATION_KIND } from '../rows/reevaluation.rows.js';
import { REEVALUATION_PHASES } from '../rules/commit/reevaluation.decisions.js';
import type { Reevaluation } from '../rules/commit/reevaluation.decisions.js';
import { MUTATIONS_LOG } from '../reads/mutation-statements.js';

/** Jobs of bundles that hold for all tenants are everybody's to see: they name no commit. */
const OF_ALL = '*';

export const ReevaluationsController = listsController<{ readonly reevaluations: Reevaluation }>({
  tag: 'commits',
  log: MUTATIONS_LOG,
  lists: {
    reevaluations: {
      kind: REEVALUATION_KIND,
      summary:
        'Versions of policy bundles that are applied to earlier commits: how many were looked at, how many are refused, how many cannot be judged. One item per partition that has such commits.',
      where: { bundle: idText.optional(), phase: z.enum(REEVALUATION_PHASES).optional() },
      sharedTenant: OF_ALL,
    },
  },
});
