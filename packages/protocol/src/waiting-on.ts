/** Why a session does not go on, and the words for it that console, command line and integrations share. */
import { z } from 'zod'
import { Timestamp } from './primitives.ts'

export const waitOwners = ['person', 'money', 'machine'] as const
/** Who ends a wait. */
export type WaitOwner = (typeof waitOwners)[number]

/** The waits, each with its owner and with its words behind the name of a session. Of several the first counts. */
export const waitKinds = {
  approval: { who: 'person', says: 'asks for an approval' },
  question: { who: 'person', says: 'asks a question' },
  budget: { who: 'money', says: 'is at its budget' },
  tool_result: { who: 'machine', says: 'waits for the result of a tool' },
  queue: { who: 'machine', says: 'waits for a free place' },
  worker: { who: 'machine', says: 'waits for a worker' },
  rate_limit: { who: 'machine', says: 'waits because the provider of its model limits the rate' },
  model_backoff: { who: 'machine', says: 'asks its model again in a moment' },
  packages: { who: 'machine', says: 'installs packages' },
  files: { who: 'machine', says: 'gets its files' },
  sandbox: { who: 'machine', says: 'starts its sandbox' },
  mcp: { who: 'machine', says: 'waits for its MCP servers' },
  wakeup: { who: 'machine', says: 'sleeps until its next wakeup' },
} as const satisfies Record<string, { who: WaitOwner; says: string }>

export type WaitType = keyof typeof waitKinds
export const waitTypes = Object.keys(waitKinds) as [WaitType, ...WaitType[]]

const detail = z.object({
  event_id: z.string().optional().describe('The call that waits.'),
  tool: z.string().optional().describe('The tool of the call.'),
  session_thread_id: z.string().optional().describe('The child thread that waits.'),
  environment_id: z.string().optional().describe('The environment whose workers are missing.'),
  message: z.string().optional().describe('The last error, shortened.'),
})

export const WaitingOn = z
  .object({
    type: z.enum(waitTypes).describe('Of several waits the one that a person can end comes first.'),
    who: z.enum(waitOwners).describe('Who can end it.'),
    text: z.string().describe('The wait in words, to stand behind the name of the session.'),
    since: Timestamp,
    until: Timestamp.optional().describe('When it ends by itself, where that is known.'),
    count: z.int().describe('Waits with this owner, over all threads of the session.'),
    detail: detail.describe('What waits, and for what.'),
  })
  .nullable()
  .meta({ id: 'WaitingOn', description: 'Why the session does not go on. Null: it runs or rests.' })

export type WaitingOn = z.infer<typeof WaitingOn>
export type Wait = Omit<NonNullable<WaitingOn>, 'count' | 'text' | 'who'>

const order = (type: WaitType): number => waitTypes.indexOf(type)

/** Of several waits the first by the order of `waitKinds`, and of one type the oldest. Null without any. */
export function firstWait(all: readonly Wait[]): WaitingOn {
  const [first] = all.toSorted(
    (one, other) => order(one.type) - order(other.type) || one.since.localeCompare(other.since),
  )
  if (!first) return null
  const { who } = waitKinds[first.type]
  const count = all.filter(({ type }) => waitKinds[type].who === who).length
  return { ...first, who, text: wordsOf(first), count }
}

/** The wait in words, with the name of its tool. */
function wordsOf({ type, detail: { tool } }: Wait): string {
  if (type === 'approval' && tool) return `asks to approve ${tool}`
  if (type === 'tool_result' && tool) return `waits for the result of ${tool}`
  return waitKinds[type].says
}

/** The words of a filter: a type, an owner, or `any`. */
export const waitFilterWords = ['any', ...waitOwners, ...waitTypes] as const
export type WaitFilterWord = (typeof waitFilterWords)[number]

/** The types of waits that the words of a filter name. */
export function waitTypesOf(words: readonly WaitFilterWord[]): WaitType[] {
  return waitTypes.filter((type) =>
    words.some((word) => word === 'any' || word === type || word === waitKinds[type].who),
  )
}
