/**
 * Reads the context of a message at its provider, after the delivery was stored and before the session gets it. The
 * reads have no effect there, so a process that ends among them leaves nothing behind.
 */
import type { Clock } from '@steward/base/time.ts'
import type { IncomingFile } from '../../../ground/database/tables/integrations.ts'
import type { Context, ContextQuestion, ContextSource } from '../context.ts'
import type { AnswerOutcome, IncomingMessage } from '../integration.ts'
import type { App } from '../installations/app.ts'
import { tokenInTime } from '../installations/app-access.ts'
import type { TokenDeps } from '../installations/token.ts'
import type { Holds } from '../answers/holds.ts'
import { parsePayload } from './payload.ts'
import { parseCommand } from './words.ts'
import type { JobContext } from '../job-context.ts'
import type { InstallationRow, PublicationRow } from '../store.ts'
import { rows } from '../../../ground/database/rows.ts'
import type { Remembered } from '../remembered.ts'

export type GatherDeps = TokenDeps & { holds: Holds; remembered: Remembered }

export type Gathered = { context: Context; missing: string[]; files: readonly IncomingFile[] }

/** The longest time for all reads of a message. */
const mostMs = 10_000
/** The most attempts to read what the provider does not give for now. After them the message goes without it. */
const mostWaits = 3
/** A provider that wants no request for longer is not waited for. */
const mostHeldMs = 30_000

const nothing: Gathered = { context: {}, missing: [], files: [] }

/**
 * `since`: the `since` of the last message that the session has read; null for a session that begins. Throws when the
 * provider must be asked again later.
 */
export async function gatherContext(
  deps: GatherDeps,
  context: JobContext,
  publication: PublicationRow,
  { message, since, begun }: { message: IncomingMessage; since: string | null; begun: number },
): Promise<Gathered> {
  const app = deps.apps.get(publication.integration)
  // A message of one word, which answers a question, needs none.
  if (!app?.gather || parseCommand(message.text)) return nothing
  const found = await openSource(deps, context, publication, { app, since })
  if ('problem' in found) return { ...nothing, missing: [`everything around it: ${found.problem}`] }
  const { context: read, files = [] } = await app.gather(found.source, message)
  const [later] = found.waits
  if (later !== undefined && begun + 1 < mostWaits) throw new Error(`the context: ${later}`)
  return { context: read, missing: [...new Set([...found.missing, ...found.waits])], files }
}

type OpenSource = { source: ContextSource; missing: string[]; waits: string[] }

/** Opens what reads at the provider for the publication, with its credential. */
export async function openSource(
  deps: GatherDeps,
  context: JobContext,
  { tenant_id: tenant, installation_id: id, spec }: PublicationRow,
  { app, since }: { app: App; since: string | null },
): Promise<OpenSource | { problem: string }> {
  const { db, signal } = context
  const row = id === null ? undefined : await rows(db.read, 'installations').find(tenant, id)
  if (row?.status !== 'active') return { problem: 'the app is no longer installed' }
  const token = await tokenInTime(deps, context, row)
  if (token.kind === 'refused') return { problem: 'the app has no valid token' }
  if (token.kind !== 'token') throw new Error('the provider gives no token')
  const missing: string[] = []
  const waits: string[] = []
  const ending = AbortSignal.any([signal, AbortSignal.timeout(mostMs)])
  const asking = asker(deps, { app, row, token: token.token, signal: ending })
  return {
    missing,
    waits,
    source: {
      since,
      spec,
      botUserId: row.bot_user_id,
      miss: (text) => void missing.push(text),
      remembered: (key, find) => deps.remembered(`${row.id}/${key}`, find),
      async ask(question) {
        const answer = await asking(question)
        if ('found' in answer) return answer.found
        if ('wait' in answer) waits.push(`${question.what}: ${answer.wait}`)
        else missing.push(`${question.what}: ${answer.missing}`)
        return undefined
      },
    },
  }
}

type Asker = { app: App; row: InstallationRow; token: string; signal: AbortSignal }
type AnswerTo<Answer> = { found: Answer } | { wait: string } | { missing: string }

const asker =
  ({ holds, clock, sendToProvider }: GatherDeps, { app, row, token, signal }: Asker) =>
  async <Answer>({ call, form }: ContextQuestion<Answer>): Promise<AnswerTo<Answer>> => {
    const heldMs = (holds.get(row.id) ?? 0) - clock.now()
    if (heldMs > 0) return notNow(heldMs, 'the provider wants no request for now')
    const { method, path, headers, body } = call
    const authorization = `Bearer ${token}`
    const letter = {
      method,
      url: `${app.apiUrl}${path}`,
      headers: { ...headers, authorization },
      body,
    }
    const answer = await sendToProvider(letter, signal)
    const verdict = app.adapter.verdict(answer, oneAttempt(clock))
    if (verdict.kind === 'again') {
      if (verdict.heldMs !== undefined) holds.set(row.id, clock.now() + verdict.heldMs)
      return notNow(verdict.heldMs ?? 0, app.adapter.reasonOf(answer))
    }
    if (verdict.kind !== 'delivered') return { missing: app.adapter.reasonOf(answer) }
    const { data } = form.safeParse(bodyOf(answer))
    return data === undefined ? { missing: 'the answer is not readable' } : { found: data }
  }

const notNow = (heldMs: number, why: string) =>
  heldMs >= mostHeldMs ? { missing: why } : { wait: why }

const oneAttempt = (clock: Clock) => ({ attempts: 1, random: 0.5, nowMs: clock.now() })

const bodyOf = (answer: AnswerOutcome): unknown =>
  'body' in answer ? parsePayload(Buffer.from(answer.body)) : undefined
