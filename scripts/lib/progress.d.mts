export function step<T>(
  title: string,
  work: (say: (line: string) => void) => Promise<T>,
  out?: NodeJS.WriteStream,
): Promise<T>;
