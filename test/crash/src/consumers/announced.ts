// What the notifications log says, as far as it has been read: the measure of what everybody heard.
import { isInScope } from '@recourse/contract';
import type { StackFacts } from '@recourse/dev-stack';
import { announcedIn, NOTIFICATIONS_TOPIC } from '@recourse/sdk';
import { PARTITIONS } from '../arena.js';
import type { Consumer } from './audience.js';
import { onceOf } from './heard.decisions.js';
import type { Word } from './heard.decisions.js';
import { wordOf, wordsAt } from './listener.js';
import { LogReader } from './log-reader.js';

interface Said {
  readonly word: Word;
  readonly tenant: string;
  readonly agent: string;
  readonly subject: string;
}

/** The log, read on at every look. */
export class Announced {
  readonly fallen = new Set<string>();
  private readonly said: Said[] = [];
  private readonly reader: LogReader<typeof NOTIFICATIONS_TOPIC>;

  constructor(stack: StackFacts, logId: string) {
    this.reader = new LogReader(stack, logId, NOTIFICATIONS_TOPIC, PARTITIONS);
  }

  get voids(): number {
    return this.reader.voids;
  }

  /** Words of the log with their places, all of them. */
  get words(): readonly Word[] {
    return this.said.map(({ word }) => word);
  }

  /** Reads on. Errors: those of broker and registry. */
  async look(): Promise<void> {
    await this.reader.news((told) => {
      if (told.type !== 'RollbackAnnounced') return;
      const words = wordsAt(told.partition, told.seq, told);
      for (const { mutation_id, tenant, agent_id: agent, subject_ref } of announcedIn(told.body)) {
        const of = words.filter(({ commitId }) => commitId === mutation_id);
        this.said.push(...of.map((word) => ({ word, tenant, agent, subject: subject_ref ?? '' })));
        this.fallen.add(mutation_id);
      }
    });
  }

  /** What a consumer has to have heard: with the SDK each commit and its fall once, of what is in its scope; without it every word. */
  for({ kind, scope }: Consumer): readonly Word[] {
    const meant = this.said.filter(({ word, ...of }) => isInScope(scope, { ...of, run: word.runId }));
    return kind === 'inbox' ? onceOf(meant.map(({ word }) => wordOf(word.kind, word))) : meant.map(({ word }) => word);
  }

  close(): Promise<void> {
    return this.reader.close();
  }
}
