// What the inbox's address may hold.
import * as z from 'zod/mini';

export const SORTS = ['time', 'money'] as const;

export const INBOX_SEARCH = z.object({
  kind: z.optional(z.string().check(z.regex(/^[a-z_]{1,40}$/))),
  find: z.optional(z.string().check(z.maxLength(200))),
  whose: z.optional(z.enum(['mine', 'all'])),
  sort: z.optional(z.enum(SORTS)),
  overdue: z.optional(z.boolean()),
});
export type InboxSearch = z.infer<typeof INBOX_SEARCH>;
