/** Runs the cases of two checkouts in turn (old, new, new, old …), so that noise of the machine affects both. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { z } from 'zod'
import type { Case, Database } from './cases.ts'
import type { Samples } from './samples.ts'
import { addSample } from './samples.ts'

const Reported = z.object({
  database: z.string(),
  what: z.string(),
  value: z.number(),
  unit: z.string(),
})

type Measurement = { database: Database; minutes: number | undefined }

/** Runs one case in a checkout, with that checkout's own `bench/main.ts`. */
async function measureIn(
  checkout: string,
  { name }: Pick<Case, 'name'>,
  { database, minutes }: Measurement,
  into: Samples,
): Promise<void> {
  const args = [join(checkout, 'bench/main.ts'), '--only', name, '--database', database]
  if (minutes !== undefined) args.push('--minutes', String(minutes))
  const child = spawn(process.execPath, args, {
    cwd: checkout,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'close')
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith('{"database"')) continue
    const figure = Reported.parse(JSON.parse(line))
    addSample(into, figure.database, figure)
  }
  const [code] = await ended
  if (code !== 0) throw new Error(`${name} on ${database} ended with ${code} in ${checkout}`)
}

/** `checkout` is an absolute path. */
export async function interleave(
  { old, now }: Record<'old' | 'now', { checkout: string; samples: Samples }>,
  { name }: Pick<Case, 'name'>,
  { rounds, ...measurement }: Measurement & { rounds: number },
): Promise<void> {
  const { database } = measurement
  for (let round = 1; round <= rounds; round++) {
    // The second of a pair was measured up to a quarter slower, whichever it was.
    const pair = round % 2 === 1 ? [old, now] : [now, old]
    for (const { checkout, samples } of pair) {
      process.stderr.write(`${name} on ${database}, round ${round} of ${rounds}, ${checkout}\n`)
      await measureIn(checkout, { name }, measurement, samples)
    }
  }
}
