// The manifest of a new project.
import { basename } from 'node:path';

/** What a new project checks its types with. */
const TOOLS = ['typescript', '@types/node'] as const;

/** A package.json: the SDK from its archives, and a script for each program of the template. Pure. */
export function manifestOf(
  name: string,
  archives: readonly string[],
  versions: Readonly<Record<string, string>>,
): object {
  const program = (file: string): string => `node --env-file=.env ${file}`;
  return {
    name: nameOf(name),
    private: true,
    type: 'module',
    engines: { node: '>=22.22' },
    scripts: {
      agent: program('agent.ts'),
      worker: program('worker.ts'),
      undo: program('undo.ts'),
      'called-off': program('called-off.ts'),
      check: 'tsc',
    },
    dependencies: Object.fromEntries(archives.map((file) => [packageOf(file), `file:${file}`])),
    devDependencies: Object.fromEntries(TOOLS.map((tool) => [tool, versions[tool] ?? '*'])),
  };
}

/** `recourse-sdk-0.1.0.tgz` is `@recourse/sdk`. */
function packageOf(archive: string): string {
  const [, name] = /^recourse-(.+?)-\d/.exec(basename(archive)) ?? [];
  return `@recourse/${name ?? basename(archive)}`;
}

/** A name npm takes, near that of the folder. */
function nameOf(folder: string): string {
  const name = folder
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/^-+|-+$/g, '');
  return name === '' ? 'agent' : name;
}
