// What a registry lost, and who saw it before: a service starts and goes on, and a reader reads.
import { describe, expect, it } from '@jest/globals';
import { MemoryRegistry, MemorySchemaMemory, RememberingRegistry } from '@recourse/kafka';
import { Failure } from '@recourse/kernel';
import { createCodecs } from '@recourse/messages';
import { plannedSubjects } from './provision/topics.js';

const LOG = 'recourse.budgets';
const subjects = plannedSubjects({ adapters: [] }).filter(({ subject }) => subject.startsWith(`${LOG}-`));
const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'no failure',
    (cause: unknown) => (cause instanceof Failure ? cause.code : cause),
  );

/** The same schema with the namespace beside its name. */
function inOtherForm(schema: string): string {
  const { name, ...rest } = JSON.parse(schema) as { readonly name: string };
  const dot = name.lastIndexOf('.');
  return JSON.stringify(
    dot < 0 ? { name, ...rest } : { name: name.slice(dot + 1), namespace: name.slice(0, dot), ...rest },
  );
}

class Scene {
  registry = new MemoryRegistry();
  readonly memory = new MemorySchemaMemory();
  readonly remembered: string[] = [];
  readonly errors: unknown[] = [];

  /** A process of a service, with nothing but what is kept. */
  process(): RememberingRegistry {
    return new RememberingRegistry({
      registry: this.registry.forActor('service'),
      memory: this.memory,
      onRemembered: (what) => this.remembered.push(what),
      onError: (cause) => this.errors.push(cause),
    });
  }

  async provisioned(): Promise<this> {
    await createCodecs(this.registry.forActor('provision')).prepareWriter(LOG, { register: true });
    return this;
  }

  /** One record as a process writes it. */
  async written(process = this.process()): Promise<Buffer> {
    const codecs = createCodecs(process);
    await codecs.prepareWriter(LOG);
    const chain = { seq: 1, prev_hash: Buffer.alloc(32), decided_at: 1 };
    const value = codecs.encode(LOG, 'Progress', { ...chain, cursors: [], reacted_seq: 0 });
    await process.settled();
    return value;
  }
}

describe('a service whose registry lost the subjects of its log', () => {
  it('starts with the ids it saw before, and writes the same bytes', async () => {
    const scene = await new Scene().provisioned();
    const before = await scene.written();
    expect(scene.remembered).toEqual([]);
    scene.registry.loseAll();
    expect(await scene.written()).toEqual(before);
    expect(scene.remembered).toContain(`subject ${LOG}-recourse.log.Progress`);
  });

  it('reads what names the lost ids', async () => {
    const scene = await new Scene().provisioned();
    const value = await scene.written();
    scene.registry.loseAll();
    const reader = createCodecs(scene.process());
    await reader.load(value.readUInt32BE(1));
    expect(reader.decodeSync(value)).toMatchObject({ kind: 'decoded', type: 'Progress' });
  });

  it('knows them also where it only read them, and the registry gives a schema back in a form of its own', async () => {
    const scene = await new Scene().provisioned();
    const registry = scene.registry.forActor('service');
    const reader = new RememberingRegistry({
      registry: {
        schemaById: async (id) => inOtherForm(await registry.schemaById(id)),
        idOf: (...asked) => registry.idOf(...asked),
      },
      memory: scene.memory,
    });
    for (const { subject, schema } of subjects) await reader.schemaById(await registry.idOf(subject, schema));
    await reader.settled();
    scene.registry.loseAll();
    const written = await scene.written();
    expect(inOtherForm(await scene.process().schemaById(written.readUInt32BE(1)))).toContain('"Progress"');
  });

  it('knows them under any subject: those of a topic that it never wrote to', async () => {
    const scene = await new Scene().provisioned();
    await scene.written();
    scene.registry.loseAll();
    expect(await scene.process().idOf('another-subject', subjects[0]?.schema ?? '')).toBeGreaterThan(0);
  });

  it('waits where it never saw them', async () => {
    const scene = await new Scene().provisioned();
    scene.registry.loseAll();
    expect(await codeOf(scene.written())).toBe('UNKNOWN_SCHEMA');
  });

  it('waits where what was seen cannot be asked, and goes on when it can', async () => {
    const scene = await new Scene().provisioned();
    await scene.written();
    scene.registry.loseAll();
    const process = scene.process();
    scene.memory.available = false;
    expect(await codeOf(scene.written(process))).toBe('DATABASE_UNAVAILABLE');
    scene.memory.available = true;
    await scene.written(process);
  });

  it('writes no id that is another schema’s by now', async () => {
    const scene = await new Scene().provisioned();
    await scene.written();
    scene.registry = new MemoryRegistry();
    for (const { subject, schema } of subjects.toReversed())
      await scene.registry.forActor('other').idOf(`other-${subject}`, schema, { register: true });
    expect(await codeOf(scene.written())).toBe('UNKNOWN_SCHEMA');
  });

  it('takes the new id once a schema was registered again', async () => {
    const scene = await new Scene().provisioned();
    const before = await scene.written();
    scene.registry.loseAll();
    await scene.provisioned();
    const after = await scene.written();
    expect(after.readUInt32BE(1)).not.toBe(before.readUInt32BE(1));
    expect(scene.remembered).toEqual([]);
    scene.registry.loseAll();
    expect(await scene.written()).toEqual(after);
  });
});

describe('a registry whose answers are kept', () => {
  it('is asked once for all that the service was built with, and what it does not have is passed over', async () => {
    const scene = await new Scene().provisioned();
    const unknown = { subject: 'none', schema: '{"type":"record","name":"None","fields":[]}' };
    expect(await scene.process().learnAll([...subjects, unknown])).toEqual(['none']);
    expect((await scene.memory.all()).map(({ schema }) => schema).sort()).toEqual(
      [...new Set(subjects.map(({ schema }) => schema))].sort(),
    );
    scene.registry.loseAll();
    await scene.written();
  });

  it('is as good as one whose answers cannot be kept: that is told, and nothing waits for it', async () => {
    const scene = await new Scene().provisioned();
    scene.memory.available = false;
    await scene.written();
    expect(scene.errors.length).toBeGreaterThan(0);
  });

  it('that does not answer is not needed to read what was seen before, by whichever process', async () => {
    const scene = await new Scene().provisioned();
    const value = await scene.written();
    scene.registry.available = false;
    const [id, reader] = [value.readUInt32BE(1), createCodecs(scene.process())];
    await reader.load(id);
    expect(reader.decodeSync(value)).toMatchObject({ kind: 'decoded', type: 'Progress' });
    scene.memory.available = false;
    expect(await codeOf(createCodecs(scene.process()).load(id))).toBe('REGISTRY_UNAVAILABLE');
  });

  it('that does not answer is waited for', async () => {
    const scene = await new Scene().provisioned();
    await scene.written();
    scene.registry.available = false;
    expect(await codeOf(scene.written())).toBe('REGISTRY_UNAVAILABLE');
  });
});
