// The two workloads, the same for every engine, the tool and the gates. Pure but for the calls it is given.
//
// recover: eleven effects are taken back, the last first, each looked at before the next.
// saga:    twelve steps are made, the tool refuses the twelfth, and the eleven are taken back likewise.

/** Forward steps of a saga; the tool refuses the last. */
export const STEPS = 12;
/** Effects that are taken back. */
export const EFFECTS = 11;

export type Workload = 'recover' | 'saga';
/** Where the effect is: in a process of its own over HTTP, or in the worker's memory. */
export type Variant = 'http' | 'memory';

/** The tool says no and means it: no engine may ask again. */
export class Refused extends Error {
  override readonly name = 'Refused';
}

/** What every engine calls. Taking back twice is taking back once. */
export interface EffectTool {
  /** Errors: Refused at the last step. */
  act(run: string, step: number): Promise<void>;
  takeBack(run: string, step: number): Promise<void>;
  /** Is it taken back? */
  look(run: string, step: number): Promise<boolean>;
}

/** One durable step of an engine: does the work and remembers that it is done. */
export type Durably = (name: string, work: () => Promise<void>) => Promise<unknown>;

/** Calls of a run in the order in which the tool must have seen them. */
export function expectedTrace(workload: Workload): readonly string[] {
  const forward = Array.from({ length: EFFECTS }, (_, at) => `act ${String(at + 1)}`);
  const back = Array.from({ length: EFFECTS }, (_, at) => String(EFFECTS - at));
  return [
    ...(workload === 'saga' ? [...forward, `refuse ${String(STEPS)}`] : []),
    ...back.flatMap((step) => [`takeBack ${step}`, `look ${step}`]),
  ];
}

/** Takes all back, the last first; each is looked at in the same durable step. */
export async function takeAllBack(tool: EffectTool, run: string, durably: Durably): Promise<void> {
  for (let step = EFFECTS; step >= 1; step -= 1)
    await durably(`back-${String(step)}`, async () => {
      await tool.takeBack(run, step);
      if (!(await tool.look(run, step))) throw new Error(`step ${String(step)} of ${run} is not taken back`);
    });
}

/** Makes all steps; ends with the refusal of the last. Errors: Refused, or what the engine makes of it. */
export async function actAll(tool: EffectTool, run: string, durably: Durably): Promise<void> {
  for (let step = 1; step <= STEPS; step += 1) await durably(`act-${String(step)}`, () => tool.act(run, step));
}
