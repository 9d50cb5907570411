/** The names in what was typed, with blanks or commas between, that are not there yet. */
export const namesIn = (typed: string, before: readonly string[] = []): string[] => [
  ...new Set(typed.split(/[\s,]+/).filter((name) => name !== '' && !before.includes(name))),
]
