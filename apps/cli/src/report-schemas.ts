// The published JSON Schemas of what the command line prints for scripts; scripts/reference.mjs writes them to schemas/reports.
import type { Json } from '@recourse/kernel';
import { z } from 'zod';
import { evalReportShape } from './eval/grade.js';
import { harnessShape } from './probes/harness.js';
import { readinessShape } from './probes/readiness.js';
import { storyShape } from './story/story.js';

/** A shape by the name of its file; its `schema` member, a literal, is the id. A field that is removed makes a new one. */
const REPORTS: Readonly<Record<string, { readonly title: string; readonly shape: z.ZodType }>> = {
  eval: { title: 'What `recourse eval --json` prints.', shape: evalReportShape },
  readiness: { title: 'What `recourse readiness --json` prints.', shape: readinessShape },
  harness: { title: 'What `recourse harness audit --json` prints.', shape: harnessShape },
  story: { title: 'What `recourse audit story --json` prints.', shape: storyShape },
};

/** JSON Schemas, draft 2020-12, by file below schemas/reports. */
export function reportSchemas(): Readonly<Record<string, Json>> {
  return Object.fromEntries(
    Object.entries(REPORTS).map(([name, { title, shape }]) => [
      `${name}.schema.json`,
      // zod types what it writes more widely than the JSON it is.
      { title, ...(JSON.parse(JSON.stringify(z.toJSONSchema(shape))) as Readonly<Record<string, Json>>) },
    ]),
  );
}
