// Drill: goes every repair path of an adapter with a canary, and says where one is no longer as its contract has it (C80).
//
// Boundary: calls the tools that a worker would call, with the same arguments and keys; records nothing, and touches nothing but
// the canary it made.
//
// Invariants
//   I1. Nothing is undone that the drill did not make.
//   I2. A path that could not be exercised is told as that, never as clean.
import { bindReversal, boundFacts, forwardFinding, reversalCapabilityOf, termsOf } from '@recourse/contract';
import type { Contract } from '@recourse/contract';
import { deriveId } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';
import type { ContractTerms, ObservationPhase } from '@recourse/messages';
import { copyOf } from '../guard/copied.js';
import { handleIn } from '../guard/handle.js';
import { isStream, lastOf } from '../tool/streamed.js';
import { wordsOf } from '../tool/thrown.js';
import { DrillCalls } from './drill.calls.js';
import type { Answered, BoundStep, Made } from './drill.calls.js';
import { DRILL_PATHS, drifted, notRun, ofCondition, ofFinding, ofShape, resultSchemaOf } from './drill.decisions.js';
import type { DrillPath, DrillVerdict } from './drill.decisions.js';
import { drillReversal } from './drill.reversal.js';
import type { DrilledReversal } from './drill.reversal.js';
import type { Canary, DrillFinding, DrillOptions, DrillReport } from './drill.messages.js';

/**
 * Exercises every repair path of an adapter, one capability after the other.
 *
 * Shape:  findings in the order of contracts and paths; a capability that nothing undoes by itself has none.
 * Errors: none of the tools'; they are findings.
 */
export async function runDrill(options: DrillOptions): Promise<DrillReport> {
  const {
    kit: { adapter, canaries },
    contracts,
    clock,
    drillId,
  } = options;
  const startedAt = clock.now();
  const findings: DrillFinding[] = [];
  for (const contract of contracts.filter(({ name }) => name.startsWith(`${adapter}.`))) {
    const reversal = reversalCapabilityOf(contract);
    if (reversal === null) continue;
    const canary = Object.hasOwn(canaries, contract.name) ? canaries[contract.name] : undefined;
    if (canary === undefined)
      findings.push({
        capability: contract.name,
        path: 'forward',
        called: contract.name,
        ...notRun('there is no canary for it'),
      });
    else
      findings.push(
        ...(await new CapabilityDrill({
          ...options,
          contract,
          reversal,
          canary,
          terms: termsOf(contract, NO_DIGEST),
        }).run()),
      );
  }
  const verdict = findings.some((finding) => finding.verdict === 'drift')
    ? 'drift'
    : findings.length === 0 || findings.some((finding) => finding.verdict === 'not_run')
      ? 'not_run'
      : 'clean';
  return { adapter, drill_id: drillId, started_at: startedAt, ended_at: clock.now(), verdict, findings };
}

/** What undoes the canary. */
type Bound = DrilledReversal['bound'];

/** A drill goes by the words of a contract, not by its digest. */
const NO_DIGEST = Buffer.alloc(32);

interface Scene extends DrillOptions {
  readonly contract: Contract;
  readonly reversal: string;
  readonly canary: Canary;
  readonly terms: ContractTerms;
}

class CapabilityDrill {
  private readonly findings: DrillFinding[] = [];
  private readonly forwardKey: string;
  private readonly undoKey: string;

  private readonly calls: DrillCalls;

  constructor(private readonly scene: Scene) {
    this.calls = new DrillCalls(scene, scene.terms);
    this.forwardKey = deriveId('drill', scene.drillId, scene.contract.name, 'forward');
    this.undoKey = `rev_${deriveId('drill', scene.drillId, scene.contract.name, 'undo')}`;
  }

  /** One finding per path that applies; those behind one that cannot be passed are told as not exercised. */
  async run(): Promise<readonly DrillFinding[]> {
    const args = await this.arguments();
    if (args === undefined) return this.rest('the canary could not be made');
    await this.findForward('find_nothing', args, 'not_happened');
    const made = await this.forward(args);
    if (made === null) return this.rest('the canary could not be made');
    await this.findForward('find_forward', args, 'happened', made.externalRef);
    const bound = this.bind(made);
    if (bound === null) return this.rest('its reversal could not be bound');
    await this.undoBound(made, bound);
    return this.findings;
  }

  /** What the canary is made with; nothing where the kit has none, which is told. */
  private async arguments(): Promise<Json | undefined> {
    const { contract, canary } = this.scene;
    try {
      return await canary.args();
    } catch (error) {
      this.tell('forward', contract.name, notRun(`the kit gives no arguments for its canary: ${wordsOf(error)}`));
      return undefined;
    }
  }

