/** The command line of `npm run bench`. */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { describeProblem } from '@steward/protocol/problems.ts'
import { z } from 'zod'
import type { Case } from './cases.ts'
import { cases, casesNamed, databases } from './cases.ts'
import { columns } from './figures.ts'
import type { Samples } from './samples.ts'
import { readResults } from './samples.ts'

export const exits = { failed: 1, usage: 2, skipped: 3 } as const

export const help = `npm run bench -- [options]

  --only NAME         one case, or all whose names contain this
  --database NAME     sqlite or postgres; both without it
  --rounds N          measure N times, and tell medians with their spread
  --out FILE          keep the figures as JSON
  --compare FILE      old and new side by side: FILE was written by --out
  --against FOLDER    measure another checkout in turn with this one: old, new, new, old …
  --minutes N         how long the soak lasts; 60 without it
  --profile NAME      the cases of that name, with a CPU profile of their servers: prints the shares by room and the
                      hottest functions, and writes NAME-DATABASE-N.cpuprofile to the current folder, for the
                      developer tools of a browser. A profile begins with the first answer of its server

Was a change worth it?
  npm run bench -- --only shortTurns --rounds 5 --out before.json     before the change
  npm run bench -- --only shortTurns --rounds 5 --compare before.json after it
On a noisy machine, with the old state in another checkout:
  npm run bench -- --only shortTurns --rounds 5 --against ../other
"apart" in the last column: the spreads of old and new have nothing in common.

Exits with ${exits.failed} where a case has failed, with ${exits.usage} where the command line is wrong, and with ${exits.skipped} where a case was skipped because a
program is missing.

Cases:
${columns(cases.map(({ name, measures, onlyNamed }) => [`  ${name}`, `${measures}${onlyNamed ? '; only where it is named' : ''}`]))}`

const count = z.coerce.number<string>().int().min(1)
const Given = z.object({
  only: z.string().optional(),
  database: z.enum(databases).optional(),
  rounds: count.optional(),
  out: z.string().optional(),
  compare: z.string().optional(),
  against: z.string().optional(),
  minutes: count.optional(),
  profile: z.string().optional(),
  help: z.boolean().optional(),
})

export type Options = z.infer<typeof Given> & {
  chosen: readonly Case[]
  /** Figures of the file that `--compare` names. */
  old: Samples
}

/** Throws when the command line is wrong. The message says how to mend it. */
export function readOptions(args: readonly string[]): Options {
  const text = { type: 'string' } as const
  const names = Object.keys(Given.shape).map((name) => [name, text] as const)
  const options = { ...Object.fromEntries(names), help: { type: 'boolean' } } as const
  const { values } = parseArgs({ args: [...args], options })
  const given = Given.safeParse(values, { error: describeProblem })
  if (!given.success) {
    const problems = given.error.issues.map(
      (issue) => `--${issue.path.join('.')}: ${issue.message}`,
    )
    throw new Error(problems.join('\n'))
  }
  const { only, profile, compare, against } = given.data
  if (profile !== undefined && (only ?? against) !== undefined)
    throw new Error('--profile names its cases itself, and goes with neither --only nor --against')
  if (compare !== undefined && against !== undefined)
    throw new Error('--compare and --against both name what is old: give one of them')
  const chosen = casesNamed(profile ?? only)
  if (chosen.length === 0) throw new Error(`no case is called ${profile ?? only}`)
  return {
    ...given.data,
    ...(against !== undefined && { against: checkoutAt(against) }),
    chosen,
    old: compare === undefined ? new Map() : readResults(compare),
  }
}

function checkoutAt(folder: string): string {
  const checkout = resolve(folder)
  if (!existsSync(join(checkout, 'bench/main.ts')))
    throw new Error(`--against: ${checkout} is no checkout of Steward: it has no bench/main.ts`)
  return checkout
}
