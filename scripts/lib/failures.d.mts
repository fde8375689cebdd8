export function failuresIn(output: string, longest?: number): string;
export function titlesIn(output: string): readonly string[];
