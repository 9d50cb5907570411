/** Counts what is asked of the databases of this process. */
import { DatabaseSync, StatementSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import { StatementBatch } from '@steward/server/ground/database/postgres-batch.ts'

/** On SQLite no statement is a round trip, and nothing is notified. */
export type Cost = { statements: number; commits: number; notifications: number }

const asked: string[] = []

type Method<Self> = (this: Self, ...given: unknown[]) => unknown

/** Notes the text of each call of a method, and then does what the method did. */
function note<Self extends object>(
  prototype: Self,
  name: string,
  textsOf: (self: Self, first: unknown) => string | readonly string[],
): void {
  const method = Object.getOwnPropertyDescriptor(prototype, name)?.value as Method<Self>
  Object.defineProperty(prototype, name, {
    value(this: Self, ...given: unknown[]) {
      asked.push(...[textsOf(this, given[0])].flat())
      return method.apply(this, given)
    },
  })
}

for (const name of ['all', 'get', 'run'])
  note(StatementSync.prototype, name, ({ sourceSQL }) => sourceSQL)
note(DatabaseSync.prototype, 'exec', (_, text) => String(text))
note(pg.Client.prototype, 'query', (_, given) => {
  if (given instanceof StatementBatch) return given.texts
  return typeof given === 'string' ? given : ((given as { text?: string }).text ?? '')
})

/** What a process asks on its own, however little there is to do: not a part of any journey. */
const ofThePulse = /^\s*select 1\s*$/i

const costOfTexts = (texts: readonly string[]): Cost => {
  const own = texts.filter((text) => !ofThePulse.test(text))
  const count = (pattern: RegExp) => own.filter((text) => pattern.test(text)).length
  return {
    statements: own.length,
    commits: count(/^\s*commit/i),
    notifications: count(/pg_notify/),
  }
}

/** Of what is asked meanwhile. */
export async function costOf(act: () => Promise<unknown>): Promise<Cost & { texts: string[] }> {
  const from = asked.length
  await act()
  const texts = asked.slice(from)
  return { ...costOfTexts(texts), texts }
}

/** Of what is asked from now until nothing has been asked for a while. */
export const costUntilRest = (act: () => Promise<unknown>) =>
  costOf(async () => {
    await act()
    for (let last = -1; last !== asked.length;) {
      last = asked.length
      await setTimeout(60)
    }
  })
