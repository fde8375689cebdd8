// The graph around a commit, by run, as the ledger sums it up: asked for while the screen still loads.
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import * as z from 'zod/mini';
import { answered, ledger } from '../api/clients.js';
import { NAME } from '../app/addresses.js';

const text = z.string();
const texts = z.array(text);
const BOX = z.object({
  id: text,
  run_id: text,
  is_open: z.boolean(),
  kind: text,
  commits: z.number(),
  label: z.nullable(text),
  subject_ref: z.nullable(text),
  agents: texts,
  told: texts,
  silent: texts,
  states: z.array(z.object({ state: text, commits: z.number() })),
  found: z.number(),
});
const LINEAGE = z.object({
  commit: text,
  run_id: text,
  /** Absent where a ledger is of before. */
  tenant: z.optional(text),
  kind: text,
  commits: z.number(),
  runs: z.number(),
  found: z.number(),
  boxes: z.array(BOX),
  arrows: z.array(z.object({ from: text, to: text, kind: text, commits: z.number() })),
  left: z.number(),
  truncated: z.boolean(),
});
export type LineageBox = z.infer<typeof BOX>;
export type Lineage = z.infer<typeof LINEAGE>;

/** What the address of the screen holds: what is looked for, and the runs that are opened. */
export const LINEAGE_SEARCH = z.object({
  find: z.optional(text.check(z.maxLength(200))),
  open: z.optional(z.array(NAME).check(z.maxLength(20))),
});
export type LineageSearch = z.infer<typeof LINEAGE_SEARCH>;

export function lineageQuery(commit: string, { find, open }: LineageSearch) {
  const query = { ...(find === undefined ? {} : { find }), ...(open === undefined ? {} : { open: [...open] }) };
  return queryOptions({
    queryKey: ['ledger', 'lineage', commit, query],
    queryFn: () => answered(LINEAGE, ledger.GET('/v1/lineage/{commit}/boxes', { params: { path: { commit }, query } })),
    // While something is typed, and while a run opens, what is there stays.
    placeholderData: keepPreviousData,
  });
}
