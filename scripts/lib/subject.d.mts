export function subjectProblems(message: string): readonly string[];
