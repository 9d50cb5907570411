/** Runs the script of an inspection in the sandbox of its session, in a shell of its own. */
import type { Sandbox } from '@steward/sandbox/sandbox.ts'
import type { Inspection } from '../../ground/database/tables/outcomes.ts'
import type { GraderVerdict } from './outcomes/grader.ts'

/** Characters of the output that a verdict keeps: the last ones. */
const mostOutput = 7_000

type ScriptInspection = Extract<Inspection, { type: 'script' }>

const verdict = (isPassed: boolean, explanation: string): GraderVerdict => ({
  result: isPassed ? 'satisfied' : 'failed',
  explanation,
})

/** Passes when the script exits with 0. The explanation is its output. */
export async function inspectByScript(
  sandbox: Sandbox,
  { script, files, timeout_ms }: ScriptInspection,
  signal: AbortSignal,
): Promise<GraderVerdict> {
  for (const { path, content } of files) {
    const written = await sandbox.write(path, Buffer.from(content))
    if (!written.ok) return verdict(false, `${path}: ${written.message}`)
  }
  if (script === null) return verdict(true, '')
  const { ended, exitCode, output } = await sandbox.aside({
    script,
    arguments: [],
    timeoutMs: timeout_ms,
    signal,
  })
  const said = output.slice(-mostOutput)
  if (ended === 'timeout')
    return verdict(false, `the script took longer than ${timeout_ms} ms\n${said}`)
  if (exitCode === 0) return verdict(true, said)
  return verdict(false, said === '' ? `the script ended with ${exitCode}` : said)
}
