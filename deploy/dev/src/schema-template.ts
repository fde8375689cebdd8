// What a registry holds once the schemas of all topics are registered, kept as a file: the stack of a test begins with it.
//
// Boundary: made once per content by a registry on throw-away data. It is a convenience: where making it fails, schemas are
// registered one by one, a thousand requests to a cold JVM.
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { copyFile, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { SCHEMAS, TOPICS } from '@recourse/messages';
import { keepDir } from '../../../scripts/lib/paths.mjs';
import type { Java } from '../../../scripts/lib/prerequisites.mjs';
import { superviseChild } from './child.js';
import { choosePorts } from './ports.js';
import { topicSpecs } from './provision.js';
import { registerTopics } from './register-topics.js';
import { DATABASE_FILE, registryPlan, registryUrl } from './schema-registry.js';
import type { StateBook } from './state-file.js';

/** Topics whose schemas it holds; those of more adapters are registered when they are planned. */
export function templateTopics(): readonly string[] {
  return topicSpecs().map(({ name }) => name);
}

/** Where the template of this registry and these schemas lies, made or not. */
export function templateFile(app: string): string {
  const content = JSON.stringify([basename(app), SCHEMAS, TOPICS, templateTopics()]);
  const digest = createHash('sha256').update(content).digest('hex').slice(0, 12);
  return join(keepDir, 'archives', `schemas-${digest}.mv.db`);
}

/** Makes the template unless it is there. */
export async function makeTemplate(
  { app, java }: { readonly app: string; readonly java: Java },
  book: StateBook,
  say: (line: string) => void,
): Promise<void> {
  const file = templateFile(app);
  if (existsSync(file)) return;
  say('keeping a registry with all schemas for tests (first run only)');
  const folder = mkdtempSync(join(tmpdir(), 'recourse-schemas-'));
  const partial = `${file}.${String(process.pid)}.partial`;
  try {
    const ports = await choosePorts(['registry', 'registryManagement']);
    const child = superviseChild(
      registryPlan({ app, java, folder, logFile: join(folder, 'registry.log'), ports }),
      book,
    );
    await child.start();
    await registerTopics({ url: registryUrl(ports.registry) }, templateTopics());
    await child.stop();
    mkdirSync(dirname(file), { recursive: true });
    copyFileSync(join(folder, DATABASE_FILE), partial);
    renameSync(partial, file);
  } catch (cause) {
    say(`schemas are registered anew for each stack (${cause instanceof Error ? cause.message : String(cause)})`);
  } finally {
    rmSync(partial, { force: true });
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Lets an empty registry begin with the template, unless it begins with no topics. */
export async function beginWithTemplate(app: string, folder: string, topics: readonly string[]): Promise<void> {
  if (topics.length === 0) return;
  await mkdir(folder, { recursive: true });
  await copyFile(templateFile(app), join(folder, DATABASE_FILE));
}
