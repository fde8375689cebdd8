// Tables and lists of codes as pages show them.
export const statusTable = (all) =>
  table(
    ['Code', 'HTTP', 'What it means'],
    Object.entries(all).map(([name, { httpStatus, summary }]) => [code(name), httpStatus, summary]),
  );

export const remedyTable = (all) =>
  table(
    ['Code', 'Remedy'],
    Object.entries(all).map(([name, remedy]) => [code(name), remedy]),
  );

export const code = (name) => `\`${name}\``;
export const list = (names) => names.map(code).join(', ');
export const statuses = (codes) =>
  Object.entries(codes)
    .map(([name, status]) => `${code(name)} (${status})`)
    .join(', ');

export function table(heads, rows) {
  return `${[heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`;
}
