/** Counts what is asked of the databases of this process. */
import { DatabaseSync, StatementSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import { StatementBatch } from '@steward/server/ground/database/postgres-batch.ts'

/** On SQLite no statement is a round trip, and nothing is notified. */
export type StatementCost = {
  statements: number
  'round trips': number
  commits: number
  notifications: number
}

/** `isSending`: the first of what goes out to a database server in one write. */
type SentStatement = { text: string; isSending: boolean }

const asked: SentStatement[] = []

type ObservedMethod<Self> = (this: Self, ...given: unknown[]) => unknown

/** Notes the statements of each call of a method, and then does what the method did. */
function note<Self extends object>(
  prototype: Self,
  name: string,
  statementsOf: (self: Self, first: unknown) => readonly SentStatement[],
): void {
  const method = Object.getOwnPropertyDescriptor(prototype, name)?.value as ObservedMethod<Self>
  Object.defineProperty(prototype, name, {
    value(this: Self, ...given: unknown[]) {
      asked.push(...statementsOf(this, given[0]))
      return method.apply(this, given)
    },
  })
}

const embedded = (text: string): SentStatement[] => [{ text, isSending: false }]

for (const name of ['all', 'get', 'run'])
  note(StatementSync.prototype, name, ({ sourceSQL }) => embedded(sourceSQL))
note(DatabaseSync.prototype, 'exec', (_, text) => embedded(String(text)))
note(pg.Client.prototype, 'query', (client, given) => {
  const isNext = startsSending(client)
  return textsOf(given).map((text, at) => ({ text, isSending: isNext && at === 0 }))
})

function textsOf(given: unknown): readonly string[] {
  if (given instanceof StatementBatch) return given.texts
  return [typeof given === 'string' ? given : ((given as { text?: string }).text ?? '')]
}

const sending = new WeakSet<pg.Client>()

/** False for what joins the write of an earlier query: readers who share a connection send once in a round of the event loop. */
function startsSending(client: pg.Client): boolean {
  if (sending.has(client)) return false
  sending.add(client)
  setImmediate(() => sending.delete(client))
  return true
}

/** What a process asks on its own, however little there is to do: not a part of any journey. */
const ofThePulse = /^\s*select 1\s*$/i

function costOfStatements(statements: readonly SentStatement[]): StatementCost {
  const own = statements.filter(({ text }) => !ofThePulse.test(text))
  const count = (pattern: RegExp) => own.filter(({ text }) => pattern.test(text)).length
  return {
    statements: own.length,
    'round trips': own.filter(({ isSending }) => isSending).length,
    commits: count(/^\s*commit/i),
    notifications: count(/pg_notify/),
  }
}

/** Of what is asked meanwhile. */
export async function costOf(
  act: () => Promise<unknown>,
): Promise<StatementCost & { texts: string[] }> {
  const from = asked.length
  await act()
  const statements = asked.slice(from)
  return { ...costOfStatements(statements), texts: statements.map(({ text }) => text) }
}

/** Of what is asked from now until nothing has been asked for a while. */
export const costUntilRest = (act: () => Promise<unknown>) =>
  costOf(async () => {
    await act()
    await untilRest()
  })

export async function untilRest(): Promise<void> {
  for (let last = -1; last !== asked.length;) {
    last = asked.length
    await setTimeout(60)
  }
}
