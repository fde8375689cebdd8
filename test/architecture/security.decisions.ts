// Reads the tables of docs/security.md: attack, answer, spec. Pure.
//
// Shape: a cell of specs holds `[name](../path): title of a test`, several of them with <br> between.

/** A row of a table: what was tried, what was answered, and the tests that show it. */
export interface SecurityRow {
  readonly attack: string;
  readonly answer: string;
  readonly tests: readonly { readonly spec: string; readonly title: string }[];
}

const HEAD = /^\| Attack +\| Answer +\| Spec +\|$/;
const SPEC = /^\[[^\]]+\]\(\.\.\/([^)]+)\): (.+)$/;

/** Every row below a head of `Attack | Answer | Spec`. */
export function securityRows(page: string): readonly SecurityRow[] {
  const rows: SecurityRow[] = [];
  let isInside = false;
  for (const line of page.split('\n')) {
    if (HEAD.test(line)) isInside = true;
    else if (!line.startsWith('|')) isInside = false;
    else if (isInside && !line.startsWith('| ---')) rows.push(rowOf(line));
  }
  return rows;
}

/** What a row lacks. */
export function securityProblems({ attack, answer, tests }: SecurityRow): readonly string[] {
  return [
    ...(attack === '' ? ['a row names no attack'] : []),
    ...(answer === '' ? [`${attack} has no answer`] : []),
    ...(tests.length === 0 ? [`${attack} names no spec`] : []),
  ];
}

function rowOf(line: string): SecurityRow {
  const [attack = '', answer = '', specs = ''] = line
    .slice(1, -1)
    .split('|')
    .map((cell) => cell.trim());
  const tests = specs.split('<br>').flatMap((each) => {
    const [, spec, title] = SPEC.exec(each.trim()) ?? [];
    return spec === undefined || title === undefined ? [] : [{ spec, title }];
  });
  return { attack, answer, tests };
}
