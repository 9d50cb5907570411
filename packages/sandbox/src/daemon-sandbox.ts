/** A sandbox over the stream of a daemon, however the daemon was started. */
import { randomUUID } from 'node:crypto'
import { basename } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { runOnce } from '@steward/base/shared-runs.ts'
import { connectDaemon } from './connection.ts'
import type { DaemonStream, SandboxConnection, FrameReply } from './connection.ts'
import { decodeFailure } from './decode-failure.ts'
import { FrameError, maxDataBytes, replyKinds, requestKinds } from './frames.ts'
import type { AsideCommand, FileFailure, FileStat } from './sandbox.ts'
import type { Sandbox, ShellCommand, ShellResult } from './sandbox.ts'
import type { OutputListener } from './output/follow.ts'
import { followOutput } from './output/follow.ts'
import { readOutputEnd } from './output/read-end.ts'
import type { OutputMask } from './output/piece.ts'
import { hideSecrets, outputMask } from './secrets.ts'
import { secretScript, shellScript } from './shell.ts'

/** Paths for the processes of the sandbox. */
export type SandboxPaths = {
  bash: string
  ripgrep: string
  /** Folder of the shell's state, writable. */
  state: string
  /** Folder for output that is too long for a result, writable. */
  spill: string
  workspace: string
}

export type RemoteOptions = {
  id: string
  stream: DaemonStream
  paths: SandboxPaths
  env: Record<string, string>
  /** Largest spilled output, in bytes. */
  spillMax: number
  /** Ends all processes with the daemon and resolves when none is left. Called once. */
  stop: () => Promise<void>
  /** Time for the daemon to start, and to report that a command was killed. */
  patience?: { readyMs: number; killedMs: number }
}

const keptBytes = 100 << 10
const spillAboveBytes = 100_000
const graceMs = 100
const defaultPatience = { readyMs: 10_000, killedMs: 5_000 }
const maxWalkBytes = 64 << 20
/** The kernel accepts no longer argument. A longer command goes through a file. */
const maxArgumentBytes = 120_000

const badPath: FileFailure = { ok: false, code: 'not_found', message: 'not an absolute path' }
const isPath = (path: string) =>
  path.startsWith('/') && !path.includes('\0') && Buffer.byteLength(path) < 4096

