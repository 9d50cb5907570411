/** Counts the statements that this process sends to its databases. */
import { DatabaseSync, StatementSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import { StatementBatch } from '@steward/server/ground/database/postgres-batch.ts'

/** On SQLite, `round trips` and `notifications` are 0. */
export type StatementCost = {
  statements: number
  'round trips': number
  commits: number
  notifications: number
}

/** `isSending`: the first statement of one write to the database server. */
type SentStatement = { text: string; isSending: boolean }

const asked: SentStatement[] = []

type ObservedMethod<Self> = (this: Self, ...given: unknown[]) => unknown

/** Wraps a method of the library: records the statements of each call, then calls the method. */
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

/**
 * False for a query that joins the write of an earlier one: a shared connection sends once in a round of the event
 * loop.
 */
function startsSending(client: pg.Client): boolean {
  if (sending.has(client)) return false
  sending.add(client)
  setImmediate(() => sending.delete(client))
  return true
}

/** The periodic statement of an idle process, which is not counted. */
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

/** Returns the cost of the statements during `act`. */
export async function costOf(
  act: () => Promise<unknown>,
): Promise<StatementCost & { texts: string[] }> {
  const from = asked.length
  await act()
  const statements = asked.slice(from)
  return { ...costOfStatements(statements), texts: statements.map(({ text }) => text) }
}

/** Returns the cost from the start of `act` until no statement has been sent for a while. */
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
