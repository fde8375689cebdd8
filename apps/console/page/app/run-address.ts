// The address of a run: a stranger named it, and any name leads to its own run.
import { nameIn, segmentOf } from '../parts/names.js';

export const RUN_ADDRESS = {
  path: '/runs/$runId',
  params: {
    parse: ({ runId }: { readonly runId: string }) => ({ runId: nameIn(runId) }),
    stringify: ({ runId }: { readonly runId: string }) => ({ runId: segmentOf(runId) }),
  },
} as const;
