/** Writes an edited file. A file with several names keeps them all. */
import { randomUUID } from 'node:crypto'
import type { Sandbox } from '@steward/sandbox/sandbox.ts'

const longestMs = 30_000
const countNames = 'command -p stat -c %h -- "$1"'
/** The shell opens the file as it is, so that its mode and its names stay. */
const overwrite = 'command -p cat -- "$1" >"$2"'

export async function writeEdited(
  sandbox: Sandbox,
  path: string,
  bytes: Uint8Array,
): ReturnType<Sandbox['write']> {
  const run = (script: string, ...words: string[]) =>
    sandbox.aside({ script, arguments: words, timeoutMs: longestMs })
  const counted = await run(countNames, path)
  // A write in one step would make a new file under this name alone.
  if (!(Number(counted.output) > 1)) return sandbox.write(path, bytes)
  const whole = `/tmp/.steward-edit-${randomUUID()}`
  try {
    const written = await sandbox.write(whole, bytes)
    if (!written.ok) return written
    const copied = await run(overwrite, whole, path)
    if (copied.ended === 'exit' && copied.exitCode === 0) return { ok: true }
    return { ok: false, code: 'io', message: copied.output.trim() || 'it could not be written' }
  } finally {
    await sandbox.remove(whole, '/tmp')
  }
}
