/** Runs one package manager in the builder's sandbox and reports its progress. */
import type { EventFields } from '@steward/protocol/events.ts'
import type { PackageManager } from '@steward/protocol/packages.ts'
import type { Sandbox } from '@steward/sandbox/sandbox.ts'
import { SandboxEnded } from '@steward/sandbox/sandbox.ts'
import type { Clock } from '@steward/base/time.ts'

const lookMs = 1_000
/** Longest pause between two reports. Pauses grow, because each report is an event in the session's log. */
const longestPauseMs = 20_000
const tailBytes = 8_192
const tailLines = 20
const longestLine = 400
const log = '/workspace/build.log'
const script = '/workspace/build.sh'

/** The packages of an environment could not be installed. `lines`: the last lines that the package manager printed. */
export class BuildFailure extends Error {
  override readonly name = 'BuildFailure'
  readonly manager: PackageManager | null
  readonly lines: string[]
  constructor(
    manager: PackageManager | null,
    why: string,
    { lines = [], ...options }: ErrorOptions & { lines?: string[] } = {},
  ) {
    super(why, options)
    this.manager = manager
    this.lines = lines
  }
}

/** A progress report, as an event of the session's log. */
export type BuildNews = EventFields['session.environment_build']
export type InstallProgress = (news: BuildNews) => void

export type StepWatch = {
  clock: Clock
  progress: InstallProgress
  /** Refusals of the gate, as sentences. */
  refusals: readonly string[]
  /** Called during the step. Throws when the step must not continue. */
  check: () => Promise<void>
  /** Signal of the whole build; its reason is thrown. */
  signal: AbortSignal
  /** Time left for the whole build, in ms. */
  leftMs: () => number
}

/** Throws `BuildFailure`, or the signal's reason. */
export async function runStep(
  sandbox: Sandbox,
  manager: PackageManager,
  text: string,
  watch: StepWatch,
): Promise<void> {
  const { progress, signal } = watch
  const stopping = new AbortController()
  const both = AbortSignal.any([signal, stopping.signal])
  const fail = async (why: string, options?: ErrorOptions) => {
    const lines = [...(await tail(sandbox)), ...watch.refusals.slice(-3)]
    progress({ state: 'failed', manager, lines })
    return new BuildFailure(manager, why, { ...options, lines })
  }
  progress({ state: 'running', manager, lines: [] })
  const timeoutMs = watch.leftMs()
  if (timeoutMs <= 0) throw await fail('it took too long')
  await sandbox.write(script, Buffer.from(text))
  const command = `bash ${script} >${log} 2>&1`
  const ran = sandbox.shell({ command, timeoutMs, signal: both })
  const ended = new AbortController()
  const watching = follow(sandbox, manager, watch, ended.signal).catch((error: unknown) => {
    if (!(error instanceof SandboxEnded)) stopping.abort(error)
  })
  const result = await ran.finally(() => ended.abort())
  await watching
  signal.throwIfAborted()
  if (stopping.signal.aborted) {
    const { reason } = stopping.signal
    if (reason instanceof BuildFailure) throw await fail(reason.message, { cause: reason })
    throw reason
  }
  if (result.ended === 'timeout') throw await fail('it took too long')
  if (result.exitCode !== 0) throw await fail(`it ended with exit code ${result.exitCode}`)
  progress({ state: 'done', manager, lines: (await tail(sandbox)).slice(-3) })
}

/** Reports new output until the step has ended. */
async function follow(
  sandbox: Sandbox,
  manager: PackageManager,
  { clock, check, progress }: StepWatch,
  ended: AbortSignal,
): Promise<void> {
  let [told, toldAt, pauseMs] = ['', clock.now(), 2 * lookMs]
  for (;;) {
    await clock.sleep(lookMs, ended)
    if (ended.aborted) return
    await check()
    if (clock.now() - toldAt < pauseMs) continue
    const lines = await tail(sandbox)
    const text = lines.join('\n')
    if (text === told) continue
    progress({ state: 'running', manager, lines })
    told = text
    toldAt = clock.now()
    pauseMs = Math.min(pauseMs * 2, longestPauseMs)
  }
}

async function tail(sandbox: Sandbox): Promise<string[]> {
  const found = await sandbox.read(log, { offset: 0, maxBytes: 1 })
  if (!found.ok) return []
  const offset = Math.max(0, found.size - tailBytes)
  const read = await sandbox.read(log, { offset, maxBytes: tailBytes })
  return read.ok ? linesOf(Buffer.from(read.bytes).toString()).slice(-tailLines) : []
}

// oxlint-disable-next-line no-control-regex
const codes = /\u001b\[[0-9;?]*[A-Za-z]|[\u0000-\u0008\u000b-\u001f\u007f]/g

const linesOf = (text: string): string[] =>
  text
    .split(/[\r\n]+/)
    .map((line) => line.replace(codes, '').trimEnd().slice(0, longestLine))
    .filter(Boolean)
