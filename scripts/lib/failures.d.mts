export function failuresIn(output: string, longest?: number): string;