/** A cut may fall into a character, whose rest is left out. */
function decodeTail(bytes: Buffer, isCut: boolean): string {
  let start = 0
  while (isCut && start < 4 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++
  return stripVTControlCharacters(bytes.toString('utf8', start))
}

function refusedCommand(message: string): ShellResult {
  return { output: `${message}\n`, bytes: message.length + 1, ended: 'exit', exitCode: 126 }
}

type ProgramRun = {
  arguments: readonly string[]
  timeoutMs: number
  signal?: AbortSignal | undefined
  state?: { from: string; to: string }
  output?: OutputListener | undefined
  mask?: OutputMask | undefined
}

function decodeExit(
  daemon: SandboxConnection,
  reply: FrameReply,
  killedBy: 'timeout' | 'aborted',
  spill: string,
): ShellResult {
  if (reply.payload.length !== 13) daemon.broken('an exit of a wrong size')
  const exitCode = reply.payload.readUInt32LE(0)
  const bytes = Number(reply.payload.readBigUInt64LE(4))
  const flags = reply.payload.readUInt8(12)
  const kept = Buffer.concat(reply.data)
  const output = decodeTail(kept, bytes > kept.length)
  const spilled = flags & 1 ? { spilled: spill } : {}
  if (flags & 2) return { output, bytes, ...spilled, ended: killedBy }
  return { output, bytes, ...spilled, ended: 'exit', exitCode }
}

/** Runs one program through the daemon. The reply carries the end of the output. */
async function execute(daemon: SandboxConnection, options: RemoteOptions, run: ProgramRun) {
  const { env, paths: sandboxPaths, spillMax, patience = defaultPatience } = options
  if (run.signal?.aborted) return { output: '', bytes: 0, ended: 'aborted' } as const
  const id = daemon.nextId()
  const spill = `${sandboxPaths.spill}/output-${randomUUID().slice(0, 13)}.txt`
  const { from = '', to = '' } = run.state ?? {}
  // A restart of the shell kills the command without `kill`; the result is then `aborted`.
  let killedBy: 'timeout' | 'aborted' = 'aborted'
  let unanswered: NodeJS.Timeout | undefined
  let unfollow = () => {}
  const kill = (why: typeof killedBy) => {
    if (unanswered !== undefined) return
    killedBy = why
    unanswered = setTimeout(
      () => daemon.end('the sandbox daemon does not answer'),
      graceMs + patience.killedMs,
    )
    daemon.kill(id, graceMs)
  }
  const abort = () => kill('aborted')
  const timer = setTimeout(() => kill('timeout'), run.timeoutMs)
  run.signal?.addEventListener('abort', abort)
  try {
    const environment = Object.entries(env).map(([name, value]) => `${name}=${value}`)
    const paths = [spill, to, from, sandboxPaths.workspace]
    const limits = [keptBytes, BigInt(spillAboveBytes), BigInt(spillMax)]
    const parts = [...limits, ...paths, run.arguments, environment]
    const exited = daemon.ask(id, {
      type: requestKinds.exec,
      parts,
      expects: replyKinds.exited,
      budget: keptBytes,
      withinMs: run.timeoutMs + graceMs + 2 * patience.killedMs,
    })
    if (run.output)
      unfollow = followOutput(run.output, (asked) => readOutputEnd(daemon, id, asked), run.mask)
    const reply = await exited
    if (reply.type === replyKinds.failed)
      return refusedCommand(decodeFailure(reply.payload).message)
    return decodeExit(daemon, reply, killedBy, spill)
  } catch (error) {
    // Nothing was sent: the command contains NUL, or is larger than a frame.
    if (error instanceof FrameError) return refusedCommand(error.message)
    throw error
  } finally {
    clearTimeout(timer)
    clearTimeout(unanswered)
    unfollow()
    run.signal?.removeEventListener('abort', abort)
  }
}

async function writeFile(daemon: SandboxConnection, path: string, bytes: Uint8Array) {
  if (!isPath(path)) return badPath
  const id = daemon.nextId()
  await daemon.send(requestKinds.write, id, [path])
  for (let at = 0; at < bytes.length; at += maxDataBytes) {
    await daemon.send(requestKinds.writeData, id, [bytes.subarray(at, at + maxDataBytes)])
  }
  const { type, payload } = await daemon.ask(id, {
    type: requestKinds.writeEnd,
    parts: [],
    expects: replyKinds.done,
    budget: 0,
  })
  return type === replyKinds.done ? ({ ok: true } as const) : decodeFailure(payload)
}

const recordBytes = 38

function decodeFiles(batches: readonly Buffer[]): FileStat[] | undefined {
  const files: FileStat[] = []
  for (const batch of batches) {
    let at = 0
    while (at < batch.length) {
      if (batch.length - at < recordBytes) return undefined
      const length = batch.readUInt16LE(at + 36)
      if (batch.length - at < recordBytes + length) return undefined
      files.push({
        path: batch.toString('utf8', at + recordBytes, at + recordBytes + length),
        size: Number(batch.readBigUInt64LE(at)),
        mtimeMs: Number(batch.readBigInt64LE(at + 8)) / 1000,
        changedUs: Number(batch.readBigInt64LE(at + 16)),
        inode: Number(batch.readBigUInt64LE(at + 24)),
        mode: batch.readUInt32LE(at + 32),
      })
      at += recordBytes + length
    }
  }
  return files
}

/** Half of the calls of each kind that the daemon serves at once. More calls wait. */
const maxFileCalls = 32

function limitCalls(most: number) {
  let running = 0
  const waiting: (() => void)[] = []
  return async <Result>(call: () => Promise<Result>): Promise<Result> => {
    if (running === most) await new Promise<void>((resolve) => waiting.push(resolve))
    else running++
    try {
      return await call()
    } finally {
      const next = waiting.shift()
      if (next === undefined) running--
      else next()
    }
  }
}

function fileCalls(daemon: SandboxConnection): Pick<Sandbox, 'read' | 'write' | 'remove' | 'walk'> {
  const inTurn = limitCalls(maxFileCalls)
  const calls = directFileCalls(daemon)
  return {
    read: (path, range) => inTurn(() => calls.read(path, range)),
    write: (path, bytes) => inTurn(() => calls.write(path, bytes)),
    remove: (path, top) => inTurn(() => calls.remove(path, top)),
    walk: (root, maxEntries, isWhole) => inTurn(() => calls.walk(root, maxEntries, isWhole)),
  }
}

function directFileCalls(daemon: SandboxConnection): ReturnType<typeof fileCalls> {
  return {
    async read(path, { offset, maxBytes }) {
      if (!isPath(path)) return badPath
      const { type, payload, data } = await daemon.ask(daemon.nextId(), {
        type: requestKinds.read,
        parts: [BigInt(offset), BigInt(maxBytes), path],
        expects: replyKinds.done,
        budget: maxBytes,
      })
      if (type === replyKinds.failed) return decodeFailure(payload)
      if (payload.length !== 8) daemon.broken('the size of a file that is none')
      return { ok: true, bytes: Buffer.concat(data), size: Number(payload.readBigUInt64LE()) }
    },
    write: (path, bytes) => writeFile(daemon, path, bytes),
    async remove(path, top) {
      if (!isPath(path) || !isPath(top)) return badPath
      const { type, payload } = await daemon.ask(daemon.nextId(), {
        type: requestKinds.remove,
        parts: [path, top],
        expects: replyKinds.done,
        budget: 0,
      })
      return type === replyKinds.done ? { ok: true } : decodeFailure(payload)
    },
    async walk(root, maxEntries, isWhole = false) {
      if (!isPath(root)) return badPath
      const { type, payload, data } = await daemon.ask(daemon.nextId(), {
        type: requestKinds.walk,
        parts: [maxEntries, isWhole ? 1 : 0, root],
        expects: replyKinds.done,
        budget: maxWalkBytes,
      })
      if (type === replyKinds.failed) return decodeFailure(payload)
      const files = decodeFiles(data)
      if (files === undefined) return daemon.broken('a list of files that makes no sense')
      if (payload.length !== 9) daemon.broken('the end of a list of files that is none')
      const startedUs = Number(payload.readBigInt64LE(1))
      return { ok: true, files, complete: payload[0] === 1, startedUs }
    },
  }
}

const keepWithinMs = 60_000
/** Limits of the stored outputs; the oldest is removed first. */
const [mostKept, mostKeptBytes] = [100, 1 << 30]
/** Hides stored outputs from the session's searches and commits. */
const keepScript = `command -p mkdir -p "$2/results" &&
  builtin echo '*' >"$2/.ignore" && builtin echo '*' >"$2/.gitignore" && command -p mv -- "$1" "$3" || exit
cd "$2/results" && count=0 bytes=0 && command -p ls -t | while IFS= read -r each; do
  [ -f "$each" ] || continue
  count=$((count + 1)) bytes=$((bytes + $(command -p wc -c <"$each")))
  [ $count -le ${mostKept} ] && [ $bytes -le ${mostKeptBytes} ] || command -p rm -f -- "$each"
done
exit 0`

/** Moves a spilled output from scratch space, which ends with the sandbox, to the working folder. */
async function keepSpilled(daemon: SandboxConnection, options: RemoteOptions, result: ShellResult) {
  const { spilled } = result
  if (spilled === undefined) return result
  const { bash, workspace } = options.paths
  const folder = `${workspace}/.steward`
  const kept = `${folder}/results/${basename(spilled)}`
  const script = [bash, '--norc', '--noprofile', '-c', keepScript, 'bash', spilled, folder, kept]
  const moved = await execute(daemon, options, { arguments: script, timeoutMs: keepWithinMs })
  return moved.ended === 'exit' && moved.exitCode === 0 ? { ...result, spilled: kept } : result
}

/**
 * Runs the commands of one session's shell one after the other. Each finds the state that the previous command left.
 */
function sessionShell(
  daemon: SandboxConnection,
  options: RemoteOptions,
): Pick<Sandbox, 'shell' | 'restartShell'> {
  const { paths: sandboxPaths } = options
  const paths = { from: `${sandboxPaths.state}/state`, to: `${sandboxPaths.state}/state.next` }
  const script = shellScript(paths)
  let last: Promise<unknown> = Promise.resolve()

  async function textOf(command: string): Promise<FileFailure | { ok: true; text: string }> {
    if (Buffer.byteLength(command) <= maxArgumentBytes) return { ok: true, text: command }
    const path = `${sandboxPaths.state}/command`
    const written = await writeFile(daemon, path, Buffer.from(command))
    return written.ok ? { ok: true, text: `. ${path}` } : written
  }

  async function run(asked: ShellCommand): Promise<ShellResult> {
    const { command, timeoutMs, signal, secretEnv, output } = asked
    const taken = await textOf(command)
    if (!taken.ok) return refusedCommand(taken.message)
    const bash = [sandboxPaths.bash, '--norc', '--noprofile', '-c']
    if (secretEnv === undefined) {
      const argument = [...bash, script, 'bash', taken.text]
      const shared = { arguments: argument, timeoutMs, signal, state: paths, output }
      return keepSpilled(daemon, options, await execute(daemon, options, shared))
    }
    const own = { ...options, env: { ...options.env, ...secretEnv }, spillMax: 0 }
    const argument = [...bash, secretScript(paths), 'bash', taken.text]
    const values = Object.values(secretEnv)
    const run = { arguments: argument, timeoutMs, signal, output, mask: outputMask(values) }
    return hideSecrets(await execute(daemon, own, run), values)
  }

  async function restart(): Promise<void> {
    const id = daemon.nextId()
    await daemon.ask(id, {
      type: requestKinds.killAll,
      parts: [],
      expects: replyKinds.done,
      budget: 0,
    })
    await writeFile(daemon, paths.from, new Uint8Array())
  }

  return {
    shell(command) {
      const result = last.then(() => run(command))
      last = result.catch(() => undefined)
      return result
    },
    async restartShell() {
      const restarted = restart()
      const before = last
      last = restarted.then(() => before).catch(() => undefined)
      await restarted
    },
  }
}

/** Runs a program without the state of the session's shell. */
async function runAside(
  daemon: SandboxConnection,
  options: RemoteOptions,
  { script, arguments: words, env = {}, timeoutMs, signal }: AsideCommand,
): Promise<ShellResult> {
  const own = { ...options, env: { ...options.env, ...env }, spillMax: 0 }
  const bash = [options.paths.bash, '--norc', '--noprofile', '-c', script, 'bash']
  const result = await execute(daemon, own, { arguments: [...bash, ...words], timeoutMs, signal })
  return hideSecrets(result, Object.values(env))
}

/** Resolves when the daemon is ready. When it does not start, calls `stop` and rejects with `SandboxEnded`. */
export async function remoteSandbox(options: RemoteOptions): Promise<Sandbox> {
  const ended = Promise.withResolvers<string>()
  const stop = runOnce(() => options.stop())
  const { readyMs } = options.patience ?? defaultPatience
  const daemon = connectDaemon(options.stream, readyMs, (reason) => {
    ended.resolve(reason)
    void stop()
  })
  await daemon.ready.catch(async (error: unknown) => {
    await stop()
    throw error
  })
  const { paths } = options
  return {
    id: options.id,
    ...sessionShell(daemon, options),
    ...fileCalls(daemon),
    aside: (command) => runAside(daemon, options, command),
    search: ({ pattern, path, timeoutMs, signal, output }) =>
      execute(daemon, options, {
        arguments: [paths.ripgrep, ...searchOptions, '--', pattern, path],
        timeoutMs,
        signal,
        output,
      }),
    ended: ended.promise,
    async close(why = 'closed') {
      daemon.end(why)
      await stop()
    },
  }
}

/** No user configuration; with line numbers and hidden files, without the files of version control. */
const searchOptions = [
  '--no-config',
  '--line-number',
  '--no-heading',
  // The end of a line is the same in files of Windows.
  '--crlf',
  '--color=never',
  '--hidden',
  '--glob=!.git',
  '--max-columns=2000',
]
