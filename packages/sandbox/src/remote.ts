/** A sandbox at the other end of an agent's stream, however the agent was started there. */
import { connect } from './connection.ts'
import type { AgentStream, Connection } from './connection.ts'
import { aborted, execute, refused } from './commands.ts'
import { fileCalls, writeFile } from './files.ts'
import { replies, requests } from './frames.ts'
import { SandboxEnded } from './sandbox.ts'
import type { Sandbox, ShellCommand, ShellResult } from './sandbox.ts'
import { shellScript } from './shell.ts'

/** Where things lie for the processes of the sandbox. */
export type Places = {
  bash: string
  ripgrep: string
  /** Folder of the shell's state; exists and is writable. */
  state: string
  /** Folder of output too long for a result; exists and is writable. */
  spill: string
  workspace: string
}

export type RemoteOptions = {
  id: string
  stream: AgentStream
  places: Places
  env: Record<string, string>
  /** Bytes that one spilled output may take. */
  spillMax: number
  /** Ends every process, the agent too, once its stream is closed; resolves when none is left. */
  stop: () => Promise<void>
}

/** The kernel takes no longer argument; a longer command goes through a file. */
const maxArgumentBytes = 120_000
const maxCommandBytes = 16 << 20

/** One after the other, in the order called; a turn that is aborted before it comes is not taken. */
function turns() {
  let last: Promise<unknown> = Promise.resolve()
  return (run: () => Promise<ShellResult>): Promise<ShellResult> => {
    const turn = last.then(run, run)
    last = turn.catch(() => undefined)
    return turn
  }
}

function shellCalls(agent: Connection, { env, places, spillMax }: RemoteOptions) {
  const inTurn = turns()
  const shared = { env, directory: places.workspace, spill: { folder: places.spill, max: spillMax } }
  let generation = 0

  async function argumentOf(command: string): Promise<string> {
    if (Buffer.byteLength(command) <= maxArgumentBytes) return command
    const file = `${places.state}/command`
    const written = await writeFile(agent, file, Buffer.from(command))
    return written.ok ? `builtin eval "$(<${file})"` : `echo 'the command is too long' >&2; false`
  }

  async function run({ command, timeoutMs, signal }: ShellCommand): Promise<ShellResult> {
    if (command.includes('\0')) return refused('the command holds a NUL byte')
    if (command.length > maxCommandBytes) return refused('the command is too long')
    const state = { from: `${places.state}/shell-${generation}`, to: `${places.state}/shell-next` }
    const script = [places.bash, '--norc', '--noprofile', '-c', shellScript(state), 'bash']
    const argument = await argumentOf(command)
    return execute(agent, { ...shared, arguments: [...script, argument], timeoutMs, signal, state })
  }

  return {
    /** Waiting for one's turn ends with the signal, too. */
    async shell(command: ShellCommand): Promise<ShellResult> {
      const { signal } = command
      const turn = inTurn(async () => (signal?.aborted ? aborted : run(command)))
      if (signal === undefined) return turn
      const { promise, resolve } = Promise.withResolvers<ShellResult>()
      return turn
    },
    async restartShell(): Promise<void> {
      generation++
      const id = agent.nextId()
      const killAll = { type: requests.killAll, parts: [], expects: replies.done, size: 0, budget: 0 }
      await agent.ask(id, { ...killAll, withinMs: 10_000 })
    },
  }
}
