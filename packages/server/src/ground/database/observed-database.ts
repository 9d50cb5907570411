/** A database that reports how long its writing units take. */
import { createObservation } from '@steward/base/observation.ts'
import type { Database } from './database.ts'

/** `ms`: from the call until the commit is durable. Units that throw are not reported. */
export const unitWritten = createObservation<{ ms: number }>('unit-written')

export function observedDatabase(database: Database): Database {
  async function timed<Written>(writing: () => Promise<Written>): Promise<Written> {
    const began = performance.now()
    const written = await writing()
    unitWritten.tell({ ms: performance.now() - began })
    return written
  }
  return {
    ...database,
    write: (unit) => timed(() => database.write(unit)),
    writeStatement: (statement) => timed(() => database.writeStatement(statement)),
  }
}
