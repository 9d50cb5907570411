/** For tests: where the gate of a running sandbox listens. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'

/** `dataDir`: with the folder of sandboxes in it. The sandbox is the first one of its session. */
export function gateSocketOf(dataDir: string, session: string): string {
  const starts = join(dataDir, 'sandboxes', session, 'starts')
  const [start = ''] = readdirSync(starts)
  return join(starts, start, 'egress.sock')
}
