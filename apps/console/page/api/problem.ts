// What went wrong with a request, as the page tells it: a code, a sentence, and where in the input each problem lies.
import * as z from 'zod/mini';

export interface InputProblem {
  readonly path: string;
  readonly message: string;
}

export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  constructor(
    readonly code: string,
    readonly status: number,
    readonly detail: string,
    readonly problems: readonly InputProblem[] = [],
  ) {
    super(`${code}: ${detail}`);
  }
}

const BODY = z.object({
  code: z.string(),
  detail: z.optional(z.string()),
  message: z.optional(z.string()),
  title: z.optional(z.string()),
  problems: z.optional(z.array(z.object({ path: z.optional(z.string()), message: z.optional(z.string()) }))),
});

/** Reads the body of an error answer. */
export function problemIn(body: unknown, status: number): ApiProblem {
  const read = BODY.safeParse(body);
  if (!read.success)
    return new ApiProblem('ANSWER_UNEXPECTED', status, 'The answer is not one that the console knows.');
  const { code, detail, message, title, problems = [] } = read.data;
  return new ApiProblem(
    code,
    status,
    detail ?? message ?? title ?? '',
    problems.map((one) => ({ path: one.path ?? '', message: one.message ?? '' })),
  );
}

export function problemOf(cause: unknown): ApiProblem {
  if (cause instanceof ApiProblem) return cause;
  return new ApiProblem('PAGE_FAULT', 0, cause instanceof Error ? cause.message : String(cause));
}