  /** What a worker does for a step, each call judged by itself. */
  private async undoBound(made: Made, bound: Bound): Promise<void> {
    const { terms, reversal } = this.scene;
    const step: BoundStep = { args: bound.args, made };
    const checked =
      terms.stale_capability !== null && terms.stale_condition !== null
        ? await this.look('stale_check', 'stale_check', terms.stale_capability, terms.stale_condition, step, true)
        : undefined;
    if (terms.verify_capability !== null && terms.success_condition !== null)
      await this.look('look_before', 'verify', terms.verify_capability, terms.success_condition, step, false);
    const { contracts, clock, canary } = this.scene;
    const tell: DrilledReversal['tell'] = (path, called, verdict) => {
      this.tell(path, called, verdict);
    };
    const { calls, undoKey: key } = this;
    const parts = { calls, contracts, clock, terms, checked, effectsUnder: canary.effectsUnder };
    if (!(await drillReversal({ ...parts, capability: reversal, key, bound, made, tell }))) {
      this.rest('the canary could not be undone');
      return;
    }
    const { reconcile_capability: lookBack, success_condition: success } = terms;
    if (lookBack !== null && success !== null) await this.look('look_back', 'reconcile', lookBack, success, step, true);
  }

  private async forward(args: Json): Promise<Made | null> {
    const { contract, canary } = this.scene;
    const { forward } = canary;
    const priorValue =
      forward.capturePriorValue === undefined
        ? CAPTURED_NONE
        : await this.calls.ask(() => forward.capturePriorValue?.(copyOf(args)) ?? Promise.resolve(null));
    if (priorValue.kind === 'failed') {
      this.tell('forward', contract.name, priorValue.verdict);
      return null;
    }
    const context = {
      idempotencyKey: this.forwardKey,
      callId: this.forwardKey,
      runId: this.calls.runId,
      stagedRef: null,
    };
    let externalRef: string | null = null;
    const answered = await this.calls.attempt(async () => {
      const said: unknown = await forward.execute(copyOf(args), context);
      const given = isStream(said) ? await lastOf(said) : said;
      externalRef = handleIn(forward, given).handle;
      return given;
    });
    if (answered.kind === 'failed') {
      this.tell('forward', contract.name, answered.verdict);
      return null;
    }
    const shape = ofShape(answered.value, contract.result_schema, 'its answer');
    this.tell('forward', contract.name, answered.unwritten ?? shape);
    return {
      args,
      result: answered.value,
      externalRef,
      priorValue: priorValue.value,
    };
  }

  /** The ledger asks so when nobody knows how a forward call ended. */
  private async findForward(
    path: 'find_nothing' | 'find_forward',
    args: Json,
    wanted: 'happened' | 'not_happened',
    externalRef: string | null = null,
  ): Promise<void> {
    const { reconcile_capability: capability } = this.scene.terms;
    if (capability === null) return;
    const asked = await this.calls.call(capability, 'reconcile', this.forwardKey, {
      args,
      made: { args, result: null, externalRef: null, priorValue: null },
      about: 'forward',
    });
    if (asked.kind === 'failed') {
      this.tell(path, capability, asked.verdict);
      return;
    }
    this.tell(path, capability, ofFinding(forwardFinding(asked.value), wanted, externalRef));
  }

  private bind(made: Made): Bound | null {
    const { contract, contracts, reversal } = this.scene;
    const binding = bindReversal(contract, made);
    if (binding.kind !== 'bound') {
      this.tell(
        'bind',
        null,
        drifted(
          'schema',
          binding.kind === 'incomplete' ? `the answer lacks ${binding.missing.join(', ')}` : 'nothing is bound',
        ),
      );
      return null;
    }
    this.tell(
      'bind',
      null,
      ofShape(binding.args, contracts.find(({ name }) => name === reversal)?.args_schema, `arguments of ${reversal}`),
    );
    return binding;
  }

  /** Tells what is seen, and answers with it. */
  private async look(
    path: DrillPath,
    phase: ObservationPhase,
    capability: string,
    condition: string,
    step: BoundStep,
    wanted: boolean,
  ): Promise<Json | undefined> {
    const answered = await this.calls.call(capability, phase, this.undoKey, step);
    this.tell(path, capability, this.judged(answered, capability, condition, step, wanted));
    return answered.kind === 'answered' ? answered.value : undefined;
  }

  private judged(
    answered: Answered,
    capability: string,
    condition: string,
    { args, made }: BoundStep,
    wanted: boolean,
  ): DrillVerdict {
    if (answered.kind === 'failed') return answered.verdict;
    const shape = ofShape(answered.value, resultSchemaOf(this.scene.contracts, capability), 'what is seen');
    if (shape.verdict !== 'clean') return shape;
    return ofCondition(
      condition,
      {
        observed: answered.value,
        bound: boundFacts({ reversalArgs: args, externalRef: made.externalRef }),
        args: made.args,
      },
      wanted,
    );
  }

  private tell(path: DrillPath, called: string | null, verdict: DrillVerdict): void {
    this.findings.push({ capability: this.scene.contract.name, path, called, ...verdict });
  }

  /** Paths that come after the last one told, as not exercised. */
  private rest(why: string): readonly DrillFinding[] {
    const from = DRILL_PATHS.indexOf(this.findings.at(-1)?.path ?? 'find_nothing') + 1;
    for (const path of DRILL_PATHS.slice(from)) this.tell(path, null, notRun(why));
    return this.findings;
  }
}

const CAPTURED_NONE: Answered = { kind: 'answered', value: null, unwritten: null };
