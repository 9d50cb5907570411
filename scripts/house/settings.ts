import type { Source } from './sources.ts'

const declared = /\bsetting\(\s*'([A-Z][A-Z0-9_]{3,})'/g
/** A name as a text of its own, as a member, or as a key; the words of a message are none of these. */
const stated =
  /'([A-Z][A-Z0-9_]{3,})'|\.([A-Z][A-Z0-9_]{3,})\b|(?:^|[{,])\s*([A-Z][A-Z0-9_]{3,}):/gm

/** The program that a file belongs to. Files of the other packages belong to both programs. */
const programOf = (path: string): string | undefined =>
  /^packages\/(server|worker)\//.exec(path)?.[1]

type Programs = Set<string | undefined>

const isPartOf = (programs: Programs, path: string): boolean => {
  const program = programOf(path)
  return program === undefined || programs.has(program) || programs.has(undefined)
}

/** What sandboxes tell the programs in them, by variables of those programs. */
const toldInSandboxes = 'packages/sandbox/src/egress/variables.ts'

/**
 * Settings whose name stands in the code of more than one file: declared in one, read by name in another. A variable of
 * another program with the same name is no setting of this program: the worker gives `PORT` to an MCP server.
 */
export function scatteredSettings(sources: readonly Source[]): string[] {
  const programs = new Map<string, Programs>()
  for (const { path, text } of sources)
    for (const [, name = ''] of text.matchAll(declared))
      programs.set(name, (programs.get(name) ?? new Set()).add(programOf(path)))
  if (programs.size === 0) throw new Error("no file declares a setting as setting('NAME', …)")
  const files = new Map<string, Set<string>>()
  for (const { path, text } of sources.filter((source) => source.path !== toldInSandboxes))
    for (const [, quoted, member, key] of text.matchAll(stated)) {
      const name = quoted ?? member ?? key ?? ''
      const declaring = programs.get(name)
      if (declaring && isPartOf(declaring, path))
        files.set(name, (files.get(name) ?? new Set()).add(path))
    }
  return [...files]
    .filter(([, paths]) => paths.size > 1)
    .map(([name, paths]) => `${name}: ${[...paths].join(' ')}`)
}
